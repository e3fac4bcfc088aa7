// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/inspector/map_filter.h"

namespace relascope::widgets {

MapFilter::MapFilter(const QString& text) {
    for (const QString& part : text.split(u','))
        if (const QString phrase = part.simplified().toLower(); !phrase.isEmpty())
            m_phrases << phrase;
}

bool MapFilter::matches(const QString& description) const {
    const QString words = u' ' + description.toLower() + u' ';
    for (const QString& phrase : m_phrases) {
        const bool begins = phrase.size() > 1 && phrase.back().isLetter();
        if (!words.contains(u' ' + phrase + (begins ? QString() : QStringLiteral(" "))))
            return false;
    }
    return true;
}

}  // namespace relascope::widgets
