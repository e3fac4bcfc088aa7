// SPDX-License-Identifier: GPL-3.0-or-later
// The kit: a table of an answer as it is sorted, copied, kept and drawn, and grids with gaps.
#include <gtest/gtest.h>

#include <QApplication>
#include <QClipboard>
#include <QHeaderView>
#include <QHelpEvent>
#include <QPainter>
#include <QSignalSpy>
#include <QTest>
#include <QToolTip>
#include <cmath>
#include <utility>

#include "child.h"
#include "support/rooms.h"
#include "widgets/analysis/declared_view.h"
#include "widgets/kit/grid_view.h"
#include "widgets/kit/map_strip.h"
#include "widgets/kit/plot_view.h"
#include "widgets/kit/table_view.h"
#include "widgets/kit/token_view.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

using namespace relascope;

namespace {

Table parts() {
    Table table{"parts", "Parts"};
    table.columns = {
        {"part", "Part", "", ColumnKind::Text, {}, {}, {}, {}, {}, {"layer 10", "layer 2", "b"}},
        {"change",
         "Change",
         "Of the loss",
         ColumnKind::Number,
         {1, true, true, true},
         {},
         "low",
         "high",
         {0.5, std::nan(""), -0.25}},
        {"low", "", "", ColumnKind::Number, {}, {}, {}, {}, {0.4, std::nan(""), -0.5}},
        {"high", "", "", ColumnKind::Number, {}, {}, {}, {}, {0.6, std::nan(""), 0.0}},
        {"nothing",
         "Nothing",
         "",
         ColumnKind::Number,
         {},
         {},
         {},
         {},
         {std::nan(""), std::nan(""), std::nan("")}},
        {"used", "Used", "", ColumnKind::Flag, {}, {}, {}, {}, {1, 0, 0}}};
    table.links = {{MapKind::Relation, 1, 3}, {MapKind::Relation, -1}, {MapKind::Symbols, 0, 0}};
    return table;
}

QStringList names(const TableView& view) {
    QStringList all;
    for (int row = 0; row < view.model()->rowCount(); ++row)
        all << view.model()->index(row, 0).data().toString();
    return all;
}

TEST(TableView, ShowsWhatHasATitleAndAValue) {
    TableView view(QStringLiteral("Parts"));
    view.setTable(parts());
    ASSERT_EQ(view.model()->columnCount(), 3) << "neither without a title nor without a value";
    EXPECT_EQ(view.model()->headerData(1, Qt::Horizontal, Qt::ToolTipRole).toString(),
              plainTip("Of the loss"));
    EXPECT_EQ(view.model()->index(0, 1).data().toString(), "+50.0 [+40.0, +60.0]");
    EXPECT_EQ(view.model()->index(1, 1).data().toString(), QString(QChar(0x2014)));
    EXPECT_EQ(view.model()->index(0, 2).data().toString(), "yes");
    EXPECT_EQ(view.text(2, "change").left(5), QString(QChar(0x2212)) + "25.0");
    const auto& range = view.tableModel()->range(1);
    EXPECT_EQ(range.low, -0.5);
    EXPECT_EQ(range.high, 0.6);
    EXPECT_EQ(view.accessibleName(), "Parts");
}

TEST(TableView, SortsWithWhatIsMissingLastAndKeepsTheRow) {
    TableView view(QStringLiteral("Parts"));
    view.resize(600, 300);
    view.setTable(parts());
    view.show();
    QSignalSpy chosen(&view, &TableView::rowChosen);
    view.chooseRow(2);
    for (const auto order : {Qt::AscendingOrder, Qt::DescendingOrder}) {
        view.sortByColumn(1, order);
        EXPECT_EQ(names(view).last(), "layer 2") << "it has no value";
        EXPECT_EQ(view.currentRow(), 2);
    }
    view.sortByColumn(0, Qt::AscendingOrder);
    EXPECT_EQ(names(view), (QStringList{"b", "layer 2", "layer 10"})) << "numbers as numbers";
    QTest::keyClick(&view, Qt::Key_Down);
    EXPECT_EQ(view.currentRow(), 1);
    QTest::keyClick(&view, Qt::Key_Return);
    ASSERT_EQ(chosen.size(), 1);
    EXPECT_EQ(chosen[0][0].toInt(), 1);
    // In another order: the row of that name.
    auto other = parts();
    for (auto& column : other.columns) {
        if (column.kind == ColumnKind::Text)
            std::reverse(column.texts.begin(), column.texts.end());
        else
            std::reverse(column.numbers.begin(), column.numbers.end());
    }
    other.columns[0].texts = {"new", "layer 2", "layer 10"};
    view.setTable(other);
    EXPECT_EQ(view.currentRow(), 1);
    other.columns[0].texts = {"layer 2", "x", "y"};
    view.setTable(other);
    EXPECT_EQ(view.currentRow(), 0);
    view.sortByColumn(-1, Qt::AscendingOrder);
    EXPECT_EQ(names(view).first(), "layer 2") << "as it was measured";
    view.setTable({});
    EXPECT_EQ(view.currentRow(), -1);
}

TEST(TableView, CopiesARowAndDrawsTheFirstOnes) {
    TableView view(QStringLiteral("Parts"));
    view.resize(600, 300);
    view.setTable(parts());
    view.show();
    view.chooseRow(0);
    QTest::keyClick(&view, Qt::Key_C, Qt::ControlModifier);
    EXPECT_EQ(QApplication::clipboard()->text(),
              "Part\tChange\tUsed\nlayer 10\t+50.0 [+40.0, +60.0]\tyes\n");
    EXPECT_LT(view.figureHeight(1), view.figureHeight(2));
    for (const int width : {120, 400, 1200}) {
        QImage picture(width, view.figureHeight(2), QImage::Format_RGB32);
        picture.fill(Qt::white);
        QPainter painter(&picture);
        view.paintFigure(painter, width, 2);
        painter.end();
        QSet<QRgb> colours;
        for (int x = 0; x < picture.width(); ++x)
            for (int y = 0; y < picture.height(); ++y) colours << picture.pixel(x, y);
        EXPECT_GT(colours.size(), 3) << width;
    }
}

TEST(TableView, ShowsThePicturesThatAColumnCounts) {
    Table table{"components", "Components"};
    table.columns = {
        {"number", "Component", "", ColumnKind::Integer, {}, {}, {}, {}, {1, 2}},
        {"pattern", "Pattern", "", ColumnKind::Integer, {}, "pictures", {}, {}, {1, 0}}};
    const std::vector<Image> pictures = {{1, 1, 3, {255, 0, 0}}, {1, 1, 3, {0, 0, 255}}};
    TableView view(QStringLiteral("Components"));
    view.resize(400, 300);
    view.setTable(table, pictures);
    view.show();
    EXPECT_EQ(view.tableModel()->picture(0, 1).pixel(0, 0), qRgb(0, 0, 255));
    EXPECT_EQ(view.tableModel()->picture(1, 1).pixel(0, 0), qRgb(255, 0, 0));
    EXPECT_TRUE(view.tableModel()->picture(0, 0).isNull());
    EXPECT_GT(view.rowHeight(0), 60) << "there is room for a picture";
    EXPECT_GT(view.figureHeight(2) - view.figureHeight(1), 40) << "beside the line \"and 1 more\"";
    for (const auto& shown : {view.grab().toImage(), [&] {
                                  QImage figure(400, view.figureHeight(), QImage::Format_RGB32);
                                  figure.fill(Qt::white);
                                  QPainter painter(&figure);
                                  view.paintFigure(painter, 400);
                                  return figure;
                              }()}) {
        QSet<QRgb> colours;
        for (int x = 0; x < shown.width(); ++x)
            for (int y = 0; y < shown.height(); ++y) colours << (shown.pixel(x, y) | 0xFF000000U);
        EXPECT_TRUE(colours.contains(qRgb(255, 0, 0)) && colours.contains(qRgb(0, 0, 255)));
    }
    // A picture that is not there leaves its cell empty.
    view.setTable(table, {});
    EXPECT_TRUE(view.tableModel()->picture(0, 1).isNull());
}

/// An analysis that declares no layout.
core::Analysis titled(const std::string& title) {
    core::Analysis analysis;
    analysis.title = title;
    return analysis;
}

// A table whose columns are named as its rows is a grid.
TEST(TablesView, ShowsNumbersOfPairsAsAGrid) {
    Table form{"form", "Features"};
    form.columns = {
        {"feature", "Receiver", "", ColumnKind::Text, {}, {}, {}, {}, {}, {"a", "b", "c"}}};
    for (const std::string name : {"a", "b", "c"})
        form.columns.push_back(
            {name, name, "", ColumnKind::Number, {3, false, true}, {}, {}, {}, {1.0, -0.5, 0.0}});
    DeclaredView view(titled("What a map compares"));
    view.resize(600, 400);
    view.showResult({{form, parts()}});
    view.show();
    const auto* grid = child<GridView>(view, "What a map compares");
    const auto* table = child<TableView>(view, "What a map compares");
    EXPECT_TRUE(grid->isVisible());
    EXPECT_FALSE(table->isVisible());
    EXPECT_EQ(grid->text({0, 1, 2}), QString::fromUtf8("b x c: \u22120.500"));
    EXPECT_GT(grid->cellRect({0, 1, 2}).height(), 12);
    child<SegmentedControl>(view, "Table")->setCurrent(1);
    view.showResult({{form, parts()}});
    EXPECT_TRUE(table->isVisible());
    EXPECT_FALSE(grid->isVisible());
}

TEST(TablesView, ShowsTheTablesOfAnyAnswerAndAsksForMaps) {
    Answer answer{
        {{"", "", {{"examples", "Examples", "", ColumnKind::Integer, {}, {}, {}, {}, {40}}}},
         parts(),
         {"hidden", "", {{"x", "", "", ColumnKind::Number, {}, {}, {}, {}, {1}}}},
         {"more",
          "More",
          {{"name", "Name", "", ColumnKind::Text, {}, {}, {}, {}, {}, {"a"}},
           {"size", "Size", "", ColumnKind::Integer, {}, {}, {}, {}, {1}}}},
         {"says",
          "Says",
          {{"says", "Says", "", ColumnKind::Text, {}, {}, {}, {}, {}, {"b", "c"}}}}}};
    DeclaredView view(titled("Shares"));
    view.resize(800, 400);
    EXPECT_TRUE(view.isEmpty());
    view.showResult(answer);
    view.show();
    EXPECT_EQ(view.headText(), "examples 40");
    const auto* choice = child<SegmentedControl>(view, "Table");
    EXPECT_EQ(choice->count(), 2);
    EXPECT_EQ(child<QLabel>(view, "Says")->text(), "b\nc");
    QSignalSpy asked(&view, &AnalysisFrame::mapRequested);
    auto* table = child<TableView>(view, "Shares");
    const auto click = [&](int row) {
        QTest::mouseClick(table->viewport(), Qt::LeftButton, {},
                          table->visualRect(table->model()->index(row, 0)).center());
    };
    click(1);
    EXPECT_EQ(asked.size(), 0) << "it has no link";
    click(0);
    ASSERT_EQ(asked.size(), 1);
    EXPECT_EQ(asked[0][1].toInt(), 1);
    EXPECT_EQ(asked[0][2].toInt(), 3);
    QTest::mouseClick(choice->button(1), Qt::LeftButton);
    EXPECT_EQ(table->model()->rowCount(), 1);
    view.showResult(answer);
    EXPECT_EQ(table->table().key, "more") << "the chosen table stays";
    EXPECT_GT(view.figureSize().height(), 150);
    view.clear("Not measured.");
    EXPECT_EQ(table->model()->rowCount(), 0);
}

TEST(GridView, PassesByWhatIsNotThere) {
    GridPanel panel{"Title", "note", {"1", "2"}, {"1", "2", "3"}};
    panel.groups = {{{"first", "f"}, 1}, {{"second", "s"}, 2}};
    panel.cell = [](int row, int column) {
        return GridCell{.value = 0.5, .present = row == 1 || column != 1};
    };
    panel.text = [](int row, int column) {
        return std::to_string(row) + " " + std::to_string(column);
    };
    GridView view(
        {.beside = true}, [](double) { return QColor(Qt::gray); }, "Grid");
    view.resize(500, 300);
    view.setPanels({panel, panel});
    view.show();
    view.setCurrent({0, 0, 0});
    QTest::keyClick(&view, Qt::Key_Right);
    EXPECT_EQ(view.current(), (GridPlace{0, 0, 2}));
    QTest::keyClick(&view, Qt::Key_Down);
    QTest::keyClick(&view, Qt::Key_Left);
    EXPECT_EQ(view.current(), (GridPlace{0, 1, 1}));
    QTest::keyClick(&view, Qt::Key_Up);
    EXPECT_EQ(view.current(), (GridPlace{0, 1, 1})) << "there is none above";
    QTest::keyClick(&view, Qt::Key_Down);
    EXPECT_EQ(view.current().panel, 0) << "nor the first of the next panel";
    QTest::keyClick(&view, Qt::Key_PageDown);
    EXPECT_EQ(view.current(), (GridPlace{1, 1, 1}));
    EXPECT_EQ(view.text({0, 0, 1}), "");
    EXPECT_EQ(view.text({0, 1, 1}), "1 1");
    EXPECT_EQ(view.placeAt(view.cellRect({0, 0, 1}).center()), GridPlace());
    view.setPanels({});
    EXPECT_EQ(view.current(), GridPlace());
    QTest::keyClick(&view, Qt::Key_Down);
}

class MapStripTest : public testing::Test {
protected:
    void fill(int relations, int heads) {
        StripSection a{"Relations of layer 1", "None", {}},
            b{"Relational attention", "None", {}, true};
        for (int k = 0; k < relations; ++k) a.maps.push_back(relation(k));
        for (int k = 0; k < heads; ++k) b.maps.push_back(head(k));
        strip.shape = [](const MapId&) { return QSize(10, 10); };
        strip.picture = [](QPainter& painter, const QRect& box, const MapId& map, int) {
            painter.fillRect(box, Theme::current().seriesColor(map.index));
            return map.index != 7;
        };
        strip.label = [](const MapId& map) { return QString::number(map.index + 1); };
        strip.tip = [](const MapId& map) { return QStringLiteral("map %1").arg(map.index + 1); };
        strip.resize(320, 400);
        strip.show();
        strip.setSections({a, b, {"Sensory attention", "None: no sensory heads", {}, true}});
        QTest::qWait(1);
    }
    static MapId relation(int k) { return {MapKind::Relation, 0, k}; }
    static MapId head(int k) { return {MapKind::RelationalAttention, 0, k}; }
    void click(const MapId& map) {
        QTest::mouseClick(strip.canvas(), Qt::LeftButton, {}, strip.mapRect(map).center());
    }
    MapStrip strip{StripLayout(StripLayout::Flow::Fitted), QStringLiteral("Maps of the layer")};
};

TEST_F(MapStripTest, ClickAndKeysChoose) {
    fill(8, 2);
    EXPECT_EQ(strip.accessibleName(), "Maps of the layer");
    QObject::connect(&strip, &MapStrip::chosen, &strip, &MapStrip::setCurrent);
    QSignalSpy chosen(&strip, &MapStrip::chosen);
    const auto last = [&] { return chosen.last()[0].value<MapId>(); };
    click(relation(2));
    ASSERT_EQ(chosen.size(), 1);
    EXPECT_EQ(last(), relation(2));
    EXPECT_EQ(strip.accessibleDescription(), "10 maps, relation 3 of layer 1 selected");
    QTest::keyClick(&strip, Qt::Key_Right);
    EXPECT_EQ(last(), relation(3));
    QTest::keyClick(&strip, Qt::Key_Down);
    EXPECT_GT(last().index, 3);
    QTest::keyClick(&strip, Qt::Key_End);
    EXPECT_EQ(last(), head(1));
    QTest::keyClick(&strip, Qt::Key_Up);
    EXPECT_EQ(last().kind, MapKind::Relation) << "of the section above";
    QTest::keyClick(&strip, Qt::Key_Home);
    EXPECT_EQ(last(), relation(0));
    QTest::keyClick(&strip, Qt::Key_C, Qt::ControlModifier);
    EXPECT_EQ(QApplication::clipboard()->text(), "map 1");
    click(head(1));
    strip.setSecond(relation(1));
    const QImage shot = strip.canvas()->grab().toImage();
    const QRect frame = strip.mapRect(head(1));
    EXPECT_EQ(shot.pixelColor(frame.center().x(), frame.top() - 2), Theme::current().accent);
    EXPECT_EQ(shot.pixelColor(strip.mapRect(relation(0)).center()), Theme::current().series[0]);
    EXPECT_EQ(shot.pixelColor(strip.mapRect(relation(7)).center()), Theme::current().alt)
        << "not made yet";
    QHelpEvent help(QEvent::ToolTip, frame.center(), strip.canvas()->mapToGlobal(frame.center()));
    QApplication::sendEvent(strip.canvas(), &help);
    EXPECT_EQ(QToolTip::text(), "map 2");
    const QPoint title(10, 8);
    QHelpEvent ofTitle(QEvent::ToolTip, title, strip.canvas()->mapToGlobal(title));
    QApplication::sendEvent(strip.canvas(), &ofTitle);
    EXPECT_EQ(QToolTip::text(), "Relations of layer 1") << "in a narrow pane it is elided";
}

TEST_F(MapStripTest, PicturesFillThePaneAtAnySize) {
    const auto shown = [&](int relations, int heads, const QSize& size) {
        fill(relations, heads);
        strip.resize(size);
        QTest::qWait(1);
        if (strip.contentHeight() > strip.viewport()->height()) return 0;  // it scrolls
        return strip.mapRect(relation(0)).width();
    };
    const int one = shown(1, 0, {500, 600});
    EXPECT_GE(one, 400) << "one relation takes nearly all of it";
    EXPECT_LE(one, 500);
    EXPECT_GE(shown(8, 2, {1300, 1500}), 200);
    EXPECT_EQ(shown(40, 2, {320, 200}), 0);
    EXPECT_EQ(strip.mapRect(relation(0)).width(), 60) << "never too small to see";
}

TEST_F(MapStripTest, PagesBySixteenAndTurnsToTheChosen) {
    fill(40, 2);
    QSignalSpy moved(&strip, &MapStrip::moved);
    EXPECT_EQ(strip.tiles().pageCount(0), 3);
    EXPECT_EQ(strip.tiles().turns().size(), 2U);
    EXPECT_TRUE(strip.mapRect(relation(20)).isEmpty());
    strip.setCurrent(relation(20));
    EXPECT_EQ(moved.size(), 1);
    EXPECT_EQ(strip.tiles().page(0), 1);
    EXPECT_FALSE(strip.mapRect(relation(20)).isEmpty());
    QTest::keyClick(&strip, Qt::Key_PageDown);
    EXPECT_EQ(strip.tiles().page(0), 2);
    EXPECT_FALSE(strip.mapRect(relation(39)).isEmpty());
    QTest::mouseClick(strip.canvas(), Qt::LeftButton, {}, strip.tiles().turns()[0].box.center());
    EXPECT_EQ(strip.tiles().page(0), 1);
    strip.setPage(0, 9);
    EXPECT_EQ(strip.tiles().page(0), 2) << "there are no more";
    // Over the end of a page.
    EXPECT_EQ(strip.tiles().moved(15, Qt::Key_Right), 16);
    EXPECT_EQ(strip.tiles().moved(39, Qt::Key_Right), 40) << "the first head";
    EXPECT_EQ(strip.tiles().moved(40, Qt::Key_Left), 39);
    strip.setPage(0, 0);
    EXPECT_EQ(strip.tiles().moved(40, Qt::Key_Left), 15) << "its page stays";
}

TEST(StripLayouts, LargeMapsGetMoreCellsWhereThereIsRoom) {
    StripLayout layout(StripLayout::Flow::Fitted);
    layout.setSections({{"Relations", "None", {{MapKind::Relation, 0, 0}}}}, {{512, 512}});
    layout.layOut({200, 200});
    EXPECT_GT(layout.blockOf(0), 2);
    layout.layOut({900, 900});
    EXPECT_EQ(layout.blockOf(0), 1);
    for (const int n : {1, 10, 62, 72, 73, 145, 512, 1024}) {
        const int block = layout.blockFor({n, n}, 62);
        EXPECT_LE((n + block - 1) / block, 72) << n;
    }
}

TEST(StripLayouts, ThousandsOfMapsAreFoundWhereTheyArePlaced) {
    StripLayout layout(StripLayout::Flow::Scrolled);
    std::vector<StripSection> sections;
    for (int layer = 0; layer < 24; ++layer) {
        sections.push_back({QString::number(layer), {}, {}});
        for (int k = 0; k < 64; ++k) sections.back().maps.push_back({MapKind::Relation, layer, k});
    }
    std::vector<QSize> shapes(24 * 64);
    for (int n = 1; n <= 1024; n += 7) shapes[static_cast<std::size_t>(n)] = {n, n};
    layout.setSections(sections, shapes);
    const int height = layout.layOut({400, 300});
    EXPECT_EQ(layout.count(), 1536);
    for (int k = 0; k < layout.count(); k += 5) {
        const QRect box = layout.place(k);
        EXPECT_EQ(layout.map(k).layer * 64 + layout.map(k).index, k);
        EXPECT_EQ(layout.tileOf(layout.map(k)), k);
        EXPECT_EQ(layout.at(box.center()), k);
        EXPECT_LE(box.right(), 400);
        EXPECT_LE(box.bottom(), height);
        EXPECT_LE(box.width(), layout.side());
        EXPECT_GT(box.width(), layout.side() / 2);
    }
    const int down = layout.moved(63, Qt::Key_Down);
    EXPECT_EQ(layout.map(down).layer, 1) << "to the next section";
    EXPECT_EQ(layout.moved(down, Qt::Key_Home), 0);
    EXPECT_EQ(layout.moved(5, Qt::Key_End), 1535);
}

TEST(StripLayouts, AFilmHasOneRowOrTwo) {
    StripLayout layout(StripLayout::Flow::Film, 40);
    StripSection section;
    for (int k = 0; k < 12; ++k) section.maps.push_back({MapKind::Relation, 0, k});
    layout.setSections({section}, std::vector<QSize>(12, QSize(10, 10)));
    for (const int width : {300, 1200}) {
        const int height = layout.layOut({width, layout.filmHeight(width)});
        EXPECT_LE(height, layout.filmHeight(width));
        EXPECT_EQ(layout.place(11).top() > layout.place(0).top(), width == 300);
        EXPECT_EQ(layout.place(5).size(), layout.place(0).size());
        EXPECT_EQ(layout.place(0).width() % 10, 0) << "whole pixels a cell";
        EXPECT_LE(layout.labelRect(11).right(), width);
    }
}

TEST(StripLayouts, AnOverviewHasARowALayer) {
    StripLayout layout(StripLayout::Flow::Overview);
    StripSection relations{"r", {}, {}}, heads{"rel.", {}, {}};
    for (int layer = 0; layer < 4; ++layer) {
        for (int k = 0; k < 3; ++k) relations.maps.push_back({MapKind::Relation, layer, k});
        if (layer != 2) heads.maps.push_back({MapKind::RelationalAttention, layer, 0});
    }
    layout.setLayers(4);
    layout.setSections({relations, heads}, std::vector<QSize>(15));
    EXPECT_EQ(layout.layOut({300, 100}), layout.overviewHeight());
    const auto tile = [&](MapKind kind, int layer, int k) {
        return layout.tileOf({kind, layer, k});
    };
    const int first = tile(MapKind::Relation, 0, 0), last = tile(MapKind::Relation, 0, 2);
    EXPECT_GT(layout.place(first).top(), layout.place(tile(MapKind::Relation, 3, 0)).top())
        << "the first layer is at the bottom";
    EXPECT_EQ(layout.at(layout.place(last).center()), last);
    EXPECT_EQ(layout.moved(first, Qt::Key_Up), tile(MapKind::Relation, 1, 0));
    EXPECT_EQ(layout.moved(first, Qt::Key_Down), first);
    EXPECT_EQ(layout.moved(first, Qt::Key_Left), first);
    EXPECT_EQ(layout.moved(last, Qt::Key_Right), tile(MapKind::RelationalAttention, 0, 0));
    EXPECT_EQ(layout.moved(tile(MapKind::RelationalAttention, 1, 0), Qt::Key_Up),
              tile(MapKind::RelationalAttention, 3, 0))
        << "a layer without heads is passed";
    EXPECT_EQ(layout.at({1, 1}), -1);
}

class Words : public TokenView {
public:
    Words() {
        resize(200, 120);
        show();
        setTokens({"Once", " upon", " a", " time", ",", " there", " was", " a", " girl", "\n"});
    }
    int chosen = 0;
    std::vector<int> hovers;

protected:
    TokenLook look(int index) const override {
        TokenLook wears{Theme::current().alt, Theme::current().text, {}};
        if (index == chosen) {
            wears.frame = TokenLook::Frame::Solid;
            wears.frameColor = Theme::current().accent;
        }
        return wears;
    }
    void pressed(int index, Qt::KeyboardModifiers) override {
        updateTile(std::exchange(chosen, index));
        updateTile(index);
    }
    int current(Qt::KeyboardModifiers) const override { return chosen; }
    void hoverMoved(int, int now) override { hovers.push_back(now); }
    QString tipOf(int index) const override { return QString::number(index); }
};

TEST(TokenView, IsClickedWalkedHoveredAndCopied) {
    Words words;
    QTest::mouseClick(words.canvas(), Qt::LeftButton, {}, words.tileRect(3).center());
    EXPECT_EQ(words.chosen, 3);
    QTest::keyClick(&words, Qt::Key_Right);
    EXPECT_EQ(words.chosen, 4);
    QTest::keyClick(&words, Qt::Key_End);
    EXPECT_EQ(words.chosen, 9);
    QTest::keyClick(&words, Qt::Key_Up, Qt::AltModifier);
    EXPECT_EQ(words.chosen, 9) << "another modifier is of others";
    QTest::mouseMove(words.canvas(), words.tileRect(1).center());
    EXPECT_EQ(words.hovers.back(), 1);
    QEvent leave(QEvent::Leave);
    QApplication::sendEvent(words.canvas(), &leave);
    EXPECT_EQ(words.hovers.back(), -1);
    QTest::keyClick(&words, Qt::Key_C, Qt::ControlModifier);
    EXPECT_EQ(QApplication::clipboard()->text(), "Once upon a time, there was a girl\n");
    const QRect box = words.tileRect(9);
    const QImage shot = words.canvas()->grab().toImage();
    EXPECT_EQ(shot.pixelColor(box.center().x(), box.top()), Theme::current().accent);
    EXPECT_EQ(words.tileAt(box.center()), 9);
}

TEST(PlotView, IsHoveredChosenWalkedAndCopied) {
    PlotData data{{0, 10, 100, 1000},
                  {{{0.5, 0.25, std::nan(""), 1.0}, "with", false, false, {0}},
                   {{0.5, 0.5, 0.5, 0.5}, "without", true, true}}};
    data.title = "A_b";
    data.xTitle = "Step";
    data.description = "Falls and rises";
    data.text = [](int at) { return QStringLiteral("place %1").arg(at); };
    PlotView view(QStringLiteral("Plot"));
    QSignalSpy chosen(&view, &PlotView::chosen);
    view.resize(600, 300);
    view.show();
    QTest::keyClick(&view, Qt::Key_Right);
    EXPECT_EQ(view.hoverText({300, 150}), "") << "there is nothing yet";
    view.setData(data);
    QApplication::processEvents();
    EXPECT_EQ(view.accessibleName(), "Plot");
    EXPECT_EQ(view.accessibleDescription(), "Falls and rises");
    const QPoint last = view.pixelOf(1000).toPoint();
    EXPECT_EQ(view.hoverText(last), "place 3");
    EXPECT_EQ(view.hoverText({last.x(), 3}), "") << "the title";
    EXPECT_EQ(view.hoverText({3, last.y()}), "") << "beside the plot";
    QTest::mouseClick(&view, Qt::LeftButton, {}, last);
    for (const auto key : {Qt::Key_Home, Qt::Key_Right, Qt::Key_Right, Qt::Key_Left, Qt::Key_End})
        QTest::keyClick(&view, key);
    ASSERT_EQ(chosen.size(), 6);
    for (const auto& [call, place] : {std::pair{0, 3}, {1, 0}, {2, 1}, {3, 2}, {4, 1}, {5, 3}})
        EXPECT_EQ(chosen[call][0].toInt(), place) << call;
    QTest::keyClick(&view, Qt::Key_C, Qt::ControlModifier);
    EXPECT_EQ(QApplication::clipboard()->text(), "place 0\nplace 1\nplace 2\nplace 3");
    const int linear = view.pixelOf(10).toPoint().x();
    view.setLogarithmic(true);
    EXPECT_GT(view.pixelOf(10).toPoint().x(), linear);
    QImage picture(600, 300, QImage::Format_RGB32);
    picture.fill(Qt::white);
    QPainter painter(&picture);
    view.paintFigure(painter, 0, picture.size());
    painter.end();
    EXPECT_NE(picture.pixel(18, 14), picture.pixel(300, 2)) << "the title is drawn";
}

}  // namespace
