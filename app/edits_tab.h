// SPDX-License-Identifier: GPL-3.0-or-later
// The Edits tab beside the options: shows the edits of the inspector of the current page.
#pragma once

#include <QByteArray>
#include <QObject>
#include <QString>
#include <QStringList>
#include <QTimer>
#include <functional>
#include <memory>
#include <optional>

#include "app/controllers/looker.h"
#include "app/controllers/subject.h"

namespace relascope::widgets {
class EditsPanel;
}  // namespace relascope::widgets

namespace relascope::app {

class InspectorEditing;
class InspectorEdits;
class InspectorFeed;
class InspectorWhy;
class MainWindow;
class MeasurePage;

class EditsTab : public QObject {
    Q_OBJECT
public:
    /// Adds the tab to the form of the window.
    explicit EditsTab(MainWindow& window);
    ~EditsTab() override;

    widgets::EditsPanel* panel() const { return m_panel; }
    /// The editing of the inspector that is shown.
    InspectorEditing& editing() const;
    InspectorEditing& ofCheckpoint() const { return *m_checkpoint; }
    /// The panel Why of the inspector that is shown.
    InspectorWhy& why() const;
    /// Shows the tab and moves the keyboard focus there.
    void show();
    /// Keeps the input that is inspected as the second one, "B".
    void useAsSecond();
    /// Pins the picture of the inspector as A, or unpins it.
    void togglePin();
    /// Why the inspector of the current page is neither pinned nor edited; empty: it may be.
    QString disabledReason() const;
    void save();
    void open();
    /// Updates the tab after another page or run is shown, or its state has changed.
    void refresh();

    /// What is inspected, with its edits, as a subject to measure; nullopt without a result.
    std::optional<Subject> subject() const { return subjectOf(editing()); }
    /// Shows the page of an analysis, of what is inspected.
    void measure(const std::string& analysis);
    LongTask& evaluation() { return m_evaluation; }
    /// The splits that can be evaluated, in order.
    QStringList splits() const;
    void evaluate(const QString& split);

    /// Ask for a file; replaced in tests.
    std::function<QString(bool save)> askFile;

private:
    void chooseSplit();
    void showSecond(const QString& path);
    void showTexts(const QString& text, const QString& second);
    void wireMeasure();
    /// Gives the page Measure what `of` shows, where the page is in sight and `of` is measured.
    void measureAgain(const InspectorEditing& of);
    std::optional<Subject> subjectOf(InspectorEditing& editing) const;
    /// What the inspector of the Workbench, or of the page Checkpoint, shows without its map, as a
    /// command; nullopt also for weights that are on no disk yet, and rounded ones.
    std::optional<View> describeRun() const;
    std::optional<View> describeCheckpoint() const;
    /// Why the run of the Workbench cannot be edited or measured; empty: it has a model.
    QString noModel() const;
    InspectorFeed& feedOf(const InspectorEditing& editing) const;
    std::unique_ptr<InspectorWhy> makeWhy(InspectorEditing& editing);
    void wire(InspectorEditing& editing);
    void fill();
    void train();
    QString trainDisabledReason() const;

    MainWindow& m_window;
    widgets::EditsPanel* m_panel;
    std::unique_ptr<InspectorEditing> m_workbench, m_checkpoint;
    std::unique_ptr<InspectorWhy> m_whyOfWorkbench, m_whyOfCheckpoint;
    Looker m_evaluator{wire::Lane::Long};
    LongTask m_evaluation;  ///< evaluation of the edits over a split
    MeasurePage* m_measure;
    std::optional<std::pair<ProbeSample, QString>> m_second;  ///< the second input
    QTimer m_progress;
    QString
        m_about;  ///< weights that the outcome of an evaluation is of: a run, its step, or a path
    int m_tab = 1;
    bool m_hidSidebar = false;  ///< the sidebar was hidden to make room, until the tab is collapsed
};

}  // namespace relascope::app
