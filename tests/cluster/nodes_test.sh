#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Umbel authors
#
# nodes_test.sh BIN: Umbel over several nodes: finds as many as there are, and every algorithm is right in every placement.
# shellcheck source=harness.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/harness.sh" nodes
bin=${1:?folder of the programs}
here=$(dirname -- "${BASH_SOURCE[0]}")

# These serve any placement; others may say why they do not.
readonly anywhere=(ring recursive_doubling halving_doubling double_tree reduce_broadcast
  hierarchical_ring hierarchical_tree hierarchical_hd hierarchical_leader)

# perf WHAT RANKS NODES RUN OPTIONS… -- OPTIONS OF all_reduce_perf…
perf() {
  local what=$1 ranks=$2 nodes=$3 placement=() status=0
  shift 3
  while [[ $1 != -- ]]; do
    placement+=("$1")
    shift
  done
  shift
  rm -f -- "$scratch/result.json"
  timeout 100 "$root/scripts/cluster" run "${placement[@]}" -- \
    "$bin/all_reduce_perf" -n 2 -w 1 --json "$scratch/result.json" "$@" >"$scratch/out" 2>&1 || status=$?
  check "$what: exit status" 0 "$status"
  [[ $status == 0 ]] || tail -n 15 "$scratch/out"
  exits "$what: results" 0 python3 "$here/check_perf_json.py" "$scratch/result.json" "$ranks" "$nodes" "${expected[@]}"
  printf '%s: %s\n' "$what" "$output"
}

test_info() {
  exits 'umbel_info' 0 timeout 60 "$root/scripts/cluster" run --hosts n0:2,n1:1,n2:1 -- "$bin/umbel_info"
  check 'nodes that umbel_info finds' '*4 ranks on 3 nodes*' "$output"
}

test_all_algorithms() {
  local expected=("${anywhere[@]}") sweep=(--algo all -b 8 -e 512K -f 256)
  perf '2 × 2' 4 2 --nodes 2 --ppn 2 -- "${sweep[@]}"
  perf '3 + 2' 5 2 --hosts n0:3,n1:2 -- "${sweep[@]}"
  perf 'cyclic' 6 3 --nodes 3 --ppn 2 --map-by node -- "${sweep[@]}"
  perf 'reversed' 4 2 --hosts n1:2,n0:2 -- "${sweep[@]}"
  perf 'mixed' 6 3 --place n2,n0,n0,n1,n2,n0 -- "${sweep[@]}"
  perf '4 × 2' 8 4 --ppn 2 -- --algo all -b 12345 -e 12345
}

test_default() {
  local expected=(any)
  perf 'one rank a node' 4 4 --ppn 1 -- -b 8 -e 4M -f 64 --algo auto
  perf 'odd size, other type and operation' 4 2 --nodes 2 --ppn 2 -- -b 100001 -e 100001 -d int8 -o max
  expected=(hierarchical_ring)
  perf 'three nodes, three ranks on one' 5 3 --hosts n0:1,n1:3,n2:1 -- -b 1M -e 1M --algo hierarchical_ring
}

test_two_links() {
  local expected=(any)
  cluster up --nodes 2 --nics 2 >/dev/null
  perf '2 × 2 over two links' 4 2 --ppn 2 -- -b 1K -e 4M -f 64
}

# Umbel's windows are anonymous: a /dev/shm too small for anything hurts Open MPI alone, which then does without.
test_tiny_shm() {
  local expected=(any)
  cluster up --nodes 2 --shm 64K >/dev/null
  perf '2 × 2 with a /dev/shm of 64 KB' 4 2 --ppn 2 -- -b 8 -e 1M -f 1024
}

up_or_skip --nodes 4
test_info
test_all_algorithms
test_default
test_two_links
test_tiny_shm
finish
