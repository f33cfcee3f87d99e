# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Umbel authors

# Everything Umbel builds on, found once. Targets to link:
#   fmt::fmt spdlog::spdlog hwy::hwy CLI11::CLI11 nlohmann_json::nlohmann_json GTest::gtest GTest::gmock
#   umbel_dep::ucx umbel_dep::hwloc umbel_dep::numa umbel_dep::mpi
# and, only where they are installed, umbel_dep::seccomp and umbel_dep::mpich (a peer to compare with)

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
