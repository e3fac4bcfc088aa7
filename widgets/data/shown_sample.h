// SPDX-License-Identifier: GPL-3.0-or-later
// An example of any data with what is asked of it, and which form it has on the screen.
#pragma once

#include <QString>
#include <QStringList>
#include <vector>

#include "types/relation_map.h"

namespace relascope::widgets {

struct ShownSample {
    ProbeSample sample;
    QString answer = {};  ///< what is asked for, in words; empty where the label says it
    /// The source's objects in the order asked for; empty where none is.
    std::vector<int> order = {};
};

enum class SampleForm {
    Nothing,
    Image,
    Pictures,  ///< objects, each with its picture
    Vectors,
    Text,   ///< a window of it, or a question
    Tokens  ///< ids without words
};
SampleForm formOf(const ProbeSample& sample);

/// The name of the label, or the answer; empty where there is neither.
QString labelWords(const ShownSample& shown, const QStringList& classNames);
/// The text of a sequence: its pieces joined, blanks at the end left out.
QString textOf(const ProbeSequence& sequence);
/// What objects are called, separated by commas.
QString wordsOf(const ProbeSequence& sequence);

}  // namespace relascope::widgets
