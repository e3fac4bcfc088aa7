// SPDX-License-Identifier: GPL-3.0-or-later
// Opens text; core/data reads it.
#include "data/text.h"

#include "datasets/registry.h"

namespace relascope::datasets {
namespace {

const KindOpenerRegistrar registered("text", {core::openText});

}  // namespace
}  // namespace relascope::datasets
