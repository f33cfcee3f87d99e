# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Umbel authors
# shellcheck disable=SC2154 # the variables are set by cluster_common.sh and parse_up
#
# up, status and down.

need_tools() {
  local tool missing=()
  [[ $EUID -eq 0 ]] || die 4 "making network namespaces needs root"
  for tool in ip tc unshare nsenter setpriv flock mountpoint; do
    command -v "$tool" >/dev/null || missing+=("$tool")
  done
  [[ ${#missing[@]} -eq 0 ]] || die 4 "missing: ${missing[*]} (Debian packages iproute2, util-linux)"
}

need_match() { # OPTION VALUE PATTERN EXAMPLE
  [[ $2 =~ ^($3)$ ]] || die 2 "--$1 \"$2\": expected e.g. $4"
}

parse_up() {
  option_nodes=2 option_rate=2gbit option_delay=0 option_loss=0 option_nics=1 option_mtu=1500 option_shm=2G
  while [[ $# -gt 0 ]]; do
    case $1 in
      --nodes | --rate | --delay | --loss | --nics | --mtu | --shm)
        [[ $# -ge 2 ]] || die 2 "$1 needs a value"
        printf -v "option_${1#--}" '%s' "$2"
        shift 2
        ;;
      --*=*) set -- "${1%%=*}" "${1#*=}" "${@:2}" ;;
      *) die 2 "up: unknown option $1 (see scripts/cluster --help)" ;;
    esac
  done
  need_match nodes "$option_nodes" '[1-9][0-9]?' '4 (1 to 99)'
  need_match rate "$option_rate" 'none|[0-9.]+([kmgt]i?)?(bit|bps)' '2gbit, 500mbit or none'
  need_match delay "$option_delay" '0|[0-9.]+(us|ms|s)' '20us'
  need_match loss "$option_loss" '[0-9]+(\.[0-9]+)?%?' '0.1'
  need_match nics "$option_nics" '[1-8]' '2 (1 to 8)'
  need_match mtu "$option_mtu" '[1-9][0-9]{2,4}' '9000'
  need_match shm "$option_shm" '[1-9][0-9]*[KMGkmg]?' '64K, 512M or 2G'
}

describe_options() {
  local name value
  for name in nodes rate delay loss nics mtu shm; do
    value=option_$name
    printf '%s=%s\n' "$name" "${!value}"
  done
}

# Ends the cluster's processes: with the head's holder, process 1 of its PID namespace, go all of them. Others that a
# partly dead cluster has left are known by pid and start time.
end_processes() {
  local file pid waited
  for file in "$state"/holders/head "$state"/holders/*; do
    pid=$(holder_pid "${file##*/}") || continue
    kill -KILL "$pid" 2>/dev/null || true
    for ((waited = 0; waited < 200; ++waited)); do
      [[ -e /proc/$pid ]] || break
      sleep 0.05
    done
    [[ ! -e /proc/$pid ]] || die 1 "process $pid (${file##*/}) does not end"
  done
}

# Removes file by file, never a tree: inside a node, host_tmp is the host's /tmp.
remove_state() {
  [[ -e $state ]] || return 0
  rm -f -- "$state"/holders/* "$state"/holders/.[!.]* "$state"/{config,complete,log,agent,expose,hosts} \
    "$state"/boot_id.* "$state"/hostname.*
  rmdir -- "$state"/holders "$state"/host_tmp 2>/dev/null || true
  rm -f -- "$state"/place.*
  rmdir -- "$state" || die 1 "$state holds what is not ours"
}

random_uuid() {
  cat /proc/sys/kernel/random/uuid
}

write_state() {
  local name
  mkdir -p "$state/holders" "$state/host_tmp"
  { printf 'checkout=%s\n' "$checkout"; describe_options; } >"$state/config"
  install -m 755 "$lib/cluster_agent" "$state/agent"
  install -m 755 "$lib/cluster_expose" "$state/expose"
  write_hosts >"$state/hosts"
  for name in head $(node_names); do
    random_uuid >"$state/boot_id.$name"
    echo "$name" >"$state/hostname.$name"
  done
}

# Something in the making failed: here no cluster can be had.
give_up() { # MESSAGE
  local log
  log=$(tail -n 4 "$state/log" 2>/dev/null | tr '\n' ' ')
  end_processes
  remove_state
  unlock_cluster
  rmdir --ignore-fail-on-non-empty "$state_root"
  die 4 "$1${log:+: $log}"
}

# The head's holder talks to `up` by two pipes, so that it ends when `up` is killed in between (see cluster_holder).
build_cluster() {
  local line='' started=1
  write_state
  coproc HOLDER {
    exec {lock_fd}>&-
    exec setsid unshare --net --uts --ipc --mount --propagation slave --pid --fork --kill-child \
      bash "$lib/cluster_holder" head "$state" "$checkout" "$option_shm" "$option_nodes" 2>"$state/log"
  }
  local from_holder=${HOLDER[0]-} to_holder=${HOLDER[1]-}
  read -r -t 60 line <&"$from_holder" || started=0
  [[ $started == 1 && $line == ready ]] || give_up 'namespaces cannot be made here'
  # in the background, because a failing command does not end what runs on the left of ||
  (make_network) >>"$state/log" 2>&1 {lock_fd}>&- &
  wait $! || give_up 'the network cannot be made here'
  touch "$state/complete"
  echo go >&"$to_holder" || give_up 'the head has ended'
}

cluster_up() {
  parse_up "$@"
  need_tools
  lock_cluster
  refuse_foreign 5
  case $(cluster_condition) in
    up)
      if [[ $(sed 1d "$state/config") == "$(describe_options)" && $(config_value checkout) == "$checkout" ]]; then
        unlock_cluster
        print_summary
        return
      fi
      ! cluster_busy || die 5 "cluster \"$cluster_name\" is up with other options and a command runs in it: wait, or scripts/cluster down"
      echo "cluster \"$cluster_name\" is up with other options ($(config_value nodes) nodes): it is replaced" >&2
      ;;
    *) ;;
  esac
  end_processes
  remove_state
  build_cluster
  unlock_cluster
  print_summary
}

print_summary() {
  printf 'cluster "%s" is up: %s nodes, %s × %s, delay %s, loss %s, mtu %s, /dev/shm %s\n' "$cluster_name" \
    "$(config_value nodes)" "$(config_value nics)" "$(config_value rate)" "$(config_value delay)" "$(config_value loss)" \
    "$(config_value mtu)" "$(config_value shm)"
}

cluster_status() {
  local condition name pid
  [[ $# -eq 0 ]] || die 2 "status takes no argument"
  condition=$(cluster_condition)
  case $condition in
    none | dead)
      printf 'cluster "%s" is not up%s\n' "$cluster_name" "$([[ $condition == none ]] || echo ' (a dead one left files; up or down removes them)')"
      return 1
      ;;
    broken) printf 'cluster "%s" is broken (up or down puts that right)\n' "$cluster_name" ;;
    up) print_summary ;;
  esac
  printf 'checkout %s\n' "$(config_value checkout)"
  for name in head switch $(node_names); do
    pid=$(holder_pid "$name") || pid=ended
    printf '%-6s holder %-8s %s\n' "$name" "$pid" "$(awk -v n="$name" '$2 == n { print $1 }' "$state/hosts" 2>/dev/null)"
  done
  ! cluster_busy || echo 'commands are running in it'
  [[ $condition == up ]] || return 2
}

cluster_down() {
  local force=no
  case ${1-} in
    '') ;;
    --force) force=yes ;;
    *) die 2 "down: unknown option $1" ;;
  esac
  [[ -e $state || -e $state.lock ]] || { rmdir "$state_root" 2>/dev/null || true; return 0; }
  [[ $EUID -eq 0 ]] || die 1 "needs root"
  lock_cluster
  [[ $force == yes ]] || refuse_foreign 5
  end_processes
  remove_state
  unlock_cluster
  rmdir --ignore-fail-on-non-empty "$state_root"
}
