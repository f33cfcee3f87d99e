# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Umbel authors

# What the presets choose, and the two interface targets that carry it:
#   umbel_warnings    compiler warnings (errors with UMBEL_WERROR); for our own sources only
#   umbel_sanitizers  -fsanitize=…, on compile and link lines of everything that uses a layer
# A third makes compiling faster, for code that need not be fast itself:
#   umbel_compiled_soon  for tests, and programs that read a command line and print; to be linked last

option(UMBEL_WERROR "Treat warnings as errors" OFF)
option(UMBEL_TESTS "Build the tests" ON)
set(UMBEL_SANITIZE "" CACHE STRING "Sanitizers, comma-separated: address,undefined or thread")
set(UMBEL_CUDA "AUTO" CACHE STRING "Compile the CUDA folders: AUTO (where nvcc is found), ON or OFF")
set_property(CACHE UMBEL_CUDA PROPERTY STRINGS AUTO ON OFF)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

add_library(umbel_warnings INTERFACE)
set(warnings -Wall -Wextra -Wshadow -Wconversion -Wpedantic -Wnon-virtual-dtor -Woverloaded-virtual)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  list(APPEND warnings -Wno-restrict)  # false alarms in std::string: GCC bug 105651
endif()
if(UMBEL_WERROR)
  list(APPEND warnings -Werror)
endif()
target_compile_options(umbel_warnings INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${warnings}>")

add_library(umbel_sanitizers INTERFACE)
if(UMBEL_SANITIZE)
  set(sanitize "-fsanitize=${UMBEL_SANITIZE}" -fno-omit-frame-pointer)
  if(UMBEL_SANITIZE MATCHES "undefined")
    list(APPEND sanitize -fno-sanitize-recover=undefined)
    if(UMBEL_SANITIZE MATCHES "address")  # sees most of what these would, and they take 7 to 25 % of the time to compile
      list(APPEND sanitize -fno-sanitize=null,object-size,vptr)
    endif()
  endif()
  target_compile_options(umbel_sanitizers INTERFACE "$<$<COMPILE_LANGUAGE:C,CXX>:${sanitize}>")
  target_link_options(umbel_sanitizers INTERFACE "-fsanitize=${UMBEL_SANITIZE}")
  if(UMBEL_SANITIZE MATCHES "thread")
    # fences are not modelled by ThreadSanitizer; g++ says so for each one
    target_compile_options(umbel_sanitizers INTERFACE "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-tsan>")
  endif()
endif()

if(UMBEL_SANITIZE MATCHES "undefined")
  set(UMBEL_COMPILED_SOON -O0 -fno-sanitize=null,alignment,object-size,pointer-overflow)
elseif(NOT UMBEL_SANITIZE)  # what ThreadSanitizer makes slow must not be slower
  set(UMBEL_COMPILED_SOON "$<$<CONFIG:Release>:-O1>")
endif()
set(UMBEL_COMPILED_SOON "$<$<COMPILE_LANG_AND_ID:CXX,GNU,Clang>:${UMBEL_COMPILED_SOON}>")
add_library(umbel_compiled_soon INTERFACE)
target_compile_options(umbel_compiled_soon INTERFACE "${UMBEL_COMPILED_SOON}")

set(UMBEL_HAVE_CUDA OFF)
if(NOT UMBEL_CUDA STREQUAL "OFF")
  if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
    find_program(UMBEL_NVCC nvcc HINTS "$ENV{CUDA_HOME}/bin" /usr/local/cuda/bin)
    mark_as_advanced(UMBEL_NVCC)
    if(UMBEL_NVCC)
      set(CMAKE_CUDA_COMPILER "${UMBEL_NVCC}")
    endif()
  endif()
  if(NOT CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 90 CACHE STRING "GPU architectures")
  endif()
  if(CMAKE_CUDA_COMPILER OR DEFINED ENV{CUDACXX} OR UMBEL_CUDA STREQUAL "ON")
    enable_language(CUDA)
    find_package(CUDAToolkit REQUIRED)
    if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25 does not know nvcc's flag
      set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
      set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
    endif()
    set(UMBEL_HAVE_CUDA ON)
  endif()
endif()
