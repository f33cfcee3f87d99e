#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Umbel authors
#
# The report of scripts/test, made from real runs of ctest over tests that pass, fail, crash, hang and skip.
set -euo pipefail

root=$(cd -P -- "$(dirname -- "${BASH_SOURCE[0]}")/../../.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() { echo "FAILED: $*" >&2; exit 1; }

# test NAME SCRIPT [PROPERTY VALUE …]
add() {
  printf '%s\n' "$2" >"$folder/$1.sh"
  printf 'add_test("%s" "sh" "%s")\nset_tests_properties("%s" PROPERTIES SKIP_RETURN_CODE 77 %s)\n' \
    "$1" "$folder/$1.sh" "$1" "${*:3}" >>"$folder/CTestTestfile.cmake"
}

# report CI STATUS LAST_LINE: runs what was added; the report must end like this.
report() {
  local status=0 last
  ctest --test-dir "$folder" --output-junit "$folder/tests.xml" --test-output-size-passed 1000000 >/dev/null 2>&1 || true
  CI=$1 python3 "$root/scripts/lib/test_report.py" "some=$folder/tests.xml" >"$folder/report" || status=$?
  last=$(tail -n 1 "$folder/report")
  [[ $last == "$3" ]] || { cat "$folder/report"; fail "the last line is \"$last\", not \"$3\""; }
  [[ $status == "$2" ]] || { cat "$folder/report"; fail "the status is $status, not $2 ($3)"; }
}

says() { grep -qF -- "$1" "$folder/report" || { cat "$folder/report"; fail "the report does not say: $1"; }; }

begin() { rm -f "$folder/CTestTestfile.cmake"; }

gtest_case() { printf "echo '[ RUN      ] %s'\n%s\necho '[ %8s ] %s (1 ms)'\n" "$2" "${3-}" "$1" "$2"; }

begin
add plain 'exit 0'
add cases "$(gtest_case '      OK' A.one)
$(gtest_case '      OK' A.two/3)"
# three ranks, each with a report of its own: two cases
add ranks "$(for _ in 1 2 3; do gtest_case '      OK' B.one; gtest_case '      OK' B.two; done)"
report true 0 '5 passed, 0 failed, 0 skipped'
says 'some/plain'

add wrong "$(gtest_case '      OK' C.one)
$(gtest_case ' FAILED ' C.two)
exit 1"
add crash 'kill -SEGV $$'
add hang 'exec sleep 20' TIMEOUT 1
report false 1 '6 passed, 3 failed, 0 skipped'
says 'FAILED: some/wrong:C.two'
says 'FAILED: some/crash'
says 'FAILED: some/hang'

# what the long tests say of themselves is repeated, and added up
begin
add sweep.1 "echo 'covered: 1 ranks: 100 cases, 0 wrong'"
add sweep.2 "echo 'covered: 2 ranks: 23 cases, 4 wrong'; exit 1"
report false 1 '1 passed, 1 failed, 0 skipped'
says 'some/sweep.1: 1 ranks: 100 cases, 0 wrong'
says 'full product, 2 runs: 123 cases, 4 wrong'

# one rank fails, the others do not: failed
begin
add ranks "$(gtest_case '      OK' B.one)
$(gtest_case ' FAILED ' B.one)
exit 1"
report false 1 '0 passed, 1 failed, 0 skipped'

begin
add plain 'exit 0'
add gpu "$(gtest_case ' SKIPPED' G.one "echo 'file.cpp:7: Skipped'; echo 'this needs a GPU'")"
report true 0 '1 passed, 0 failed, 1 skipped'
says 'some/gpu:G.one: file.cpp:7: Skipped this needs a GPU'
add command 'echo needs a flux capacitor; exit 77'
report false 0 '1 passed, 0 failed, 2 skipped'
report true 1 '1 passed, 0 failed, 2 skipped'
says 'FAILED: some/command was skipped'

# not there at all
begin
add plain 'exit 0'
printf 'add_test("absent" "%s/absent")\n' "$folder" >>"$folder/CTestTestfile.cmake"
report false 1 '1 passed, 1 failed, 0 skipped'

begin
: >"$folder/CTestTestfile.cmake"
report false 1 '0 passed, 0 failed, 0 skipped'
echo "report: as it should be"
