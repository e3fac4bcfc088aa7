// SPDX-License-Identifier: GPL-3.0-or-later
// What commands give to the program with the window to be drawn: the results themselves, in one
// frame, which `relascope draw FILE` reads from its standard input.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "types/answer.h"
#include "types/data_example.h"
#include "types/relation_map.h"
#include "types/study.h"
#include "wire/frame.h"

namespace relascope::wire {

/// One map of a probe, as the paper's figure.
struct MapFigure {
    ProbeResult result;
    MapKind kind = MapKind::Relation;
    int layer = 0, index = 0, source = 0;
    std::string run;  ///< the name of the run or checkpoint, in the caption
};

/// The input of a probe, tinted by maps from a source: relations in green and red as in the papers.
struct TintFigure {
    struct Panel {
        int layer = 0, source = 0;
        std::string form = "tanh";  ///< one of tintForms()
        bool reversed = false;      ///< what the source sends, not what it receives
    };
    ProbeResult result;
    int index = 0;  ///< of the relation, or of the head for attention
    std::vector<Panel> panels;
    std::string run;
};

/// "attention" of the relational head, "relation", "scaled" (attention times relation), and of
/// relations "clip" (ends at the 2nd and 98th percentile), "tanh", "sign", "sigmoid", "softmax".
const std::vector<std::string>& tintForms();

/// Examples with their answers, in rows of `columns`, and a title for each row.
struct ExamplesFigure {
    std::vector<DataExample> examples;
    std::vector<std::string> titles;
    int columns = 2;
};

/// A study's sample-efficiency curves.
struct StudyFigure {
    StudyInfo study;
    std::string title, metric;  ///< "sort-argsort, test", "sequence_accuracy"
    std::vector<StudyPoint> points;
    std::vector<PublishedPoint> published;
};

/// The result of an analysis (analysis/analysis.h), by the name of that.
struct AnalysisFigure {
    std::string analysis;
    Answer result;
    std::string caption;
};

using Figure = std::variant<MapFigure, TintFigure, ExamplesFigure, StudyFigure, AnalysisFigure>;

/// Throws FrameError for a result that is larger than a frame.
Bytes figureBytes(const Figure& figure);
/// Throws FrameError for what is not a figure, FileError for damaged maps.
Figure figureFromFrame(const Frame& frame);

}  // namespace relascope::wire
