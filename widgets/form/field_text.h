// SPDX-License-Identifier: GPL-3.0-or-later
// Conversion of field values to text and back.
#pragma once

#include <QString>
#include <variant>

#include "types/field.h"

namespace relascope::widgets {

/// "1e-3", "0.10" as typed short: integers plain, reals in the shortest exact form (small and large
/// ones in scientific notation), lists "0, 1", booleans "on" or "off".
QString fieldText(const FieldValue& value, FieldKind kind);

/// The text in a form: empty for an automatic 0, which automaticText() describes.
QString shownText(const FieldValue& value, const FieldState& state);
/// "automatic (2)"; empty if 0 has no special meaning.
QString automaticText(const FieldState& state);

/// The preset's value: "0.10", "automatic (2)".
QString presetText(const FieldState& state);

/// Why a text is not a valid value.
struct FieldError {
    enum class Reason { Empty, NotANumber, NotWhole, TooSmall, TooLarge, UnknownChoice };
    Reason reason;
    QString sentence;  ///< message with the violated bound
};

/// Parses a text: reals as 1e-3 or 0.001, booleans as on/off or true/false.
std::variant<FieldValue, FieldError> parseField(const QString& text, const FieldSpec& spec);
/// The inverse of shownText().
std::variant<FieldValue, FieldError> parseShown(const QString& text, const FieldState& state);

}  // namespace relascope::widgets
