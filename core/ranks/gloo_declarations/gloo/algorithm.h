// SPDX-License-Identifier: GPL-3.0-or-later
// LibTorch's wheel has gloo inside libtorch_cpu, and c10d's headers, which include gloo's, but not
// those. The files of this folder declare what c10d/ProcessGroupGloo.hpp names, no more: they are
// seen by gloo_communicator.cpp alone. Nothing of them is defined or called here.
#pragma once
