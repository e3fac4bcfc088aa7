// SPDX-License-Identifier: GPL-3.0-or-later
// Texts of the New study dialog as values, each refused in words.
#pragma once

#include <QString>
#include <QStringList>
#include <cstdint>
#include <utility>
#include <vector>

namespace relascope::app {

/// "250, 500, 1000", "250..2500 step 250", or both; ascending, each once. On a mistake the list is
/// empty and `error` says which part it is.
std::vector<std::int64_t> parseSizes(const QString& text, QString* error);

/// "1, 2, 4" or "[8], [16, 16]": commas within brackets do not part values.
QStringList parseValues(const QString& text);

/// A name that can be a folder; empty, or a sentence.
QString nameProblem(const QString& name);

}  // namespace relascope::app
