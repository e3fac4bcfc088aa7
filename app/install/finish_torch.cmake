# SPDX-License-Identifier: GPL-3.0-or-later
# Run by cmake --install, after LibTorch's libraries are copied: they look for each other in their own folder alone, not
# among the wheels of NVIDIA, and symbols that only debuggers read (93 MB) are taken out.
cmake_minimum_required(VERSION 3.25)
foreach(name IN LISTS names)
  set(file "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/lib/relascope/${name}")
  file(CHMOD "${file}" PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
  if(strip)
    execute_process(COMMAND "${strip}" --strip-unneeded "${file}" COMMAND_ERROR_IS_FATAL ANY)
  endif()
  unset(folders)  # a file without any leaves it as it is
  file(READ_ELF "${file}" RPATH folders)
  if(folders)
    file(RPATH_SET FILE "${file}" NEW_RPATH "$ORIGIN")
  endif()
endforeach()
