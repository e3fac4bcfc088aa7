# SPDX-License-Identifier: GPL-3.0-or-later
# Writes OUT, the source of kCommit (commit.h), unless it is the same already: nothing is compiled then.
# cmake -DSOURCE=folder -DOUT=file [-DCOMMIT=text] [-DGIT=program] -P commit.cmake
# COMMIT, or RELASCOPE_COMMIT in the environment, is taken as it is: for packages, which are built without .git.
set(hash "${COMMIT}")
if(NOT hash)
  set(hash "$ENV{RELASCOPE_COMMIT}")
endif()
set(date "")
set(modified false)
if(NOT hash AND GIT)
  # No lock is taken, so that a build never stands in the way of git. Another user (root, in a container) may build.
  set(git ${GIT} --no-optional-locks -c safe.directory=${SOURCE} -C ${SOURCE})
  execute_process(COMMAND ${git} rev-parse --show-toplevel OUTPUT_VARIABLE top OUTPUT_STRIP_TRAILING_WHITESPACE
                  ERROR_QUIET RESULT_VARIABLE failed)
  # An archive that was unpacked within another repository has no commit.
  file(REAL_PATH "${SOURCE}" source)
  if(NOT failed AND top STREQUAL source)
    execute_process(COMMAND ${git} log -1 --format=%h/%cs OUTPUT_VARIABLE line OUTPUT_STRIP_TRAILING_WHITESPACE
                    ERROR_QUIET RESULT_VARIABLE failed)
    if(NOT failed AND line MATCHES "^([0-9a-f]+)/([0-9-]+)$")
      set(hash "${CMAKE_MATCH_1}")
      set(date "${CMAKE_MATCH_2}")
      execute_process(COMMAND ${git} status --porcelain --untracked-files=no OUTPUT_VARIABLE changes ERROR_QUIET)
      if(changes)
        set(modified true)
      endif()
    endif()
  endif()
endif()
if(NOT hash)
  set(hash "unknown")
endif()
string(REGEX REPLACE "[\"\\\\\n\r]" "" hash "${hash}")
set(text "#include \"app/cli/build_facts.h\"\n\nconst relascope::cli::Commit relascope::cli::kCommit = {\"${hash}\", \"${date}\", ${modified}};\n")
set(before "")
if(EXISTS "${OUT}")
  file(READ "${OUT}" before)
endif()
if(NOT before STREQUAL text)
  file(WRITE "${OUT}" "${text}")
endif()
