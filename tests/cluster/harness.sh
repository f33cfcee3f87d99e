# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Umbel authors
#
# For the tests of this folder: `source harness.sh NAME`. The cluster of a test has a name of its own and is gone at the end.
set -euo pipefail

root=$(cd -P -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
export UMBEL_CLUSTER_NAME=test-$1-$$
export state=/run/umbel-cluster/$UMBEL_CLUSTER_NAME
scratch=$(mktemp -d "/tmp/umbel $1 test.XXXXXX")
failures=0 checks=0

cluster() {
  "$root/scripts/cluster" "$@"
}

clean_up() {
  cluster down --force || true
  rm -rf -- "$scratch"
}
trap clean_up EXIT

fail() {
  printf 'FAILED: %s\n' "$*"
  failures=$((failures + 1))
}

# check WHAT EXPECTED ACTUAL: EXPECTED is a pattern of [[ == ]].
check() {
  checks=$((checks + 1))
  # shellcheck disable=SC2053 # a pattern is wanted
  [[ $3 == $2 ]] || fail "$1: expected \"$2\", got \"$3\""
}

# exits WHAT STATUS COMMAND…: its output lies in $output afterwards.
exits() {
  local what=$1 expected=$2 status=0
  shift 2
  output=$("$@" 2>&1) || status=$?
  checks=$((checks + 1))
  [[ $status == "$expected" ]] || fail "$what: expected exit status $expected, got $status: $output"
}

# Skips the test where a cluster cannot be made; in CI that is a failure, since nothing there should lack.
up_or_skip() {
  local status=0
  cluster up "$@" >"$scratch/up.log" 2>&1 || status=$?
  [[ $status != 0 ]] || return 0
  cat "$scratch/up.log"
  [[ $status == 4 && ${CI-} != true ]] || exit 1
  echo "skipped: $(tail -n 1 "$scratch/up.log")"
  exit 77
}

wait_until() { # SECONDS COMMAND…
  local tries=$(($1 * 20))
  shift
  while ((tries-- > 0)); do
    ! "$@" || return 0
    sleep 0.05
  done
  return 1
}

finish() {
  printf '%d checks, %d failed\n' "$checks" "$failures"
  [[ $failures == 0 && $checks -gt 0 ]] || exit 1
}
