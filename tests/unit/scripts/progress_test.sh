#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Umbel authors
#
# with_progress: what a build has come to is said while it runs, and its exit status is kept.
set -euo pipefail

cd -P -- "$(dirname -- "${BASH_SOURCE[0]}")/../../.."
source scripts/lib/build.sh
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# Ends once its progress has been said: no race, whatever the load.
build() {
  echo "[7/9] Building x" >>"$folder/log"
  echo "a warning" >>"$folder/log"
  for ((i = 0; i < 300; ++i)); do
    ! grep -q . "$folder/said" || break
    sleep 0.1
  done
  return "$1"
}

for expected in 0 7; do
  : >"$folder/said"
  status=0
  with_progress "$folder/log" 0.2 build "$expected" >"$folder/said" || status=$?
  [[ $status == "$expected" ]] || { echo "FAILED: status $status, not $expected" >&2; exit 1; }
  [[ $(head -n 1 "$folder/said") == '   [7/9] Building x' ]] || { echo "FAILED: said $(cat "$folder/said")" >&2; exit 1; }
done
