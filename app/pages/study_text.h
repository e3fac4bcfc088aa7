// SPDX-License-Identifier: GPL-3.0-or-later
// Parsers for the text fields of the New study dialog, with error messages.
#pragma once

#include <QString>
#include <QStringList>
#include <cstdint>
#include <utility>
#include <vector>

namespace relascope::app {

/// "250, 500, 1000", "250..2500 step 250", or both; sorted, without duplicates. On an error the
/// list is empty and `error` names the invalid part.
std::vector<std::int64_t> parseSizes(const QString& text, QString* error);

/// "1, 2, 4" or "[8], [16, 16]": commas within brackets do not separate values.
QStringList parseValues(const QString& text);

/// Why a name cannot be a folder name; empty if it can.
QString nameProblem(const QString& name);

}  // namespace relascope::app
