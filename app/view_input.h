// SPDX-License-Identifier: GPL-3.0-or-later
// The input that a view names, and whether the window shows it.
#pragma once

#include <QString>
#include <optional>
#include <string>
#include <variant>

#include "app/controllers/inspection.h"
#include "types/view.h"

namespace relascope::app {

/// The option of that name; null where it is not there, or of another kind.
template <class Value>
const Value* optionOf(const View& view, const char* name) {
    const auto* value = view.option(name);
    return value ? std::get_if<Value>(value) : nullptr;
}

/// The input that a view chooses: options, or the words of "--clean".
struct ChosenInput {
    std::optional<InputRequest> own;
    QString split;
    std::int64_t sample = -1;
};

ChosenInput chosenInput(const View& view);

/// Whether that is asked for; of a text the words are compared with what was read.
bool isSameInput(const InputRequest& asked, const InputRequest& wanted);

/// Why the window would show something else than the view names; empty: it would not.
std::string unshown(const View& view);

}  // namespace relascope::app
