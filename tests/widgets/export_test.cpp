// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <QAction>
#include <QClipboard>
#include <QComboBox>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QImage>
#include <QLabel>
#include <QMenu>
#include <QPainter>
#include <QPushButton>
#include <QSet>
#include <QSignalSpy>
#include <QTableWidget>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>
#include <QXmlStreamReader>

#include "probe_fixture.h"
#include "support/rooms.h"
#include "widgets/curves/curve_panel.h"
#include "widgets/curves/curve_plot.h"
#include "widgets/export/export.h"
#include "widgets/export/figure.h"
#include "widgets/inspector/relation_inspector.h"
#include "widgets/maps/color_map.h"
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

TEST_F(ExportTest, TheMaskIsHatchedByLinesWhereShapesAreKept) {
    const QString to = path("mask.svg");
    QString error;
    const auto paint = [](QPainter& painter) {
        drawMask(painter, {}, 20.0, {4, 4, std::vector<float>(16, 0.0F), MapValues::Mask::Above});
    };
    ASSERT_TRUE(exportPainting(paint, {80, 80}, "mask", Qt::white, to, &error));
    const QByteArray text = read(to);
    EXPECT_FALSE(text.contains("<image"));
    EXPECT_GT(text.count("<polyline") + text.count("<line") + text.count("<path"), 10);
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
    QToolButton button;
    ViewMenu menu(
        &button, &map, [] { return QString("relation-1"); }, [] { return QString(); });
    menu.menu()->actions().front()->trigger();
    EXPECT_EQ(QApplication::clipboard()->image().width(), 600);
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

/// Counts pixels of a colour.
int pixelsOf(const QImage& image, const QColor& color) {
    int count = 0;
    for (int y = 0; y < image.height(); ++y)
        for (int x = 0; x < image.width(); ++x) count += image.pixelColor(x, y) == color;
    return count;
}

TEST_F(ExportTest, FiguresAreLightWithoutControlsAndWithACaption) {
    applyTheme(*qApp, ThemeMode::Dark);
    QWidget view;
    view.resize(300, 200);
    view.setAutoFillBackground(true);
    view.setBackgroundRole(QPalette::Base);
    QLabel label("A finding", &view);
    label.setGeometry(10, 10, 200, 20);
    QPushButton press("Press", &view);
    press.setProperty("primary", true);  // filled with the accent
    press.setGeometry(10, 60, 100, 30);
    QComboBox box(&view);
    box.setGeometry(10, 100, 100, 24);
    view.show();
    ASSERT_GT(pixelsOf(view.grab().toImage(), Theme::darkTheme().accent), 500);
    QToolButton button;
    ViewMenu menu(&button, &view, [] { return QString("what it shows"); });
    menu.caption = [] { return QString("quick-dat-s0, step 384"); };
    menu.setDpi(96);
    QString error;
    ASSERT_TRUE(menu.write(path("light.png"), &error)) << error.toStdString();
    const QImage light(path("light.png"));
    EXPECT_EQ(light.pixelColor(250, 5), Theme::light().panel);
    EXPECT_EQ(pixelsOf(light, Theme::light().accent), 0) << "no button";
    EXPECT_EQ(pixelsOf(light.copy(0, 55, 300, 90), Theme::light().panel), 300 * 90)
        << "neither a frame of one";
    EXPECT_GT(pixelsOf(light.copy(0, 0, 300, 40), Theme::light().text), 5) << "the words stay";
    ASSERT_GT(light.height(), 210);
    EXPECT_LT(pixelsOf(light.copy(0, 200, 300, light.height() - 200), Theme::light().panel),
              300 * (light.height() - 200))
        << "the caption";
    EXPECT_EQ(&Theme::current(), &Theme::darkTheme());
    EXPECT_GT(pixelsOf(view.grab().toImage(), Theme::darkTheme().accent), 500) << "as before";
    figureStyle().light = false;
    ASSERT_TRUE(menu.write(path("dark.png"), &error));
    figureStyle().light = true;
    EXPECT_EQ(QImage(path("dark.png")).pixelColor(250, 5), Theme::darkTheme().panel);
    applyTheme(*qApp, ThemeMode::Light);
}

TEST_F(ExportTest, TablesAreWrittenWhole) {
    QTableWidget table(60, 12);
    for (int r = 0; r < 60; ++r)
        for (int c = 0; c < 12; ++c)
            table.setItem(r, c, new QTableWidgetItem(QString("%1/%2").arg(r).arg(c)));
    table.resize(300, 200);
    table.show();
    QToolButton button;
    ViewMenu menu(&button, &table, [] { return QString("table"); });
    QString error;
    ASSERT_TRUE(menu.write(path("table.svg"), &error)) << error.toStdString();
    const QByteArray text = read(path("table.svg"));
    EXPECT_TRUE(text.contains(">59/11<")) << "what one has to scroll to";
    EXPECT_TRUE(text.contains(">0/0<"));
}

TEST_F(ExportTest, FileNamesSayWhatTheyHold) {
    EXPECT_EQ(figureFileName({"quick-dat-s0", "step384", "", "layer 2"}),
              "quick-dat-s0_step384_layer-2");
    EXPECT_EQ(figureFileName({"../a b: c/d"}), "a-b-c-d");
    auto result = fixture::result();
    result->step = 384;
    RelationInspector inspector;
    inspector.resize(1100, 460);
    inspector.show();
    inspector.setFigureRun("quick-dat-s0");
    inspector.setResult(result);
    inspector.stepLayer(1);
    EXPECT_EQ(inspector.choice().figureName(FigurePart::Source | FigurePart::Map),
              "quick-dat-s0_step384_layer2_relation1");
    QStringList names;
    for (auto* menu : inspector.findChildren<ViewMenu*>()) names << menu->fileName();
    names.sort();
    EXPECT_EQ(names, QStringList({"quick-dat-s0_step384_layer2_maps",
                                  "quick-dat-s0_step384_layer2_relation1_map",
                                  "quick-dat-s0_step384_layer2_relation1_source"}));
}

TEST_F(ExportTest, EveryViewOfAPageIsWritten) {
    RelationInspector inspector;
    inspector.resize(1100, 460);
    inspector.show();
    inspector.setFigureRun("run a");
    inspector.setResult(fixture::result());
    QString error;
    const QStringList files = exportAll(inspector, path("all"), &error);
    EXPECT_EQ(error, "");
    // 3 views as PNG and PDF, two with a table, one with bars
    EXPECT_EQ(files.size(), 9) << files.join('\n').toStdString();
    for (const QString& file : files) EXPECT_GT(QFileInfo(file).size(), 50) << file.toStdString();
    EXPECT_TRUE(files.contains(path("all/run-a_step980_layer1_maps.pdf")));
    // Each names the run, the layer, the step and the sample.
    for (auto* menu : inspector.findChildren<ViewMenu*>()) {
        ASSERT_TRUE(menu->write(path("one.svg"), &error));
        const QByteArray text = read(path("one.svg"));
        EXPECT_TRUE(text.contains("run a") && text.contains("step 980") &&
                    text.contains("validation 12") && text.contains("layer 1"))
            << menu->fileName().toStdString();
    }
    QWidget nothing;
    EXPECT_TRUE(exportAll(nothing, path("none"), &error).isEmpty());
    EXPECT_TRUE(error.contains("nothing to export"));
}

TEST_F(ExportTest, CurvesNameTheirAxesAndRunAndBecomePgfplots) {
    CurvePanel panel;
    panel.resize(700, 260);
    panel.setTitle("Same or different");
    panel.setRuns({{"a", "quick-dat-s0", "", 0, false}});
    std::vector<MetricPoint> points;
    for (int i = 1; i <= 3; ++i)
        points.push_back({i * 10,
                          i / 1.0,
                          i,
                          i * 1.0,
                          Split::Validation,
                          {{"loss", 1.0 / i}, {"accuracy", 0.5}}});
    panel.appendPoints("a", points);
    panel.setCursorStep(20);
    panel.flush();
    QToolButton button;
    ViewMenu menu(
        &button, &panel, [&] { return panel.figureName(); }, [&] { return panel.csv(); });
    panel.setFigure(menu);
    EXPECT_EQ(menu.fileName(), "quick-dat-s0_curves");
    EXPECT_EQ(menu.endings(), QStringList({"png", "svg", "pdf", "tex", "csv"}));
    QString error;
    ASSERT_TRUE(menu.write(path("c.svg"), &error)) << error.toStdString();
    const QByteArray svg = read(path("c.svg"));
    for (const char* text :
         {">Step<", ">Loss<", ">Same or different<", "quick-dat-s0", "up to step 30"})
        EXPECT_TRUE(svg.contains(text)) << text;
    EXPECT_FALSE(svg.contains("0.500")) << "no value at a cursor";
    EXPECT_FALSE(panel.lossPlot()->cursorDots().empty()) << "on the screen it is back";
    // At any resolution the whole figure: with its horizontal axis, near the bottom.
    for (const int dpi : {96, 300}) {
        menu.setDpi(dpi);
        ASSERT_TRUE(menu.write(path("c.png"), &error));
        const QImage image(path("c.png"));
        EXPECT_GT(pixelsOf(image.copy(0, image.height() / 2, image.width(), image.height() / 2),
                           Theme::current().axis),
                  image.width() / 2)
            << dpi;
    }
    ASSERT_TRUE(menu.write(path("c.tex"), &error));
    const QByteArray tex = read(path("c.tex"));
    EXPECT_TRUE(tex.contains("\\begin{tikzpicture}") && tex.contains("(10,1) (20,0.5)"));
    EXPECT_TRUE(tex.contains("\\addlegendentry{quick-dat-s0, validation}"));
    EXPECT_TRUE(tex.contains("xlabel={Step}"));
    EXPECT_TRUE(tex.contains("{HTML}{0072B2}"));
    EXPECT_EQ(latexText("50 % of a_b & {c}"), "50 \\% of a\\_b \\& \\{c\\}");
    // In a dark window the panel looks afterwards as it did.
    applyTheme(*qApp, ThemeMode::Dark);
    panel.show();
    QCoreApplication::processEvents();  // the plots take the colours of the new palette
    panel.flush();
    const QImage before = panel.grab().toImage();
    for (const QString& ending : menu.endings())
        ASSERT_TRUE(menu.write(path("dark." + ending), &error));
    EXPECT_EQ(panel.grab().toImage(), before);
    EXPECT_TRUE(read(path("dark.tex")).contains("{HTML}{0072B2}")) << "the light theme's";
    applyTheme(*qApp, ThemeMode::Light);
    const QString bars =
        pgfplotsText("", PgfBars{"T", "class", "p", Qt::red, {"no", "yes"}, {0.25, 0.75}});
    EXPECT_TRUE(bars.contains("ybar") && bars.contains("(0,0.25) (1,0.75)"));
    EXPECT_TRUE(bars.contains("{no},{yes}"));
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

/// Figures for a paper during its lifetime, switched on as a user does.
struct ForAPaper {
    ForAPaper() { paperAction()->trigger(); }
    ~ForAPaper() { paperAction()->trigger(); }
};

/// The fonts of an SVG's texts.
QSet<QString> fontsOf(const QByteArray& svg) {
    QSet<QString> fonts;
    QXmlStreamReader reader(svg);
    while (!reader.atEnd()) {
        reader.readNext();
        if (reader.isStartElement() && reader.attributes().hasAttribute("font-family"))
            fonts << reader.attributes().value("font-family").toString();
    }
    return fonts;
}

TEST_F(ExportTest, ForAPaperAMapIsBareWithItsAxesInOneFontAndItsCaptionBesideIt) {
    applyTheme(*qApp, ThemeMode::Dark);
    RelationInspector inspector;
    inspector.resize(1100, 460);
    inspector.show();
    inspector.setFigureRun("run a");
    inspector.setResult(fixture::result());
    const auto menuOf = [&](const QString& name) {
        for (auto* menu : inspector.findChildren<ViewMenu*>())
            if (menu->fileName().endsWith(name)) return menu;
        return static_cast<ViewMenu*>(nullptr);
    };
    ViewMenu* menu = menuOf("relation1_map");
    ASSERT_TRUE(menu);
    EXPECT_TRUE(menu->menu()->actions().contains(paperAction()));
    const QByteArray frame = Theme::light().outline.name().toUtf8();
    QString error;
    ASSERT_TRUE(menu->write(path("usual.svg"), &error));
    EXPECT_TRUE(read(path("usual.svg")).contains("step 980"));
    EXPECT_TRUE(read(path("usual.svg")).contains(frame)) << "the chosen cell";
    EXPECT_FALSE(QFileInfo::exists(path("usual.txt")));
    {
        const ForAPaper paper;
        figureStyle().light = false;  // a paper is white all the same
        ASSERT_TRUE(menu->write(path("map.svg"), &error)) << error.toStdString();
        const QByteArray svg = read(path("map.svg"));
        EXPECT_FALSE(svg.contains(frame));
        EXPECT_FALSE(svg.contains("step 980")) << "the caption is not in it";
        EXPECT_TRUE(svg.contains(">i: ") && svg.contains(">j: ")) << "its axes are named";
        EXPECT_TRUE(svg.contains(", scale of the layer")) << "the colour scale is kept";
        EXPECT_EQ(fontsOf(svg).size(), 1) << fontsOf(svg).values().join(", ").toStdString();
        const QByteArray caption = read(path("map.txt"));
        EXPECT_TRUE(caption.startsWith("Relation 1 of layer 1\n")) << caption.toStdString();
        EXPECT_TRUE(caption.contains("run a") && caption.contains("step 980"));
        menu->setDpi(96);
        ASSERT_TRUE(menu->write(path("map.png"), &error));
        EXPECT_EQ(QImage(path("map.png")).pixelColor(1, 1), Theme::light().panel);
        // i is what the image is tinted by, so that its patch is marked; j is not.
        ASSERT_TRUE(menuOf("source")->write(path("source.svg"), &error));
        EXPECT_TRUE(read(path("source.svg")).contains(">i<"));
        EXPECT_FALSE(read(path("source.svg")).contains(">j<"));
        EXPECT_TRUE(read(path("source.txt")).contains("i = "));
        EXPECT_TRUE(exportAll(inspector, path("all"), &error)
                        .contains(path("all/run-a_step980_layer1_maps.txt")));
        // A checkpoint that was opened is of no step.
        inspector.setFigureRun("model", false);
        ASSERT_TRUE(menu->write(path("opened.svg"), &error));
        EXPECT_FALSE(read(path("opened.txt")).contains("step"));
        figureStyle().light = true;
    }
    ASSERT_TRUE(menu->write(path("again.svg"), &error));
    EXPECT_TRUE(read(path("again.svg")).contains("layer 1"));
    applyTheme(*qApp, ThemeMode::Light);
}

TEST_F(ExportTest, ForAPaperTheFontsOfAnyViewAreOne) {
    QWidget view;
    view.resize(300, 100);
    QLabel text("text", &view), number("12.5", &view), name("model.dff", &view);
    text.setFont(bodyFont());
    number.setFont(numberFont(12));
    name.setFont(monoFont(12));
    number.move(0, 30);
    name.move(0, 60);
    QToolButton button;
    ViewMenu menu(&button, &view, [] { return QString("view"); });
    menu.caption = [] { return QString("occurs, step 5"); };
    QString error;
    ASSERT_TRUE(menu.write(path("v.svg"), &error));
    EXPECT_GT(fontsOf(read(path("v.svg"))).size(), 1);
    const ForAPaper paper;
    ASSERT_TRUE(menu.write(path("v.svg"), &error));
    EXPECT_EQ(fontsOf(read(path("v.svg"))).size(), 1);
    EXPECT_EQ(read(path("v.txt")), "occurs, step 5\n");
    EXPECT_NE(number.font().families(), text.font().families()) << "on the screen as before";
}

TEST_F(ExportTest, TintsHaveTitlesAndColoursForAllReaders) {
    InspectorView first, second;
    first.source = 1, second.source = 2, second.layer = 1;
    QString error;
    ASSERT_TRUE(
        renderTints(*fixture::result(), {first, second}, path("t.svg"), &error, {"m", false}));
    const QByteArray svg = read(path("t.svg"));
    for (const char* text : {"Relation 1 of layer 1, i = patch (0, 0)",
                             "Relation 1 of layer 2, i = patch (0, 1)", ">m "})
        EXPECT_TRUE(svg.contains(text)) << text;
    EXPECT_FALSE(svg.contains("j = ") || svg.contains("tanh") || svg.contains("step"));
}

TEST_F(ExportTest, PicturesSayTheirCommandAndViewFile) {
    QToolButton button;
    map.setAccessibleName(QStringLiteral("Map <1> & more"));
    ViewMenu menu(&button, &map, [] { return QStringLiteral("map"); });
    View view;
    view.command = "inspect";
    view.subjects = {{"/runs/a & b", {}, {}, {}, {}}};
    view.options = {{"layer", std::int64_t{2}}};
    bool sayable = true;
    menu.describe = [&] { return sayable ? std::optional(view) : std::nullopt; };
    const QString command = QStringLiteral("relascope-cli inspect '/runs/a & b' --layer 2");
    QString error;
    const auto write = [&](const char* name) {
        EXPECT_TRUE(menu.write(path(QLatin1String(name)), &error)) << error.toStdString();
        return read(path(QLatin1String(name)));
    };
    menu.setViewFile(QStringLiteral("/home/me/secret folder/fig.relaview"));
    for (const char* name : {"a.png", "a.svg", "a.pdf"}) {
        const auto bytes = write(name);
        EXPECT_FALSE(bytes.contains("secret")) << name;
        EXPECT_EQ(write(name), bytes) << name << " is the same a second time";
    }
    const QImage png(path("a.png"));
    EXPECT_EQ(png.text(QStringLiteral("Command")), command);
    EXPECT_EQ(png.text(QStringLiteral("View")), QStringLiteral("fig.relaview"));
    EXPECT_EQ(png.text(QStringLiteral("Software")), QStringLiteral("Relascope"));
    QXmlStreamReader reader(read(path("a.svg")));
    QString title, description;
    while (!reader.atEnd()) {
        reader.readNext();
        if (reader.isStartElement() && reader.name() == QLatin1String("title"))
            title = reader.readElementText();
        if (reader.isStartElement() && reader.name() == QLatin1String("desc"))
            description = reader.readElementText();
    }
    EXPECT_FALSE(reader.hasError()) << reader.errorString().toStdString();
    EXPECT_EQ(title, map.accessibleName());
    EXPECT_EQ(description,
              QStringLiteral("Software: Relascope\nCommand: %1\nView: fig.relaview").arg(command));
    EXPECT_TRUE(
        read(path("a.pdf"))
            .contains("<relascope:command>relascope-cli inspect '/runs/a &amp; b' --layer 2<"));
    // Another view than the one of the file.
    view.options[0].value = std::int64_t{1};
    EXPECT_EQ(menu.viewFile(), QString());
    EXPECT_FALSE(write("a.svg").contains("fig.relaview"));
    sayable = false;
    EXPECT_FALSE(write("a.svg").contains("Command"));
}

TEST_F(ExportTest, TheMenuSavesWhatCanBeSaid) {
    QToolButton button;
    ViewMenu menu(&button, &map, [] { return QStringLiteral("map"); });
    View view;
    view.command = "inspect";
    view.subjects = {{"/runs/a", {}, {}, {}, {}}};
    bool sayable = false;
    menu.describe = [&] { return sayable ? std::optional(view) : std::nullopt; };
    menu.askPath = [this](const QString&, const QString& suggested, const QString&) {
        EXPECT_EQ(suggested, QStringLiteral("map.relaview"));
        return path("mine");
    };
    QSignalSpy saving(&menu, &ViewMenu::viewSaving);
    const auto entry = [&](const char* text) {
        Q_EMIT menu.menu()->aboutToShow();
        for (QAction* action : menu.menu()->actions())
            if (action->text() == QLatin1String(text)) return action;
        return static_cast<QAction*>(nullptr);
    };
    const char* const save = "Save view with data...";
    EXPECT_FALSE(entry(save)->isVisible());
    sayable = true;
    EXPECT_TRUE(entry("Save view...")->isVisible());
    EXPECT_FALSE(entry(save)->isVisible()) << "nothing is shown that could be kept beside";
    view.shown = std::make_shared<const ProbeResult>();
    EXPECT_TRUE(entry(save)->isVisible());
    entry(save)->trigger();
    ASSERT_EQ(saving.count(), 1);
    EXPECT_EQ(saving[0][1].toString(), path("mine.relaview"));
    EXPECT_TRUE(saving[0][2].toBool());
    menu.setDpi(150);
    EXPECT_EQ(menu.described()->dpi, 150);
    entry("Copy as command")->trigger();
    EXPECT_EQ(QApplication::clipboard()->text(),
              QStringLiteral("relascope-cli inspect /runs/a --dpi 150 --out figure.svg"));
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
