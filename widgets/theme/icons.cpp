// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/theme/icons.h"

#include <QFile>
#include <QIconEngine>
#include <QPainter>
#include <QPixmapCache>
#include <QSvgRenderer>

#include "widgets/theme/theme.h"

// Resources of a static library must be registered explicitly, and the macro must be used outside
// of namespaces.
static void registerResources() {
    Q_INIT_RESOURCE(resources);
}

namespace relascope::widgets {
namespace {

QByteArray source(const QString& name) {
    static const bool registered = (registerResources(), true);
    Q_UNUSED(registered);
    QFile file(QStringLiteral(":/icons/%1.svg").arg(name));
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

void draw(QPainter& painter, const QRectF& box, const QString& name, const QColor& color) {
    QByteArray text = source(name);
    if (text.isEmpty()) return;
    text.replace("#000000", color.name().toLatin1());
    QSvgRenderer renderer(text);
    painter.setRenderHint(QPainter::Antialiasing);
    renderer.render(&painter, box);
}

QPixmap drawn(const QString& name, const QColor& color, const QSize& size) {
    const QString key = QStringLiteral("relascope/%1/%2/%3x%4")
                            .arg(name, color.name())
                            .arg(size.width())
                            .arg(size.height());
    QPixmap pixmap;
    if (QPixmapCache::find(key, &pixmap)) return pixmap;
    pixmap = QPixmap(size);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    const int side = qMin(size.width(), size.height());
    draw(painter, QRectF((size.width() - side) / 2.0, (size.height() - side) / 2.0, side, side),
         name, color);
    painter.end();
    QPixmapCache::insert(key, pixmap);
    return pixmap;
}

/// Uses the current theme at every drawing instead of cached pixmaps, so that icons follow theme
/// changes.
class LineIconEngine : public QIconEngine {
public:
    LineIconEngine(QString name, QColor color) : m_name(std::move(name)), m_color(color) {}

    void paint(QPainter* painter, const QRect& box, QIcon::Mode mode, QIcon::State) override {
        const int side = qMin(box.width(), box.height());
        QRect square(0, 0, side, side);
        square.moveCenter(box.center());
        draw(*painter, square, m_name, colorOf(mode));
    }
    QPixmap pixmap(const QSize& size, QIcon::Mode mode, QIcon::State) override {
        return drawn(m_name, colorOf(mode), size);
    }
    QIconEngine* clone() const override { return new LineIconEngine(*this); }
    bool isNull() override { return m_name.isEmpty(); }
    QString key() const override { return QStringLiteral("relascope-line"); }

private:
    QColor colorOf(QIcon::Mode mode) const {
        const Theme& theme = Theme::current();
        if (mode == QIcon::Disabled) return theme.faint;
        if (m_color.isValid()) return m_color;
        return mode == QIcon::Selected ? theme.accent : theme.text;
    }
    QString m_name;
    QColor m_color;
};

}  // namespace

QIcon icon(const char* name) {
    return icon(name, QColor());
}
QIcon icon(const char* name, const QColor& color) {
    return QIcon(new LineIconEngine(QString::fromLatin1(name), color));
}

QIcon applicationIcon() {
    QIcon whole;
    for (const int side : {16, 24, 32, 48, 64, 128, 256})
        whole.addPixmap(drawn(QStringLiteral("relascope"), Qt::black, QSize(side, side)));
    return whole;
}

QPixmap iconPixmap(const char* name, const QColor& color, int pixels, qreal ratio) {
    const int side = qRound(pixels * ratio);
    QPixmap pixmap = drawn(QString::fromLatin1(name), color, QSize(side, side));
    pixmap.setDevicePixelRatio(ratio);
    return pixmap;
}

}  // namespace relascope::widgets
