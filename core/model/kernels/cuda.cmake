# SPDX-License-Identifier: GPL-3.0-or-later
# The CUDA kernels as the library librelascope_cuda.so, which the program opens at run time (plugin.h) and never
# links. nvcc is called by plain commands: CMake's CUDA language asks for a toolkit's folders, which the wheels lack.
set(RELASCOPE_CUDA AUTO CACHE STRING "The CUDA kernels: AUTO (if nvcc is found), ON (an error if it is not) or OFF")
set_property(CACHE RELASCOPE_CUDA PROPERTY STRINGS AUTO ON OFF)

set(RELASCOPE_CUDA_ARCHITECTURES AUTO CACHE STRING
    "Compute capabilities that the kernels are compiled for: ALL, a list such as 80;90, or AUTO: those of the GPUs of this machine; ALL with the tests and where no GPU is found")
# Turing, A100, other Ampere, Ada, Hopper, Blackwell. tests/cuda_build.py asks for the same list. Later devices compile
# the code for cuda_forward themselves.
set(cuda_all 75 80 86 89 90 120)
set(cuda_forward 90)
set(cuda_architectures ${RELASCOPE_CUDA_ARCHITECTURES})
if(cuda_architectures STREQUAL AUTO)
  set(cuda_architectures ALL)
  if(NOT RELASCOPE_TESTS)
    execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
                    OUTPUT_VARIABLE capabilities ERROR_QUIET RESULT_VARIABLE code)
    string(REGEX MATCHALL "[0-9]+[.][0-9]+" capabilities "${capabilities}")
    if(code EQUAL 0 AND capabilities)
      string(REPLACE "." "" cuda_architectures "${capabilities}")
      list(REMOVE_DUPLICATES cuda_architectures)
    endif()
  endif()
endif()
if(cuda_architectures STREQUAL ALL)
  set(cuda_architectures ${cuda_all})
endif()
# The runtime library is the one that LibTorch brings: its major version decides.
set(cuda_major 13)
get_filename_component(cuda_wheels "${RELASCOPE_TORCH_DIR}/../nvidia/cu${cuda_major}" ABSOLUTE)
set(cudart "${cuda_wheels}/lib/libcudart.so.${cuda_major}")

# Sets RELASCOPE_NVCC, cuda_version and cuda_include, or cuda_problem: why the kernels are not compiled.
function(relascope_find_nvcc)
  # An nvcc that app/setup.sh installs later is noticed by the next build.
  file(GLOB nvcc_of_wheels CONFIGURE_DEPENDS "${cuda_wheels}/bin/nvcc")
  if(NOT EXISTS "${RELASCOPE_NVCC}")
    unset(RELASCOPE_NVCC CACHE)
  endif()
  find_program(RELASCOPE_NVCC nvcc PATHS "${cuda_wheels}/bin" "$ENV{CUDA_HOME}/bin" NO_DEFAULT_PATH
               DOC "The CUDA compiler")
  find_program(RELASCOPE_NVCC nvcc)
  set(problem "")
  set(include "")
  if(NOT RELASCOPE_NVCC)
    set(problem "nvcc was not found in '${cuda_wheels}/bin', CUDA_HOME or PATH; RELASCOPE_CUDA=ON bash app/setup.sh installs it")
  else()
    execute_process(COMMAND "${RELASCOPE_NVCC}" --version OUTPUT_VARIABLE version ERROR_VARIABLE version)
    # Where its headers are it says itself: on the PATH there may be a script in its place.
    execute_process(COMMAND "${RELASCOPE_NVCC}" --dryrun -x cu -c /dev/null -o /dev/null OUTPUT_VARIABLE steps ERROR_VARIABLE steps)
    if(steps MATCHES "INCLUDES=\"-I([^\"]+)\"")
      get_filename_component(include "${CMAKE_MATCH_1}" ABSOLUTE)
    endif()
    if(NOT version MATCHES "release ${cuda_major}[.]")
      set(problem "'${RELASCOPE_NVCC}' is not of CUDA ${cuda_major}, which LibTorch ${RELASCOPE_TORCH_VERSION} uses; RELASCOPE_CUDA=ON bash app/setup.sh installs one that is, RELASCOPE_NVCC names it")
    elseif(NOT EXISTS "${include}/crt/host_config.h")
      set(problem "the headers of '${RELASCOPE_NVCC}' were not found beside it; install CUDA's development files")
    elseif(NOT EXISTS "${cudart}")
      set(problem "LibTorch lacks '${cudart}'; app/setup.sh installs it")
    endif()
  endif()
  string(REGEX MATCH "V[0-9.]+[0-9]" version "${version}")
  set(cuda_version "${version}" PARENT_SCOPE)
  set(cuda_include "${include}" PARENT_SCOPE)
  set(cuda_problem "${problem}" PARENT_SCOPE)
endfunction()

# Compiles a .cu file for every architecture; what ptxas says of registers and spills stays in NAME.log.
function(relascope_compile_cuda source object)
  get_filename_component(name "${source}" NAME_WE)
  set(output "${CMAKE_CURRENT_BINARY_DIR}/kernels/${name}.o")
  set(log "${CMAKE_CURRENT_BINARY_DIR}/kernels/${name}.log")
  set(targets "")
  foreach(architecture ${cuda_architectures})
    list(APPEND targets -gencode=arch=compute_${architecture},code=sm_${architecture})
  endforeach()
  list(APPEND targets -gencode=arch=compute_${cuda_forward},code=compute_${cuda_forward})
  # Ninja runs a compiler for each core already; on a large machine there are fewer files than cores.
  cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
  math(EXPR threads "${cores} / 4")
  if(threads LESS 1)
    set(threads 1)
  elseif(threads GREATER 4)
    set(threads 4)
  endif()
  set(launcher ${CMAKE_CXX_COMPILER_LAUNCHER})
  if(launcher MATCHES "ccache")
    # By content: a wheel's files are as old as their installation.
    list(INSERT launcher 3 CCACHE_COMPILERCHECK=content)
  endif()
  # --compress-mode=size: a quarter of the size; drivers of this CUDA version unpack it.
  add_custom_command(OUTPUT "${output}" BYPRODUCTS "${log}" DEPENDS "${source}" "${RELASCOPE_NVCC}" DEPFILE "${output}.d"
    COMMAND sh -c "log=$1; shift; \"$@\" >\"$log\" 2>&1 || { cat \"$log\"; exit 1; }" sh "${log}"
            ${launcher} "${RELASCOPE_NVCC}" -ccbin=${CMAKE_CXX_COMPILER} -std=c++20 -O3 -DNDEBUG "-I${CMAKE_CURRENT_SOURCE_DIR}"
            -Xcompiler=-fPIC,-fvisibility=hidden,-Wall,-Wextra,-Werror -Werror=all-warnings --ptxas-options=-v ${targets}
            --compress-mode=size --threads=${threads} -c "${source}" -o "${output}" -MMD -MF "${output}.d"
    COMMENT "Compiling CUDA kernels ${name}.cu" VERBATIM)
  set(${object} "${output}" PARENT_SCOPE)
endfunction()

if(RELASCOPE_CUDA STREQUAL OFF)
  set(cuda_problem "RELASCOPE_CUDA is OFF")
elseif(RELASCOPE_SANITIZE)
  set(cuda_problem "RELASCOPE_SANITIZE is ${RELASCOPE_SANITIZE}: nvcc knows no sanitizer")
else()
  relascope_find_nvcc()
  if(cuda_problem AND NOT RELASCOPE_CUDA STREQUAL AUTO)
    message(FATAL_ERROR "RELASCOPE_CUDA is ${RELASCOPE_CUDA}, but ${cuda_problem}.")
  endif()
endif()

# For tests/cuda_build.py: the reason, or the compiler and the names of the files.
file(GLOB cuda_sources CONFIGURE_DEPENDS model/kernels/*.cu)
set(cuda_names "")
foreach(source ${cuda_sources})
  get_filename_component(name "${source}" NAME_WE)
  list(APPEND cuda_names ${name})
endforeach()
list(JOIN cuda_names " " cuda_names)
if(cuda_problem)
  file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/cuda.txt" "not compiled: ${cuda_problem}\n")
  message(STATUS "CUDA kernels: not compiled: ${cuda_problem}")
  # One of an earlier configuration would be opened still.
  file(REMOVE "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/librelascope_cuda.so")
  return()
endif()
file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/cuda.txt" "compiled by ${cuda_version}: ${cuda_names}\n")
list(JOIN cuda_architectures ", " cuda_names)
message(STATUS "CUDA kernels: ${RELASCOPE_NVCC} for compute capability ${cuda_names}")

set(cuda_objects "")
foreach(source ${cuda_sources})
  relascope_compile_cuda("${source}" object)
  list(APPEND cuda_objects "${object}")
endforeach()
add_library(relascope_cuda MODULE model/kernels/exported_table.cpp ${cuda_objects})
set_source_files_properties(${cuda_objects} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
# Beside the programs: there they look for it.
set_target_properties(relascope_cuda PROPERTIES CXX_VISIBILITY_PRESET hidden
                      LIBRARY_OUTPUT_DIRECTORY "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
target_include_directories(relascope_cuda PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_include_directories(relascope_cuda SYSTEM PRIVATE "${cuda_include}")
# By its path, for want of a libcudart.so among the wheels; in the program LibTorch has loaded it before.
target_link_libraries(relascope_cuda PRIVATE relascope_flags "${cudart}")
target_link_options(relascope_cuda PRIVATE -Wl,--as-needed $<$<CONFIG:Release,MinSizeRel>:-s>)
set_target_properties(relascope_cuda PROPERTIES SKIP_BUILD_RPATH ON)

# What needs LibTorch's CUDA library: plain C++, with the headers of CUDA's runtime.
add_library(relascope_cuda_graphs MODULE model/graph/cuda_graph.cpp)
set_target_properties(relascope_cuda_graphs PROPERTIES CXX_VISIBILITY_PRESET hidden SKIP_BUILD_RPATH ON
                      LIBRARY_OUTPUT_DIRECTORY "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
target_include_directories(relascope_cuda_graphs PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_include_directories(relascope_cuda_graphs SYSTEM PRIVATE "${cuda_include}")
target_link_libraries(relascope_cuda_graphs PRIVATE relascope_flags types torch_torch_cpu torch_c10
                      "${RELASCOPE_TORCH_DIR}/lib/libtorch_cuda.so" "${RELASCOPE_TORCH_DIR}/lib/libc10_cuda.so" "${cudart}")
target_link_options(relascope_cuda_graphs PRIVATE -Wl,--as-needed -Wl,-z,defs -Wl,--allow-shlib-undefined
                    $<$<CONFIG:Release,MinSizeRel>:-s>)
