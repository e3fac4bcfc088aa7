// SPDX-License-Identifier: GPL-3.0-or-later
// The layout of every bar: a row that cuts nothing at any width. Notes go first, then choices
// become lists and buttons icons, then both become entries of one menu; the value is the last to be
// shortened.
#pragma once

#include <QLabel>
#include <QLayout>
#include <QPushButton>
#include <QStringList>
#include <memory>
#include <vector>

class QMenu;
class QToolButton;

namespace relascope::widgets {

/// A button that can be shown as its icon, with its text as the tool tip.
class FoldingButton : public QPushButton {
    Q_OBJECT
public:
    FoldingButton(const QString& text, const char* iconName, QWidget* parent = nullptr);
    void setFolded(bool folded);
    bool isFolded() const { return m_folded; }
    static constexpr int kFoldedWidth = 34;  ///< px
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;
    bool event(QEvent* event) override;

private:
    const char* m_icon;
    bool m_folded = false;
};

/// Rich text in several forms, from the longest to the shortest.
class Readout : public QLabel {
    Q_OBJECT
public:
    explicit Readout(QWidget* parent = nullptr);
    void setForms(const QStringList& forms);
    /// Chooses the longest form that has room by itself, outside of a FoldingLayout.
    void setFitting(bool on) { m_fitting = on; }
    int forms() const { return static_cast<int>(m_forms.size()); }
    int widthOf(int form) const;  ///< px
    void choose(int form);
    int chosen() const { return m_chosen; }

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void fit();
    QStringList m_forms;
    mutable std::vector<int> m_widths;  ///< widths of the forms; -1: not measured yet
    int m_chosen = 0;
    bool m_fitting = false;
};

class FoldingLayout : public QLayout {
    Q_OBJECT
public:
    explicit FoldingLayout(QWidget* parent);
    ~FoldingLayout() override;

    enum class Role {
        Value,    ///< a Readout, which also takes the room that is left
        Title,    ///< elided when all else is folded
        Note,     ///< left out first
        Answer,   ///< left out after the buttons have been folded
        Control,  ///< folded, and then an entry of the menu
        Fixed,    ///< always there, as narrow as it can be where there is no more room
    };
    /// `right`: at the right end. Of several controls the one that was added last folds first. Of
    /// those given as Control a label is a note, and what no menu can offer, or is one, is fixed.
    void add(QWidget* widget, Role role, bool right = false);
    /// The button of the menu; hidden where all has room.
    QToolButton* more() const { return m_more; }
    /// Whether a widget has room; those in the menu and notes left out have none.
    bool hasRoom(const QWidget* widget) const;

    void addItem(QLayoutItem* item) override;
    int count() const override;
    QLayoutItem* itemAt(int index) const override;
    QLayoutItem* takeAt(int index) override;
    QSize sizeHint() const override;
    QSize minimumSize() const override;
    void setGeometry(const QRect& rect) override;
    Qt::Orientations expandingDirections() const override { return Qt::Horizontal; }

private:
    struct Entry {
        std::unique_ptr<QLayoutItem> item;
        Role role = Role::Control;
        bool right = false;
        bool folded = false, away = false;
        int grant = 0;                        ///< px more than folded
        int form = 0;                         ///< index of the form that a Readout shows
        Qt::FocusPolicy focus = Qt::NoFocus;  ///< focus policy to restore

        QWidget* widget() const { return item->widget(); }
        int width() const;  ///< width in its state
        Role acts() const;
        bool canFold() const;
    };
    int needed() const;
    void fold(int width);
    void place(const QRect& rect);
    void setAway(Entry& entry, bool away);
    void fillMenu();

    std::vector<Entry> m_entries;
    QToolButton* m_more;
    QMenu* m_menu = nullptr;
    bool m_placing = false;
};

}  // namespace relascope::widgets
