#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Umbel authors
#
# isolation_test.sh BIN: two nodes are two hosts: nothing by which processes of one host reach each other crosses over.
# shellcheck source=harness.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/harness.sh" isolation
probe=${1:?folder of the programs}/tests/isolation_probe

test_memory() {
  local token fd address
  token=$(tr -d - </proc/sys/kernel/random/uuid)
  mkfifo "$scratch/in" "$scratch/out"
  "$root/scripts/cluster" exec n0 -- "$probe" hold "$token" <"$scratch/in" >"$scratch/out" &
  exec {holding}>"$scratch/in"
  read -r -t 10 fd address <"$scratch/out"
  # within n0 both ways work: else the next line would prove nothing
  check 'on its own node' 'memfd=yes cma=yes' "$(cluster exec n0 -- "$probe" probe "$token" "$fd" "$address")"
  check 'from the other node' 'memfd=no cma=no' "$(cluster exec n1 -- "$probe" probe "$token" "$fd" "$address")"
  exec {holding}>&-
  wait $!
}

test_identity() {
  local what
  for what in uts ipc net mnt pid; do
    check "$what namespaces differ" 4 "$(for node in n0 n1 head; do cluster exec "$node" -- readlink /proc/self/ns/"$what"; done \
      | cat - <(readlink /proc/self/ns/"$what") | sort -u | wc -l)"
  done
  check 'host names' 'n0 n1' "$(cluster exec n0 -- uname -n) $(cluster exec n1 -- uname -n)"
  check 'boot ids differ' 3 "$(for node in n0 n1; do cluster exec "$node" -- cat /proc/sys/kernel/random/boot_id; done \
    | cat - /proc/sys/kernel/random/boot_id | sort -u | wc -l)"
  check 'the boot id of a node stays' "$(cluster exec n0 -- cat /proc/sys/kernel/random/boot_id)" \
    "$(cluster exec n0 -- cat /proc/sys/kernel/random/boot_id)"
  check 'names resolve' '10.77.0.2 *' "$(cluster exec n0 -- getent hosts n1)"
  check 'only its own processes' 1 "$(cluster exec n1 -- sh -c 'ls -d /proc/[0-9]*/cwd | xargs -n 1 dirname | xargs -I{} cat {}/cmdline 2>/dev/null | tr "\0" " " | grep -o "cluster_holder n[0-9]* " | sort -u | wc -l')"
  check 'only its own devices' 'eth0 lo ' "$(cluster exec n1 -- ls /sys/class/net | tr '\n' ' ')"
}

up_or_skip --nodes 2
test_memory
test_identity
finish
