#include <gtest/gtest.h>

#include <QClipboard>
#include <QDir>
#include <QFile>
#include <QImage>
#include <QMenu>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>
#include <QXmlStreamReader>

#include "probe_fixture.h"
#include "widgets/export/export.h"
#include "widgets/export/figure.h"
#include "widgets/maps/map_view.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope {
namespace {

QByteArray read(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

class ExportTest : public testing::Test {
protected:
    void SetUp() override {
        map.resize(300, 300);
        map.setScale(ColorScale(ColorScale::Kind::Signed, {-3, 3}, Theme::current()));
        map.setValues(processed(fixture::map(MapKind::Relation, 0, 0, 8, 8), Processing::Raw));
    }
    QString path(const QString& name) const { return folder.filePath(name); }
    QTemporaryDir folder;
    MapView map;
};

TEST_F(ExportTest, PngHasTheChosenResolution) {
    QString error;
    ASSERT_TRUE(exportWidget(map, path("a.png"), 192, &error)) << error.toStdString();
    const QImage image(path("a.png"));
    EXPECT_EQ(image.size(), QSize(600, 600));
    EXPECT_NEAR(image.dotsPerMeterX(), 192 / 0.0254, 1);
    const ColorScale scale(ColorScale::Kind::Signed, {-3, 3}, Theme::current());
    const QRect cell = map.cellRect(2, 5);
    EXPECT_EQ(image.pixel(cell.center() * 2), scale.rgb(fixture::relationValue(0, 0, 2, 5)));
    EXPECT_EQ(image.pixel(cell.topLeft() * 2 + QPoint(3, 3)),
              scale.rgb(fixture::relationValue(0, 0, 2, 5)));
}

TEST_F(ExportTest, SvgKeepsCellsAsShapes) {
    QString error;
    ASSERT_TRUE(exportWidget(map, path("a.svg"), 96, &error)) << error.toStdString();
    const QByteArray text = read(path("a.svg"));
    EXPECT_GE(text.count("<rect"), 64);
    EXPECT_FALSE(text.contains("<image")) << "cells of a small map are no picture";
    QXmlStreamReader reader(text);
    while (!reader.atEnd()) reader.readNext();
    EXPECT_FALSE(reader.hasError());
}

TEST_F(ExportTest, PdfIsWritten) {
    QString error;
    ASSERT_TRUE(exportWidget(map, path("a.pdf"), 96, &error)) << error.toStdString();
    EXPECT_TRUE(read(path("a.pdf")).startsWith("%PDF"));
}

TEST_F(ExportTest, FailuresNameTheFileAndLeaveNothing) {
    QString error;
    EXPECT_FALSE(exportWidget(map, path("no/such/folder/a.png"), 96, &error));
    EXPECT_TRUE(error.contains("no/such/folder"));
    EXPECT_FALSE(exportWidget(map, path("a.bmp"), 96, &error));
    EXPECT_TRUE(error.contains(".svg"));
    EXPECT_FALSE(exportCsv("a", path("no/such/folder/a.csv"), &error));
    EXPECT_TRUE(QDir(folder.path()).isEmpty());
}

TEST_F(ExportTest, ClipboardTakesThePicture) {
    copyToClipboard(map);
    EXPECT_EQ(QApplication::clipboard()->image().size(), QSize(600, 600));
}

TEST_F(ExportTest, MenuAsksForAPathAndSays) {
    QToolButton button;
    ViewMenu menu(
        &button, &map, [] { return QString("relation-1"); }, [] { return QString("i,0\n0,1\n"); });
    QString suggested;
    menu.askPath = [&](const QString&, const QString& name, const QString&) {
        suggested = name;
        return path("b.csv");
    };
    QSignalSpy saved(&menu, &ViewMenu::saved);
    for (QAction* action : menu.menu()->actions())
        if (action->text() == "CSV...") action->trigger();
    EXPECT_EQ(suggested, "relation-1.csv");
    ASSERT_EQ(saved.size(), 1);
    EXPECT_EQ(read(path("b.csv")), "i,0\n0,1\n");
    menu.askPath = [&](const QString&, const QString&, const QString&) { return path("c"); };
    menu.setDpi(96);
    menu.save("png");
    EXPECT_EQ(QImage(path("c.png")).size(), QSize(300, 300)) << "a missing ending is added";
    menu.askPath = [](const QString&, const QString&, const QString&) { return QString(); };
    menu.save("png");
    EXPECT_EQ(saved.size(), 2) << "cancelled";
    menu.askPath = [&](const QString&, const QString&, const QString&) { return path("no/d.png"); };
    QSignalSpy failed(&menu, &ViewMenu::failed);
    menu.save("png");
    EXPECT_EQ(failed.size(), 1);
}

TEST_F(ExportTest, FigureInEveryFormat) {
    const auto result = fixture::result();
    InspectorView view;
    view.source = 1;
    view.target = 3;
    QString error;
    for (const char* ending : {"png", "svg", "pdf", "csv"}) {
        ASSERT_TRUE(renderFigure(*result, view, path(QString("figure.") + ending), &error))
            << error.toStdString();
        EXPECT_GT(read(path(QString("figure.") + ending)).size(), 100);
    }
    const QStringList lines = QString::fromUtf8(read(path("figure.csv"))).split('\n');
    EXPECT_EQ(lines.size(), 12);
    EXPECT_TRUE(lines[0].startsWith("i,class token,\"patch (0, 0)\""));
    EXPECT_EQ(lines[1].section(',', 1, 1).toFloat(), fixture::relationValue(0, 0, 0, 0));
    const QImage image(path("figure.png"));
    EXPECT_GT(image.width(), 2000);
    int red = 0;
    for (int x = 0; x < image.width(); ++x)
        for (int y = 0; y < image.height(); y += 7)
            red += image.pixelColor(x, y) == Theme::current().outline;
    EXPECT_GT(red, 20) << "the source is outlined";
}

TEST_F(ExportTest, FigureNeedsAMap) {
    ProbeResult nothing;
    QString error;
    EXPECT_FALSE(renderFigure(nothing, {}, path("f.png"), &error));
    EXPECT_TRUE(error.contains("no map"));
    const auto plain = fixture::result({.gridRows = 1,
                                        .gridColumns = 1,
                                        .classToken = false,
                                        .layers = 1,
                                        .relations = 0,
                                        .relational = 0,
                                        .sensory = 1});
    EXPECT_TRUE(renderFigure(*plain, {}, path("f.svg"), &error)) << "the nearest view there is";
}

}  // namespace
}  // namespace relascope
