// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>

#include <QLabel>
#include <QMouseEvent>
#include <QPainter>
#include <QStackedWidget>
#include <QVBoxLayout>

#include "answers/example_text.h"
#include "types/text_piece.h"
#include "widgets/data/sample_view.h"
#include "widgets/export/export.h"
#include "widgets/maps/color_map.h"
#include "widgets/source/pictures.h"
#include "widgets/source/tile_view.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {

PixelView::PixelView(QWidget* parent) : QWidget(parent) {
    setMouseTracking(true);
    setAccessibleName(QStringLiteral("Image"));
}

void PixelView::setImage(const Image& image) {
    m_image = image;
    m_picture = toQImage(image);
    update();
}

QSize PixelView::sizeIn(const QSize& room) const {
    if (m_picture.isNull() || room.isEmpty()) return {};
    const int scale = qMin(room.width() / m_picture.width(), room.height() / m_picture.height());
    return scale >= 1 ? m_picture.size() * scale
                      : m_picture.size().scaled(room, Qt::KeepAspectRatio);
}
int PixelView::heightIn(const QSize& room) const {
    return sizeIn(room).height();
}
QRect PixelView::pictureRect() const {
    return m_picture.isNull() ? QRect() : QRect({0, 0}, sizeIn(size()));
}

void PixelView::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), Theme::current().panel);
    const QRect place = pictureRect();
    if (place.width() >= m_picture.width()) return drawPixels(painter, place, m_picture);
    drawPicture(painter, place, m_picture);
}

void PixelView::mouseMoveEvent(QMouseEvent* event) {
    const QRect place = pictureRect();
    if (!place.contains(event->pos())) return Q_EMIT pointed({});
    const int column = (event->pos().x() - place.left()) * m_picture.width() / place.width(),
              row = (event->pos().y() - place.top()) * m_picture.height() / place.height();
    QStringList values;
    for (int c = 0; c < m_image.channels; ++c)
        values += QString::number(m_image.pixels[m_image.index(row, column, c)]);
    Q_EMIT pointed(QString("row %1, column %2: %3")
                       .arg(row)
                       .arg(column)
                       .arg(values.join(QStringLiteral(", "))));
}
void PixelView::leaveEvent(QEvent*) {
    Q_EMIT pointed({});
}

ReadStrip::ReadStrip(QWidget* parent) : TokenView(parent) {
    setAccessibleName(QStringLiteral("Text of the sample"));
}

void ReadStrip::setSequence(const ProbeSequence& sequence) {
    auto pieces = sequence.labels;
    while (!pieces.empty() && pieces.back().empty()) pieces.pop_back();
    m_ids = sequence.tokens;
    m_current = 0;
    setTokens(std::move(pieces));
    setAccessibleDescription(text());
}

TokenLook ReadStrip::look(int index) const {
    const Theme& t = Theme::current();
    TokenLook wears;
    // Boundaries are shown between pieces of words, not between characters.
    if (!flow().characters()) wears.fill = index % 2 == 0 ? t.alt : t.hover;
    wears.ink = t.text;
    if (index == hover() || (hasFocus() && index == m_current)) {
        wears.frame = TokenLook::Frame::Solid;
        wears.frameColor = t.controlBorder;
    }
    return wears;
}

void ReadStrip::tell(int index) {
    const auto at = static_cast<std::size_t>(index);
    if (index < 0 || at >= tokens().size()) return Q_EMIT pointed({});
    QString text = pieceName(index, tokens()[at]);
    if (at < m_ids.size()) text += QStringLiteral(", id %1").arg(m_ids[at]);
    Q_EMIT pointed(text);
}

void ReadStrip::hoverMoved(int before, int now) {
    updateTile(before);
    updateTile(now);
    tell(now);
}
void ReadStrip::pressed(int index, Qt::KeyboardModifiers) {
    updateTile(m_current);
    m_current = index;
    updateTile(m_current);
    tell(index);
}

namespace {

constexpr int kSampleMargin = 16, kBelowSample = 8, kLineGap = 4, kSampleWidth = 360;

TileGroup tilesOf(const ProbeSequence& source) {
    TileGroup group;
    for (int k = 0; k < source.size(); ++k) {
        const auto at = static_cast<std::size_t>(k);
        group.texts << (at < source.labels.size()   ? QString::fromStdString(source.labels[at])
                        : at < source.tokens.size() ? QString::number(source.tokens[at])
                                                    : QString::number(k + 1));
    }
    group.names = group.texts;
    if (source.width > 0) {
        group.vectors = source.vectors;
        group.width = source.width;
    }
    group.pictures = picturesOf(source);
    return group;
}

/// A group with its objects in another order.
TileGroup ordered(const TileGroup& group, const std::vector<int>& order) {
    TileGroup out;
    out.width = group.width;
    for (const int index : order) {
        if (index < 0 || index >= group.size()) return {};
        const auto at = static_cast<std::size_t>(index);
        const auto width = static_cast<std::size_t>(group.width);
        out.texts << group.texts[index];
        out.names << group.names[index];
        if (width > 0)
            out.vectors.insert(
                out.vectors.end(), group.vectors.begin() + static_cast<std::ptrdiff_t>(at * width),
                group.vectors.begin() + static_cast<std::ptrdiff_t>((at + 1) * width));
        if (group.hasPictures()) out.pictures.push_back(group.pictures[at]);
    }
    return out;
}

}  // namespace

SampleView::SampleView(QWidget* parent)
    : QWidget(parent),
      m_stack(new QStackedWidget(this)),
      m_empty(new EmptyState(QStringLiteral("Select a sample"), {}, m_stack)),
      m_image(new PixelView(m_stack)),
      m_tiles(new TileView(m_stack)),
      m_text(new ReadStrip(m_stack)),
      m_label(new QLabel(this)),
      m_pixel(new QLabel(this)),
      m_origin(new ElidedLabel({}, this)) {
    setMinimumSize(160, 180);
    setAccessibleName(QStringLiteral("Sample"));
    setAutoFillBackground(true);
    setBackgroundRole(QPalette::Base);
    m_tiles->setAccessibleName(QStringLiteral("Objects of the sample"));
    for (QWidget* view : {m_empty, static_cast<QWidget*>(m_image), static_cast<QWidget*>(m_tiles),
                          static_cast<QWidget*>(m_text)})
        m_stack->addWidget(view);
    auto* column =
        columnOf(this, {kSampleMargin, kSampleMargin, kSampleMargin, kBelowSample}, kLineGap);
    column->addWidget(m_stack, 100);
    m_label->setFont(smallFont());
    m_label->setWordWrap(true);
    m_label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_label->setTextFormat(Qt::RichText);
    m_label->setAccessibleName(QStringLiteral("Label or answer"));
    m_origin->setFont(captionFont());
    m_origin->setElideMode(Qt::ElideMiddle);
    m_origin->setForegroundRole(QPalette::PlaceholderText);
    m_pixel->setFont(numberFont(11));
    m_pixel->setForegroundRole(QPalette::PlaceholderText);
    m_pixel->setFixedHeight(15);
    for (QWidget* line : {static_cast<QWidget*>(m_label), static_cast<QWidget*>(m_origin),
                          static_cast<QWidget*>(m_pixel)})
        column->addWidget(line);
    column->addStretch(1);
    connect(m_image, &PixelView::pointed, m_pixel, &QLabel::setText);
    connect(m_text, &ReadStrip::pointed, m_pixel, &QLabel::setText);
}

void SampleView::setSample(const ShownSample& shown, const QStringList& classNames) {
    m_shown = shown;
    m_names = classNames;
    const ProbeSample& sample = shown.sample;
    const SampleForm form = formOf(sample);
    m_pixel->clear();
    switch (form) {
        case SampleForm::Nothing:
            m_stack->setCurrentWidget(m_empty);
            break;
        case SampleForm::Image:
            m_image->setImage(sample.image);
            m_stack->setCurrentWidget(m_image);
            break;
        case SampleForm::Text:
            m_text->setSequence(sample.source);
            m_stack->setCurrentWidget(m_text);
            break;
        case SampleForm::Pictures:
        case SampleForm::Vectors:
        case SampleForm::Tokens: {
            std::vector<TileGroup> groups{tilesOf(sample.source)};
            if (TileGroup inOrder = ordered(groups[0], shown.order); inOrder.size() > 0) {
                groups[0].title = QStringLiteral("input order");
                inOrder.title = QStringLiteral("sorted");
                groups.push_back(std::move(inOrder));
            }
            m_tiles->setGroups(std::move(groups));
            m_stack->setCurrentWidget(m_tiles);
            break;
        }
    }
    const QString label = sampleLabel(shown, classNames);
    const bool answer = !shown.answer.isEmpty();
    // Names come from files: a class "<b>" must not be interpreted as rich text.
    m_label->setText(label.isEmpty()
                         ? QString()
                         : QStringLiteral("%1&nbsp; <b>%2</b>")
                               .arg(answer ? QStringLiteral("answer") : QStringLiteral("label"),
                                    label.toHtmlEscaped()));
    m_label->setVisible(!label.isEmpty());
    m_origin->setText(QString::fromStdString(sample.origin));
    QString description = QString("%1, %2").arg(
        label.isEmpty() ? QStringLiteral("no label")
                        : (answer ? QStringLiteral("answer ") : QStringLiteral("label ")) + label,
        QString::fromStdString(sample.origin));
    if (form == SampleForm::Text) description.prepend(textOf(sample.source) + u' ');
    if (form == SampleForm::Pictures || form == SampleForm::Vectors)
        description.prepend(sequenceText(sample.source) + QStringLiteral(": "));
    setAccessibleDescription(description);
    fit();
}

void SampleView::clear() {
    setSample({}, {});
}

/// The height of what is not the sample: margins, and the lines below it.
int SampleView::besides() const {
    const int wide = width() - 2 * kSampleMargin;
    const int labelHeight =
        m_label->isHidden() ? 0 : m_label->heightForWidth(qMax(40, wide)) + kLineGap;
    const int lines = m_origin->sizeHint().height() + m_pixel->height() + 2 * kLineGap;
    return kSampleMargin + kBelowSample + labelHeight + lines;
}

/// Small content gets its preferred height, so that its text is directly below.
void SampleView::fit() {
    const int wide = width() - 2 * kSampleMargin;
    const int room = qMax(60, height() - besides());
    int high = room;
    if (m_stack->currentWidget() == m_image) high = m_image->heightIn(QSize(wide, room));
    if (m_stack->currentWidget() == m_text) {
        m_text->resize(wide, room);  // wraps the text, which determines its height
        high = qMin(room, qMax(40, m_text->contentHeight()));
    }
    m_stack->setMaximumHeight(qMax(1, high));
}
void SampleView::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    fit();
}

QString SampleView::pixelText() const {
    return m_pixel->text();
}
QString SampleView::labelText() const {
    QString text = m_label->text();
    return text.replace(QLatin1String("&nbsp;"), QLatin1String(""))
        .remove(QLatin1String("<b>"))
        .remove(QLatin1String("</b>"));
}
QWidget* SampleView::picture() const {
    return m_stack->currentWidget() == m_text ? m_text->canvas() : m_stack->currentWidget();
}
QRect SampleView::pictureRect() const {
    if (m_stack->currentWidget() != m_image) return {};
    return m_image->pictureRect().translated(m_image->mapTo(this, QPoint()));
}

QString SampleView::csv() const {
    return QString::fromStdString(core::csvOf(m_shown.sample));
}

int SampleView::wantedHeight() const {
    const int wide = width() - 2 * kSampleMargin;
    const auto* shown = m_stack->currentWidget();
    const int high = shown == m_image  ? m_image->heightIn(QSize(wide, wide))
                     : shown == m_text ? qMax(40, m_text->contentHeight())
                                       : qMax(60, m_tiles->contentHeight());
    return high + besides();
}

std::unique_ptr<QWidget> SampleView::figure() const {
    auto view = std::make_unique<SampleView>();
    view->setPalette(Theme::current().palette());
    view->setSample(m_shown, m_names);
    // A hidden widget gets its resize event only when it is drawn, and lays out its parts then.
    const auto layOut = [&view](int height) {
        view->resize(kSampleWidth, height);
        (void)view->grab(QRect(0, 0, 1, 1));
        view->layout()->activate();
        (void)view->grab(QRect(0, 0, 1, 1));
    };
    layOut(kSampleWidth);
    // Pictures of objects that did not fit may be larger in the new height, and leave some of it.
    for (int k = 0; k < 2; ++k) {
        const int height = view->wantedHeight();
        view->m_stack->setMinimumHeight(height - view->besides());  // all of it, not nearly all
        layOut(height);
    }
    return view;
}

}  // namespace relascope::widgets
