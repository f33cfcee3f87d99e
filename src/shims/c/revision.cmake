# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Umbel authors

# Run at every build: writes OUTPUT with the revision of SOURCE, and touches it only when that has changed.
set(revision unknown)
find_program(GIT git)
if(GIT)
  # --show-prefix is empty at the top of a checkout only: a copy inside somebody else's repository is no checkout of ours
  execute_process(COMMAND "${GIT}" rev-parse --show-prefix WORKING_DIRECTORY "${SOURCE}" OUTPUT_VARIABLE prefix
                  RESULT_VARIABLE failed ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT failed AND prefix STREQUAL "")
    execute_process(COMMAND "${GIT}" describe --always --dirty --abbrev=12 --exclude=* WORKING_DIRECTORY "${SOURCE}"
                    OUTPUT_VARIABLE described RESULT_VARIABLE failed ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(NOT failed AND described)
      set(revision "${described}")
    endif()
  endif()
endif()
set(text "#define UMBEL_REVISION \"${revision}\"\n")
set(old "")
if(EXISTS "${OUTPUT}")
  file(READ "${OUTPUT}" old)
endif()
if(NOT old STREQUAL text)
  file(WRITE "${OUTPUT}" "${text}")
endif()
