# SPDX-License-Identifier: GPL-3.0-or-later
# LibTorch as hand-written imported targets: the wheel's own CMake files insist on a CUDA toolkit.
# Found through RELASCOPE_TORCH_ROOT (the folder .../site-packages/torch), else the project's .venv.
set(RELASCOPE_TORCH_ROOT "" CACHE PATH "The torch folder inside a site-packages; empty: the project's .venv")
set(RELASCOPE_TORCH_VERSION 2.11.0 CACHE INTERNAL "")

set(torch_root "${RELASCOPE_TORCH_ROOT}")
if(NOT torch_root)
  file(GLOB torch_candidates ${CMAKE_SOURCE_DIR}/.venv/lib/python3*/site-packages/torch)
  if(torch_candidates)
    list(GET torch_candidates 0 torch_root)
  endif()
endif()
if(NOT EXISTS "${torch_root}/lib/libtorch_cpu.so")
  message(FATAL_ERROR "LibTorch was not found in '${torch_root}'. Run app/setup.sh, or set "
                      "RELASCOPE_TORCH_ROOT to the torch folder of a site-packages with torch ${RELASCOPE_TORCH_VERSION}.")
endif()
file(STRINGS "${torch_root}/version.py" torch_version_line REGEX "^__version__")
if(NOT torch_version_line MATCHES "'${RELASCOPE_TORCH_VERSION}[+']")
  message(FATAL_ERROR "LibTorch in '${torch_root}' is not ${RELASCOPE_TORCH_VERSION}: ${torch_version_line}")
endif()
set(RELASCOPE_TORCH_DIR "${torch_root}" CACHE INTERNAL "")
# What another LibTorch must equal for its CUDA library to fit this one (train/find_cuda.h).
file(STRINGS "${torch_root}/version.py" torch_build_lines REGEX "^(__version__|cuda|git_version)")
set(torch_build "")
foreach(line ${torch_build_lines})
  string(REGEX REPLACE "^.*= *'?([^']*)'?$" "\\1" line "${line}")
  list(APPEND torch_build "${line}")
endforeach()
list(JOIN torch_build " " RELASCOPE_TORCH_BUILD)
message(STATUS "LibTorch ${RELASCOPE_TORCH_VERSION}: ${torch_root}")

foreach(lib c10 torch_cpu)
  add_library(torch_${lib} SHARED IMPORTED GLOBAL)
  set_target_properties(torch_${lib} PROPERTIES
    IMPORTED_LOCATION "${torch_root}/lib/lib${lib}.so"
    INTERFACE_INCLUDE_DIRECTORIES "${torch_root}/include;${torch_root}/include/torch/csrc/api/include")
endforeach()

# The OpenMP runtime that LibTorch brings, where its wheel has one: a program is to have one of them.
file(GLOB torch_gomp_file "${torch_root}/lib/libgomp*.so*")
add_library(torch_gomp INTERFACE)
target_link_libraries(torch_gomp INTERFACE $<IF:$<BOOL:${torch_gomp_file}>,${torch_gomp_file},gomp>)

# As an object file: the linker would leave a library's copy out.
add_library(openmp_wait OBJECT startup/openmp_wait.cpp)
target_link_libraries(openmp_wait PRIVATE relascope_flags)
add_library(keep_memory OBJECT startup/keep_memory.cpp)
target_link_libraries(keep_memory PRIVATE relascope_flags)

# Every program that holds torch code bounds OpenMP's busy-waiting (startup/openmp_wait.cpp), keeps
# released memory (startup/keep_memory.cpp), and names libtorch_cpu as its first needed library, so that its BLAS is found before any other that Qt
# or OpenCV may bring (breadth-first lookup).
function(relascope_link_torch_first target)
  if(NOT RELASCOPE_SANITIZE)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:openmp_wait> $<TARGET_OBJECTS:keep_memory>)
  endif()
  target_link_options(${target} PRIVATE
    -Wl,--no-as-needed,${RELASCOPE_TORCH_DIR}/lib/libtorch_cpu.so,--as-needed -Wl,--allow-shlib-undefined
    # DT_RPATH, which comes before LD_LIBRARY_PATH: that may hold the libraries of another LibTorch.
    -Wl,--disable-new-dtags)
  set_target_properties(${target} PROPERTIES BUILD_RPATH "${RELASCOPE_TORCH_DIR}/lib"
                        INSTALL_RPATH "$ORIGIN/../lib/relascope")
endfunction()

# Whether a source sees LibTorch, through the headers of this project that it includes. Loading the precompiled header
# costs a file 4 s, since GCC instantiates what the header left open once more in each: those that never see it skip it.
function(relascope_sees_torch result file)
  get_property(known GLOBAL PROPERTY "RELASCOPE_SEES_TORCH_${file}" SET)
  if(NOT known)
    set_property(GLOBAL PROPERTY "RELASCOPE_SEES_TORCH_${file}" FALSE)  # until it is found; headers may include each other
    file(STRINGS ${file} lines REGEX "^#include ([<\"])")
    set(sees FALSE)
    if(lines MATCHES "#include <(torch|ATen|c10)/")
      set(sees TRUE)
    else()
      cmake_path(GET file PARENT_PATH folder)
      foreach(line ${lines})
        if(NOT sees AND line MATCHES "#include \"([^\"]+)\"")
          foreach(root ${CMAKE_SOURCE_DIR}/core ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/tests ${folder})
            if(EXISTS ${root}/${CMAKE_MATCH_1})
              relascope_sees_torch(sees ${root}/${CMAKE_MATCH_1})
              break()
            endif()
          endforeach()
        endif()
      endforeach()
    endif()
    set_property(GLOBAL PROPERTY "RELASCOPE_SEES_TORCH_${file}" ${sees})
  endif()
  get_property(sees GLOBAL PROPERTY "RELASCOPE_SEES_TORCH_${file}")
  set(${result} ${sees} PARENT_SCOPE)
endfunction()

# LibTorch's headers for the sources of a target, precompiled once for the project: the core of them, since all that a
# precompiled header brings costs every file that uses it. core_model_objects compiles it; a program of tests, which is
# compiled with other options, one of its own, with the further headers that are named.
function(relascope_precompile_torch target)
  if(target STREQUAL core_model_objects OR ARGN)
    target_precompile_headers(${target} PRIVATE ${ARGN} <torch/types.h> <torch/utils.h> <torch/nn/module.h> <torch/nn/pimpl.h>)
  else()
    target_precompile_headers(${target} REUSE_FROM core_model_objects)
  endif()
  get_target_property(sources ${target} SOURCES)
  foreach(source ${sources})
    cmake_path(ABSOLUTE_PATH source)
    relascope_sees_torch(sees ${source})
    if(NOT sees)
      set_source_files_properties(${source} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
    endif()
  endforeach()
endfunction()
