# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Umbel authors

# Labels: unit inproc mpi cluster failure long; target umbel_tests_LABEL builds the programs of a label. Every test has a watchdog (TIMEOUT), stretched under a sanitizer.
set(UMBEL_TEST_LABELS unit inproc mpi cluster failure long)
foreach(label IN LISTS UMBEL_TEST_LABELS)
  add_custom_target(umbel_tests_${label})  # builds what the tests of this label run
endforeach()
set(UMBEL_TEST_TIMEOUT_FACTOR 1)
if(UMBEL_SANITIZE)
  set(UMBEL_TEST_TIMEOUT_FACTOR 6)
endif()

# What any test on one plain host needs: nothing leaves the loopback, Open MPI runs as root and beyond the cores, no tuning
# file of whoever runs it.
set(UMBEL_TEST_ENVIRONMENT
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl_tcp_if_include=lo OMPI_MCA_oob_tcp_if_include=lo
    OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_mpi_yield_when_idle=1
    UCX_NET_DEVICES=lo UCX_LOG_LEVEL=error UMBEL_TUNING=off
    "TSAN_OPTIONS=suppressions='${PROJECT_SOURCE_DIR}/tests/support/tsan.supp' halt_on_error=1 second_deadlock_stack=1"
    "LSAN_OPTIONS=suppressions='${PROJECT_SOURCE_DIR}/tests/support/lsan.supp' print_suppressions=0")
if(UMBEL_SANITIZE)
  # UCX's hooks on memory calls run in a thread's last moments, when ThreadSanitizer is through with it: a crash
  list(APPEND UMBEL_TEST_ENVIRONMENT UCX_MEM_MMAP_HOOK_MODE=none)
endif()

# GoogleTest's macros are an if with an else.
set(UMBEL_TEST_OPTIONS "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-dangling-else>"
    "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>")  # for ccache

# GoogleTest's headers, precompiled once: the greater part of the time that a test takes to compile.
if(NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
  file(WRITE "${CMAKE_BINARY_DIR}/tests/precompiled.cpp" "int main() {}\n")
  add_executable(umbel_precompiled_tests EXCLUDE_FROM_ALL "${CMAKE_BINARY_DIR}/tests/precompiled.cpp")
  target_precompile_headers(umbel_precompiled_tests PRIVATE <gmock/gmock.h> <gtest/gtest.h> <map> <string> <vector>)
  target_link_libraries(umbel_precompiled_tests PRIVATE GTest::gtest GTest::gmock Threads::Threads umbel_warnings umbel_sanitizers
                        umbel_compiled_soon)
  target_compile_options(umbel_precompiled_tests PRIVATE ${UMBEL_TEST_OPTIONS})
endif()

function(umbel_register_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT;PROCESSORS" "LABELS;COMMAND;ENVIRONMENT")
  foreach(label IN LISTS arg_LABELS)
    if(NOT label IN_LIST UMBEL_TEST_LABELS)
      message(FATAL_ERROR "test ${name}: unknown label ${label}")
    endif()
  endforeach()
  if(NOT arg_LABELS)
    message(FATAL_ERROR "test ${name} has no label")
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 60)
  endif()
  if(NOT arg_PROCESSORS)
    set(arg_PROCESSORS 1)  # also for jobs of many ranks that wait more than they compute
  endif()
  math(EXPR timeout "${arg_TIMEOUT} * ${UMBEL_TEST_TIMEOUT_FACTOR}")
  add_test(NAME ${name} COMMAND ${arg_COMMAND})
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${timeout} PROCESSORS ${arg_PROCESSORS}
                       SKIP_RETURN_CODE 77 ENVIRONMENT "${UMBEL_TEST_ENVIRONMENT};${arg_ENVIRONMENT}")
  foreach(word IN LISTS arg_COMMAND)
    string(REGEX REPLACE "^\\$<TARGET_FILE:(.*)>$" "\\1" word "${word}")
    if(TARGET "${word}")
      foreach(label IN LISTS arg_LABELS)
        add_dependencies(umbel_tests_${label} ${word})
      endforeach()
    endif()
  endforeach()
  if("cluster" IN_LIST arg_LABELS)
    set_tests_properties(${name} PROPERTIES RESOURCE_LOCK umbel_cluster)
  endif()
endfunction()

# umbel_test(NAME name LABELS … SOURCES … LINKS … [RANKS n… | SHARDS n] [TIMEOUT s] [ENVIRONMENT A=b…] [NO_MAIN]
#            [ONE_THREAD])
#
# A GoogleTest program. With RANKS it runs under mpirun, once per number of ranks (tests NAME.1, NAME.2, …), and its
# main() starts MPI (tests/support/mpi_main.cpp). SHARDS: its cases are shared out to so many tests (NAME.0, …), which
# run side by side. NO_MAIN: the sources bring their own main(). ONE_THREAD: what it tests knows no threads; there is no
# such test under ThreadSanitizer, which would have nothing to look at.
function(umbel_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "NO_MAIN;ONE_THREAD" "NAME;TIMEOUT;SHARDS" "LABELS;SOURCES;LINKS;RANKS;ENVIRONMENT")
  if(arg_ONE_THREAD AND UMBEL_SANITIZE MATCHES "thread")
    return()
  endif()
  add_executable(${arg_NAME} ${arg_SOURCES})
  set_target_properties(${arg_NAME} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin/tests")
  if(arg_LABELS STREQUAL "long")
    set_target_properties(${arg_NAME} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
  if(TARGET umbel_precompiled_tests)
    target_precompile_headers(${arg_NAME} REUSE_FROM umbel_precompiled_tests)
  endif()
  target_include_directories(${arg_NAME} PRIVATE "${PROJECT_SOURCE_DIR}/tests")
  target_link_libraries(${arg_NAME} PRIVATE ${arg_LINKS} GTest::gtest GTest::gmock Threads::Threads umbel_warnings
                        umbel_sanitizers umbel_compiled_soon)
  target_compile_options(${arg_NAME} PRIVATE ${UMBEL_TEST_OPTIONS})
  if(arg_RANKS)
    target_link_libraries(${arg_NAME} PRIVATE umbel_dep::mpi)
  endif()
  if(NOT arg_NO_MAIN)
    if(arg_RANKS)
      target_sources(${arg_NAME} PRIVATE "${PROJECT_SOURCE_DIR}/tests/support/mpi_main.cpp")
    else()
      target_link_libraries(${arg_NAME} PRIVATE GTest::gmock_main)
    endif()
  endif()
  if(arg_SHARDS)
    math(EXPR last "${arg_SHARDS} - 1")
    foreach(shard RANGE ${last})
      umbel_register_test(${arg_NAME}.${shard} LABELS ${arg_LABELS} TIMEOUT ${arg_TIMEOUT} COMMAND ${arg_NAME}
                          ENVIRONMENT GTEST_TOTAL_SHARDS=${arg_SHARDS} GTEST_SHARD_INDEX=${shard} ${arg_ENVIRONMENT})
    endforeach()
    return()
  endif()
  if(NOT arg_RANKS)
    umbel_register_test(${arg_NAME} LABELS ${arg_LABELS} TIMEOUT ${arg_TIMEOUT} ENVIRONMENT ${arg_ENVIRONMENT}
                        COMMAND ${arg_NAME})
    return()
  endif()
  foreach(ranks IN LISTS arg_RANKS)
    umbel_register_test(${arg_NAME}.${ranks} LABELS ${arg_LABELS} TIMEOUT ${arg_TIMEOUT} PROCESSORS ${ranks}
                        ENVIRONMENT ${arg_ENVIRONMENT}
                        COMMAND "${MPIEXEC_EXECUTABLE}" -n ${ranks} "$<TARGET_FILE:${arg_NAME}>")
  endforeach()
endfunction()

# umbel_command_test(NAME name LABELS … COMMAND … [TIMEOUT s] [PROCESSORS n] [ENVIRONMENT A=b…])
#
# A command (usually a script) that passes by exit status 0 and skips by 77, its reason on the last line.
function(umbel_command_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;TIMEOUT;PROCESSORS" "LABELS;COMMAND;ENVIRONMENT")
  umbel_register_test(${arg_NAME} LABELS ${arg_LABELS} TIMEOUT ${arg_TIMEOUT} PROCESSORS ${arg_PROCESSORS}
                      ENVIRONMENT ${arg_ENVIRONMENT} COMMAND ${arg_COMMAND})
endfunction()
