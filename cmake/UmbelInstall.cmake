# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Umbel authors

# cmake --install build/PRESET --prefix …: the headers, libumbel, the programs, and a CMake package whose target is
# umbel::umbel; umbel::umbel_cxx is the same with the C++20 that umbel.hpp needs. Included after every target is there.
include(CMakePackageConfigHelpers)

if(NOT TARGET umbel)
  return()
endif()

add_library(umbel_cxx INTERFACE)
add_library(umbel::umbel_cxx ALIAS umbel_cxx)
target_link_libraries(umbel_cxx INTERFACE umbel)
target_compile_features(umbel_cxx INTERFACE cxx_std_20)

install(TARGETS umbel umbel_cxx EXPORT umbel-targets LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/umbel" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
foreach(program IN ITEMS ${UMBEL_PERF_PROGRAMS} umbel_info umbel_tune umbel_plan)
  if(TARGET ${program})
    install(TARGETS ${program} RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
  endif()
endforeach()

set(package "${CMAKE_INSTALL_LIBDIR}/cmake/umbel")
install(EXPORT umbel-targets NAMESPACE umbel:: DESTINATION "${package}")
file(WRITE "${PROJECT_BINARY_DIR}/umbel-config.cmake" "include(\"\${CMAKE_CURRENT_LIST_DIR}/umbel-targets.cmake\")\n")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/umbel-config-version.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/umbel-config.cmake" "${PROJECT_BINARY_DIR}/umbel-config-version.cmake"
        DESTINATION "${package}")
