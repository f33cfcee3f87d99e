#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Umbel authors
#
# install_test.sh BUILD_FOLDER C_COMPILER CXX_COMPILER: installs into a folder with a space in its name, and builds and
# runs a C and a C++ program from there through the CMake package. libumbel exports umbel_* only and needs no MPI.
set -euo pipefail

build=$1
compiler=$2
cxx_compiler=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
prefix="$folder/in stalled"

cmake --install "$build" --prefix "$prefix" >"$folder/log" || { cat "$folder/log"; exit 1; }

mkdir "$folder/user"
cat >"$folder/user/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES C)
find_package(umbel 0.1 REQUIRED)
add_executable(user user.c)
set_target_properties(user PROPERTIES C_STANDARD 99 C_EXTENSIONS OFF)
target_link_libraries(user PRIVATE umbel::umbel)
CMAKE
cat >"$folder/user/user.c" <<'C'
#include <stdio.h>
#include <string.h>
#include <umbel/umbel.h>

int main(void) {
  umbel_bootstrap_t nobody;
  umbel_comm_t comm = NULL;
  memset(&nobody, 0, sizeof(nobody));
  puts(umbel_version());
  return umbel_comm_create(&comm, &nobody, NULL) == UMBEL_ERROR_INVALID_ARGUMENT && umbel_last_error()[0] != '\0' ? 0 : 1;
}
C
cmake -S "$folder/user" -B "$folder/user/build" -G Ninja "-DCMAKE_PREFIX_PATH=$prefix" "-DCMAKE_C_COMPILER=$compiler" \
  "-DCMAKE_C_FLAGS=-Wall -Wextra -Wpedantic -Werror" >"$folder/log" || { cat "$folder/log"; exit 1; }
cmake --build "$folder/user/build" >>"$folder/log" ||
  { cat "$folder/log"; exit 1; }
version=$("$folder/user/build/user")
[[ $version == 0.1.0* ]] || { echo "umbel_version() is \"$version\"" >&2; exit 1; }

mkdir "$folder/cxx user"
cat >"$folder/cxx user/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(cxx_user LANGUAGES CXX)
find_package(umbel 0.1 REQUIRED)
add_executable(user user.cpp)
target_link_libraries(user PRIVATE umbel::umbel_cxx)
add_executable(old EXCLUDE_FROM_ALL user.cpp)
target_link_libraries(old PRIVATE umbel::umbel)
set_target_properties(old PROPERTIES CXX_STANDARD 17)
CMAKE
cat >"$folder/cxx user/user.cpp" <<'CXX'
#include <umbel/umbel.hpp>

int main() {
  try {
    umbel::Comm comm(umbel_bootstrap_t{});
  } catch (const umbel::Error& error) {
    return error.code() == UMBEL_ERROR_INVALID_ARGUMENT ? 0 : 1;
  }
  return 1;
}
CXX
# the compiler's own default may be older: the target asks for what the header needs
cmake -S "$folder/cxx user" -B "$folder/cxx user/build" -G Ninja "-DCMAKE_PREFIX_PATH=$prefix" "-DCMAKE_CXX_COMPILER=$cxx_compiler" \
  "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Wpedantic -Werror" >"$folder/log" || { cat "$folder/log"; exit 1; }
cmake --build "$folder/cxx user/build" >>"$folder/log" || { cat "$folder/log"; exit 1; }
"$folder/cxx user/build/user" || { echo "the C++ program fails" >&2; exit 1; }
if cmake --build "$folder/cxx user/build" --target old >"$folder/log" 2>&1; then
  echo "umbel.hpp compiles as C++17" >&2
  exit 1
fi
grep -q 'umbel.hpp needs C++20' "$folder/log" || { cat "$folder/log"; exit 1; }

library=$(find "$prefix" -name 'libumbel.so')
foreign=$(nm -D --defined-only "$library" | awk '{print $3}' | grep -vE '^(umbel_[a-z_]+|UMBEL.*|_init|_fini)(@.*)?$' || true)
[[ -z $foreign ]] || { printf 'libumbel exports:\n%s\n' "$foreign" >&2; exit 1; }
! ldd "$library" | grep -E 'libmpi|libmpich|open-rte' || { echo "libumbel links an MPI" >&2; exit 1; }
if [[ -x $prefix/bin/umbel_info ]]; then "$prefix/bin/umbel_info" --help >/dev/null; fi
echo "installed umbel $version: as it should be"
