# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Umbel authors

# umbel_layer(NAME [FOLDER folder] DEPENDS … SOURCES … HEADERS … LINKS …)
#
# A library for one folder of src. Headers are included by folder ("base/program.hpp"); a layer sees its own folder and
# those of the layers in DEPENDS, nothing else, so an include that goes against the order of layers does not compile.
# The include folder of a layer holds a single symbolic link to its source folder.
function(umbel_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "FOLDER" "DEPENDS;SOURCES;HEADERS;LINKS")
  if(NOT arg_FOLDER)
    set(arg_FOLDER "${name}")
  endif()
  set(root "${CMAKE_BINARY_DIR}/include/${name}")
  get_filename_component(parent "${root}/${arg_FOLDER}" DIRECTORY)
  file(MAKE_DIRECTORY "${parent}")
  if(NOT EXISTS "${root}/${arg_FOLDER}")
    file(CREATE_LINK "${PROJECT_SOURCE_DIR}/src/${arg_FOLDER}" "${root}/${arg_FOLDER}" SYMBOLIC)
  endif()
  add_library(umbel_${name} STATIC ${arg_SOURCES})
  add_library(umbel::${name} ALIAS umbel_${name})
  target_include_directories(umbel_${name} PUBLIC "${root}")
  foreach(layer IN LISTS arg_DEPENDS)
    target_link_libraries(umbel_${name} PUBLIC umbel::${layer})
  endforeach()
  target_link_libraries(umbel_${name} PUBLIC ${arg_LINKS} umbel_sanitizers PRIVATE umbel_warnings)
  if(UMBEL_SANITIZE)  # for time only; the other presets see to it that each source includes what it needs
    target_precompile_headers(umbel_${name} PRIVATE <algorithm> <functional> <map> <memory> <optional> <string> <vector>
                              <fmt/format.h>)
    target_compile_options(umbel_${name} PRIVATE "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>")  # for ccache
  endif()
  if(arg_HEADERS)
    # Each header compiles by itself: one with a source of its own is the first that this includes (scripts/lint looks),
    # the others are compiled alone.
    set(with_source)
    set(alone)
    foreach(header IN LISTS arg_HEADERS)
      string(REGEX REPLACE "hpp$" "cpp" source "${header}")
      if("${source}" IN_LIST arg_SOURCES)
        list(APPEND with_source "${root}/${arg_FOLDER}/${header}")
      else()
        list(APPEND alone "${root}/${arg_FOLDER}/${header}")
      endif()
    endforeach()
    target_sources(umbel_${name} PUBLIC FILE_SET with_source TYPE HEADERS BASE_DIRS "${root}" FILES ${with_source}
                                        FILE_SET alone TYPE HEADERS BASE_DIRS "${root}" FILES ${alone})
    set_target_properties(umbel_${name} PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON INTERFACE_HEADER_SETS_TO_VERIFY alone)
  endif()
endfunction()

# umbel_program(NAME SOURCES … LINKS …): a program in build/PRESET/bin.
function(umbel_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINKS")
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LINKS} umbel_warnings umbel_sanitizers)
endfunction()
