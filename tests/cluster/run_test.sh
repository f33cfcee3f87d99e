#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Umbel authors
#
# run and exec: exit status, stdin, stdout, variables, placement of ranks, and that a killed run leaves no rank behind.
# shellcheck source=harness.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/harness.sh" run

# shellcheck disable=SC2016 # each rank's shell expands it
where='echo "$OMPI_COMM_WORLD_RANK@$(hostname)"'

placement() { # RUN OPTIONS…
  cluster run "$@" -- sh -c "$where" | sort -n | tr '\n' ' '
}

test_exec() {
  exits 'exit status' 7 cluster exec n1 -- sh -c 'exit 7'
  exits 'no such command' 127 cluster exec n1 -- no-such-command
  exits 'killed by a signal' 137 cluster exec n1 -- sh -c 'kill -KILL $$'
  check 'stdout' $'n1' "$(cluster exec n1 -- hostname)"
  check 'stdin' 'from the host' "$(echo 'from the host' | cluster exec n0 -- cat)"
  check 'a megabyte of binary data' "$(head -c 1000000 /bin/bash | cksum)" "$(head -c 1000000 /bin/bash | cluster exec n0 -- cat | cksum)"
  check 'stderr apart from stdout' '' "$(cluster exec n0 -- sh -c 'echo to stderr >&2' 2>/dev/null)"
  check 'words with spaces' $'a b\n\n*' "$(cluster exec n0 -- printf '%s\n' 'a b' '' '*')"
  check 'the head' head "$(cluster exec head -- hostname)"
  exits 'no such node' 125 cluster exec n7 -- true
  exits 'no command' 125 cluster exec n0
  check 'process 1 collects orphans' 0 "$(cluster exec n0 -- sh -c '(sleep 0.1 &); sleep 0.4; grep -c "^State:.Z" /proc/[0-9]*/status | grep -c ":1$"')"
}

test_run() {
  exits 'exit status 0' 0 cluster run --ppn 2 -- true
  exits 'exit status' 3 cluster run --ppn 1 -- sh -c 'exit 3'
  # shellcheck disable=SC2016
  check 'stdin goes to rank 0' 'to rank 0' "$(echo 'to rank 0' | cluster run --ppn 1 -- sh -c '[ "$OMPI_COMM_WORLD_RANK" != 0 ] || cat')"
  exits 'no such node' 125 cluster run --hosts n0:1,n9:1 -- true
  exits 'bad --ppn' 125 cluster run --ppn many -- true
  exits 'more nodes than there are' 125 cluster run --nodes 4 -- true
  exits 'no command' 125 cluster run --ppn 2
  exits 'no such MPI' 125 cluster run --mpi lam -- true
  exits 'no such launcher' 125 cluster run --mpirun /no/such/mpirun -- true
}

test_launcher() {
  local folder
  folder=$(mktemp -d)
  printf '#!/bin/sh\necho mine >&2\nexec %s "$@"\n' "$(command -v mpirun.openmpi || command -v mpirun)" >"$folder/mpirun"
  chmod +x "$folder/mpirun"
  check 'a launcher of the caller' $'mine\nn1' "$(cluster run --mpirun "$folder/mpirun" --hosts n1:1 -- hostname 2>&1)"
  rm -r "$folder"
}

test_placement() {
  check 'ppn 2' '0@n0 1@n0 2@n1 3@n1 4@n2 5@n2 ' "$(placement --ppn 2)"
  check 'two of three nodes' '0@n0 1@n1 ' "$(placement --ppn 1 --nodes 2)"
  check 'uneven' '0@n0 1@n0 2@n0 3@n1 4@n1 ' "$(placement --hosts n0:3,n1:2)"
  check 'reversed' '0@n2 1@n2 2@n1 3@n1 4@n0 5@n0 ' "$(placement --hosts n2:2,n1:2,n0:2)"
  check 'cyclic' '0@n0 1@n1 2@n2 3@n0 4@n1 5@n2 ' "$(placement --ppn 2 --map-by node)"
  check 'one by one' '0@n2 1@n0 2@n0 3@n1 ' "$(placement --place n2,n0,n0,n1)"
  check 'fewer ranks' '0@n0 1@n0 2@n1 ' "$(placement --ppn 2 -n 3)"
}

test_variables() {
  # shellcheck disable=SC2016
  local show='echo "$UMBEL_THING $UCX_THING $OMPI_MCA_thing $OTHER_THING ${UMBEL_CLUSTER_NAME-}"'
  export UMBEL_THING='two words' UCX_THING=ucx OMPI_MCA_thing=mca
  export OTHER_THING=other
  check 'variables reach the ranks' 'two words ucx mca other test-*' "$(cluster run --hosts n1:1 -- sh -c "$show")"
  # shellcheck disable=SC2016
  check 'devices of the cluster, not lo' 'eth0 eth0 eth0' "$(OMPI_MCA_btl_tcp_if_include=lo OMPI_MCA_oob_tcp_if_include=lo UCX_NET_DEVICES=lo \
    cluster run --hosts n1:1 -- sh -c 'echo "$OMPI_MCA_btl_tcp_if_include $OMPI_MCA_oob_tcp_if_include $UCX_NET_DEVICES"')"
  # shellcheck disable=SC2016
  check 'devices that the user chose' 'eth9' "$(UCX_NET_DEVICES=eth9 cluster run --hosts n1:1 -- sh -c 'echo "$UCX_NET_DEVICES"')"
}

no_sleepers() { # SECONDS, the argument of sleep that marks them
  ! pgrep -x -f "sleep $1" >/dev/null
}

test_killed() {
  local mark=$((100000 + $$))
  "$root/scripts/cluster" run --ppn 2 -- sleep "$mark" >/dev/null 2>&1 &
  wait_until 10 pgrep -x -f "sleep $mark" >/dev/null || fail 'the ranks did not start'
  kill -TERM $!
  check 'a terminated run ends its ranks' yes "$(wait_until 10 no_sleepers "$mark" && echo yes)"
  "$root/scripts/cluster" exec n1 -- sleep "$mark" >/dev/null 2>&1 &
  wait_until 10 pgrep -x -f "sleep $mark" >/dev/null || fail 'the command did not start'
  kill -KILL $!
  wait $! 2>/dev/null || true
  check 'a killed exec ends its command' yes "$(wait_until 10 no_sleepers "$mark" && echo yes)"
}

up_or_skip --nodes 3
test_exec
test_run
test_launcher
test_placement
test_variables
test_killed
finish
