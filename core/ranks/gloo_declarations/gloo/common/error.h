// SPDX-License-Identifier: GPL-3.0-or-later
// See gloo/algorithm.h.
#pragma once
