// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/checkpoint/config_view.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QPainter>
#include <algorithm>

#include "widgets/export/export.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

constexpr int kConfigRow = 22;
constexpr int kColumnGap = 28;
constexpr int kNarrowestColumn = 190;  ///< px, width of a column with a name and its value
constexpr int kConfigMargin = 16;

QString valueText(const QJsonValue& value) {
    if (value.isString()) return value.toString();
    if (value.isBool()) return value.toBool() ? QStringLiteral("true") : QStringLiteral("false");
    if (value.isNull()) return QStringLiteral("null");
    if (value.isDouble()) {
        const double number = value.toDouble();
        const auto whole = static_cast<qlonglong>(number);
        return static_cast<double>(whole) == number ? QString::number(whole)
                                                    : QString::number(number, 'g', 9);
    }
    QStringList parts;
    for (const QJsonValue& part : value.toArray()) parts << valueText(part);
    return u'[' + parts.join(QStringLiteral(", ")) + u']';
}

void flatten(const QJsonObject& object, const QString& prefix,
             std::vector<std::pair<QString, QString>>& rows) {
    for (auto it = object.begin(); it != object.end(); ++it) {
        if (it.value().isObject())
            flatten(it.value().toObject(), prefix + it.key() + u'.', rows);
        else
            rows.emplace_back(prefix + it.key(), valueText(it.value()));
    }
}

}  // namespace

class ConfigView::Canvas : public QWidget {
public:
    explicit Canvas(QWidget* parent) : QWidget(parent) {
        setAccessibleName(QStringLiteral("Configuration"));
    }
    std::vector<std::pair<QString, QString>> rows;

    int columns() const {
        return std::max(1, (width() - kConfigMargin) / (kNarrowestColumn + kColumnGap));
    }
    int perColumn() const { return (static_cast<int>(rows.size()) + columns() - 1) / columns(); }
    void layOut() {
        setMinimumHeight(perColumn() * kConfigRow + 16);
        update();
    }

protected:
    void resizeEvent(QResizeEvent*) override { layOut(); }
    void changeEvent(QEvent* event) override {
        QWidget::changeEvent(event);
        if (event->type() == QEvent::PaletteChange) update();
    }
    void paintEvent(QPaintEvent* event) override {
        const Theme& t = Theme::current();
        QPainter painter(this);
        painter.fillRect(event->rect(), t.panel);
        painter.setFont(monoFont(12));
        if (rows.empty()) {
            painter.setFont(smallFont());
            painter.setPen(t.muted);
            painter.drawText(rect(), Qt::AlignCenter,
                             QStringLiteral("No configuration was found next to these weights."));
            return;
        }
        const int each = (width() - 2 * kConfigMargin + kColumnGap) / columns() - kColumnGap;
        for (int k = 0; k < static_cast<int>(rows.size()); ++k) {
            const auto& [name, value] = rows[static_cast<std::size_t>(k)];
            const QRect place(kConfigMargin + k / perColumn() * (each + kColumnGap),
                              6 + k % perColumn() * kConfigRow, each, kConfigRow);
            // Names are elided before values.
            const QString shown =
                painter.fontMetrics().elidedText(value, Qt::ElideRight, each - 40);
            const int wide = painter.fontMetrics().horizontalAdvance(shown);
            painter.setPen(t.text);
            painter.drawText(place, Qt::AlignRight | Qt::AlignVCenter, shown);
            painter.setPen(t.muted);
            painter.drawText(
                place, Qt::AlignLeft | Qt::AlignVCenter,
                painter.fontMetrics().elidedText(name, Qt::ElideMiddle, each - wide - 10));
        }
    }
    bool event(QEvent* event) override {
        if (event->type() == QEvent::ToolTip && !rows.empty()) {
            const QPoint at = mapFromGlobal(QCursor::pos());
            const int each = (width() - 2 * kConfigMargin + kColumnGap) / columns();
            const int k = (at.x() - kConfigMargin) / std::max(1, each) * perColumn() +
                          (at.y() - 6) / kConfigRow;
            if (k >= 0 && k < static_cast<int>(rows.size()))
                setToolTip(plainTip(rows[static_cast<std::size_t>(k)].first +
                                    QStringLiteral(" = ") +
                                    rows[static_cast<std::size_t>(k)].second));
        }
        return QWidget::event(event);
    }
};

ConfigView::ConfigView(QWidget* parent) : QScrollArea(parent), m_canvas(new Canvas(this)) {
    setAccessibleName(QStringLiteral("Configuration"));
    setFrameShape(QFrame::NoFrame);
    setWidgetResizable(true);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setWidget(m_canvas);
}

void ConfigView::setConfig(const QString& json) {
    m_canvas->rows.clear();
    const QJsonDocument document = QJsonDocument::fromJson(json.toUtf8());
    if (document.isObject())
        flatten(document.object(), {}, m_canvas->rows);
    else if (!json.trimmed().isEmpty())
        m_canvas->rows.emplace_back(QStringLiteral("text"), json.simplified());
    // Constructor arguments are stored under this key, which is omitted from their names.
    for (auto& [name, value] : m_canvas->rows)
        if (name.startsWith(QLatin1String("arguments."))) name.remove(0, 10);
    m_canvas->layOut();
}

const std::vector<std::pair<QString, QString>>& ConfigView::rows() const {
    return m_canvas->rows;
}
QWidget* ConfigView::canvas() const {
    return m_canvas;
}

QString ConfigView::csv() const {
    QString text = QStringLiteral("option,value\n");
    for (const auto& [name, value] : m_canvas->rows)
        text += csvField(name) + u',' + csvField(value) + u'\n';
    return text;
}

}  // namespace relascope::widgets
