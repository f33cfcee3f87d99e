# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Umbel authors
# shellcheck shell=bash
#
# What scripts/quickstart, scripts/test and scripts/compare share: packages, and building a preset. Sourced from the checkout's root.

readonly umbel_packages=(
  build-essential g++ cmake ninja-build git pkg-config ccache python3 iproute2 procps util-linux
  openmpi-bin libopenmpi-dev libucx-dev ucx-utils libhwloc-dev libnuma-dev libhwy-dev
  libcli11-dev nlohmann-json3-dev libfmt-dev libspdlog-dev libgtest-dev libgmock-dev libseccomp-dev
  shellcheck clang-format
)
# The other libraries that Umbel is compared with, and what measures and draws: for scripts/compare and its tests.
# shellcheck disable=SC2034 # the scripts that source this use it
readonly umbel_peer_packages=(mpich libmpich-dev libgloo-dev iperf3 python3-matplotlib python3-tqdm)
# What counts instructions and system calls, for scripts/test.
# shellcheck disable=SC2034
readonly umbel_count_packages=(valgrind strace)

say() { printf '%s\n' "== $*"; }

am_root() { ((EUID == 0)); }

have_sudo() { command -v sudo >/dev/null; }

missing_packages() { # [PACKAGE …] beside those that all need
  local package
  for package in "${umbel_packages[@]}" "$@"; do
    [[ $(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || printf '%s\n' "$package"
  done
}

# What to type, on stdout. Not every Debian has sudo.
install_line() {
  local update='apt-get update' install="DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $1"
  if have_sudo; then
    echo "sudo $update && sudo $install"
  else
    echo "su -c '$update && $install'"
  fi
}

# ensure_packages LOG [PACKAGE …]: installs what is missing; without root prints the line to type and exits 3.
ensure_packages() {
  local log=$1 missing
  shift
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    say "not a Debian system: CMake will name what is missing"
    return 0
  fi
  mapfile -t missing < <(missing_packages "$@")
  ((${#missing[@]} > 0)) || return 0
  if ! am_root; then
    echo "these packages are missing; type this line, then run the script again:" >&2
    install_line "${missing[*]}"
    exit 3
  fi
  say "installing ${missing[*]}"
  run_logged "$log" apt-get update
  run_logged "$log" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}"
}

# run_logged LOG COMMAND …: quiet when it works; otherwise the end of what it said, and its exit status.
run_logged() {
  local log=$1 status=0
  shift
  printf '\n$ %s\n' "$*" >>"$log"
  "$@" >>"$log" 2>&1 </dev/null || status=$?
  if ((status != 0)); then
    tail -n 60 "$log" >&2
    echo "failed with status $status: $* (all of it: $log)" >&2
    exit "$status"
  fi
}

# with_progress LOG SECONDS COMMAND …: every so many seconds the line of ninja's that LOG ends with. The command's status.
with_progress() {
  local log=$1 seconds=$2 status=0 reporter
  shift 2
  (
    while sleep "$seconds" >/dev/null 2>&1 && kill -0 $$ 2>/dev/null; do
      tail -n 20 "$log" | grep -E '^\[[0-9]+/[0-9]+\]' | tail -n 1 | cut -c 1-100 | sed 's/^/   /' || true
    done
  ) &
  reporter=$!
  ("$@") || status=$?
  kill "$reporter" 2>/dev/null || true
  wait "$reporter" 2>/dev/null || true
  return "$status"
}

# configure_preset LOG PRESET
configure_preset() {
  local options=("-DUMBEL_WERROR=$([[ ${CI-} == true ]] && echo ON || echo OFF)")
  if command -v ccache >/dev/null; then
    export CCACHE_SLOPPINESS=pch_defines,time_macros  # else nothing that uses a precompiled header is cached
    options+=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_CUDA_COMPILER_LAUNCHER=ccache)
  fi
  run_logged "$1" cmake --preset "$2" "${options[@]}"
}

# build_preset LOG PRESET [TARGET …]: goes on after an error, so that all of them show at once
build_preset() {
  local log=$1 preset=$2
  shift 2
  run_logged "$log" cmake --build --preset "$preset" ${1+--target "$@"} -- -k 0
}
