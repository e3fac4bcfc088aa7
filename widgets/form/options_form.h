// SPDX-License-Identifier: GPL-3.0-or-later
// The options of an experiment as a form, made from the field tables of the option structs.
#pragma once

#include <QStringList>
#include <QWidget>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "types/field.h"

class QGridLayout;
class QLabel;
class QScrollArea;
class QStackedLayout;
class QToolButton;
class QVBoxLayout;

namespace relascope::widgets {

class ElidedLabel;
class FieldRow;
class PanelHead;
class SegmentedControl;

/// Sections by group (the part of the key before the point). 280 px wide, 28 px collapsed.
class OptionsForm : public QWidget {
    Q_OBJECT
public:
    explicit OptionsForm(QWidget* parent = nullptr);

    /// Updates the values; rows and focus are kept if the keys are the same.
    void setStates(const std::vector<FieldState>& states);
    /// Sets problems found by validation, keyed by "model.d_model"; replaces the previous ones.
    void setProblems(const std::vector<FieldProblem>& problems);
    /// Shows below the field why a start was refused, with a button for what would mend it (empty:
    /// none, or the field's file dialog); replaces the previous one. An empty key: none.
    void setRefusal(const QString& key, const QString& sentence, const QString& action);
    /// Shows below a field what is known of it here (FieldRow::setFact).
    void setFact(const QString& key, const QString& sentence);
    /// Brings a field into view, opening its tab and section, and gives it the focus.
    void showField(const QString& key);
    /// Rows below the form, such as {"Memory", "0.9 of 139 GiB"}.
    void setEstimates(const std::vector<std::pair<QString, QString>>& rows);
    /// During a training only live fields can be edited.
    void setRunning(bool running);
    void setCollapsed(bool collapsed);
    /// Adds a second tab beside the options, also to the collapsed strip.
    void addTab(const QString& title, QWidget* page);
    /// 0: the options; shows the tab, and expands the column if it is collapsed.
    void showTab(int tab);
    int tab() const;
    /// Asks for a file or a folder for a field whose text is a path; empty: cancelled. Set before
    /// the fields are made.
    using AskPath = std::function<QString(FieldRow& row, bool folder)>;
    void setAskPath(AskPath ask) { m_askPath = std::move(ask); }
    /// Adds a widget below the title, above all fields.
    void setHeadRow(QWidget* row);
    bool collapsed() const { return m_collapsed; }
    bool valid() const;
    /// The row of a key, or nullptr; used to move the focus to a problem.
    FieldRow* row(const QString& key) const;
    /// "Changed: Epochs, Learning rate"; empty when all fields are as in the preset.
    QString changedText() const;
    QToolButton* resetButton() const { return m_reset; }

Q_SIGNALS:
    void valueChanged(const QString& key,
                      const relascope::FieldValue& value);  ///< valid values only
    /// The user left a field, or pressed Enter in it.
    void editingEnded();
    void validityChanged(bool valid);
    void resetRequested();
    void mendRequested();  ///< by the button of a refusal
    void collapsedChanged(bool collapsed);
    /// The user asks for a tab from the collapsed strip.
    void tabRequested(int tab);

protected:
    void paintEvent(QPaintEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    struct Section {
        QWidget* box = nullptr;
        QToolButton* head = nullptr;
        QToolButton* more = nullptr;
        QWidget* body = nullptr;
        QVBoxLayout* rows = nullptr;
        bool open = true, all = false;
        int changedAdvanced = 0;
    };
    void rebuild(const std::vector<FieldState>& states);
    void arrange();
    void showHelp(const FieldRow* row);
    void checkValidity();
    void emitChanged();
    void restyle();

    std::map<QString, FieldRow*> m_rows;
    std::vector<QString> m_order;
    AskPath m_askPath;
    std::map<QString, Section> m_sections;
    QWidget *m_content, *m_strip;
    QVBoxLayout *m_upright, *m_body;  ///< layouts of the strip, and of the options below the title
    PanelHead* m_head;
    QStackedLayout* m_pages;
    SegmentedControl* m_tabs = nullptr;
    QStringList m_tabTitles{QStringLiteral("Options")};
    QToolButton* m_signs[2] = {nullptr, nullptr};  ///< live, restart
    QWidget* m_changedRow;
    ElidedLabel* m_changed;
    QToolButton* m_reset;
    QVBoxLayout* m_form;
    QScrollArea* m_scroll;
    QLabel *m_help, *m_preset;
    QWidget* m_helpBox;
    QGridLayout* m_estimates;
    QWidget* m_estimateBox;
    bool m_collapsed = false, m_running = false, m_valid = true;
};

}  // namespace relascope::widgets
