// SPDX-License-Identifier: GPL-3.0-or-later
// Paints a run in 38 px: swatch, name, state line, main metric; above the first run of another
// machine the name of that machine. Private to widgets/lists.
#pragma once

#include <vector>

#include <QStringList>
#include <QStyledItemDelegate>
#include <QWidget>

#include "types/run_info.h"

namespace relascope::widgets {

class RunDelegate : public QStyledItemDelegate {
    Q_OBJECT
public:
    enum Role { Path = Qt::UserRole, State, StateLine, Metric, Color, Faint, Heading };
    using QStyledItemDelegate::QStyledItemDelegate;
    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override;
    QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex& index) const override {
        return {100, 38 + (index.data(Heading).toString().isEmpty() ? 0 : kHeading)};
    }

private:
    static constexpr int kHeading = 24;  ///< px
};

/// One line of 26 px with a muted note at the right, and semi-bold text when chosen.
class LineDelegate : public QStyledItemDelegate {
    Q_OBJECT
public:
    enum Role { Note = Qt::UserRole + 10, Faint };
    using QStyledItemDelegate::QStyledItemDelegate;
    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override;
    QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const override {
        return {100, 26};
    }
};

}  // namespace relascope::widgets

// The left sidebar: experiments, runs and checkpoints with one search field.

class QLabel;
class QLineEdit;
class QListWidget;
class QToolButton;
class QTreeWidget;

namespace relascope::widgets {

/// A preset under its family.
struct ExperimentEntry {
    QString family;  ///< "Vision relations"
    QString preset;  ///< the name that signals carry
    QString title;   ///< "Match pattern"
    QString help;    ///< one sentence, the tooltip
};

struct RunRow {
    RunInfo info;
    int colorIndex = 0;  ///< index into Theme::series
    QString host;        ///< the machine whose run it is; empty: this one
    QString heading;     ///< above the first run of a machine; empty: none
};

/// An entry in the list of checkpoints; a heading if the path is empty.
struct CheckpointEntry {
    QString path;
    QString title;
    QString size;          ///< "1.28 GiB"
    bool missing = false;  ///< gone from the disk: shown faint
    QString place = {};    ///< location shown; empty: `path`
};

/// 240 px wide. Runs are identified by path: new rows keep selection and scroll position.
class Sidebar : public QWidget {
    Q_OBJECT
public:
    explicit Sidebar(QWidget* parent = nullptr);

    void setExperiments(
        const std::vector<ExperimentEntry>& entries);  ///< families in order of appearance
    void setRuns(const std::vector<RunRow>& rows);
    void setCheckpoints(
        const std::vector<CheckpointEntry>& entries);  ///< empty: the part is hidden
    void setCurrentPreset(const QString& preset);      ///< emits no signal
    void setSelectedRuns(const QStringList& paths);    ///< emits no signal
    QStringList selectedRuns() const;
    void setFilter(const QString& text);
    /// Sets the number of hidden runs, and whether they are listed.
    void setHiddenRuns(int count, bool shown);
    QToolButton* hiddenButton() const { return m_hidden; }

    QLineEdit* searchField() const { return m_search; }
    QTreeWidget* experiments() const { return m_tree; }
    QListWidget* runs() const { return m_runs; }
    QListWidget* checkpoints() const { return m_checkpoints; }

Q_SIGNALS:
    void presetChosen(const QString& preset);
    void runsSelected(const QStringList& paths);
    void runActivated(const QString& path);                             ///< double click or Enter
    void runMenuRequested(const QStringList& paths, const QPoint& at);  ///< on the screen
    void deleteRequested(const QStringList& paths);
    void renameRequested(const QString& path);
    void showHiddenRequested(bool shown);
    void checkpointChosen(const QString& path);
    /// The search is done, by Enter or Escape: the keyboard goes to what is shown.
    void left();

protected:
    void paintEvent(QPaintEvent* event) override;
    void changeEvent(QEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void applyFilter();
    bool takeFirstHit();
    void restyle();
    void runMenu(const QPoint& at);

    QLineEdit* m_search;
    QTreeWidget* m_tree;
    QListWidget *m_runs, *m_checkpoints;
    QLabel *m_runCount, *m_runHint;
    QToolButton* m_hidden;
    QWidget* m_checkpointPart;
    QString m_preset;
};

/// "running · step 1,600 · #baseline": the second line of a run.
QString runStateLine(const RunInfo& info);

}  // namespace relascope::widgets
