// SPDX-License-Identifier: GPL-3.0-or-later
// An example of any data set with its answer, and the form in which it is shown.
#pragma once

#include <QString>
#include <QStringList>
#include <vector>

#include "types/relation_map.h"

namespace relascope::widgets {

struct ShownSample {
    ProbeSample sample;
    QString answer = {};  ///< the answer as text; empty if there is a label
    /// The objects of the source in the order of the answer; empty if the answer is not an order.
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

/// The name of the label, or the answer; empty if there is neither.
QString sampleLabel(const ShownSample& shown, const QStringList& classNames);
/// The text of a sequence: its pieces joined, without trailing blanks.
QString textOf(const ProbeSequence& sequence);
/// The names of the objects, separated by commas.
QString sequenceText(const ProbeSequence& sequence);

}  // namespace relascope::widgets
