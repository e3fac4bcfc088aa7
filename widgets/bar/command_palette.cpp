// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/bar/command_palette.h"

#include <QDialogButtonBox>
#include <QGridLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QPainter>
#include <QPushButton>
#include <QScreen>
#include <QScrollArea>
#include <QStyledItemDelegate>
#include <QVBoxLayout>
#include <algorithm>

#include "widgets/theme/controls.h"
#include "widgets/theme/icons.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

constexpr int kShortcut = Qt::UserRole + 1, kEnabled = Qt::UserRole + 2;

class CommandDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const override {
        return {100, 28};
    }
    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override {
        const Theme& t = Theme::current();
        painter->save();
        if (option.state & QStyle::State_Selected) painter->fillRect(option.rect, t.selection);
        const QRect r = option.rect.adjusted(12, 0, -12, 0);
        painter->setFont(smallFont());
        painter->setPen(t.muted);
        painter->drawText(r, Qt::AlignRight | Qt::AlignVCenter, index.data(kShortcut).toString());
        painter->setFont(bodyFont());
        painter->setPen(index.data(kEnabled).toBool() ? t.text : t.faint);
        painter->drawText(r, Qt::AlignVCenter, index.data().toString());
        painter->restore();
    }
};

QString plainText(const QAction* action) {
    return action->text().remove(u'&');
}

}  // namespace

int fuzzyScore(const QString& pattern, const QString& text) {
    int score = 0, run = 0;
    qsizetype at = 0;
    for (const QChar letter : pattern) {
        if (letter.isSpace()) {
            run = 0;
            continue;
        }
        qsizetype found = at;
        // A letter at the beginning of a word is preferred, unless it interrupts consecutive
        // letters.
        if (run == 0)
            for (qsizetype i = at; i < text.size(); ++i)
                if (text[i].toLower() == letter.toLower() &&
                    (i == 0 || !text[i - 1].isLetterOrNumber())) {
                    found = i;
                    break;
                }
        while (found < text.size() && text[found].toLower() != letter.toLower()) ++found;
        if (found >= text.size()) {
            found = text.indexOf(letter, at, Qt::CaseInsensitive);
            if (found < 0) return -1;
        }
        run = found == at && at > 0 ? run + 1 : 1;
        score += 1 + 2 * run + (found == 0 || !text[found - 1].isLetterOrNumber() ? 5 : 0);
        at = found + 1;
    }
    // If two matches are equal, the shorter text is better.
    return std::max(0, score * 100 - static_cast<int>(text.size()));
}

CommandPalette::CommandPalette(QWidget* parent)
    : QDialog(parent, Qt::Popup | Qt::FramelessWindowHint),
      m_field(new QLineEdit(this)),
      m_list(new QListWidget(this)) {
    setAccessibleName(QStringLiteral("Commands"));
    m_field->setPlaceholderText(QStringLiteral("Type a command"));
    m_field->setAccessibleName(QStringLiteral("Command"));
    m_field->addAction(icon("search"), QLineEdit::LeadingPosition);
    m_field->setFixedHeight(32);
    m_field->installEventFilter(this);
    m_list->setFrameShape(QFrame::NoFrame);
    m_list->setItemDelegate(new CommandDelegate(m_list));
    m_list->setFocusPolicy(Qt::NoFocus);
    m_list->setUniformItemSizes(true);
    m_list->setAccessibleName(QStringLiteral("Commands found"));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(8, 8, 8, 8);
    column->addWidget(m_field);
    column->addWidget(m_list, 1);
    resize(480, 340);
    connect(m_field, &QLineEdit::textChanged, this, &CommandPalette::search);
    connect(m_list, &QListWidget::itemClicked, this, &CommandPalette::run);
}

void CommandPalette::setActions(const QList<QAction*>& actions) {
    m_actions.clear();
    for (QAction* action : actions)
        if (!action->isSeparator() && !action->menu() && !action->text().isEmpty())
            m_actions.append(action);
    search();
}

void CommandPalette::popUp() {
    m_field->clear();
    search();
    if (const QWidget* window = parentWidget())
        move(window->mapToGlobal(QPoint((window->width() - width()) / 2, 48)));
    show();
    m_field->setFocus();
}

void CommandPalette::search() {
    struct Hit {
        int score;
        qsizetype index;
    };
    std::vector<Hit> hits;
    for (qsizetype i = 0; i < m_actions.size(); ++i) {
        if (!m_actions[i] || !m_actions[i]->isVisible()) continue;
        const int score = m_field->text().trimmed().isEmpty()
                              ? 0
                              : fuzzyScore(m_field->text(), plainText(m_actions[i]));
        if (score >= 0) hits.push_back({score, i});
    }
    std::stable_sort(hits.begin(), hits.end(),
                     [](const Hit& a, const Hit& b) { return a.score > b.score; });
    m_list->clear();
    for (const Hit& hit : hits) {
        QAction* action = m_actions[hit.index];
        auto* item = new QListWidgetItem(plainText(action), m_list);
        item->setData(Qt::UserRole, static_cast<int>(hit.index));
        item->setData(kShortcut, action->shortcut().toString(QKeySequence::NativeText));
        item->setData(kEnabled, action->isEnabled());
        item->setToolTip(action->toolTip());
    }
    m_list->setCurrentRow(0);
}

void CommandPalette::run() {
    const QListWidgetItem* item = m_list->currentItem();
    if (!item) return;
    const QPointer<QAction> action = m_actions.value(item->data(Qt::UserRole).toInt());
    if (!action || !action->isEnabled()) return;
    accept();
    action->trigger();
}

bool CommandPalette::eventFilter(QObject* watched, QEvent* event) {
    if (watched == m_field && event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        const int row = m_list->currentRow();
        if (key == Qt::Key_Down || key == Qt::Key_Up) {
            m_list->setCurrentRow(
                qBound(0, row + (key == Qt::Key_Down ? 1 : -1), m_list->count() - 1));
            return true;
        }
        if (key == Qt::Key_Return || key == Qt::Key_Enter) {
            run();
            return true;
        }
    }
    return QDialog::eventFilter(watched, event);
}

void CommandPalette::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), Theme::current().panel);
    painter.setPen(Theme::current().controlBorder);
    painter.drawRect(rect().adjusted(0, 0, -1, -1));
}

ShortcutSheet::ShortcutSheet(const std::vector<Shortcut>& keys, QWidget* parent)
    : QDialog(parent), m_search(new QLineEdit(this)) {
    setWindowTitle(QStringLiteral("Keyboard shortcuts"));
    constexpr int gap = 16;
    m_search->setPlaceholderText(QStringLiteral("Search keys and what they do"));
    m_search->setAccessibleName(QStringLiteral("Search keys"));
    m_search->setClearButtonEnabled(true);
    connect(m_search, &QLineEdit::textChanged, this, &ShortcutSheet::search);
    auto* scroll = new QScrollArea(this);
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    auto* inside = new QWidget(scroll);
    auto* grid = new QGridLayout(inside);
    grid->setHorizontalSpacing(gap);
    grid->setVerticalSpacing(6);
    QStringList groups;
    for (const auto& one : keys)
        if (!groups.contains(one.group)) groups << one.group;
    QFont bold = font();
    bold.setWeight(QFont::DemiBold);
    for (const auto& group : groups) {
        auto* head = new QLabel(group, inside);
        head->setFont(bold);
        head->setContentsMargins(0, group == groups.first() ? 0 : 10, 0, 0);
        grid->addWidget(head, grid->rowCount(), 0, 1, 2);
        for (const auto& one : keys) {
            if (one.group != group) continue;
            auto* chip = new Chip(one.key, inside);
            chip->setAccessibleName(one.key + QStringLiteral(": ") + one.text);
            auto* label = new QLabel(one.text, inside);
            label->setFont(smallFont());
            label->setWordWrap(true);
            const int row = grid->rowCount();
            grid->addWidget(chip, row, 0, Qt::AlignRight | Qt::AlignTop);
            grid->addWidget(label, row, 1);
            m_rows.push_back({one, chip, label, head});
        }
    }
    grid->setColumnStretch(1, 1);
    grid->setRowStretch(grid->rowCount(), 1);
    scroll->setWidget(inside);
    auto* column = new QVBoxLayout(this);
    column->addWidget(m_search);
    column->addWidget(scroll, 1);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    column->addWidget(buttons);
    resize(QSize(640, 720).boundedTo(screen()->availableSize() - QSize(40, 80)));
}

/// Leaves the keys that have all the words, and the groups that have such a key.
void ShortcutSheet::search(const QString& text) {
    const auto words = text.simplified().split(u' ', Qt::SkipEmptyParts);
    for (const auto& row : m_rows) row.group->hide();
    for (const auto& row : m_rows) {
        const auto& [group, key, what] = row.shortcut;
        const QString all = group + u' ' + key + u' ' + what;
        const bool shown = std::all_of(words.begin(), words.end(), [&](const QString& word) {
            return all.contains(word, Qt::CaseInsensitive);
        });
        row.key->setVisible(shown);
        row.text->setVisible(shown);
        if (shown) row.group->show();
    }
}

CommandField::CommandField(QWidget* parent) : QAbstractButton(parent) {
    setAccessibleName(QStringLiteral("Commands"));
    setToolTip(QStringLiteral("Search commands (Ctrl+K)"));
    setFocusPolicy(Qt::TabFocus);
    setCursor(Qt::PointingHandCursor);
}

void CommandField::paintEvent(QPaintEvent*) {
    const Theme& t = Theme::current();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const QRectF box = QRectF(rect()).adjusted(0.5, 4.5, -12.5, -4.5);
    painter.setPen(QPen(hasFocus() ? t.accent : t.border, 1));
    painter.setBrush(underMouse() ? t.hover : t.alt);
    painter.drawRoundedRect(box, 4, 4);
    painter.drawPixmap(QPointF(box.left() + 8, box.center().y() - 7),
                       iconPixmap("search", t.muted, 14, devicePixelRatioF()));
    painter.setFont(smallFont());
    painter.setPen(t.muted);
    painter.drawText(box.adjusted(28, 0, 0, 0), Qt::AlignVCenter | Qt::AlignLeft,
                     QStringLiteral("Commands"));
    painter.setFont(captionFont());
    painter.drawText(box.adjusted(0, 0, -8, 0), Qt::AlignVCenter | Qt::AlignRight,
                     QStringLiteral("Ctrl+K"));
}

}  // namespace relascope::widgets
