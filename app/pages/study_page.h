// SPDX-License-Identifier: GPL-3.0-or-later
// The Study page: a grid of runs, the sample-efficiency plot, and tables of results.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include <QString>
#include <QStringList>
#include <QWidget>

#include "app/controllers/study_controller.h"
#include "options/presets.h"
#include "widgets/theme/theme.h"

class QComboBox;
class QPushButton;
class QSpinBox;
class QSplitter;
class QStackedLayout;
class QToolButton;

namespace relascope::widgets {
class EmptyState;
class StudyFailures;
class StudyProgressLine;
class StudyTable;
}  // namespace relascope::widgets

namespace relascope::app {

// Texts of the Study page. Private to app/pages.

/// A measure in words: "accuracy on hexos".
inline QString measureText(const StudyInfo& study, const core::StudyMeasure& measure) {
    return QString::fromStdString(measure.metric).replace(u'_', u' ') + QStringLiteral(" on ") +
           QString::fromStdString(core::splitTitle(study, measure));
}

/// The plan of a study in words: "relational-games-occurs: 3 models × 4 sizes × 3 seeds".
inline QString planText(const StudyInfo& study) {
    const auto& plan = study.plan;
    const auto counted = [](std::size_t n, const char* one, const char* many) {
        return QStringLiteral("%1 %2").arg(n).arg(QLatin1String(n == 1 ? one : many));
    };
    QStringList factors{counted(plan.models.size(), "model", "models")};
    if (!plan.sizes.empty()) factors << counted(plan.sizes.size(), "size", "sizes");
    for (const auto& axis : plan.vary)
        factors << QStringLiteral("%1 %2")
                       .arg(axis.values.size())
                       .arg(QString::fromStdString(axis.key.substr(axis.key.rfind('.') + 1)));
    factors << counted(plan.seeds.size(), "seed", "seeds");
    QString text = QString::fromStdString(plan.preset) + QStringLiteral(": ") +
                   factors.join(QStringLiteral(" \u00D7 "));
    const core::PresetInfo* preset = core::findPreset(plan.preset);
    if (preset && !preset->notes.empty()) text += QStringLiteral(" \u00B7 partly inferred");
    return text;
}

/// How the length of training differs from that of the published runs: "30 epochs, published 100";
/// empty if it does not, or if it is varied.
inline QString lengthNote(const StudyInfo& study) {
    const auto& set = study.plan.settings;
    const auto epochs = std::find_if(set.begin(), set.end(),
                                     [](const auto& one) { return one.first == "train.epochs"; });
    if (epochs == set.end() || study.plan.models.empty()) return {};
    try {
        const auto published =
            core::presetOptions(study.plan.preset, study.plan.models.front()).train.epochs;
        const QString own = QString::fromStdString(epochs->second);
        if (own == QString::number(published)) return {};
        return QStringLiteral("%1 epochs, published %2").arg(own).arg(published);
    } catch (const Error&) {
        return {};  // a preset of another version
    }
}

/// The file name of a view of a study: "occurs-grid".
inline QString studyFileName(const QString& study, const char* what) {
    return (study.isEmpty() ? QStringLiteral("study") : StudyController::name(study)) + u'-' +
           QLatin1String(what);
}

/// The caption of the pictures of a study: its name and plan.
inline QString studyCaption(const StudyController& c) {
    return StudyController::name(c.path()) + QStringLiteral(" \u00B7 ") +
           (c.reading() ? planText(*c.reading()->info) : QString());
}

/// Notes on values that the papers do not state, one per line; empty without any.
inline QString inferredText(const StudyInfo& study) {
    QStringList lines;
    if (const core::PresetInfo* preset = core::findPreset(study.plan.preset))
        for (const auto& [key, note] : preset->notes)
            lines << QString::fromStdString(key) + QStringLiteral(": ") +
                         QString::fromStdString(note);
    return lines.join(u'\n');
}

/// The text next to the counts: the state of the study, or the estimated time left.
inline QString statusText(const StudyReading& r, bool here, bool ending, int jobs) {
    if (here && ending) return QStringLiteral("saving, then stopping");
    if (here || r.running > 0) {
        const auto workers = static_cast<double>(jobs > 0 ? jobs : static_cast<int>(r.running));
        if (r.secondsARun <= 0.0 || r.left <= 0.0)
            return here ? QStringLiteral("running") : QStringLiteral("running in another process");
        const QString left =
            QStringLiteral("about %1 left")
                .arg(widgets::durationText(r.secondsARun * r.left /
                                           std::max(1.0, std::min(workers, r.left))));
        return here ? left : QStringLiteral("running in another process, ") + left;
    }
    if (r.left <= 0.0) return r.failed > 0 ? QString() : QStringLiteral("complete");
    return r.done + r.interrupted > 0 ? QStringLiteral("stopped") : QString();
}

// Parsers for the text fields of the New study dialog, with error messages.

/// Parses sizes: "250, 500, 1000", "250..2500 step 250", or both; sorted, without duplicates. On an
/// error the list is empty and `error` names the invalid part.
std::vector<std::int64_t> parseSizes(const QString& text, QString* error);

/// Splits a list of values: "1, 2, 4" or "[8], [16, 16]". Commas within brackets do not separate
/// values.
QStringList parseValues(const QString& text);

/// Why a name cannot be a folder name; empty if it can.
QString nameProblem(const QString& name);

class Messages;
class NewStudyDialog;
class StudyController;
class StudyCurves;
class StudyRuns;

/// Shows the study read by the controller, and starts and stops it.
class StudyPage : public QWidget {
    Q_OBJECT
public:
    StudyPage(StudyController& controller, Messages& messages, QWidget* parent = nullptr);

    StudyRuns* runs() const { return m_runs; }
    StudyCurves* curves() const { return m_curves; }
    widgets::StudyTable* table() const { return m_table; }
    widgets::EmptyState* emptyState() const { return m_empty; }
    QComboBox* chooser() const { return m_chooser; }
    QPushButton* startButton() const { return m_start; }
    QSpinBox* jobsBox() const { return m_jobs; }
    QMenu* menu() const { return m_menu; }
    widgets::StudyProgressLine* progress() const { return m_progress; }
    QSplitter* rows() const { return m_rows; }
    QSplitter* columns() const { return m_columns; }

    /// Why the files of the study cannot be shown; empty for a study on this computer.
    QString notHereReason() const;

    /// The experiment selected for a new study.
    std::function<QString()> preset = [] { return QString(); };
    /// Shows the dialog; true when it was accepted. Replaced in tests.
    std::function<bool(NewStudyDialog&)> ask;
    /// Asks for a study's folder; replaced in tests.
    std::function<QString()> askFolder;

public Q_SLOTS:
    void newStudy();
    void openStudy();
    void toggleWork();
    void retryFailed();
    void showSlurm();
    void openFolder();

Q_SIGNALS:
    /// The user asked to inspect a run of the study.
    void runRequested(const QString& path);

protected:
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    QWidget* makeBar();
    void addMenu(QToolButton* button);
    void layOut();
    void addTableMenu();
    void wire();
    void fillChooser();
    void studyChosen(int index);
    void showStudy();
    void showWork();
    void showFailed();
    void saveLatex();
    void openPath(const QString& path);
    QString retryDisabledReason() const;

    StudyController& m_c;
    Messages& m_messages;
    QStackedLayout *m_stack = nullptr, *m_results = nullptr;
    widgets::EmptyState *m_empty, *m_nothingYet;
    QComboBox* m_chooser;
    QPushButton* m_start;
    QMenu* m_menu = nullptr;
    QSpinBox* m_jobs;
    widgets::StudyProgressLine* m_progress;
    widgets::StudyFailures* m_failures;
    StudyRuns* m_runs;
    StudyCurves* m_curves;
    widgets::StudyTable* m_table;
    QSplitter *m_rows, *m_columns;
};

}  // namespace relascope::app
