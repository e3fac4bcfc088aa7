// SPDX-License-Identifier: GPL-3.0-or-later
// The Emergent Symbol Binding Network (Webb, Sinha and Cohen 2021, algorithm 1): a controller that
// never gets the objects, only the keys bound to them, which are retrieved by similarity of
// objects.
#pragma once

#include <cstdint>

#include "types/option_groups.h"

namespace relascope::core {

struct EsbnOptions : StreamOptions, ImageInput {
    std::int64_t controller = 512;  // width of the LSTM
    std::int64_t key_dim = 256;     // width of its keys
    bool context_norm = true;       // objects are normalised over the objects of their problem

    bool operator==(const EsbnOptions&) const = default;
};

}  // namespace relascope::core
