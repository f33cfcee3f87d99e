#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Umbel authors
#
# What a node sees of the host's files: everything but /tmp and /dev/shm, and of /tmp what a command names. The scratch
# folder lies under /tmp and has a space in its name.
# shellcheck disable=SC2016 # the nodes' shells expand these
#
# shellcheck source=harness.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/harness.sh" paths

loose=/tmp/umbel-paths-$$
trap 'rm -f -- "$loose".*; clean_up' EXIT

test_private() {
  local shm=/dev/shm/umbel-paths-$$
  # the path is hidden inside a word, so that nothing shares it
  exits 'write to /tmp of n0' 0 cluster exec n0 -- sh -c "echo secret > $loose.private && cat $loose.private"
  exits 'n1 does not see it' 1 cluster exec n1 -- sh -c "cat $loose.private"
  check 'nor does the host' no "$([[ -e $loose.private ]] && echo yes || echo no)"
  exits 'write to /dev/shm of n0' 0 cluster exec n0 -- sh -c "echo secret > $shm && cat $shm"
  exits 'n1 does not see that' 1 cluster exec n1 -- sh -c "cat $shm"
  check 'nor does the host' no "$([[ -e $shm ]] && echo yes || echo no)"
  exits 'n0 still has both' 0 cluster exec n0 -- sh -c "rm $loose.private $shm"
}

test_current_folder() {
  mkdir -p "$scratch/work here"
  cd -- "$scratch/work here"
  check 'exec stays in the current folder' "$PWD" "$(cluster exec n1 -- pwd)"
  # shellcheck disable=SC2016
  cluster run --ppn 1 -- sh -c 'pwd > "by $OMPI_COMM_WORLD_RANK"'
  check 'the ranks of a run as well' "$PWD $PWD" "$(cat 'by 0') $(cat 'by 1')"
  cd -- "$root"
  check 'back in the checkout' "$root" "$(cluster exec n1 -- pwd)"
}

test_arguments() {
  local other="$scratch.other" name
  mkdir -p "$other/deep"
  printf '#!/bin/sh\necho "$@" > "$1"\n' >"$other/program"
  chmod +x "$other/program"
  exits 'program and its argument under /tmp' 0 cluster exec n0 -- "$other/program" "$other/deep/file" 'with space'
  check 'written where the host sees it' "$other/deep/file with space" "$(cat "$other/deep/file" 2>/dev/null)"
  exits 'the form --option=PATH' 0 cluster exec n1 -- sh -c 'echo made > "${1#*=}"' sh "--json=$other/deep/json"
  check 'the form --option=PATH' made "$(cat "$other/deep/json" 2>/dev/null)"
  exits 'a file right in /tmp, not there before' 0 cluster exec n0 -- sh -c 'echo made > "$1"' sh "$loose.out"
  check 'it is on the host' made "$(cat "$loose.out" 2>/dev/null)"
  exits 'a file right in /tmp, there before' 0 cluster exec n1 -- cat "$loose.out"
  check 'it is read' made "$output"
  cd -- "$scratch"
  exits 'a relative path' 0 cluster exec n0 -- sh -c 'echo up > "$1"' sh "../${other##*/}/deep/relative"
  check 'a relative path' up "$(cat "$other/deep/relative" 2>/dev/null)"
  cd -- "$root"
  for name in first second; do
    rm -rf -- "$other" && mkdir "$other"
    exits "a folder made anew, $name time" 0 cluster exec n0 -- touch "$other/$name"
    check "a folder made anew, $name time" yes "$([[ -e $other/$name ]] && echo yes)"
  done
  rm -rf -- "$other"
  exits 'a variable that names a path' 0 env "UMBEL_THING=$scratch/from variable" "$root/scripts/cluster" run --hosts n1:1 -- sh -c 'touch "$UMBEL_THING"'
  check 'a variable that names a path' yes "$([[ -e $scratch/from\ variable ]] && echo yes)"
}

test_symbolic_link() {
  mkdir -p "$scratch/real"
  ln -s "$scratch/real" "$loose.link"
  exits 'through a symbolic link right in /tmp' 0 cluster exec n0 -- touch "$loose.link/file"
  check 'through a symbolic link right in /tmp' yes "$([[ -e $scratch/real/file ]] && echo yes)"
}

# A checkout that lies under /tmp, in a folder with a space.
test_checkout_in_tmp() {
  local checkout="$scratch.a checkout"
  mkdir -p "$checkout"
  cp -r "$root/scripts" "$checkout/"
  cluster down
  cd /
  exits 'up' 0 "$checkout/scripts/cluster" up --nodes 2
  exits 'the checkout is seen though no argument names it' 0 "$checkout/scripts/cluster" exec n1 -- sh -c "ls '$checkout/scripts'"
  exits 'mpirun' 0 "$checkout/scripts/cluster" run --ppn 1 -- "$checkout/scripts/cluster" --help
  exits 'down' 0 "$checkout/scripts/cluster" down
  rm -rf -- "$checkout"
  cd -- "$root"
}

test_small_shm() {
  exits 'up' 0 cluster up --nodes 2 --shm 64K
  check 'its size' 64 "$(cluster exec n0 -- df --output=size /dev/shm | tail -n 1 | tr -d ' ')"
  exits 'a megabyte does not fit' 1 cluster exec n1 -- sh -c 'head -c 1000000 /dev/zero > /dev/shm/large'
}

up_or_skip --nodes 2
test_private
test_current_folder
test_arguments
test_symbolic_link
test_checkout_in_tmp
test_small_shm
finish
