#include <QMouseEvent>
#include <QPainter>
#include <algorithm>

#include "widgets/data/samples.h"
#include "widgets/theme/theme.h"

namespace relascope {
namespace {
constexpr int kMargin = 16, kWords = 62;
}

SampleView::SampleView(QWidget* parent) : QWidget(parent) {
    setMouseTracking(true);
    setMinimumSize(160, 180);
    setAccessibleName(QStringLiteral("Sample"));
}
void SampleView::setSample(const ProbeSample& sample, const QStringList& classNames) {
    m_sample = sample;
    m_names = classNames;
    m_picture = toPicture(sample.image);
    m_pixel.clear();
    setAccessibleDescription(
        QString("label %1, %2").arg(sample.label).arg(QString::fromStdString(sample.origin)));
    update();
}
void SampleView::clear() {
    setSample({}, {});
}

QRect SampleView::pictureRect() const {
    if (m_picture.isNull()) return {};
    const int scale = std::max(1, std::min((width() - 2 * kMargin) / m_picture.width(),
                                           (height() - kMargin - kWords) / m_picture.height()));
    return {kMargin, kMargin, m_picture.width() * scale, m_picture.height() * scale};
}

void SampleView::paintEvent(QPaintEvent*) {
    const Theme& t = Theme::current();
    QPainter painter(this);
    painter.fillRect(rect(), t.panel);
    painter.setFont(smallFont());
    if (m_picture.isNull()) {
        painter.setPen(t.muted);
        painter.drawText(rect(), Qt::AlignCenter, QStringLiteral("Choose a sample"));
        return;
    }
    const QRect picture = pictureRect();
    painter.drawImage(picture, m_picture);
    const int top = picture.bottom() + 6;
    const int room = width() - 2 * kMargin;
    QFont strong = smallFont();
    strong.setWeight(QFont::DemiBold);
    const QString label = m_sample.label < 0 ? QString(QChar(0x2014))
                          : m_sample.label < m_names.size()
                              ? m_names[static_cast<qsizetype>(m_sample.label)]
                              : QString::number(m_sample.label);
    painter.setPen(t.muted);
    painter.drawText(QRect(kMargin, top, 40, 18), Qt::AlignVCenter, QStringLiteral("label"));
    painter.setFont(strong);
    painter.setPen(t.text);
    painter.drawText(QRect(kMargin + 40, top, room - 40, 18), Qt::AlignVCenter, label);
    painter.setFont(captionFont());
    painter.setPen(t.muted);
    painter.drawText(QRect(kMargin, top + 18, room, 15), Qt::AlignVCenter,
                     painter.fontMetrics().elidedText(QString::fromStdString(m_sample.origin),
                                                      Qt::ElideMiddle, room));
    painter.setFont(numberFont(11));
    painter.drawText(QRect(kMargin, top + 33, room, 15), Qt::AlignVCenter, m_pixel);
}

void SampleView::mouseMoveEvent(QMouseEvent* event) {
    const QRect picture = pictureRect();
    QString text;
    if (picture.contains(event->pos())) {
        const int scale = picture.width() / m_picture.width();
        const int column = (event->pos().x() - picture.left()) / scale,
                  row = (event->pos().y() - picture.top()) / scale;
        QStringList values;
        for (int c = 0; c < m_sample.image.channels; ++c)
            values += QString::number(m_sample.image.pixels[m_sample.image.index(row, column, c)]);
        text = QString("row %1, column %2: %3")
                   .arg(row)
                   .arg(column)
                   .arg(values.join(QStringLiteral(", ")));
    }
    if (text == m_pixel) return;
    m_pixel = text;
    update();
}
void SampleView::leaveEvent(QEvent*) {
    m_pixel.clear();
    update();
}

StatisticsView::StatisticsView(QWidget* parent) : QWidget(parent) {
    setAccessibleName(QStringLiteral("Statistics"));
}
void StatisticsView::setClasses(std::vector<std::pair<QString, qint64>> counts) {
    m_counts = std::move(counts);
    refresh();
}
void StatisticsView::setRows(std::vector<std::pair<QString, QString>> rows) {
    m_rows = std::move(rows);
    refresh();
}
void StatisticsView::refresh() {
    setAccessibleDescription(csv());
    setMinimumHeight(sizeHint().height());
    updateGeometry();
    update();
}
QSize StatisticsView::sizeHint() const {
    return {260, static_cast<int>(20 * (m_counts.size() + m_rows.size())) + 32};
}
QString StatisticsView::csv() const {
    QString text = QStringLiteral("class,count\n");
    for (const auto& [name, count] : m_counts) text += QString("%1,%2\n").arg(name).arg(count);
    for (const auto& [name, value] : m_rows) text += QString("%1,%2\n").arg(name, value);
    return text;
}

void StatisticsView::paintEvent(QPaintEvent*) {
    const Theme& t = Theme::current();
    QPainter painter(this);
    painter.fillRect(rect(), t.panel);
    const QFontMetrics words(smallFont()), numbers(numberFont(12));
    qint64 most = 1;
    int names = 40, counts = 20;
    for (const auto& [name, count] : m_counts) {
        most = std::max(most, count);
        names = std::max(names, std::min(110, words.horizontalAdvance(name) + 2));
        counts = std::max(counts, numbers.horizontalAdvance(groupedNumber(count)));
    }
    int y = 12;
    const int bar = std::max(10, width() - 2 * kMargin - names - counts - 24);
    for (const auto& [name, count] : m_counts) {
        painter.setFont(smallFont());
        painter.setPen(t.text);
        painter.drawText(QRect(kMargin, y, names, 18), Qt::AlignVCenter,
                         words.elidedText(name, Qt::ElideRight, names));
        const QRect track(kMargin + names + 12, y + 5, bar, 8);
        painter.fillRect(track, t.track);
        painter.fillRect(
            QRect(track.left(), track.top(),
                  static_cast<int>(static_cast<double>(bar) * static_cast<double>(count) /
                                   static_cast<double>(most)),
                  8),
            t.series[0]);
        painter.setFont(numberFont(12));
        painter.drawText(QRect(kMargin, y, width() - 2 * kMargin, 18),
                         Qt::AlignVCenter | Qt::AlignRight, groupedNumber(count));
        y += 20;
    }
    if (!m_counts.empty()) y += 8;
    for (const auto& [name, value] : m_rows) {
        painter.setFont(smallFont());
        painter.setPen(t.muted);
        painter.drawText(QRect(kMargin, y, width() - 2 * kMargin, 18), Qt::AlignVCenter, name);
        painter.setFont(numberFont(12));
        painter.setPen(t.text);
        painter.drawText(QRect(kMargin, y, width() - 2 * kMargin, 18),
                         Qt::AlignVCenter | Qt::AlignRight, value);
        y += 20;
    }
}

}  // namespace relascope
