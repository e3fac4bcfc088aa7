// SPDX-License-Identifier: GPL-3.0-or-later
// Finds maps by words: "layer 3", "r 12", "sensory"; all phrases between commas must match.
#pragma once

#include <QString>
#include <QStringList>

namespace relascope::widgets {

class MapFilter {
public:
    explicit MapFilter(const QString& text);
    bool empty() const { return m_phrases.isEmpty(); }
    /// `description` names a map: "layer 3 r 12 relation". Numbers match as a whole, the last word
    /// of a phrase also by its beginning.
    bool matches(const QString& description) const;

private:
    QStringList m_phrases;
};

}  // namespace relascope::widgets
