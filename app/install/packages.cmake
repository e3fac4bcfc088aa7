# SPDX-License-Identifier: GPL-3.0-or-later
# Two Debian packages (`cmake --build build --target package`, or app/package.sh): relascope-cli, without Qt, for servers,
# and relascope, the window, which needs it. LibTorch's libraries for the CPU are inside; its CUDA library is found at run
# time where the user has it (core/train/find_cuda.h).
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME relascope)
set(CPACK_PACKAGE_VENDOR "The Relascope contributors")
set(CPACK_PACKAGE_CONTACT "The Relascope contributors <maintainers@relascope.invalid>")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # each package has its own, the first line of its description
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/packages)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE gzip)  # xz is a third smaller and takes six times as long

set(CPACK_COMPONENTS_ALL cli)
if(RELASCOPE_GUI)
  list(APPEND CPACK_COMPONENTS_ALL window)
endif()
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER ${CPACK_PACKAGE_CONTACT})
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Of the libraries that are in the packages or found at run time no package is asked for.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${RELASCOPE_TORCH_DIR}/lib ${nvidia_libraries})

set(CPACK_DEBIAN_CLI_PACKAGE_NAME relascope-cli)
set(CPACK_DEBIAN_CLI_DESCRIPTION "train relational Transformers from the command line
Trains Dual Attention Transformers, the Abstractor and their baselines on the
experiments of the papers and on text, in one process or several; measures,
probes and edits them, and generates text.

LibTorch for the CPU is included. On an NVIDIA GPU the program uses the CUDA
library of LibTorch that the user has installed with pip.")
set(CPACK_DEBIAN_CLI_PACKAGE_RECOMMENDS "dataset-fashion-mnist")
set(CPACK_DEBIAN_CLI_PACKAGE_SUGGESTS "relascope, python3-numpy")

set(CPACK_DEBIAN_WINDOW_PACKAGE_NAME relascope)
set(CPACK_DEBIAN_WINDOW_DESCRIPTION "train relational Transformers and look inside them
Trains Dual Attention Transformers, the Abstractor and their baselines, plots
the curves as they grow, and shows the relations between image patches, tokens
and objects, signed and exact, at any step of training. Opens published
checkpoints, verifies and probes them, and generates text with them.")
# libqt6svg6 has the plugin that reads the icons, which no library names; the fonts are those of the design.
set(CPACK_DEBIAN_WINDOW_PACKAGE_DEPENDS
    "relascope-cli (= ${PROJECT_VERSION}-1), libqt6svg6, fonts-inter, fonts-jetbrains-mono")
set(CPACK_DEBIAN_WINDOW_PACKAGE_RECOMMENDS "qt6-wayland, fonts-noto-core, fonts-dejavu-core")

# The date of the release, for the change log of the packages.
string(REGEX MATCH "\n## ${PROJECT_VERSION} [(]([0-9-]+)" ignored "${changes}")
set(CPACK_RELASCOPE_DATE "${CMAKE_MATCH_1}")
set(CPACK_RELASCOPE_SOURCE ${CMAKE_SOURCE_DIR})
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_SOURCE_DIR}/debian_documents.cmake)
include(CPack)
