// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/theme/controls.h"

#include <QActionGroup>
#include <QButtonGroup>
#include <QEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QMenu>
#include <QPaintEvent>
#include <QPainter>
#include <QPushButton>
#include <QSettings>
#include <QStyleOptionButton>
#include <QVBoxLayout>
#include <algorithm>

#include "types/text_piece.h"
#include "widgets/theme/folding_layout.h"
#include "widgets/theme/icons.h"
#include "widgets/theme/style_paint.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

constexpr int kListArrow = 28;  ///< px, for the arrow and the frame of a folded control

/// One segment: the group's box is drawn by the control, so a segment draws its fill and text only.
class Segment : public QToolButton {
public:
    explicit Segment(const QString& text, QWidget* parent) : QToolButton(parent) {
        setText(text);
        setCheckable(true);
        setFont(smallFont());
        setAccessibleName(text);
        setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
        setAttribute(Qt::WA_Hover);
    }
    QSize sizeHint() const override {
        QFont bold = font();
        bold.setWeight(
            QFont::DemiBold);  // room for the chosen weight, so that choosing moves nothing
        return {qMax(26, QFontMetrics(bold).horizontalAdvance(text()) + 18), 24};
    }

protected:
    void paintEvent(QPaintEvent*) override {
        const Theme& t = Theme::current();
        QPainter painter(this);
        const QRect inside = rect().adjusted(0, 1, 0, -1);
        if (isChecked() && isEnabled())
            painter.fillRect(inside, t.selection);
        else if (underMouse() && isEnabled())
            painter.fillRect(inside, t.hover);
        QFont face = font();
        if (isChecked()) face.setWeight(QFont::DemiBold);
        painter.setFont(face);
        painter.setPen(!isEnabled() ? t.faint : isChecked() ? t.accent : t.text);
        painter.drawText(rect(), Qt::AlignCenter, text());
        if (paint::keyboardFocus(this)) paint::focusRing(painter, rect(), 3);
    }
};

/// Follows the theme, unlike a palette that is set once.
class MutedLabel : public QLabel {
public:
    explicit MutedLabel(const QString& text, QWidget* parent) : QLabel(text, parent) { restyle(); }

protected:
    void changeEvent(QEvent* event) override {
        QLabel::changeEvent(event);
        if (event->type() == QEvent::PaletteChange) restyle();
    }

private:
    void restyle() {
        if (palette().color(QPalette::WindowText) == Theme::current().muted) return;
        QPalette p = palette();
        p.setColor(QPalette::WindowText, Theme::current().muted);
        setPalette(p);
    }
};

class Line : public QWidget {
public:
    Line(bool upright, QWidget* parent) : QWidget(parent) {
        upright ? setFixedWidth(1) : setFixedHeight(1);
    }

protected:
    void paintEvent(QPaintEvent*) override {
        QPainter(this).fillRect(rect(), Theme::current().border);
    }
};

}  // namespace

SegmentedControl::SegmentedControl(QWidget* parent)
    : QWidget(parent),
      m_layout(new QHBoxLayout(this)),
      m_group(new QButtonGroup(this)),
      m_list(new QPushButton(this)) {
    m_layout->setContentsMargins(1, 0, 1, 0);
    m_layout->setSpacing(1);
    m_layout->setSizeConstraint(QLayout::SetNoConstraint);
    m_group->setExclusive(true);
    m_list->setProperty("compact", true);
    m_list->hide();
    connect(m_list, &QPushButton::clicked, this, &SegmentedControl::showList);
    setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
    connect(m_group, &QButtonGroup::idClicked, this, &SegmentedControl::changed);
    connect(m_group, &QButtonGroup::idToggled, this, &SegmentedControl::placeTabStop);
}

SegmentedControl::SegmentedControl(const QStringList& items, QWidget* parent)
    : SegmentedControl(parent) {
    setItems(items);
}

void SegmentedControl::setItems(const QStringList& items) {
    for (QAbstractButton* old : m_group->buttons()) {
        m_group->removeButton(old);
        delete old;
    }
    m_toolTips = QStringList(items.size(), QString());
    for (int i = 0; i < items.size(); ++i) {
        auto* segment = new Segment(items[i], this);
        m_group->addButton(segment, i);
        m_layout->addWidget(segment);
        segment->show();
    }
    if (!items.isEmpty()) m_group->button(0)->setChecked(true);
    updateGeometry();
}

QSize SegmentedControl::minimumSizeHint() const {
    int widest = 0;
    for (const auto* segment : m_group->buttons())
        if (!segment->isHidden() || m_folded)
            widest = std::max(widest, segment->sizeHint().width());
    return {std::min(widest + kListArrow, sizeHint().width()), sizeHint().height()};
}

void SegmentedControl::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    const bool folded = event->size().width() < sizeHint().width();
    if (std::exchange(m_folded, folded) != folded) showFolded();
    m_list->setGeometry(rect());
}

// Segments keep their texts and states, which the list reads; they are out of sight.
void SegmentedControl::showFolded() {
    m_layout->setEnabled(!m_folded);
    if (m_folded)
        for (auto* segment : m_group->buttons()) segment->move(-4000, 0);
    else
        m_layout->activate(), m_layout->setGeometry(rect());
    m_list->setVisible(m_folded);
    m_list->raise();
    const auto* chosen = m_group->checkedButton();
    m_list->setText((chosen ? chosen->text() : QString()) + QStringLiteral(" \u25BE"));
    m_list->setAccessibleName(accessibleName() + QStringLiteral(": ") +
                              (chosen ? chosen->accessibleName() : QString()));
    m_list->setToolTip(accessibleName());
    placeTabStop();
}

void SegmentedControl::fillMenu(QMenu& menu) {
    menu.setToolTipsVisible(true);
    for (int k = 0; k < count(); ++k) {
        auto* segment = button(k);
        if (segment->isHidden()) continue;
        const QString full = segment->accessibleName();
        auto* action = menu.addAction(full.isEmpty() ? segment->text() : full, segment,
                                      [segment] { segment->click(); });
        action->setEnabled(isItemEnabled(k));
        action->setToolTip(segment->toolTip());
        action->setCheckable(true);
        action->setChecked(segment->isChecked());
    }
}

void SegmentedControl::showList() {
    QMenu menu(this);
    fillMenu(menu);
    menu.exec(mapToGlobal(QPoint(0, height())));
}

void SegmentedControl::placeTabStop() {
    int stop = std::max(0, current());
    for (int i = 0; i < count() && !isItemEnabled(stop); ++i)
        if (isItemEnabled(i)) stop = i;
    for (int i = 0; i < count(); ++i)
        button(i)->setFocusPolicy(i == stop && !m_folded ? Qt::TabFocus : Qt::NoFocus);
    if (m_folded && m_list->isVisibleTo(this)) {
        const auto* chosen = m_group->checkedButton();
        m_list->setText((chosen ? chosen->text() : QString()) + QStringLiteral(" \u25BE"));
    }
}

int SegmentedControl::count() const {
    return static_cast<int>(m_group->buttons().size());
}
int SegmentedControl::current() const {
    return m_group->checkedId();
}
void SegmentedControl::setCurrent(int index) {
    m_group->setExclusive(index >= 0);
    for (auto* b : m_group->buttons()) b->setChecked(m_group->id(b) == index);
    m_group->setExclusive(true);
}
void SegmentedControl::setItemEnabled(int index, bool enabled, const QString& reason) {
    QAbstractButton* b = m_group->button(index);
    if (!b) return;
    b->setEnabled(enabled);
    b->setToolTip(enabled ? m_toolTips.value(index) : reason);
    b->setAccessibleDescription(b->toolTip());
    placeTabStop();
}
bool SegmentedControl::isItemEnabled(int index) const {
    const QAbstractButton* b = m_group->button(index);
    return b && b->isEnabledTo(const_cast<SegmentedControl*>(this));
}
void SegmentedControl::setItemToolTip(int index, const QString& text) {
    QAbstractButton* b = m_group->button(index);
    if (!b) return;
    m_toolTips[index] = text;
    if (b->isEnabled()) b->setToolTip(text);
}
QAbstractButton* SegmentedControl::button(int index) const {
    return m_group->button(index);
}

void SegmentedControl::keyPressEvent(QKeyEvent* event) {
    const int step = event->key() == Qt::Key_Right ? 1 : event->key() == Qt::Key_Left ? -1 : 0;
    if (step == 0) return QWidget::keyPressEvent(event);
    for (int i = current() + step; i >= 0 && i < count(); i += step) {
        if (!isItemEnabled(i)) continue;
        button(i)->setFocus();
        button(i)->click();
        return;
    }
}

void SegmentedControl::paintEvent(QPaintEvent*) {
    if (m_folded) return;
    const Theme& t = Theme::current();
    QPainter painter(this);
    paint::frame(painter, rect(), t.panel, isEnabled() ? t.controlBorder : t.border);
    for (int i = 1; i < count(); ++i)
        painter.fillRect(QRect(button(i)->x() - 1, 1, 1, height() - 2), t.controlBorder);
}

Chip::Chip(const QString& text, QWidget* parent) : QAbstractButton(parent) {
    setText(text);
    setFont(smallFont());
    setFocusPolicy(Qt::NoFocus);
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
    setIconSize(QSize(16, 16));
    setAttribute(Qt::WA_Hover);
}

QSize Chip::sizeHint() const {
    QFont bold = font();
    if (isCheckable()) bold.setWeight(QFont::DemiBold);
    int width = QFontMetrics(bold).horizontalAdvance(text()) + 18;
    if (!icon().isNull()) width += 16 + (text().isEmpty() ? 0 : 6);
    return {width, 24};
}

void Chip::setFill(const QColor& fill) {
    m_fill = fill;
    update();
}
void Chip::setTextColor(const QColor& ink) {
    m_ink = ink;
    update();
}

void Chip::paintEvent(QPaintEvent*) {
    const Theme& t = Theme::current();
    QPainter painter(this);
    const bool pressable = isCheckable();
    const bool on = isChecked();
    const QColor fill = on                 ? t.selection
                        : m_fill.isValid() ? m_fill
                        : pressable        ? (underMouse() && isEnabled() ? t.hover : t.panel)
                                           : t.alt;
    paint::frame(painter, rect(), fill, pressable && isEnabled() ? t.controlBorder : t.border);
    QRect box = rect().adjusted(9, 0, -9, 0);
    if (!icon().isNull()) {
        icon().paint(&painter, QRect(box.left(), (height() - 16) / 2, 16, 16), Qt::AlignCenter,
                     isEnabled() ? (on ? QIcon::Selected : QIcon::Normal) : QIcon::Disabled);
        box.adjust(22, 0, 0, 0);
    }
    QFont face = font();
    if (on) face.setWeight(QFont::DemiBold);
    painter.setFont(face);
    painter.setPen(!isEnabled() ? t.faint : on ? t.accent : m_ink.isValid() ? m_ink : t.text);
    constexpr int slack = 6;  // px on each side, before anything is left out
    box.adjust(icon().isNull() ? -slack : 0, 0, slack, 0);
    const bool fits = QFontMetrics(face).horizontalAdvance(text()) <= box.width();
    paint::elidedText(
        painter, box,
        (icon().isNull() && fits ? Qt::AlignHCenter : Qt::AlignLeft) | Qt::AlignVCenter, text());
    if (paint::keyboardFocus(this)) paint::focusRing(painter, rect());
}

ToggleChip::ToggleChip(const QString& text, QWidget* parent) : Chip(text, parent) {
    setCheckable(true);
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(text);
}

ElidedLabel::ElidedLabel(const QString& text, QWidget* parent) : QLabel(text, parent) {
    setTextFormat(Qt::PlainText);
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Preferred);
}
void ElidedLabel::setElideMode(Qt::TextElideMode mode) {
    m_mode = mode;
    update();
}
QSize ElidedLabel::minimumSizeHint() const {
    return {fontMetrics().averageCharWidth() * 3, fontMetrics().height()};
}
void ElidedLabel::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const QString shown = fontMetrics().elidedText(text(), m_mode, width());
    const QString tip = shown == text() ? QString() : text();
    if (toolTip() != plainTip(tip)) setToolTip(plainTip(tip));
    painter.setPen(
        palette().color(isEnabled() ? QPalette::Active : QPalette::Disabled, foregroundRole()));
    painter.drawText(rect(), static_cast<int>(alignment()), shown);
}

QActionGroup* addChoices(QMenu* menu, const QStringList& names, int chosen,
                         std::function<void(int)> choose) {
    auto* group = new QActionGroup(menu);
    for (int k = 0; k < names.size(); ++k) {
        QAction* action = menu->addAction(names[k]);
        action->setCheckable(true);
        action->setChecked(k == chosen);
        group->addAction(action);
        QObject::connect(action, &QAction::triggered, group, [choose, k] { choose(k); });
    }
    return group;
}

void Box::paintEvent(QPaintEvent* event) {
    QPainter painter(this);
    painter.fillRect(event->rect(), Theme::current().*m_fill);
    if (m_line) painter.fillRect(QRect(0, 0, width(), 1), Theme::current().border);
}

QString shownText(const std::string& text) {
    return QString::fromStdString(validUtf8(text));
}

QString plainTip(const QString& text) {
    // Qt wraps rich text alone.
    constexpr qsizetype longest = 100;
    const QStringList lines = text.split(u'\n');
    const bool wraps = std::any_of(lines.begin(), lines.end(),
                                   [](const QString& line) { return line.size() > longest; });
    if (!wraps) return Qt::mightBeRichText(text) ? Qt::convertFromPlainText(text) : text;
    QString rich;
    for (const QString& line : lines)
        rich += QStringLiteral("<p style=\"margin:0 0 4px 0\">%1</p>").arg(line.toHtmlEscaped());
    return rich;
}

PanelHead::PanelHead(const QString& title, QWidget* parent)
    : QWidget(parent),
      m_title(new ElidedLabel(title, this)),
      m_sub(new ElidedLabel({}, this)),
      m_row(new FoldingLayout(this)) {
    setFixedHeight(36);
    m_row->setContentsMargins(16, 0, 16, 1);
    m_row->setSpacing(8);
    m_title->setFont(headFont());
    m_title->setTextFormat(Qt::PlainText);
    m_sub->setFont(smallFont());
    m_row->add(m_title, FoldingLayout::Role::Title);
    m_row->add(m_sub, FoldingLayout::Role::Note);
    m_title->setHidden(title.isEmpty());  // an empty title must not leave a gap
    m_sub->hide();
    restyle();
}
void PanelHead::setTitle(const QString& title) {
    m_title->setText(title);
    m_title->setHidden(title.isEmpty());
}
void PanelHead::setSubText(const QString& text) {
    m_sub->setText(text);
    m_sub->setHidden(text.isEmpty());
}
QString PanelHead::title() const {
    return m_title->text();
}
QString PanelHead::subText() const {
    return m_sub->text();
}
void PanelHead::addControl(QWidget* control) {
    m_row->add(control, FoldingLayout::Role::Control, true);
}
void PanelHead::addLeftControl(QWidget* control) {
    m_row->add(control, FoldingLayout::Role::Control);
}
void PanelHead::addMenuButton(QWidget* button) {
    m_row->add(button, FoldingLayout::Role::Fixed, true);
}
void PanelHead::setLineBelow(bool shown) {
    m_line = shown;
    update();
}
void PanelHead::restyle() {
    QPalette p = m_sub->palette();
    p.setColor(QPalette::WindowText, Theme::current().muted);
    m_sub->setPalette(p);
}
void PanelHead::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) restyle();
}
void PanelHead::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), Theme::current().panel);
    if (m_line) painter.fillRect(QRect(0, height() - 1, width(), 1), Theme::current().border);
}

ScrollingPage::ScrollingPage(QWidget* content, QWidget* parent) : QScrollArea(parent) {
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::NoFocus);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setWidgetResizable(true);
    setWidget(content);
    // The page behind it paints the background.
    for (QWidget* part : {content, viewport()}) part->setAutoFillBackground(false);
    setMinimumWidth(content->minimumSizeHint().width());
}

void ScrollingPage::keyPressEvent(QKeyEvent* event) {
    event->ignore();
}

QString chooseSaveFile(QWidget* parent, const QString& title, const QString& suggested,
                       const QString& filter, QString* chosenFilter) {
    const auto key = QStringLiteral("folders/saved");
    const QString last = QSettings().value(key).toString();
    const bool named = QFileInfo(suggested).fileName() == suggested;
    const QString start =
        named && !last.isEmpty() && QFileInfo(last).isDir() ? last + u'/' + suggested : suggested;
    const QString path = QFileDialog::getSaveFileName(parent, title, start, filter, chosenFilter);
    if (!path.isEmpty()) QSettings().setValue(key, QFileInfo(path).absolutePath());
    return path;
}

EmptyState::EmptyState(const QString& sentence, const QString& button, QWidget* parent)
    : QWidget(parent), m_sentence(mutedLabel(sentence, this)), m_button(new QPushButton(this)) {
    auto* column = new QVBoxLayout(this);
    column->setSpacing(12);
    column->addStretch(1);
    m_sentence->setAlignment(Qt::AlignCenter);
    m_sentence->setWordWrap(true);
    m_sentence->setTextFormat(Qt::PlainText);  // the sentence may name files of other machines
    column->addWidget(m_sentence);
    column->addWidget(m_button, 0, Qt::AlignHCenter);
    column->addStretch(1);
    setButtonText(button);
    connect(m_button, &QPushButton::clicked, this, &EmptyState::activated);
}
void EmptyState::setSentence(const QString& sentence) {
    m_sentence->setText(sentence);
}
void EmptyState::setButtonText(const QString& text) {
    m_button->setText(text);
    m_button->setVisible(!text.isEmpty());
}
void EmptyState::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) update();
}

FieldNote::FieldNote(QWidget* parent) : QLabel(parent) {
    setFont(captionFont());
    setWordWrap(true);
    setTextFormat(Qt::PlainText);
    hide();
}
void FieldNote::setProblem(const QString& sentence) {
    write(sentence, true);
}
void FieldNote::setHint(const QString& sentence) {
    write(sentence, false);
}
void FieldNote::write(const QString& sentence, bool problem) {
    m_problem = problem;
    setText(sentence);
    setVisible(!sentence.isEmpty());
    restyle();
}
void FieldNote::restyle() {
    const QColor ink = m_problem ? Theme::current().error : Theme::current().muted;
    if (palette().color(QPalette::WindowText) == ink) return;
    QPalette colors = palette();
    colors.setColor(QPalette::WindowText, ink);
    setPalette(colors);
}
void FieldNote::changeEvent(QEvent* event) {
    QLabel::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) restyle();
}

void layOutTable(QTableView& table, int rowHeight) {
    table.setFrameShape(QFrame::NoFrame);
    table.setShowGrid(false);
    table.setEditTriggers(QAbstractItemView::NoEditTriggers);
    table.setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    table.setTabKeyNavigation(false);  // Tab leaves the table
    table.verticalHeader()->hide();
    table.verticalHeader()->setMinimumSectionSize(rowHeight);
    table.verticalHeader()->setDefaultSectionSize(rowHeight);
    table.horizontalHeader()->setHighlightSections(false);
}
QWidget* horizontalLine(QWidget* parent) {
    return new Line(false, parent);
}
QWidget* verticalLine(QWidget* parent) {
    return new Line(true, parent);
}
QLabel* mutedLabel(const QString& text, QWidget* parent) {
    auto* label = new MutedLabel(text, parent);
    label->setFont(smallFont());
    return label;
}
QToolButton* iconButton(const char* iconName, const QString& name, QWidget* parent) {
    auto* button = new QToolButton(parent);
    button->setIcon(icon(iconName));
    button->setToolTip(name);
    button->setAccessibleName(name);
    button->setAutoRaise(true);
    button->setPopupMode(QToolButton::InstantPopup);
    button->setFixedSize(24, 24);
    return button;
}
QToolButton* framedIconButton(const char* iconName, const QString& name, QWidget* parent) {
    QToolButton* button = iconButton(iconName, name, parent);
    button->setAutoRaise(false);
    button->setProperty("framed", true);
    return button;
}

QVBoxLayout* columnOf(QWidget* widget, const QMargins& margins, int spacing) {
    auto* column = new QVBoxLayout(widget);
    column->setContentsMargins(margins);
    column->setSpacing(spacing);
    return column;
}
QHBoxLayout* rowOf(QWidget* widget, const QMargins& margins, int spacing) {
    auto* row = new QHBoxLayout(widget);
    row->setContentsMargins(margins);
    row->setSpacing(spacing);
    return row;
}

void paintOnPanelColour(QWidget* widget) {
    widget->setAutoFillBackground(true);
    widget->setBackgroundRole(QPalette::Base);
}

}  // namespace relascope::widgets
