// SPDX-License-Identifier: GPL-3.0-or-later
// draw_icon FILE.svg SIDE OUT.png: the program's icon in a size that desktops ask for.
#include <QByteArray>
#include <QGuiApplication>
#include <QImage>
#include <QPainter>
#include <QSvgRenderer>
#include <cstdio>

int main(int argc, char** argv) {
    if (argc != 4) return 2;
    qputenv("QT_QPA_PLATFORM", "offscreen");
    QGuiApplication application(argc, argv);
    QSvgRenderer picture(QString::fromLocal8Bit(argv[1]));
    const int side = QByteArray(argv[2]).toInt();
    if (!picture.isValid() || side < 1) return 1;
    QImage image(side, side, QImage::Format_ARGB32_Premultiplied);
    image.fill(Qt::transparent);
    QPainter painter(&image);
    picture.render(&painter, QRectF(0, 0, side, side));
    painter.end();
    if (image.save(QString::fromLocal8Bit(argv[3]), "PNG")) return 0;
    std::fprintf(stderr, "draw_icon: %s cannot be written\n", argv[3]);
    return 1;
}
