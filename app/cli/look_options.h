// SPDX-License-Identifier: GPL-3.0-or-later
// Options of pictures from their description (views/map_look.h, views/curve_look.h).
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <vector>

#include "types/field.h"
#include "types/field_text.h"
#include "types/text_format.h"

namespace relascope::cli {

/// Declares an option of a picture, which sets the field of `look`.
template <class Look>
void declareLook(CLI::App& command, const Field<Look>& field, Look& look) {
    const auto& spec = field.spec;
    auto name = "--" + spec.name;
    std::replace(name.begin(), name.end(), '_', '-');
    if (spec.kind == FieldKind::Boolean) {
        command.add_flag_callback(
            name, [&field, &look] { field.set(look, true); }, spec.help);
        return;
    }
    if (spec.kind == FieldKind::TextList) {
        const auto take = [&field, &look, name](const std::vector<std::string>& texts) {
            core::checkFieldValue(name, field.spec, texts);
            field.set(look, texts);
        };
        command.add_option_function<std::vector<std::string>>(name, take, spec.help)
            ->delimiter(',')
            ->type_name(joined(spec.choices, ","));
        return;
    }
    const auto take = [&field, &look, name](const std::string& text) {
        field.set(look, core::parseFieldValue(name, field.spec, text));
    };
    auto* option = command.add_option_function<std::string>(name, take, spec.help);
    constexpr std::size_t mostNamed = 8;  // longer lists stand in the error message alone
    const bool many = spec.choices.size() > mostNamed;
    option->type_name(!spec.choices.empty() && !many         ? joined(spec.choices, "|")
                      : many || spec.kind == FieldKind::Text ? "TEXT"
                      : spec.kind == FieldKind::Real         ? "FLOAT"
                      : spec.kind == FieldKind::IntegerList  ? "INT,..."
                                                             : "INT");
}

}  // namespace relascope::cli
