// SPDX-License-Identifier: GPL-3.0-or-later
// Field values as people type them, and back.
#pragma once

#include <QString>
#include <variant>

#include "types/field.h"

namespace relascope::widgets {

/// "1e-3", "0.10" as typed short: integers plain, reals in the shortest exact form (small and large
/// ones in scientific notation), lists "0, 1", booleans "on" or "off".
QString fieldText(const FieldValue& value, FieldKind kind);

/// The same as a form shows it: nothing for an automatic 0, which automaticText() then describes.
QString shownText(const FieldValue& value, const FieldState& state);
/// "automatic (2)"; empty where 0 is a value like any other.
QString automaticText(const FieldState& state);

/// The preset's value: "0.10", "automatic (2)".
QString presetText(const FieldState& state);

/// Why a text is no value of the field.
struct FieldError {
    enum class Reason { Empty, NotANumber, NotWhole, TooSmall, TooLarge, UnknownChoice };
    Reason reason;
    QString sentence;  ///< names the bound that was broken
};

/// Reads a text for that field: reals take 1e-3 and 0.001, booleans on/off and true/false.
std::variant<FieldValue, FieldError> parseField(const QString& text, const FieldSpec& spec);
/// The inverse of shownText().
std::variant<FieldValue, FieldError> parseShown(const QString& text, const FieldState& state);

}  // namespace relascope::widgets
