#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Umbel authors
#
# link_test.sh BIN: rate, delay, loss and number of links, as a program measures them. Bounds are wide: a machine that
# does much else makes links slower, never faster.
# shellcheck source=harness.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/harness.sh" link
probe=${1:?folder of the programs}/tests/link_probe

within() { # WHAT LOW HIGH VALUE
  checks=$((checks + 1))
  printf '%s: %s\n' "$1" "$4"
  [[ $4 =~ ^[0-9]+$ && $4 -ge $2 && $4 -le $3 ]] || fail "$1: expected $2 to $3, got \"$4\""
}

serve() {
  cluster exec n1 -- "$probe" serve 7777 >"$scratch/serve.log" 2>&1 &
  wait_until 5 serving || fail "no server: $(cat "$scratch/serve.log")"
}

serving() {
  cluster exec n0 -- "$probe" rtt n1 7777 1 >/dev/null 2>&1
}

# The server still runs: `up` would rightly refuse to pull the cluster away.
again() { # OPTIONS OF up
  cluster down
  cluster up "$@" >/dev/null
}

measure() { # ARGUMENTS OF link_probe
  cluster exec n0 -- "$probe" "$@"
}

test_rate() {
  up_or_skip --nodes 2 --rate 200mbit
  serve
  within 'goodput at 200 Mbit/s' 140 205 "$(measure goodput n1 7777 12000000)"
  within 'round trip without delay, µs' 5 4000 "$(measure rtt n1 7777 200)"
  within 'datagrams without loss' 990 1000 "$(measure received n1 7777 200 | awk '{ print $1 * 5 }')"
}

test_delay_and_loss() {
  # Not every kernel has netem. Then `up` must say so, rather than make links without what was asked for.
  cluster down
  cluster up --nodes 2 --delay 5ms >"$scratch/netem.log" 2>&1 || {
    check 'up names what is missing' '*this kernel has no netem*' "$(cat "$scratch/netem.log")"
    exits 'loss needs it, too' 4 cluster up --nodes 2 --loss 30
    exits 'and nothing is left' 1 cluster status
    return
  }
  serve
  within 'round trip with 2 × 5 ms, µs' 10000 18000 "$(measure rtt n1 7777 20)"
  again --nodes 2 --loss 30
  serve
  within 'of 200 datagrams with 30% loss' 110 170 "$(measure received n1 7777 200)"
}

# shellcheck disable=SC2016 # a rank's shell expands the variables
test_links() {
  again --nodes 2 --nics 2 --rate 100mbit
  check 'two links' 'eth0 eth1 lo ' "$(cluster exec n0 -- ls /sys/class/net | tr '\n' ' ')"
  check 'their subnets' '10.77.0.1 10.77.1.1 ' "$(cluster exec n0 -- ip -o -4 addr show scope global | awk '{ sub("/.*", "", $4); print $4 }' | tr '\n' ' ')"
  serve
  within 'goodput of the second link' 65 105 "$(measure goodput n1-eth1 7777 6000000)"
  check 'the devices offered to the ranks' 'eth0,eth1 eth0,eth1' "$(cluster run --hosts n1:1 -- \
    sh -c 'echo "$OMPI_MCA_btl_tcp_if_include $UCX_NET_DEVICES"')"
}

test_rate
test_delay_and_loss
test_links
finish
