// SPDX-License-Identifier: GPL-3.0-or-later
// The option of an analysis of a map that asks about a fitted relation in its place.
#pragma once

#include <string>

#include "types/field.h"

namespace relascope::core {

/// `besides`: what an analysis says of it besides.
template <class Options>
Field<Options> relationField(std::string Options::*member, const std::string& besides = {}) {
    return fields::path(fields::text(member, "relation", "Fitted relation",
                                     "file of a fitted relation (fit-relation --save), in place of "
                                     "--layer, --kind and --index" +
                                         besides));
}

}  // namespace relascope::core
