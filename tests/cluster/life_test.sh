#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Umbel authors
#
# The life of a cluster: made, used again, made anew, taken over, refused, and gone without a trace.
# shellcheck source=harness.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/harness.sh" life

holder() { # NODE
  cut -d ' ' -f 1 "$state/holders/$1"
}

gone() { # PID…
  local pid
  for pid in "$@"; do
    [[ ! -e /proc/$pid ]] || return 1
  done
}

# What the host shows of a cluster: devices, mounts of ours, processes of this cluster, its files.
traces() {
  ip -o link | wc -l
  grep -c umbel /proc/self/mounts || true
  pgrep -f -c "cluster_holder [a-z0-9]+ $state " || true
  ls -d "$state"* 2>/dev/null || true
}

in_use() {
  cluster status | grep -q 'commands are running'
}

namespace_gone() { # INODE
  ! find /proc -maxdepth 3 -path '*/ns/net' -lname "$1" 2>/dev/null | grep -q .
}

test_refusals() {
  exits 'unknown command' 2 cluster frobnicate
  exits 'unknown option' 2 cluster up --rat 2gbit
  exits 'bad number of nodes' 2 cluster up --nodes 0
  exits 'bad rate' 2 cluster up --rate fast
  check 'names the bad value' '*--rate "fast"*' "$output"
  exits 'bad name' 2 cluster --name ../x status
  exits 'run without a cluster' 125 cluster run -- true
  exits 'status without a cluster' 1 cluster status
  exits 'down without a cluster' 0 cluster down
  # SYS_ADMIN and NET_ADMIN dropped: namespaces cannot be made
  exits 'without the capabilities' 4 setpriv --bounding-set=-sys_admin,-net_admin -- "$root/scripts/cluster" up
  check 'says why' '*namespaces cannot be made*' "$output"
  exits 'no rest of it' 1 cluster status
  check 'no file of it' '' "$(ls -d "$state"* 2>/dev/null)"
}

test_reuse() {
  local before
  exits 'status' 0 cluster status
  check 'status shows the options' '*2 nodes*50mbit*' "$output"
  check 'status shows the checkout' "*checkout $root*" "$output"
  before=$(holder n0)
  exits 'up again' 0 cluster up --nodes 2 --rate 50mbit
  check 'same options: the same cluster' "$before" "$(holder n0)"

  "$root/scripts/cluster" exec n0 -- sleep 30 &
  local user=$!
  wait_until 5 in_use || fail 'status does not show the running command'
  exits 'other options while in use' 5 cluster up --nodes 3
  check 'says that it is in use' '*a command runs in it*' "$output"
  kill "$user"
  wait "$user" || true
  exits 'other options' 0 cluster up --nodes 3
  check 'says that it replaces' '*is up with other options (2 nodes): it is replaced*' "$output"
  exits 'a third node' 0 cluster exec n2 -- hostname
  check 'a third node' n2 "$output"
  check 'old holder is gone' yes "$(gone "$before" && echo yes)"
}

test_take_over() {
  local old head before
  old=$(holder n1) head=$(holder head)
  kill -KILL "$old"
  wait_until 5 gone "$old"
  exits 'a dead node' 2 cluster status
  exits 'no run on a broken cluster' 125 cluster exec n1 -- true
  exits 'up takes over' 0 cluster up --nodes 3
  check 'all is new' yes "$(gone "$head" && echo yes)"
  exits 'works' 0 cluster exec n1 -- true

  head=$(holder head) old=$(holder n2)
  kill -KILL "$head"
  check 'with the head all of it ends' yes "$(wait_until 5 gone "$head" "$old" && echo yes)"
  exits 'dead: not up' 1 cluster status
  exits 'up after that' 0 cluster up --nodes 2
  exits 'works' 0 cluster exec n1 -- true

  # `up` killed at some moment in the making
  for before in 0.01 0.03 0.06 0.1; do
    exits 'down' 0 cluster down
    "$root/scripts/cluster" up --nodes 4 >/dev/null 2>&1 &
    sleep "$before"
    kill -KILL $! 2>/dev/null || true
    wait $! 2>/dev/null || true
    exits "up after an up killed at $before s" 0 cluster up --nodes 2
    exits 'works' 0 cluster exec n1 -- true
  done
}

test_other_checkout() {
  local other="$scratch/other checkout" holder_before
  mkdir -p "$other"
  cp -r "$root/scripts" "$other/"
  holder_before=$(holder n0)
  exits 'up by another checkout' 5 "$other/scripts/cluster" up --nodes 2
  check 'names the owner' "*$root*" "$output"
  exits 'run by another checkout' 125 "$other/scripts/cluster" exec n0 -- true
  exits 'down by another checkout' 5 "$other/scripts/cluster" down
  check 'not broken' "$holder_before" "$(holder n0)"
  exits 'still works' 0 cluster exec n0 -- true
  exits 'down' 0 cluster down

  # the other way round: that checkout, in a folder with a space under /tmp, has it, and is then deleted
  exits 'up by the other checkout' 0 "$other/scripts/cluster" up --nodes 1
  exits 'refused here' 5 cluster up --nodes 1
  check 'names that checkout' "*$other*" "$output"
  rm -rf -- "$other"
  exits 'an abandoned cluster is taken over' 0 cluster up --nodes 1
}

test_no_trace() { # TRACES BEFORE
  local pids network
  exits 'up' 0 cluster up --nodes 3 --nics 2
  cluster exec n0 -- sh -c 'sleep 1000 & setsid sleep 1000 & exit 0' >/dev/null 2>&1
  mapfile -t pids < <(cut -d ' ' -f 1 "$state"/holders/*)
  network=$(readlink "/proc/${pids[0]}/ns/net")
  check 'it is there' 5 "${#pids[@]}"
  exits 'down' 0 cluster down
  check 'no holder left' yes "$(gone "${pids[@]}" && echo yes)"
  check 'no trace left' "$1" "$(traces)"
  check 'no namespace left' yes "$(wait_until 5 namespace_gone "$network" && echo yes)"
  exits 'down twice' 0 cluster down
}

before=$(traces)
up_or_skip --nodes 1
cluster down
check 'nothing left' "$before" "$(traces)"
test_refusals
up_or_skip --nodes 2 --rate 50mbit
test_reuse
test_take_over
test_other_checkout
test_no_trace "$before"
finish
