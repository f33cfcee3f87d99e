#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Umbel authors
#
# umbel_plan's exit statuses: 0 shown, 2 usage, with a message that says what is wrong.
set -eu
plan=$1

# expect STATUS TEXT ARGUMENT…
expect() {
  status=$1 text=$2
  shift 2
  got=0
  output=$("$plan" "$@" 2>&1) || got=$?
  if [ "$got" -ne "$status" ]; then
    echo "umbel_plan $*: status $got, not $status: $output" >&2
    exit 1
  fi
  case $output in
    *"$text"*) ;;
    *)
      echo "umbel_plan $*: '$text' is not in: $output" >&2
      exit 1
      ;;
  esac
}

expect 0 'rank 3 of 4' show --algorithm ring --ranks 4 --nodes 2 --rank 3
expect 0 'recv' show --algorithm hierarchical_ring --ranks 4 --nodes 0/0,0/1,1/0,1/1
expect 0 'does not serve this' show --algorithm one_shot --ranks 4 --nodes 2
expect 0 "proved: 1 algorithm, " prove --quick --algorithm central --max-ranks 3 --threads 1
expect 2 "there is no algorithm 'rign'" show --algorithm rign --ranks 4
expect 2 "there is no algorithm 'rign'; there are one_shot, " prove --algorithm rign
expect 2 'rank 4 is not one of 4 ranks' show --algorithm ring --ranks 4 --rank 4
expect 2 'ranks' show --algorithm ring --ranks none
expect 2 'explain: no such subcommand; there are prove, show' explain
expect 2 'A subcommand is required'
expect 2 'not expected: --fast 5' prove --fast 5
expect 2 '' show --algorithm ring --ranks 4 --nodes 0,1
