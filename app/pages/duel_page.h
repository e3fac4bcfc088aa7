// SPDX-License-Identifier: GPL-3.0-or-later
// The page Duel: two models, steps or edits on the same input, side by side, and below what the
// analysis `duel` says of them.
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include <QByteArray>
#include <QTemporaryDir>
#include <QWidget>

#include "app/controllers/duel_probes.h"
#include "app/pages/measure_window.h"

class QComboBox;
class QMenu;
class QSplitter;
class QStackedWidget;
class QPushButton;
class QToolButton;

namespace relascope::widgets {
class EmptyState;
class RelationInspector;
}  // namespace relascope::widgets

namespace relascope::app {

class AnalysisTab;
class Controllers;
class ErrorStrip;
class JobStrip;
class SubjectSlot;

class DuelPage : public QWidget {
    Q_OBJECT
public:
    explicit DuelPage(Controllers& controllers);
    ~DuelPage() override;

    /// A is 0, B is 1.
    void setSubject(std::size_t side, std::optional<DuelSubject> subject);
    /// A run folder or a checkpoint that was dropped or named: B, where A is there. A picture is
    /// read by both.
    void take(const QString& path);
    /// What the Workbench shows: its run, step and edits.
    std::optional<DuelSubject> shownOnWorkbench() const;

    DuelProbes& probes() { return m_probes; }
    widgets::RelationInspector* inspector() const { return m_inspector; }
    widgets::EmptyState* emptyState() const { return m_empty; }
    AnalysisTab* tab() const;
    SubjectSlot* slot(std::size_t side) const { return m_slots[side]; }
    QToolButton* linked() const { return m_linked; }

    /// How the room is divided, for the session.
    QByteArray panesState() const;
    void restorePanes(const QByteArray& state);

protected:
    void resizeEvent(QResizeEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;

private:
    void connectInputs();
    void subjectsChanged();
    void show(const widgets::Inspected& inspected);
    /// The map of B that is asked for, and beside it the one of A that it is matched with.
    void showPartners(MapKind kind, int layer, int index);
    void offerSamples();
    /// As the option takes them: in words, or in a file where words do not hold all of them.
    std::vector<std::string> editsOfB(const DuelSubject& b);

    Controllers& m_c;
    DuelProbes m_probes;
    std::array<SubjectSlot*, 2> m_slots;
    JobStrip* m_strip;
    ErrorStrip* m_error;
    QStackedWidget* m_stack;
    widgets::EmptyState* m_empty;
    QSplitter* m_splitter;
    widgets::RelationInspector* m_inspector;
    QToolButton* m_linked;  ///< whether A shows what B shows
    MeasureWindow* m_measure;
    QTemporaryDir m_editFolder;
    EditList m_written;
    QString m_editFile;
    int m_editFiles = 0;
    bool m_first = true;  ///< no input was shown yet
    bool m_narrow = false;
};

/// "A" or "B": what it is, a menu to choose another, and its steps.
class SubjectSlot : public QWidget {
    Q_OBJECT
public:
    SubjectSlot(const QString& letter, Controllers& controllers, QWidget* parent);
    void setSubject(const std::optional<DuelSubject>& subject);
    QString text() const;
    /// Fills itself when it is opened.
    QMenu* menu() const { return m_menu; }
    QComboBox* steps() const { return m_steps; }

Q_SIGNALS:
    void chosen(const std::optional<relascope::app::DuelSubject>& subject);
    void workbenchChosen();
    void otherSideChosen();
    void againChosen();

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void fillMenu();
    void fillSteps();

    QString m_letter;
    Controllers& m_c;
    std::optional<DuelSubject> m_subject;
    QPushButton* m_button;
    QMenu* m_menu;
    QComboBox* m_steps;
};

}  // namespace relascope::app
