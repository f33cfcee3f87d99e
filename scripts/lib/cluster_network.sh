# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Umbel authors
# shellcheck disable=SC2154 # the variables are set by cluster_common.sh and parse_up
#
# The links of a cluster: per NIC number one bridge, all in the namespace "switch", and from there one veth pair to each
# node. Link k is the subnet 10.77.k.0/24; node i has the address i + 1 in it. The head has a leg on the first bridge.

head_host=250

in_net() { # NAME COMMAND…: a command of ours in the network of a node, else in the host's view
  local pid
  pid=$(holder_pid "$1") || { echo "cluster: $1 has ended" >&2; return 1; }
  shift
  nsenter --target "$pid" --net -- "$@"
}

# Shapes what leaves DEVICE of NODE. Both ends of a link are shaped, so each direction has the rate; delay and loss are
# added once per direction from node to bridge: a packet between two nodes meets them once.
shape_link() { # NODE DEVICE WITH_NETEM
  local netem=() parent=(root)
  if [[ $option_rate != none ]]; then
    in_net "$1" tc qdisc add dev "$2" root handle 1: tbf rate "$option_rate" burst 256kb latency 50ms ||
      { echo 'this kernel cannot limit a rate (tbf): use --rate none'; return 1; }
    parent=(parent 1:1)
  fi
  [[ $3 == yes ]] || return 0
  [[ $option_delay == 0 ]] || netem+=(delay "$option_delay")
  [[ $option_loss == 0 ]] || netem+=(loss "${option_loss%\%}%")
  [[ ${#netem[@]} -gt 0 ]] || return 0
  in_net "$1" tc qdisc add dev "$2" "${parent[@]}" handle 10: netem limit 20000 "${netem[@]}" ||
    { echo 'this kernel has no netem, which --delay and --loss need'; return 1; }
}

add_link() { # NODE NIC HOST_NUMBER
  local pid
  pid=$(holder_pid "$1")
  in_net switch ip -batch - <<BATCH
link add $1-$2 mtu $option_mtu type veth peer name eth$2 mtu $option_mtu netns $pid
link set $1-$2 master br$2 up
BATCH
  in_net "$1" ip -batch - <<BATCH
addr add 10.77.$2.$3/24 dev eth$2
link set eth$2 up
BATCH
}

make_network() {
  local i k
  for ((k = 0; k < option_nics; ++k)); do
    in_net switch ip link add "br$k" mtu "$option_mtu" type bridge forward_delay 0 stp_state 0
    in_net switch ip link set "br$k" up
  done
  add_link head 0 "$head_host"
  for ((i = 0; i < option_nodes; ++i)); do
    for ((k = 0; k < option_nics; ++k)); do
      add_link "n$i" "$k" "$((i + 1))"
      shape_link "n$i" "eth$k" yes
      shape_link switch "n$i-$k" no
    done
  done
}

write_hosts() {
  local i k
  printf '127.0.0.1 localhost\n10.77.0.%d head\n' "$head_host"
  for ((i = 0; i < option_nodes; ++i)); do
    printf '10.77.0.%d n%d\n' "$((i + 1))" "$i"
    for ((k = 1; k < option_nics; ++k)); do
      printf '10.77.%d.%d n%d-eth%d\n' "$k" "$((i + 1))" "$i" "$k"
    done
  done
}
