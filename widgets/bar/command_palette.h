// SPDX-License-Identifier: GPL-3.0-or-later
// The command palette (Ctrl+K), the field that opens it, and the sheet of shortcuts (F1).
#pragma once

#include <QAbstractButton>
#include <QAction>
#include <QDialog>
#include <QPointer>
#include <vector>

class QLineEdit;
class QListWidget;

namespace relascope::widgets {

/// How well the letters of `pattern` match `text` in order; negative without a match. Word
/// beginnings and consecutive letters score higher.
int fuzzyScore(const QString& pattern, const QString& text);

/// Finds an action by some of its letters and triggers it. Keys: Down, Up, Enter; Esc closes.
class CommandPalette : public QDialog {
    Q_OBJECT
public:
    explicit CommandPalette(QWidget* parent = nullptr);
    void setActions(const QList<QAction*>& actions);  ///< separators and menus are left out
    /// Shows the palette at the top of its parent, empty and focused.
    void popUp();
    QLineEdit* field() const { return m_field; }
    QListWidget* list() const { return m_list; }

protected:
    void paintEvent(QPaintEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void search();
    void run();
    QList<QPointer<QAction>> m_actions;
    QLineEdit* m_field;
    QListWidget* m_list;
};

/// A key, what it does, and the group that it stands in.
struct Shortcut {
    QString group, key, text;
};

/// Keys and what they do, by group, with a field that searches them.
class ShortcutSheet : public QDialog {
    Q_OBJECT
public:
    explicit ShortcutSheet(const std::vector<Shortcut>& keys, QWidget* parent = nullptr);
    QLineEdit* searchField() const { return m_search; }

private:
    void search(const QString& text);

    struct Row {
        Shortcut shortcut;
        QWidget *key, *text, *group;
    };
    std::vector<Row> m_rows;
    QLineEdit* m_search;
};

/// The field in the menu bar's corner that opens the palette.
class CommandField : public QAbstractButton {
    Q_OBJECT
public:
    explicit CommandField(QWidget* parent = nullptr);
    QSize sizeHint() const override { return {240, 30}; }

protected:
    void paintEvent(QPaintEvent* event) override;
};

}  // namespace relascope::widgets
