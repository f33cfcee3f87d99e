# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Umbel authors
#
# What every command of scripts/cluster uses: where the state of a cluster lies, and whether it is alive.
#
# /run/umbel-cluster/NAME/    (no space in this path: Open MPI cannot start an agent from a path with a space)
#   config                    key=value lines: checkout, options as given
#   holders/NODE              "pid, start time, pid inside the head's PID namespace" of the process that keeps NODE
#   complete                  written last by `up`
#   agent, expose, hosts, host_tmp/, boot_id.NODE, hostname.NODE, place.*, log

lib=$(cd -P -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
checkout=$(cd -P -- "$lib/../.." && pwd)
cluster_name=${UMBEL_CLUSTER_NAME:-default}
state_root=/run/umbel-cluster

die() { # STATUS MESSAGE…
  local status=$1
  shift
  printf 'cluster: %s\n' "$*" >&2
  exit "$status"
}

set_paths() {
  state=$state_root/$cluster_name
}

# The value of one key in a cluster's config; empty where there is none.
config_value() { # KEY
  [[ -r $state/config ]] || return 0
  sed -n "s/^$1=//p" "$state/config"
}

# Start time of a process in clock ticks since boot: with it a pid names one process for ever. Its name may hold spaces
# and parentheses, so the fields are counted from the last parenthesis.
start_time() { # PID
  local line fields
  read -r line 2>/dev/null <"/proc/$1/stat" || return 1
  read -r -a fields <<<"${line##*) }"
  [[ ${fields[0]} != [ZX] ]] || return 1
  printf '%s\n' "${fields[19]}"
}

# Prints the pid of the process that keeps a node, if it is the one that we started and it lives.
holder_pid() { # NODE
  local pid started _inside
  read -r pid started _inside 2>/dev/null <"$state/holders/$1" || return 1
  [[ $(start_time "$pid") == "$started" ]] || return 1
  printf '%s\n' "$pid"
}

node_names() {
  local i nodes
  nodes=$(config_value nodes)
  for ((i = 0; i < ${nodes:-0}; ++i)); do
    printf 'n%d\n' "$i"
  done
}

# none: no trace · dead: files of a cluster whose head has ended · broken: the head lives, a part of it does not · up
cluster_condition() {
  local name
  [[ -e $state ]] || { echo none; return; }
  holder_pid head >/dev/null || { echo dead; return; }
  [[ -e $state/complete ]] || { echo broken; return; }
  for name in switch $(node_names); do
    holder_pid "$name" >/dev/null || { echo broken; return; }
  done
  echo up
}

# Only one `up` or `down` at a time. A lock file may be removed by its holder: hence the look at whether it is still there.
lock_cluster() {
  mkdir -p "$state_root" 2>/dev/null || die 4 "cannot write $state_root"
  while true; do
    exec {lock_fd}>"$state.lock" || die 1 "cannot write $state.lock"
    flock "$lock_fd"
    [[ ! /proc/self/fd/$lock_fd -ef $state.lock ]] || return 0
    exec {lock_fd}>&-
  done
}

unlock_cluster() {
  rm -f -- "$state.lock"
  exec {lock_fd}>&-
}

# Commands in the cluster hold a shared lock on its folder while they run.
cluster_busy() {
  local fd
  exec {fd}<"$state" || return 1
  if flock --exclusive --nonblock "$fd"; then
    exec {fd}<&-
    return 1
  fi
  exec {fd}<&-
}

# A live cluster that another checkout made is named and left alone, unless that checkout is gone and nothing runs there.
refuse_foreign() { # STATUS
  local owner
  owner=$(config_value checkout)
  [[ -n $owner && $owner != "$checkout" ]] || return 0
  [[ $(cluster_condition) != @(none|dead) ]] || return 0
  [[ -d $owner ]] || cluster_busy || return 0
  die "$1" "cluster \"$cluster_name\" belongs to the checkout $owner (head: pid $(holder_pid head)); end it there by scripts/cluster down, or use another name by --name"
}
