// SPDX-License-Identifier: GPL-3.0-or-later
// Small controls shared by every panel: segments, chips, panel heads, empty states.
#pragma once

#include <QAbstractButton>
#include <QLabel>
#include <QScrollArea>
#include <QStringList>
#include <QToolButton>
#include <QWidget>
#include <functional>
#include <string>

class QActionGroup;
class QButtonGroup;
class QHBoxLayout;
class QMenu;
class QVBoxLayout;
class QPushButton;
class QTableView;

namespace relascope::widgets {

struct Theme;
class FoldingLayout;

/// A row of exclusive choices in one bordered box, 24 px high. Where it has no room for all of them
/// it shows the chosen one, and the others in a list.
class SegmentedControl : public QWidget {
    Q_OBJECT
public:
    explicit SegmentedControl(QWidget* parent = nullptr);
    explicit SegmentedControl(const QStringList& items, QWidget* parent = nullptr);

    void setItems(const QStringList& items);
    int count() const;
    int current() const;         ///< -1 if there is none
    void setCurrent(int index);  ///< -1: none; emits no signal
    /// Disables an item, with the reason as its tooltip.
    void setItemEnabled(int index, bool enabled, const QString& reason = {});
    bool isItemEnabled(int index) const;
    void setItemToolTip(int index, const QString& text);
    QAbstractButton* button(int index) const;
    bool isFolded() const { return m_folded; }
    /// Adds the choices to a menu.
    void fillMenu(QMenu& menu);
    QSize minimumSizeHint() const override;

Q_SIGNALS:
    void changed(int index);  ///< by the user

protected:
    void paintEvent(QPaintEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    /// Tab reaches the chosen segment, and another one only if the chosen one is disabled.
    void placeTabStop();

    void showList();
    void showFolded();

    QHBoxLayout* m_layout;
    QButtonGroup* m_group;
    QPushButton* m_list;  ///< the chosen one, while it is folded
    QStringList m_toolTips;
    bool m_folded = false;
};

/// Icon and text in a bordered box; can be pressed only after `setCheckable(true)`.
class Chip : public QAbstractButton {
    Q_OBJECT
public:
    explicit Chip(const QString& text = {}, QWidget* parent = nullptr);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return sizeHint(); }
    void setFill(const QColor& fill);      ///< invalid: the theme's alt
    void setTextColor(const QColor& ink);  ///< invalid: the theme's text

protected:
    void paintEvent(QPaintEvent* event) override;
    QColor m_fill, m_ink;
};

/// A checkable chip ("log x", "Smooth").
class ToggleChip : public Chip {
    Q_OBJECT
public:
    explicit ToggleChip(const QString& text = {}, QWidget* parent = nullptr);
};

/// A label that elides its text if there is no room, with the full text as tooltip.
class ElidedLabel : public QLabel {
    Q_OBJECT
public:
    explicit ElidedLabel(const QString& text = {}, QWidget* parent = nullptr);
    void setElideMode(Qt::TextElideMode mode);
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    Qt::TextElideMode m_mode = Qt::ElideRight;
};

/// Title, muted text and, at the right, controls: the first row of a panel, 36 px high with a line
/// below.
class PanelHead : public QWidget {
    Q_OBJECT
public:
    explicit PanelHead(const QString& title = {}, QWidget* parent = nullptr);
    void setTitle(const QString& title);
    void setSubText(const QString& text);
    QString title() const;
    QString subText() const;
    void addControl(QWidget* control);      ///< right-aligned, in order
    void addLeftControl(QWidget* control);  ///< directly after the text
    /// Right-aligned, and there at any width: a menu.
    void addMenuButton(QWidget* button);
    void setLineBelow(bool shown);

protected:
    void paintEvent(QPaintEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void restyle();
    ElidedLabel* m_title;
    ElidedLabel* m_sub;
    FoldingLayout* m_row;
    bool m_line = true;
};

/// Scrolls its content up and down where there is less room than its minimum height.
class ScrollingPage : public QScrollArea {
public:
    ScrollingPage(QWidget* content, QWidget* parent);

protected:
    void keyPressEvent(QKeyEvent* event) override;  ///< leaves the keys to the page
};

/// Asks for a file to write, in the folder of the last one. `suggested`: its name, or its path;
/// empty: cancelled. The window remembers the folder.
QString chooseSaveFile(QWidget* parent, const QString& title, const QString& suggested,
                       const QString& filter, QString* chosenFilter = nullptr);

/// One muted sentence and one button, centred.
class EmptyState : public QWidget {
    Q_OBJECT
public:
    explicit EmptyState(const QString& sentence = {}, const QString& button = {},
                        QWidget* parent = nullptr);
    void setSentence(const QString& sentence);
    void setButtonText(const QString& text);  ///< empty: no button
    QPushButton* button() const { return m_button; }

Q_SIGNALS:
    void activated();

protected:
    void changeEvent(QEvent* event) override;

private:
    QLabel* m_sentence;
    QPushButton* m_button;
};

/// A message below a field: an error, or a muted hint. Hidden if empty.
class FieldNote : public QLabel {
    Q_OBJECT
public:
    explicit FieldNote(QWidget* parent = nullptr);
    void setProblem(const QString& sentence);
    void setHint(const QString& sentence);
    bool isProblem() const { return m_problem && !text().isEmpty(); }

protected:
    void changeEvent(QEvent* event) override;

private:
    void write(const QString& sentence, bool problem);
    void restyle();
    bool m_problem = false;
};

/// Adds exclusive entries; `choose` is called with the index of the entry that the user selects.
/// The menu owns the group; its actions are in the order of the names.
QActionGroup* addChoices(QMenu* menu, const QStringList& names, int chosen,
                         std::function<void(int)> choose);

/// A plain box in a colour of the theme; follows theme changes.
class Box : public QWidget {
public:
    Box(QColor Theme::*fill, bool lineAbove, QWidget* parent)
        : QWidget(parent), m_fill(fill), m_line(lineAbove) {}

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QColor Theme::*m_fill;
    bool m_line;
};

/// A text of any bytes.
QString shownText(const std::string& text);
/// A tooltip with names from files as plain text: Qt would interpret "<img ...>" as markup.
QString plainTip(const QString& text);
/// Sets and returns a vertical or horizontal layout of a widget with these margins and spacing.
QVBoxLayout* columnOf(QWidget* widget, const QMargins& margins = {}, int spacing = 0);
QHBoxLayout* rowOf(QWidget* widget, const QMargins& margins = {}, int spacing = 0);
/// Fills a widget with the background of content.
void paintOnPanelColour(QWidget* widget);
/// Rows of that height without a frame, a grid and a header at the left; nothing is edited.
void layOutTable(QTableView& table, int rowHeight);
/// 1 px lines in the theme's border colour.
QWidget* horizontalLine(QWidget* parent = nullptr);
QWidget* verticalLine(QWidget* parent = nullptr);
/// A label in the theme's muted colour; follows theme changes.
QLabel* mutedLabel(const QString& text, QWidget* parent = nullptr);
/// A flat icon button of 24 px with tooltip and accessible name; a menu opens at once.
QToolButton* iconButton(const char* iconName, const QString& name, QWidget* parent = nullptr);
/// A flat icon button of 24 px with a control border.
QToolButton* framedIconButton(const char* iconName, const QString& name, QWidget* parent = nullptr);

}  // namespace relascope::widgets
