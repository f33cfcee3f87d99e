#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Umbel authors
#
# What scripts/quickstart does about missing packages, with dpkg-query and apt-get played by scripts of ours.
set -euo pipefail

cd -P -- "$(dirname -- "${BASH_SOURCE[0]}")/../../.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() { echo "FAILED: $*" >&2; exit 1; }

cat >"$folder/dpkg-query" <<'SCRIPT'
#!/bin/sh
case " $MISSING " in *" $3 "*) exit 1 ;; *) echo installed ;; esac
SCRIPT
cat >"$folder/apt-get" <<SCRIPT
#!/bin/sh
echo "\$* (\$DEBIAN_FRONTEND)" >>"$folder/apt-calls"
SCRIPT
chmod +x "$folder/dpkg-query" "$folder/apt-get"
export PATH=$folder:$PATH

# ensure ROOT MISSING [SUDO]: runs ensure_packages as root ("true") or not, with these packages missing, and sudo or not.
ensure() {
  local root=$1
  rm -f "$folder/apt-calls"
  MISSING=$2 env -u DEBIAN_FRONTEND bash -c '
    set -euo pipefail
    source scripts/lib/build.sh
    am_root() { '"$root"'; }
    have_sudo() { '"${3-true}"'; }
    ensure_packages "$0/log"' "$folder" >"$folder/stdout" 2>"$folder/stderr"
}

ensure false '' || fail "nothing is missing, and it stops"
[[ ! -e $folder/apt-calls ]] || fail "nothing is missing, and apt runs"

status=0
ensure false 'libucx-dev ninja-build' || status=$?
[[ $status == 3 ]] || fail "without root the status is $status, not 3"
install='DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends ninja-build libucx-dev'
[[ $(<"$folder/stdout") == "sudo apt-get update && sudo $install" ]] || fail "the line to type: $(<"$folder/stdout")"
[[ ! -e $folder/apt-calls ]] || fail "apt runs without root"
status=0
ensure false 'libucx-dev ninja-build' false || status=$?
[[ $status == 3 ]] || fail "without sudo the status is $status, not 3"
[[ $(<"$folder/stdout") == "su -c 'apt-get update && $install'" ]] || fail "the line without sudo: $(<"$folder/stdout")"
[[ ! -e $folder/apt-calls ]] || fail "apt runs without root"

ensure true 'libucx-dev g++' || fail "as root it stops: $(<"$folder/stderr")"
diff - "$folder/apt-calls" <<'EXPECTED' || fail "apt is called otherwise"
update ()
install -y --no-install-recommends g++ libucx-dev (noninteractive)
EXPECTED
echo "packages: as they should be"
