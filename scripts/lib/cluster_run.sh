# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Umbel authors
# shellcheck disable=SC2154 # the variables are set by cluster_common.sh and parse_up
#
# run and exec: commands inside the cluster. Their own failures exit with 125, so that they are told from the command's.

need_cluster() {
  local condition
  [[ $EUID -eq 0 ]] || die 125 "entering a node needs root"
  condition=$(cluster_condition)
  [[ $condition != @(none|dead) ]] || die 125 "no cluster \"$cluster_name\" is up: scripts/cluster up --nodes N"
  refuse_foreign 125
  [[ $condition == up ]] || die 125 "cluster \"$cluster_name\" is broken: scripts/cluster up --nodes N makes it anew"
  # Held until the command ends, so that `up` with other options does not pull the cluster away.
  exec {use_fd}<"$state"
  flock --shared "$use_fd"
}

# The paths that words name, with symbolic links followed and as given; only those under /tmp matter.
paths_under_tmp() { # WORD…
  local word path named=()
  for word in "$PWD" "$@"; do
    for path in "${word#*=}" "$word"; do
      [[ -n $path ]] || continue
      if [[ $path != /* ]]; then
        # A bare word is a file only by the current folder; in /tmp itself it must look like one.
        [[ $path == */* || ($PWD == /tmp && $path != -* && ($path == *.* || -e $path)) ]] || continue
        path=$PWD/$path
      fi
      named+=("$path")
    done
  done
  {
    realpath --canonicalize-missing --zero -- "${named[@]}"
    realpath --no-symlinks --canonicalize-missing --zero -- "${named[@]}"
  } 2>/dev/null | grep --null-data '^/tmp/.' || true
}

expose_paths() { # NODES WORD…
  local nodes=$1 node path paths=()
  local -A seen=()
  shift
  while IFS= read -r -d '' path; do
    [[ -n ${seen[$path]-} ]] || paths+=("$path")
    seen[$path]=yes
  done < <(paths_under_tmp "$@")
  [[ ${#paths[@]} -gt 0 ]] || return 0
  for node in $nodes; do
    nsenter --target "$(holder_pid "$node")" --mount --pid -- bash "$state/expose" "$state" "${paths[@]}" ||
      die 125 "cannot share ${paths[*]} with $node"
  done
}

# Becomes COMMAND inside a node. It gets TERM when the nsenter that stands for it here is killed. The lock stays with
# nsenter: what the command leaves running does not count as in use.
enter() { # NODE COMMAND…
  local pid
  pid=$(holder_pid "$1") || die 125 "$1 has ended"
  shift
  [[ -z ${TMPDIR-} ]] || export TMPDIR=/tmp
  # shellcheck disable=SC2016 # the inner shell expands it
  exec nsenter --target "$pid" --net --uts --ipc --mount --pid "--wdns=$PWD" -- \
    setpriv --pdeathsig TERM -- bash -c 'fd=$1; shift; exec {fd}<&-; exec "$@"' cluster "$use_fd" "$@"
}

cluster_exec() {
  local node=${1-}
  [[ $# -ge 3 && $2 == -- ]] || die 125 "usage: scripts/cluster exec NODE -- COMMAND …"
  shift 2
  need_cluster
  [[ $node == head || $'\n'$(node_names)$'\n' == *$'\n'$node$'\n'* ]] || die 125 "no node \"$node\" (head, $(node_names | tr '\n' ' '))"
  expose_paths "$node" "$@"
  enter "$node" "$@"
}

# Settings for the host MPI and UCX: the cluster's links, unless the caller chose some himself. "lo", right on one host,
# is never right here.
set_devices() {
  local k links='' name
  for ((k = 0; k < $(config_value nics); ++k)); do
    links+=${links:+,}eth$k
  done
  for name in OMPI_MCA_btl_tcp_if_include UCX_NET_DEVICES; do
    [[ -n ${!name-} && ${!name} != lo ]] || export "$name=$links"
  done
  export OMPI_MCA_oob_tcp_if_include=eth0
  export OMPI_MCA_plm_rsh_agent=$state/agent OMPI_MCA_plm_rsh_no_tree_spawn=1
  # the same for Open MPI 5, whose launcher has variables of its own
  export PRTE_MCA_prte_if_include=eth0 PRTE_MCA_plm_ssh_agent=$state/agent PRTE_MCA_plm_ssh_no_tree_spawn=1
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  export UCX_LOG_LEVEL=${UCX_LOG_LEVEL:-error}
}

# The variables that a launcher on a real cluster would have to be told of.
passed_variables() {
  local name
  for name in $(compgen -e); do
    case $name in
      UMBEL_CLUSTER_NAME) ;;
      UMBEL_* | UCX_* | MALLOC_* | ASAN_OPTIONS | TSAN_OPTIONS | UBSAN_OPTIONS | LSAN_OPTIONS | LD_LIBRARY_PATH) echo "$name" ;;
      *) ;; # mpirun passes OMPI_MCA_* on by itself
    esac
  done
}

# Turns the placement options into mpirun's own: the array mpirun_placement.
place_ranks() {
  local node file hosts=''
  if [[ -n $run_place ]]; then
    [[ $run_mpi == openmpi ]] || die 125 "--place is for Open MPI; --hosts n0:2,n1:1 for all"
    file=$state/place.$(cksum <<<"$run_place" | tr ' ' -)
    tr ',' '\n' <<<"$run_place" >"$file"
    mpirun_placement=(--hostfile "$file" --map-by seq)
    run_ranks=$(wc -l <"$file")
    return
  fi
  if [[ -z $run_hosts ]]; then
    for node in $(node_names | head -n "${run_nodes:-99}"); do
      hosts+=${hosts:+,}$node:$run_ppn
    done
    run_hosts=$hosts
  fi
  case $run_mpi in
    openmpi) mpirun_placement=(-H "$run_hosts") ;;
    mpich) mpirun_placement=(-hosts "$run_hosts") ;;
    intel)
      file=$state/place.$(cksum <<<"$run_hosts" | tr ' ' -)
      tr ',' '\n' <<<"$run_hosts" >"$file"
      mpirun_placement=(-machinefile "$file")
      ;;
  esac
  run_ranks=0
  for node in ${run_hosts//,/ }; do
    [[ $node =~ ^[a-z0-9]+(:[1-9][0-9]*)?$ ]] || die 125 "--hosts: expected n0:3,n1:2, not \"$run_hosts\""
    [[ $node == *:* ]] || node=$node:1
    run_ranks=$((run_ranks + ${node#*:}))
  done
}

check_hosts() {
  local node names
  names=$'\n'$(node_names)$'\n'
  for node in ${run_hosts//,/ } ${run_place//,/ }; do
    [[ $names == *$'\n'${node%%:*}$'\n'* ]] || die 125 "no node \"${node%%:*}\" in this cluster ($(node_names | tr '\n' ' '))"
  done
}

parse_run() {
  run_mpi=openmpi run_mpirun='' run_ppn=1 run_nodes='' run_hosts='' run_place='' run_count='' mpirun_options=()
  while [[ $# -gt 0 && $1 != -- ]]; do
    case $1 in
      --mpi=* | --mpirun=* | --ppn=* | --nodes=* | --hosts=* | --place=*) set -- "${1%%=*}" "${1#*=}" "${@:2}" ;;
      --mpi | --mpirun | --ppn | --nodes | --hosts | --place)
        [[ $# -ge 2 ]] || die 125 "$1 needs a value"
        printf -v "run_${1#--}" '%s' "$2"
        shift 2
        ;;
      *)
        [[ $1 != @(-n|-np|-c|--n|--np) ]] || run_count=given
        mpirun_options+=("$1")
        shift
        ;;
    esac
  done
  [[ $# -ge 2 ]] || die 125 "usage: scripts/cluster run [--ppn P] [MPIRUN OPTIONS] -- COMMAND …"
  shift
  run_command=("$@")
  [[ $run_mpi == @(openmpi|mpich|intel) ]] || die 125 "--mpi \"$run_mpi\": openmpi, mpich or intel"
  [[ $run_ppn =~ ^[1-9][0-9]{0,3}$ ]] || die 125 "--ppn \"$run_ppn\": expected a number of ranks, e.g. 2"
  [[ $run_nodes =~ ^([1-9][0-9]{0,1})?$ ]] || die 125 "--nodes \"$run_nodes\": expected a number of nodes"
}

# The launcher of --mpi, and its options: the array launcher.
choose_launcher() {
  local mpirun=$run_mpirun
  case $run_mpi in
    openmpi)
      [[ -n $mpirun ]] || mpirun=$(command -v mpirun.openmpi || command -v mpirun) || die 125 "no mpirun (Debian package openmpi-bin)"
      launcher=("$mpirun" --oversubscribe --bind-to none)
      ;;
    mpich)
      [[ -n $mpirun ]] || mpirun=$(command -v mpiexec.mpich) || die 125 "no mpiexec.mpich (Debian package mpich)"
      launcher=("$mpirun" -launcher ssh -launcher-exec "$state/agent" -iface eth0 -bind-to none)
      ;;
    intel)
      [[ -n $mpirun ]] || mpirun=$(command -v mpiexec.hydra) || die 125 "no mpiexec.hydra: --mpirun PATH"
      launcher=("$mpirun" -launcher ssh -launcher-exec "$state/agent" -iface eth0)
      ;;
  esac
  [[ -x $mpirun ]] || die 125 "--mpirun \"$mpirun\": no program"
}

cluster_run() {
  local name launcher variables=() values=()
  parse_run "$@"
  need_cluster
  [[ -z $run_nodes || $run_nodes -le $(config_value nodes) ]] || die 125 "--nodes $run_nodes: the cluster has $(config_value nodes)"
  check_hosts
  set_devices
  for name in $(passed_variables); do
    [[ $run_mpi != openmpi ]] || variables+=(-x "$name") # the others pass on all there are
    values+=("${!name}")
  done
  place_ranks
  choose_launcher
  [[ -n $run_count ]] || variables+=(-n "$run_ranks")
  expose_paths "head $(node_names)" "${launcher[0]}" "${run_command[@]}" "${mpirun_options[@]}" "${values[@]}"
  enter head bash "$lib/cluster_mpirun" "${launcher[@]}" "${mpirun_placement[@]}" "${variables[@]}" "${mpirun_options[@]}" "${run_command[@]}"
}
