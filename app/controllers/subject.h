// SPDX-License-Identifier: GPL-3.0-or-later
// What the pages look at and ask about: questions (wire/requests.h), and how the window names them.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <QString>

#include "analysis/analysis.h"
#include "types/edit.h"
#include "types/relation_map.h"
#include "types/view.h"
#include "wire/requests.h"

namespace relascope::app {

/// Asks for the maps of a run at `step` or the nearest kept step; nullopt: of the newest weights.
wire::Asked weightsAt(const QString& path, std::optional<qint64> step, EditList edits = {});
/// The place of one of the models that are asked; empty: none is.
QString placeOf(const Question& question, std::size_t which = 0);
/// The step of its weights; nullopt for the newest, and for those named by a word.
std::optional<qint64> stepOf(const Question& question, std::size_t which = 0);

/// What is looked at: the question for its maps, with the words of its input where it has some.
struct Subject {
    wire::Asked asked = weightsAt({}, std::nullopt);
    std::shared_ptr<const wire::OpenedData> data;  ///< null: no data to measure on
    QString name;        ///< name of the run or checkpoint, in titles and file names
    QString sampleName;  ///< "validation 12"
    QString cellName;    ///< name of asked.cell: "patch (0, 1) \u2190 patch (2, 1)"
    QString noModel;     ///< RunsController::whyNoModel(); empty: it has one

    Model& model() { return asked.subjects[0]; }
    const Model& model() const { return asked.subjects[0]; }
    /// The edits of the inspector; the enabled ones apply to everything that is measured.
    EditList& edits() { return asked.edits[0]; }
    const EditList& edits() const { return asked.edits[0]; }
    void setData(std::shared_ptr<const wire::OpenedData> opened);
};

/// The edits that are in force, and the fitted relations, whose maps are there all the same;
/// without the name and model of the list.
EditList enabledEdits(const EditList& edits);
/// Whether an analysis with AnalysisInput::OwnText reads a text of its own: the model reads texts.
bool readsOwnText(const Subject& subject);
/// The question of an analysis about a subject, with the usual options.
wire::Asked questionOf(const core::Analysis& analysis, const Subject& subject);
/// What the enabled edits change over a split. Throws Error without data.
wire::Asked effectQuestion(const Subject& subject, const std::string& split);

/// Whether an analysis answers both questions with the same, also where one knows an earlier
/// answer. Values along training are those of all steps of a run, and of all cells of a map.
bool sameQuestion(const core::Analysis& analysis, const wire::Asked& a, const wire::Asked& b);
/// Whether a result about `before` still is one about `now`. Those that are measured on demand stay
/// when only edits change, as their captions name the edits.
bool stays(const core::Analysis& analysis, const std::optional<Subject>& before,
           const std::optional<Subject>& now);

/// The question as a command asks it. nullopt: it cannot be said in words, as it is about weights
/// on another machine, an input that is only in memory, or edits with lists of values.
std::optional<View> viewOf(const wire::Asked& asked);

}  // namespace relascope::app
