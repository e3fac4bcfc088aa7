// SPDX-License-Identifier: GPL-3.0-or-later
// The figures that commands let the program with the window draw: the results themselves, in one
// frame, which `relascope draw FILE` reads from its standard input.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "types/answer.h"
#include "types/curve_look.h"
#include "types/data_example.h"
#include "types/relation_map.h"
#include "types/study.h"
#include "types/view.h"
#include "wire/frame.h"

namespace relascope::wire {

/// One map of a probe, as the paper's figure.
struct MapFigure {
    ProbeResult result;
    MapKind kind = MapKind::Relation;
    int layer = 0, index = 0, source = 0;
    std::string run;    ///< the name of the run or checkpoint, in the caption
    bool steps = true;  ///< its weights are those of a run's step
    MapLook look = {};
    bool difference = false;  ///< between two maps: with and without edits, or of two models
};

/// The input of a probe, tinted by maps from a source, as in the papers.
struct TintFigure {
    struct Panel {
        int layer = 0, source = 0;
        /// "attention" of the relational head, "relation" (r as the model has it), "scaled"
        /// (attention times relation), or relations as "clip" (ends at the 2nd and 98th
        /// percentile), "tanh", "sign", "sigmoid", "softmax".
        std::string form = "relation";
        bool reversed = false;  ///< tinted by what the source sends, not by what it receives
    };
    ProbeResult result;
    int index = 0;  ///< the relation, or the head for attention
    std::vector<Panel> panels;
    std::string run;
    bool steps = true;
};

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
    StudyLook look = {};
};

/// The result of an analysis (analysis/analysis.h), with the name of the analysis.
struct AnalysisFigure {
    std::string analysis;
    Answer result;
    std::string caption;
};

/// The learning curves of run folders on this machine, which are read when they are drawn.
struct CurvesFigure {
    std::vector<std::string> runs;
    CurveLook look;
};

using Figure =
    std::variant<MapFigure, TintFigure, ExamplesFigure, StudyFigure, AnalysisFigure, CurvesFigure>;

/// What a figure shows, as its file says.
struct FigureOrigin {
    std::string command;  ///< the line that draws it
    std::string view;     ///< the name of the view file that it was drawn from; may be empty
    int dpi = 300;        ///< resolution of a PNG
    bool dark = false;    ///< in the dark theme
};

/// A figure as a frame. Throws FrameError for a result that is larger than a frame.
Bytes figureBytes(const Figure& figure, const FigureOrigin& origin = {});
FigureOrigin originOf(const Frame& frame);
/// The figure of a frame. Throws FrameError if it holds none, FileError for damaged maps.
Figure figureFromFrame(const Frame& frame);

/// What a view shows as the figure that is kept beside its file: a map, or an answer. Throws Error
/// where it shows nothing.
Figure figureOf(const View& view);

}  // namespace relascope::wire
