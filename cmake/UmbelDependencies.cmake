# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Umbel authors

# Everything Umbel builds on, found once. Targets to link:
#   fmt::fmt spdlog::spdlog hwy::hwy CLI11::CLI11 nlohmann_json::nlohmann_json GTest::gtest GTest::gmock
#   umbel_dep::ucx umbel_dep::hwloc umbel_dep::numa umbel_dep::mpi
# and, only where they are installed, umbel_dep::seccomp and umbel_dep::mpich (a peer to compare with), and
# umbel_dep::NAME for each name in UMBEL_PEER_MPI_NAMES

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(hwy REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
if(UMBEL_TESTS)
  find_package(GTest REQUIRED)
endif()

function(umbel_pkg_config_dependency name)
  pkg_check_modules(${name} REQUIRED IMPORTED_TARGET GLOBAL ${ARGN})
  add_library(umbel_dep::${name} ALIAS PkgConfig::${name})
endfunction()
umbel_pkg_config_dependency(ucx ucx>=1.12)
umbel_pkg_config_dependency(hwloc hwloc>=2.4)
umbel_pkg_config_dependency(numa numa)
pkg_check_modules(seccomp IMPORTED_TARGET GLOBAL libseccomp)
if(seccomp_FOUND)
  add_library(umbel_dep::seccomp ALIAS PkgConfig::seccomp)
endif()
pkg_check_modules(mpich IMPORTED_TARGET GLOBAL mpich)
if(mpich_FOUND)
  add_library(umbel_dep::mpich ALIAS PkgConfig::mpich)
endif()

# Open MPI by its own names first: Debian's plain mpicc may be MPICH's. -DMPI_C_COMPILER=… chooses another MPI.
find_program(MPI_C_COMPILER NAMES mpicc.openmpi mpicc)
find_program(MPIEXEC_EXECUTABLE NAMES mpirun.openmpi mpirun mpiexec)
find_package(MPI REQUIRED COMPONENTS C)
add_library(umbel_dep::mpi ALIAS MPI::MPI_C)

# More MPIs to compare with. `scripts/compare --with-pypi` gives them.
set(UMBEL_PEER_MPIS "" CACHE STRING "NAME=FOLDER;…, with include/mpi.h and lib/libmpi.so in the folder")

# umbel_folder_dependency(NAME FOLDER HEADER LIBRARY …): a target for what lies in FOLDER, outside the system's paths;
# none where a part of it is missing.
function(umbel_folder_dependency name folder header)
  find_library(library NAMES ${ARGN} PATHS "${folder}/lib" NO_DEFAULT_PATH NO_CACHE)
  if(library AND EXISTS "${folder}/include/${header}")
    add_library(umbel_dep::${name} INTERFACE IMPORTED)
    target_include_directories(umbel_dep::${name} SYSTEM INTERFACE "${folder}/include")
    target_link_libraries(umbel_dep::${name} INTERFACE "${library}")
  endif()
endfunction()

set(UMBEL_PEER_MPI_NAMES)
foreach(peer IN LISTS UMBEL_PEER_MPIS)
  if(NOT peer MATCHES "^([a-z0-9]+)=(.+)$")
    message(FATAL_ERROR "UMBEL_PEER_MPIS: expected NAME=FOLDER, not \"${peer}\"")
  endif()
  set(name "${CMAKE_MATCH_1}")
  set(folder "${CMAKE_MATCH_2}")
  umbel_folder_dependency(${name} "${folder}" mpi.h mpi libmpi.so.12 libmpi.so.40)
  umbel_folder_dependency(${name}_ccl "${folder}" oneapi/ccl.hpp ccl libccl.so.1)
  if(TARGET umbel_dep::${name}_ccl)  # compiled by Intel's compiler, whose library it does not name
    target_link_libraries(umbel_dep::${name}_ccl INTERFACE "${folder}/lib/libintlc.so.5")
  endif()
  if(TARGET umbel_dep::${name})
    # Its UCX lies beside it, and is not the system's that the linker sees: scripts/compare tells the loader.
    target_link_options(umbel_dep::${name} INTERFACE -Wl,--allow-shlib-undefined)
    list(APPEND UMBEL_PEER_MPI_NAMES ${name})
  else()
    message(WARNING "UMBEL_PEER_MPIS: no include/mpi.h or no lib/libmpi.so in ${folder}: ${name} is left out")
  endif()
endforeach()
