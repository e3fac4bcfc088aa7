// SPDX-License-Identifier: GPL-3.0-or-later
// The measuring views: ablation table, patching maps, logit lens, attribution, and their figures.
#include <gtest/gtest.h>

#include <QApplication>
#include <QComboBox>
#include <QElapsedTimer>
#include <QFile>
#include <QFocusEvent>
#include <QHeaderView>
#include <QListWidget>
#include <QMenu>
#include <QPushButton>
#include <QSignalSpy>
#include <QSpinBox>
#include <QSplitter>
#include <QTableView>
#include <QTableWidget>
#include <QTemporaryDir>
#include <QTest>
#include <cmath>
#include <limits>

#include "analysis/ablate/answer.h"
#include "analysis/analysis.h"
#include "analysis/atlas/answer.h"
#include "analysis/attribute/attribution.h"
#include "analysis/duel/duel.h"
#include "analysis/lens/lens.h"
#include "analysis/patch/options.h"
#include "analysis/scan/answer.h"
#include "analysis/scan/scan.h"
#include "answers/answer_text.h"
#include "answers/column_table.h"
#include "child.h"
#include "files/command_line.h"
#include "support/rooms.h"
#include "widgets/analysis/ablate/ablation_view.h"
#include "widgets/analysis/analysis_frame.h"
#include "widgets/analysis/atlas/atlas_sheet.h"
#include "widgets/analysis/atlas/atlas_view.h"
#include "widgets/analysis/attribute/attribution_view.h"
#include "widgets/analysis/declared_view.h"
#include "widgets/analysis/scan/findings_bar.h"
#include "widgets/export/export.h"
#include "widgets/theme/controls.h"

using namespace relascope;

namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();
const QString minus(QChar(0x2212));

AblationRow rowOf(const std::string& part, const std::string& group, double zero, double mean) {
    AblationRow row;
    row.part = part;
    row.group = group;
    row.edit.point = "blocks.0.rel.hook_r";
    row.partNorm = 2.0, row.streamNorm = 16.0;
    for (const auto& [how, change] : {std::pair{EditOp::Zero, zero}, {EditOp::Mean, mean}})
        row.ways.push_back({how,
                            {"accuracy", 0.9, 0.9 + change, change, change - 0.02, change + 0.02},
                            std::abs(change)});
    return row;
}

AblationTable tableOf(std::int64_t examples = 2000) {
    AblationTable table;
    table.metric = "accuracy";
    table.examples = examples, table.wanted = 2000;
    table.base = 0.9;
    table.rows = {rowOf("layer 2 relation 3", "relations", -0.4, -0.1),
                  rowOf("layer 10 head 1", "heads", 0.05, -0.3),
                  rowOf("layer 2 feed-forward", "mlp", 0.0, 0.01)};
    return table;
}

void finish(AblationTable& table) {
    table.cumulative = {{"layer 2 feed-forward", 0.91}, {"layer 2 relation 3", 0.6}};
    table.pairs = {{"layer 2 relation 3", "layer 10 head 1", -0.45, 0.05},
                   {"layer 2 relation 3", "layer 2 feed-forward", -0.5, -0.1}};
}

struct ShownView {
    AblationView view;
    explicit ShownView(const AblationTable& table) {
        view.resize(1300, 600);
        view.showResult(core::answerOf(table, {}));
        view.show();
    }
    QString cell(int row, int column) {
        return view.table()->model()->index(row, column).data().toString();
    }
    QStringList parts() {
        QStringList all;
        for (int r = 0; r < view.table()->model()->rowCount(); ++r) all << cell(r, 0);
        return all;
    }
    void click(int row, int column) {
        const auto at = view.table()->model()->index(row, column);
        QTest::mouseClick(view.table()->viewport(), Qt::LeftButton, Qt::NoModifier,
                          view.table()->visualRect(at).center());
    }
    void clickHead(int column) {
        auto* header = view.table()->horizontalHeader();
        QTest::mouseClick(header->viewport(), Qt::LeftButton, Qt::NoModifier,
                          {header->sectionViewportPosition(column) + 8, header->height() / 2});
    }
};

TEST(MeasureText, WritesNumbersAndNames) {
    EXPECT_EQ(signedText(-0.04, 1), "0.0");
    EXPECT_EQ(signedText(-0.4, 1), minus + "0.4");
    EXPECT_EQ(probabilityText(0.424), "42 %");
    EXPECT_EQ(probabilityText(0.004), "0.4 %");
    EXPECT_EQ(probabilityText(1e-9), "<0.1 %");
    EXPECT_EQ(answerText(" the cat "), "\u2423the cat\u2423");
    EXPECT_EQ(answerText("\\n"), "\u21B5");
    EXPECT_EQ(blockTitle("blocks.1"), "layer 2");
    EXPECT_EQ(blockTitle("decoder.0"), "decoder 1");
    EXPECT_EQ(blockTitle("abstractor.1.0"), "abstractor 2, layer 1");
    EXPECT_EQ(MetricText("loss").change(0.0213), "+0.021");
}

TEST(AblationView, ShowsChangesInPointsAndSortsThem) {
    ShownView shown(tableOf());
    EXPECT_EQ(shown.cell(0, 2), minus + "40.0 [" + minus + "42.0, " + minus + "38.0]") << "no word";
    shown.view.showResult(core::answerOf(tableOf(), {{"needed", "misleading", ""}, 0.023, {}}));
    EXPECT_EQ(shown.cell(0, 0), "layer 2 relation 3");
    EXPECT_EQ(shown.cell(0, 2), "needed");
    EXPECT_EQ(shown.cell(0, 3), minus + "40.0 [" + minus + "42.0, " + minus + "38.0]");
    EXPECT_EQ(shown.cell(0, 4), "40 %");
    EXPECT_EQ(shown.cell(0, 7), "2.00");
    EXPECT_EQ(shown.cell(0, 8), "16.00");
    EXPECT_EQ(shown.view.headText(),
              "accuracy 90.0 % with every part, 2,000 examples; changes in points");
    shown.clickHead(5);  // mean, largest first or last
    QStringList once = shown.parts();
    shown.clickHead(5);
    QStringList twice = shown.parts();
    std::reverse(twice.begin(), twice.end());
    EXPECT_EQ(once, twice);
    EXPECT_TRUE(once.front() == "layer 10 head 1" || once.back() == "layer 10 head 1");
    shown.clickHead(5);  // as measured again
    EXPECT_EQ(shown.parts().front(), "layer 2 relation 3");
    shown.clickHead(0);  // numbers in names count as numbers
    QStringList names = shown.parts();
    if (names.front() == "layer 10 head 1") std::reverse(names.begin(), names.end());
    EXPECT_EQ(names.back(), "layer 10 head 1");
}

TEST(AblationView, ChoosesEditsAndKeepsTheRowWhileItFills) {
    ShownView shown(tableOf(500));
    EXPECT_TRUE(shown.view.headText().contains("500 of 2,000 examples"));
    QSignalSpy requested(&shown.view, &AblationView::editsRequested);
    EXPECT_FALSE(shown.view.knockOutButton()->isEnabled());
    shown.click(1, 5);
    shown.view.knockOutButton()->click();
    ASSERT_EQ(requested.size(), 1);
    const auto edit = requested[0][0].value<std::vector<Edit>>().at(0);
    EXPECT_EQ(edit.point, "blocks.0.rel.hook_r");
    EXPECT_EQ(edit.op, EditOp::Mean) << "the way of the column";
    // The next batch changes the order; the chosen part stays chosen.
    auto table = tableOf(1000);
    std::swap(table.rows[0], table.rows[1]);
    shown.view.showResult(core::answerOf(table, {}));
    EXPECT_EQ(shown.view.table()->currentIndex().row(), 0);
    EXPECT_EQ(shown.cell(0, 0), "layer 10 head 1");
    QTest::keyClick(shown.view.table(), Qt::Key_Return);
    EXPECT_EQ(requested.size(), 2);
    QTest::keyClick(shown.view.table(), Qt::Key_Down);
    ASSERT_TRUE(shown.view.chosenEdit());
    EXPECT_TRUE(shown.view.knockOutButton()->isEnabled());
}

TEST(AblationView, CurveAndPairsAppearWhenMeasured) {
    auto table = tableOf();
    ShownView shown(table);
    EXPECT_FALSE(shown.view.curve()->isVisible());
    finish(table);
    shown.view.showResult(core::answerOf(table, {}));
    QTest::qWait(20);
    EXPECT_TRUE(shown.view.curve()->isVisible());
    const auto text = shown.view.curve()->hoverText(shown.view.curve()->pixelOf(2).toPoint());
    EXPECT_EQ(text, "2 removed, the last is layer 2 relation 3: 60.0 %");
    ASSERT_EQ(shown.view.pairs()->model()->rowCount(), 2);
    EXPECT_EQ(shown.view.pairs()->text(0, "interaction"), minus + "10.0") << "the largest first";
    shown.view.clear("Not measured. 3 parts x 2 ways on 2,000 images: about 4 s.");
    EXPECT_TRUE(shown.view.isEmpty());
    EXPECT_FALSE(shown.view.chosenEdit());
}

/// An analysis of that name, for its view.
core::Analysis analysisOf(const std::string& name) {
    core::Analysis analysis;
    analysis.name = name;
    analysis.csv = [](const Answer& result) { return core::csvOf(result); };
    return analysis;
}

TEST(AblationView, WritesItsTableInEveryFormat) {
    ShownView shown(tableOf());
    auto analysis = analysisOf("ablate");
    analysis.latex = [](const Answer& result) { return "% " + result.text("metric"); };
    shown.view.setAnalysis(analysis);
    QTemporaryDir folder;
    QString error;
    for (const auto* ending : {"csv", "tex", "png", "svg", "pdf"})
        EXPECT_TRUE(shown.view.menu()->write(folder.filePath(QString("t.") + ending), &error))
            << error.toStdString();
    QFile csv(folder.filePath("t.csv"));
    ASSERT_TRUE(csv.open(QIODevice::ReadOnly));
    EXPECT_EQ(csv.readAll().toStdString(), analysis.csv(core::answerOf(tableOf(), {})));
    QFile tex(folder.filePath("t.tex"));
    ASSERT_TRUE(tex.open(QIODevice::ReadOnly));
    EXPECT_EQ(tex.readAll().toStdString(), "% accuracy");
    shown.view.clear("Not measured.");
    EXPECT_EQ(shown.view.csv(), "");
}

PatchResult patches() {
    PatchResult result;
    result.metric = "logit 1 - logit 0";
    result.clean = 2.0, result.corrupted = -1.0;
    result.maps = {
        {"resid",
         "hook_resid_pre",
         {"blocks.0", "blocks.1"},
         {"0", "1", "2"},
         {0.0, 0.5, -0.25, 0.1, none, 0.2},
         {0.0, 0.8, none, none, none, 0.3}},
        {"heads", "attn.hook_z", {"blocks.0", "blocks.1"}, {"1"}, {0.4, 0.1}, {none, none}}};
    result.done = 3, result.total = 8;
    result.agreement = 0.91;
    return result;
}

/// What stands below the grid.
QString below(const DeclaredView& view) {
    return child<ElidedLabel>(view, "Value")->text();
}

TEST(PatchingView, ExactValuesReplaceEstimates) {
    DeclaredView view(core::analysisNamed("patch"));
    view.resize(800, 600);
    auto result = patches();
    result.positions = {"a", "b/c", "d"};
    view.showResult(core::answerOf(result));
    view.show();
    const auto* grid = child<GridView>(view, "Patching maps");
    const auto cell = [&](int row, int column) { return grid->panels()[0].cell(row, column); };
    EXPECT_DOUBLE_EQ(cell(0, 1).value, 0.8);
    EXPECT_FALSE(cell(0, 1).hatched);
    EXPECT_DOUBLE_EQ(cell(0, 2).value, -0.25);
    EXPECT_TRUE(cell(0, 2).hatched);
    EXPECT_TRUE(std::isnan(cell(1, 1).value));
    EXPECT_EQ(child<ColorBar>(view)->accessibleDescription(), "from " + minus + "0.80 to +0.80");
    EXPECT_TRUE(view.headText().contains("3 of 8 cells exact"));
    EXPECT_TRUE(view.headText().contains("0.91"));
    EXPECT_EQ(grid->text({0, 0, 1}),
              "Residual stream before the layer: layer 1, position 1 \u201Cb/c\u201D: +0.800 "
              "(estimate +0.500)");
    auto damaged = core::answerOf(result);
    damaged.tables[2].columns[2].numbers[0] = 70;
    view.showResult(damaged);
    EXPECT_EQ(view.sentence(), "the maps of an answer have more cells than it holds");
}

TEST(PatchingView, CellsAreChosenByMouseAndKeys) {
    DeclaredView view(core::analysisNamed("patch"));
    view.resize(800, 600);
    view.showResult(core::answerOf(patches()));
    view.show();
    auto* grid = child<GridView>(view, "Patching maps");
    QSignalSpy chosen(grid, &GridView::chosen);
    QTest::mouseClick(grid->viewport(), Qt::LeftButton, Qt::NoModifier,
                      grid->cellRect({0, 1, 2}).center());
    ASSERT_EQ(chosen.size(), 1);
    EXPECT_EQ(grid->current(), (GridPlace{0, 1, 2}));
    EXPECT_TRUE(below(view).contains("+0.300"));
    QTest::keyClick(grid, Qt::Key_Down);  // on to the next map, which has one column
    EXPECT_EQ(grid->current(), (GridPlace{1, 0, 0}));
    QTest::keyClick(grid, Qt::Key_Up);
    EXPECT_EQ(grid->current(), (GridPlace{0, 1, 0}));
    QTest::keyClick(grid, Qt::Key_Left);
    EXPECT_EQ(grid->current(), (GridPlace{0, 1, 0}));
    view.clear("another input");
    view.showResult(core::answerOf(patches()));
    EXPECT_EQ(grid->current().panel, -1);
    QFocusEvent focus(QEvent::FocusIn, Qt::TabFocusReason);
    QApplication::sendEvent(grid, &focus);
    EXPECT_EQ(grid->current(), (GridPlace{0, 0, 0})) << "the keyboard shows where it is";
    grid->setCurrent({});
    // Hatched cells differ from exact ones of the same colour.
    const QImage picture = grid->viewport()->grab().toImage();
    const auto colours = [&](const GridPlace& place) {
        QSet<QRgb> all;
        const QRect cell = grid->cellRect(place).adjusted(1, 1, -3, -12);
        for (int x = cell.left(); x < cell.right(); ++x) all << picture.pixel(x, cell.top());
        return all.size();
    };
    EXPECT_GT(colours({0, 0, 2}), colours({0, 0, 0}));
}

LensResult lensResult(bool whole) {
    LensResult r;
    r.rows = {"embedding", "layer 1"};
    r.whole = whole;
    const std::size_t columns = whole ? 1 : 3;
    for (std::size_t c = 0; c < columns; ++c) {
        if (!whole) r.positions.push_back(static_cast<std::int64_t>(c));
        if (!whole) r.inputs.push_back(c == 0 ? " the" : "x");
        r.answers.push_back({1, "same", 2.0, 0.75});
    }
    for (std::size_t row = 0; row < 2; ++row)
        for (std::size_t c = 0; c < columns; ++c) {
            LensCell cell;
            const bool own = row == 1;
            cell.top = {{own ? 1 : 0, own ? "same" : "other", 2.0, own ? 0.75 : 0.6},
                        {own ? 0 : 1, own ? "other" : "same", 1.0, 0.25}};
            cell.probability = own ? 0.75 : 0.25;
            cell.rank = own ? 1 : 2;
            cell.entropy = 0.5;
            r.cells.push_back(cell);
        }
    return r;
}

TEST(LensView, AGridOfPositionsAndTheAnswersOfOne) {
    DeclaredView view(core::analysisNamed("lens"));
    view.resize(900, 500);
    view.showResult(core::answerOf(lensResult(false)));
    view.show();
    auto* grid = child<GridView>(view, "Answers after each layer");
    EXPECT_TRUE(grid->isVisible());
    EXPECT_EQ(grid->current().column, 2) << "the last position";
    QSignalSpy chosen(&view, &AnalysisFrame::positionRequested);
    QTest::mouseClick(grid->viewport(), Qt::LeftButton, Qt::NoModifier,
                      grid->cellRect({0, 1, 0}).center());
    ASSERT_EQ(chosen.size(), 1);
    EXPECT_EQ(grid->current().column, 0);
    const auto* answers = child<TableView>(view, "Answers at one position");
    EXPECT_EQ(answers->text(0, "answer1"), "other 60 %");
    EXPECT_EQ(answers->text(0, "answer2"), "same 25 %");
    EXPECT_EQ(answers->text(0, "rank"), "2");
    EXPECT_EQ(answers->text(0, "own"), "25.0 %");
    const auto bold = [&](int row, int column) {
        return answers->model()->index(row, column).data(Qt::FontRole).value<QFont>().bold();
    };
    EXPECT_FALSE(bold(0, 1)) << "another answer";
    EXPECT_TRUE(bold(0, 2));
    EXPECT_TRUE(bold(1, 1));
    QTest::keyClick(grid, Qt::Key_Right);
    EXPECT_EQ(grid->current().column, 1);
    EXPECT_EQ(grid->text({0, 0, 0}),
              "position 0 \u201C\u2423the\u201D, embedding: \u201Cother\u201D 60 %, "
              "\u201Csame\u201D 25 %\nown answer \u201Csame\u201D 25 %, rank 2; entropy 0.50 nats");
    const GridPlace own{0, 2, 1};
    EXPECT_EQ(grid->placeAt(grid->cellRect(own).center()), own) << "the model's own answer";
    Answer damaged = core::answerOf(lensResult(false));
    damaged.tables.pop_back();
    view.showResult(damaged);
    EXPECT_TRUE(view.isEmpty());
}

TEST(LensView, OneAnswerForTheWholeInputIsATableAlone) {
    DeclaredView view(core::analysisNamed("lens"));
    view.resize(900, 500);
    view.showResult(core::answerOf(lensResult(true)));
    view.show();
    EXPECT_FALSE(child<GridView>(view, "Answers after each layer")->isVisible());
    EXPECT_TRUE(child<TableView>(view, "Answers at one position")->isVisible());
    view.clear("the blocks are post-norm");
    EXPECT_TRUE(view.isEmpty());
    EXPECT_EQ(view.sentence(), "the blocks are post-norm");
}

Attribution attribution() {
    Attribution r;
    r.answer = {3, "cat", 2.0, 0.5};
    r.position = 4;
    r.input = " a";
    r.logit = 1.4;
    r.parts = {
        {PartKind::Embedding, -1, -1, -1, {}, 0.1}, {PartKind::RelationalHead, 0, 0, -1, {}, 0.5},
        {PartKind::Relation, 0, 0, 0, {}, 0.52},    {PartKind::Relation, 0, 0, 1, {}, -0.01},
        {PartKind::Symbols, 0, 0, -1, {}, -0.01},   {PartKind::FeedForward, 0, -1, -1, {}, 0.8}};
    return r;
}

TEST(AttributionView, OrdersPartsAndKeepsWhatIsInsideAHeadBelowIt) {
    AttributionView view;
    view.resize(900, 500);
    view.showResult(core::answerOf(attribution()));
    view.show();
    const auto shown = [&] {
        QStringList names;
        for (int row = 0; row < view.table()->model()->rowCount(); ++row)
            names << view.table()->model()->index(row, 0).data().toString();
        return names;
    };
    const QString network = "layer 1 feed-forward", head = "layer 1 relational head 1";
    EXPECT_EQ(shown(), (QStringList{network, head, "relation 1", "embedding"}));
    EXPECT_TRUE(view.headText().contains("2 relations below 5 %"));
    EXPECT_TRUE(view.headText().contains("sum of the parts +1.400"))
        << view.headText().toStdString();
    EXPECT_TRUE(view.table()->tableModel()->isInside(2));
    EXPECT_TRUE(view.table()
                    ->model()
                    ->index(2, 0)
                    .data(Qt::ToolTipRole)
                    .toString()
                    .contains("counted in its head"));
    QTest::mouseClick(view.table()->horizontalHeader()->viewport(), Qt::LeftButton, {}, {80, 10});
    EXPECT_EQ(shown().size(), 4) << "a head keeps what is inside it";
    QTest::mouseClick(child<ToggleChip>(view, "All relations"), Qt::LeftButton);
    EXPECT_EQ(shown().size(), 6);
    QTest::mouseClick(view.orderControl()->button(1), Qt::LeftButton);
    EXPECT_EQ(shown(),
              (QStringList{"embedding", head, "relation 1", "relation 2", "symbols", network}));
}

TEST(AttributionView, AnswersAreChosenOrTyped) {
    AttributionView view;
    view.resize(900, 500);
    auto result = attribution();
    result.offered = {"cat", "dog"};
    result.positions = 6;
    view.showResult(core::answerOf(result));
    view.show();
    core::OptionValues chosen;
    QObject::connect(
        &view, &AnalysisFrame::optionChosen, &view,
        [&](const QString& name, const FieldValue& value) { chosen[name.toStdString()] = value; });
    view.answerBox()->setFocus();
    QTest::keyClick(view.answerBox(), Qt::Key_Down);
    EXPECT_EQ(chosen["logit"], FieldValue(std::string("cat")));
    view.minusBox()->setEditText("id:7");
    QTest::keyClick(view.minusBox(), Qt::Key_Return);
    EXPECT_EQ(chosen["minus"], FieldValue(std::string("id:7")));
    view.positionBox()->setValue(2);
    EXPECT_EQ(chosen["position"], FieldValue(std::int64_t{2}));
    view.refuse("unknown answer 'id:7'");
    EXPECT_FALSE(view.isEmpty()) << "the last result stays";
    EXPECT_EQ(view.problem(), "unknown answer 'id:7'");
    result.offered = {"bird"};
    view.showResult(core::answerOf(result));
    EXPECT_EQ(view.minusBox()->currentText(), "id:7") << "what was typed stays";
    chosen.clear();
    view.setOptions({{"position", std::int64_t{40}}});
    EXPECT_EQ(view.minusBox()->currentText(), view.minusBox()->itemText(0));
    EXPECT_EQ(view.positionBox()->value(), 40);
    EXPECT_TRUE(chosen.empty()) << "nobody chose them";
}

Answer headMeasures() {
    using namespace core::columns;
    Table heads{"heads", "", {number("previous token"), number("induction"), text("reading")}};
    Table even{"even", "", {text("measure"), number("value")}};
    core::addRow(even, "previous token", 0.1), core::addRow(even, "induction", 0.05);
    for (int layer = 0; layer < 2; ++layer)
        for (const auto kind : {MapKind::SensoryAttention, MapKind::RelationalAttention})
            for (int index = 0; index < 3; ++index) {
                core::addRow(heads, 0.1 * index + 0.4 * layer, none, "");
                heads.links.push_back({kind, layer, index});
            }
    return {{heads,
             even,
             core::textsTable("layers", "name", {"layer 1", "layer 2"}),
             {"", "", {fact("input", "50 random tokens, twice")}}}};
}

TEST(HeadsView, ShowsAHeadThatIsChosenByMouseOrKeys) {
    DeclaredView view(core::analysisNamed("heads"));
    view.resize(900, 500);
    view.showResult(headMeasures());
    view.show();
    auto* grid = child<GridView>(view, "Head measures");
    EXPECT_TRUE(view.headText().contains("50 random tokens"));
    QSignalSpy chosen(&view, &AnalysisFrame::mapRequested);
    // Relational head 2 of layer 2: three sensory heads stand before it.
    const GridPlace place{0, 1, 4};
    EXPECT_EQ(grid->placeAt(grid->cellRect(place).center()), place);
    QTest::mouseClick(grid->viewport(), Qt::LeftButton, {}, grid->cellRect(place).center());
    ASSERT_EQ(chosen.size(), 1);
    EXPECT_EQ(chosen[0][0].value<MapKind>(), MapKind::RelationalAttention);
    EXPECT_EQ(chosen[0][1].toInt(), 1);
    EXPECT_EQ(chosen[0][2].toInt(), 1);
    EXPECT_EQ(below(view), "layer 2, relational head 2: previous token 0.50; even attention 0.10");
    QTest::keyClick(grid, Qt::Key_Up);
    EXPECT_EQ(grid->current(), (GridPlace{0, 0, 4}));
    QTest::keyClick(grid, Qt::Key_PageDown);
    EXPECT_TRUE(below(view).contains(QChar(0x2014))) << "no number";
    QTest::keyClick(grid, Qt::Key_Return);
    ASSERT_EQ(chosen.size(), 2);
    EXPECT_EQ(chosen[1][1].toInt(), 0);
    // Every cell of every panel is its own, at any width.
    for (const int width : {300, 700, 1600}) {
        GridPicture picture = grid->picture();
        picture.fit(width);
        for (int panel = 0; panel < 2; ++panel)
            for (int row = 0; row < 2; ++row)
                for (int column = 0; column < 6; ++column) {
                    const GridPlace at{panel, row, column};
                    EXPECT_EQ(picture.placeAt(picture.cellRect(at).center()), at);
                }
    }
    Answer damaged = headMeasures();
    damaged.tables[1].columns.pop_back();
    view.showResult(damaged);
    EXPECT_TRUE(view.isEmpty());
    EXPECT_EQ(view.sentence(), "the table 'even' has no column 'value'");
}

RelationAtlas atlasOf() {
    RelationAtlas atlas;
    atlas.attributes = {{"same object", false}, {"distance", true}};
    atlas.data = "occurs, pentos", atlas.noun = "images";
    atlas.examples = 2000, atlas.objects = 9, atlas.columns = 3, atlas.untrainedModels = 8;
    atlas.metric = "accuracy", atlas.base = 0.93;
    for (int k = 0; k < 3; ++k) {
        RelationAtlas::Relation r;
        r.head = k == 0;
        r.name = r.head ? "layer 2 relational head 1" : "layer 2 relation " + std::to_string(k);
        r.layer = "layer 2", r.layerIndex = 1, r.index = r.head ? 0 : k - 1;
        r.values = {0.5, 1.0, 0.6, -1.0, 2.0, {}, std::vector<std::int64_t>(64, 3)};
        r.symmetry = r.head ? 1.3 : std::numeric_limits<double>::infinity();
        r.rank = 4.0 + k, r.weightRank = r.weightSymmetry = none;
        r.shares = {0.5, 0.1, 0.1, 0.1, 0.2};
        RelationAtlas::Fit fit;
        fit.auc = 0.6 + 0.15 * k, fit.low = fit.auc - 0.01, fit.high = fit.auc + 0.01;
        fit.plainAuc = 0.5, fit.p = 0.005, fit.initial = none;
        fit.untrained = 0.5, fit.untrainedLow = 0.4, fit.untrainedHigh = 0.6;
        auto ordered = fit;
        ordered.low = ordered.high = ordered.untrained = none;
        r.fits = {fit, ordered};
        r.uses = {{"mean", -0.1 * k, -0.1 * k - 0.01, -0.1 * k + 0.01, none, none, none}};
        r.attribute = 0, r.labelled = k == 2 ? 0 : -1;
        r.label = k == 2 ? "same object, learned, used" : "no label";
        r.highest = {{7,
                      0,
                      4,
                      2.0,
                      "patch (0, 0) <- patch (1, 1)",
                      {6, 6, 3, std::vector<std::uint8_t>(108, 90)}}};
        r.lowest = {{8, 1, 2, -1.0, "b <- c", {}}};
        r.group = k;
        atlas.relations.push_back(std::move(r));
    }
    atlas.steps = {{0, 0.5, {0.5, 0.5, none}}, {10, 0.9, {0.6, 0.75, 0.9}}};
    return atlas;
}

TEST(AtlasView, SortsShowsTheChosenMapAndAsksForIt) {
    AtlasView view;
    view.resize(1000, 700);
    EXPECT_TRUE(view.isEmpty());
    view.showResult(core::answerOf(atlasOf()));
    view.show();
    auto* table = view.table();
    const auto* rowsOf = table->model();
    ASSERT_EQ(rowsOf->rowCount(), 3);
    EXPECT_TRUE(view.headText().contains("2,000 images of occurs, pentos, 9 objects each"));
    EXPECT_EQ(view.sheet()->relation(), 2) << "the first that is labelled";
    EXPECT_TRUE(view.sheet()->description().contains("same object 0.900"));
    EXPECT_EQ(table->text(2, "auc"), "0.900");
    EXPECT_TRUE(table->text(2, "untrained").endsWith("[0.40, 0.60]"));
    EXPECT_EQ(table->text(2, "symmetry"), QString(QChar(0x221E)));
    // The strongest first, and the chosen one stays chosen.
    table->sortByColumn(2, Qt::DescendingOrder);
    EXPECT_EQ(rowsOf->index(0, 0).data().toString(), "layer 2 relation 2");
    EXPECT_EQ(table->currentIndex().row(), 0);
    view.showResult(core::answerOf(atlasOf()));
    EXPECT_EQ(view.sheet()->relation(), 2);
    QSignalSpy chosen(&view, &AtlasView::mapRequested);
    table->setCurrentIndex(rowsOf->index(2, 0));
    EXPECT_EQ(view.sheet()->relation(), 0);
    table->setFocus();
    QTest::keyClick(table, Qt::Key_Return);
    ASSERT_EQ(chosen.size(), 1);
    EXPECT_EQ(chosen[0][0].value<MapKind>(), MapKind::RelationalAttention);
    EXPECT_EQ(chosen[0][1].toInt(), 1);
    EXPECT_EQ(chosen[0][2].toInt(), 0);
    for (const int width : {300, 700, 1600}) EXPECT_GT(view.sheet()->fit(width), 300) << width;
    view.clear("Not measured.");
    EXPECT_EQ(rowsOf->rowCount(), 0);
    EXPECT_EQ(view.sheet()->relation(), -1);
}

TEST(AtlasView, PairsAreChosenWithTheMouseAndTheKeyboard) {
    AtlasView view;
    view.resize(1400, 700);
    auto atlas = atlasOf();
    for (int k = 0; k < 3; ++k) {
        auto pair = atlas.relations[2].highest.front();
        pair.example = 20 + k, pair.row = 1 + k, pair.column = 5;
        atlas.relations[2].highest.push_back(pair);
    }
    view.showResult(core::answerOf(atlas));
    view.show();
    auto* sheet = view.sheet();
    ASSERT_EQ(sheet->pairs().size(), 5U) << "four pictures and a line of text";
    EXPECT_EQ(view.findChild<QSplitter*>()->orientation(), Qt::Horizontal);
    QSignalSpy asked(&view, &AtlasView::exampleRequested);
    QTest::mouseClick(sheet, Qt::LeftButton, {}, sheet->pairs()[1].room.center());
    ASSERT_EQ(asked.size(), 1);
    EXPECT_EQ(asked[0][0].toInt(), 20);
    EXPECT_EQ(asked[0][1].value<MapCell>(), (MapCell{MapKind::Relation, 1, 1, 0, 1, 5}));
    QTest::mouseClick(sheet, Qt::LeftButton, {}, QPoint(2, 2));
    EXPECT_EQ(asked.size(), 1) << "beside the pairs";
    for (const auto key :
         {Qt::Key_Right, Qt::Key_Return, Qt::Key_Down, Qt::Key_Return, Qt::Key_Up, Qt::Key_Home,
          Qt::Key_Return, Qt::Key_Left, Qt::Key_Return, Qt::Key_End, Qt::Key_Enter})
        QTest::keyClick(sheet, key);
    std::vector<int> examples;
    for (const auto& one : asked) examples.push_back(one[0].toInt());
    EXPECT_EQ(examples, (std::vector<int>{20, 21, 8, 7, 7, 8}));
    EXPECT_TRUE(sheet->accessibleDescription().startsWith("b <- c, value -1"));
    // Another map has no current pair; one that the inspector lacks asks for nothing.
    view.table()->chooseRow(0);
    EXPECT_FALSE(sheet->accessibleDescription().contains("value"));
    atlas.relations[0].layerIndex = -1;
    view.showResult(core::answerOf(atlas));
    QTest::mouseClick(sheet, Qt::LeftButton, {}, sheet->pairs()[0].room.center());
    EXPECT_EQ(asked.size(), 6);
    view.resize(700, 700);
    QCoreApplication::processEvents();
    EXPECT_EQ(view.findChild<QSplitter*>()->orientation(), Qt::Vertical);
}

TEST(AtlasView, AClickOnThePlotAlongTrainingNamesTheNearestStep) {
    AtlasView view;
    view.resize(1400, 700);
    view.showResult(core::answerOf(atlasOf()));
    view.show();
    auto* sheet = view.sheet();
    const QRectF plot = sheet->stepsPlot();
    ASSERT_FALSE(plot.isEmpty());
    QSignalSpy asked(&view, &AtlasView::stepRequested);
    const auto clickAt = [&](double along) {
        QTest::mouseClick(sheet, Qt::LeftButton, {},
                          QPointF(plot.x() + along * plot.width(), plot.center().y()).toPoint());
    };
    clickAt(0.97), clickAt(0.1), clickAt(1.1);
    ASSERT_EQ(asked.size(), 2) << "beside the plot there is no step";
    EXPECT_EQ(asked[0][0].toLongLong(), 10);
    EXPECT_EQ(asked[1][0].toLongLong(), 0);
    auto atlas = atlasOf();
    atlas.steps.clear();
    view.showResult(core::answerOf(atlas));
    EXPECT_TRUE(sheet->stepsPlot().isEmpty());
}

// What the tree draws: a leaf for each map, and of each join its place on the axis.
TEST(AtlasView, TheTreeShowsWhichMapsAreAlike) {
    auto atlas = atlasOf();
    AtlasSheet sheet;
    sheet.show(atlas, 2);
    const int without = sheet.fit(800);
    atlas.tree = {{1, 2, 0.9}, {0, 3, 0.2}};
    atlas.relations[1].group = atlas.relations[2].group = 1;
    sheet.show(atlas, 2);
    EXPECT_GT(sheet.fit(800), without + 3 * 18);
    // Of many maps the cluster around the chosen one.
    const auto one = atlas.relations[1];
    for (int k = 3; k < 120; ++k) {
        atlas.relations.push_back(one);
        atlas.tree.push_back({k, k + 119, 0.1});
    }
    for (std::size_t k = 0; k < atlas.tree.size(); ++k)
        if (k >= 2)
            atlas.tree[k] = {static_cast<std::int64_t>(k) + 1,
                             120 + static_cast<std::int64_t>(k) - 1, 0.1};
    atlas.tree[1].second = 120;
    sheet.show(atlas, 2);
    EXPECT_LT(sheet.fit(800), without + 42 * 18 + 60);
    // A tree of something else is not drawn.
    atlas.tree[0].second = 500;
    sheet.show(atlas, 2);
    EXPECT_LT(sheet.fit(800), without + 60);
}

TEST(AtlasView, OfAGroupTheMapThatStandsOutIsKept) {
    AtlasView view;
    auto atlas = atlasOf();
    view.showResult(core::answerOf(atlas));
    view.show();
    EXPECT_FALSE(view.keepOneButton()->isVisible());
    for (auto& r : atlas.relations) r.group = 0;
    atlas.relations[0].point = "blocks.1.rel.hook_pattern";
    for (int k : {1, 2}) atlas.relations[static_cast<std::size_t>(k)].point = "blocks.1.rel.hook_r";
    view.showResult(core::answerOf(atlas));
    ASSERT_TRUE(view.keepOneButton()->isVisible());
    QSignalSpy asked(&view, &AtlasView::editsRequested);
    QTest::mouseClick(view.keepOneButton(), Qt::LeftButton);
    ASSERT_EQ(asked.size(), 1);
    const auto edits = asked[0][0].value<std::vector<Edit>>();
    ASSERT_EQ(edits.size(), 2U) << "relation 2 has the label";
    EXPECT_EQ(edits[0].op, EditOp::Mean);
    EXPECT_EQ(edits[0].point, "blocks.1.rel.hook_z");
    EXPECT_EQ(edits[0].selection.at("head").places, std::vector<std::int64_t>{0});
    EXPECT_EQ(edits[1].point, "blocks.1.rel.hook_r");
    EXPECT_EQ(edits[1].selection.at("relation").places, std::vector<std::int64_t>{0});
    EXPECT_EQ(asked[0][1].toString(), "Keep one of each group");
    // Captured maps have no point to edit.
    for (auto& r : atlas.relations) r.point.clear();
    view.showResult(core::answerOf(atlas));
    EXPECT_FALSE(view.keepOneButton()->isVisible());
}

ModelScan scanOf() {
    ModelScan scan;
    scan.data = "occurs, pentos", scan.noun = "images", scan.metric = "accuracy";
    scan.base = 0.957, scan.passes = 3, scan.wanted = scan.measured = scan.estimated = 1000;
    scan.atlas = atlasOf();
    for (const auto& map : scan.atlas.relations) {
        ModelScan::Component part;
        part.title = part.row.part = map.name, part.estimate = 0.25;
        if (map.labelled >= 0)
            part.row.ways = {{EditOp::Mean, {"accuracy", 0.957, 0.5, -0.457, -0.476, -0.441}, 0.4}};
        scan.parts.push_back(std::move(part));
    }
    scan.heading = "1,000 images of occurs, pentos, accuracy 95.7 %";
    scan.findings = {{"Layer 2, relation 2 answers *same object*.",
                      "*same object*: AUC 0.996 within places.",
                      "layer 2 relation 2",
                      {2},
                      0.457,
                      {},
                      {},
                      0.5,
                      7,
                      0,
                      4,
                      1,
                      1,
                      false},
                     {"Layer 1, symbols together are used.", "", "layer 1 symbols"}};
    scan.notFound = {"No relation of layer 1 is used."};
    return scan;
}

TEST(FindingsBar, ShowsOneFindingAtATimeWithItsEvidence) {
    FindingsBar bar;
    bar.resize(900, 42);
    EXPECT_TRUE(bar.isHidden());
    bar.setSentence("There are no data to measure on.");
    EXPECT_FALSE(bar.isHidden());
    EXPECT_EQ(bar.current(), -1);
    auto scan = scanOf();
    bar.setScan(core::answerOf(scan), true, "step 12");
    EXPECT_EQ(bar.current(), 0);
    EXPECT_TRUE(bar.sentence().startsWith("Layer 2, relation 2 answers \u201csame object\u201d"));
    QSignalSpy examples(&bar, &FindingsBar::exampleRequested),
        more(&bar, &FindingsBar::moreRequested);
    auto* sentence = bar.findChild<QLabel*>();
    QTest::mouseClick(sentence, Qt::LeftButton);
    ASSERT_EQ(examples.size(), 1);
    EXPECT_EQ(examples[0][0].toLongLong(), 7);
    EXPECT_EQ(examples[0][1].value<MapCell>().j, 4);
    bar.next();
    EXPECT_EQ(bar.current(), 1);
    EXPECT_EQ(examples.size(), 1) << "symbols have no map";
    bar.next();
    EXPECT_EQ(bar.current(), 0);
    // In a low page one row, and none where the page has no room.
    bar.setLow(true);
    EXPECT_LT(bar.height(), 30);
    bar.setAllowed(false);
    EXPECT_TRUE(bar.isHidden());
    bar.setAllowed(true);
    EXPECT_FALSE(bar.isHidden());
    // What it costs to go without the part is read first where there is no room for all.
    bar.show();
    bar.resize(900, 24);
    scan.findings[0].text =
        "Layer 1, relational head 1 attends where *same object* holds (0.944) or *same shape* "
        "holds "
        "(0.856) (AUC 0.944 [0.934, 0.952] within places; untrained 0.44 to 0.59); without it "
        "accuracy falls from 97.4 to 53.0 % [48.4, 57.8]; it appeared between steps 70 and 279.";
    bar.setScan(core::answerOf(scan), true, {});
    EXPECT_TRUE(sentence->text().startsWith("Layer 1, relational head 1"));
    EXPECT_TRUE(sentence->text().endsWith("; without it accuracy falls from 97.4 to 53.0 %"))
        << sentence->text().toStdString();
    EXPECT_TRUE(sentence->toolTip().contains("and 279.")) << "all of it is in the tip";
    // Nothing was found: what was not.
    scan.findings.clear();
    bar.setScan(core::answerOf(scan), true, {});
    EXPECT_EQ(bar.sentence(), "No relation of layer 1 is used.");
    scan.passes = 1;
    bar.setScan(core::answerOf(scan), false, {});
    EXPECT_TRUE(bar.sentence().contains("pass 2 of 3")) << bar.sentence().toStdString();
    bar.clear();
    EXPECT_TRUE(bar.isHidden());
}

TEST(ScanView, ShowsSentencesAndPartsAndAsksForTheBestExample) {
    DeclaredView view(core::analysisNamed("scan"));
    view.resize(900, 600);
    EXPECT_TRUE(view.isEmpty());
    view.showResult(core::answerOf(scanOf()));
    view.show();
    EXPECT_EQ(view.headText(), "1,000 images of occurs, pentos, accuracy 95.7 %");
    auto* sentences = child<QListWidget>(view, "Findings");
    ASSERT_EQ(sentences->count(), 5);
    EXPECT_EQ(sentences->item(0)->text(),
              "\u25B8 1. Layer 2, relation 2 answers \u201csame object\u201d.");
    // The numbers behind a finding fold.
    EXPECT_TRUE(sentences->item(1)->isHidden());
    EXPECT_TRUE(sentences->item(3)->isHidden()) << "there are none";
    const auto onArrow = [&] {
        return sentences->visualItemRect(sentences->item(0)).topLeft() + QPoint(8, 8);
    };
    QSignalSpy opened(&view, &AnalysisFrame::exampleRequested);
    QTest::mouseClick(sentences->viewport(), Qt::LeftButton, {}, onArrow());
    EXPECT_FALSE(sentences->item(1)->isHidden());
    EXPECT_EQ(sentences->item(1)->text(), "\u201csame object\u201d: AUC 0.996 within places.");
    EXPECT_EQ(opened.size(), 0) << "the arrow opens no map";
    view.showResult(core::answerOf(scanOf()));
    EXPECT_FALSE(sentences->item(1)->isHidden()) << "the next result keeps what is open";
    QTest::mouseClick(sentences->viewport(), Qt::LeftButton, {}, onArrow());
    EXPECT_TRUE(sentences->item(1)->isHidden());
    sentences->setCurrentRow(0);
    QTest::keyClick(sentences, Qt::Key_Right);
    EXPECT_FALSE(sentences->item(1)->isHidden());
    QTest::keyClick(sentences, Qt::Key_Left);
    EXPECT_TRUE(sentences->item(1)->isHidden());
    QSignalSpy maps(&view, &AnalysisFrame::mapRequested),
        examples(&view, &AnalysisFrame::exampleRequested);
    sentences->setCurrentRow(0);
    sentences->setFocus();
    QTest::keyClick(sentences, Qt::Key_Return);
    ASSERT_EQ(examples.size(), 1);
    EXPECT_EQ(examples[0][0].toLongLong(), 7);
    const auto cell = examples[0][1].value<MapCell>();
    EXPECT_EQ(cell.kind, MapKind::Relation);
    EXPECT_EQ(cell.j, 4);
    sentences->setCurrentRow(2);
    QTest::keyClick(sentences, Qt::Key_Return);
    sentences->setCurrentRow(4);
    QTest::keyClick(sentences, Qt::Key_Return);
    EXPECT_EQ(examples.size() + maps.size(), 1) << "these have no map";
    auto* table = child<TableView>(view, "Parts");
    ASSERT_EQ(table->model()->rowCount(), 3);
    for (const auto order : {Qt::AscendingOrder, Qt::DescendingOrder}) {
        table->sortByColumn(2, order);
        EXPECT_TRUE(table->model()->index(0, 2).data().toString().startsWith("\u221245.7 ["))
            << "what is not measured comes last";
    }
    // A report beside the chosen name.
    QTemporaryDir folder;
    auto analysis = analysisOf("scan");
    analysis.report = [](const Answer& result, const std::string& name, const std::string& subject,
                         const std::vector<std::string>& command) {
        const auto scan = core::modelScanOf(result);
        return std::vector<core::ReportFile>{
            {name + ".html", subject + core::commandLine(command) + scan.findings[0].text},
            {name + ".md", "x"}};
    };
    view.setAnalysis(analysis);
    view.setCaption("occurs, validation");
    view.setCommand({"scan", "occurs"});
    view.menu()->askPath = [&](const QString&, const QString&, const QString& filter) {
        EXPECT_TRUE(filter.contains("html"));
        return folder.filePath("report.html");
    };
    QSignalSpy saved(view.menu(), &ViewMenu::saved);
    view.menu()->menu()->actions().back()->trigger();
    ASSERT_EQ(saved.size(), 1);
    EXPECT_EQ(saved[0][0].toString(), folder.filePath("report.html"));
    QFile file(folder.filePath("report.html"));
    ASSERT_TRUE(file.open(QIODevice::ReadOnly));
    EXPECT_TRUE(file.readAll().startsWith("occurs, validationrelascope-cli scan occursLayer 2"));
    EXPECT_TRUE(QFile::exists(folder.filePath("report.md")));
    // While it is measured.
    auto begun = scanOf();
    begun.passes = 0, begun.measured = 0, begun.heading.clear();
    view.showResult(core::answerOf(begun));
    EXPECT_TRUE(view.headText().endsWith("first pass: estimates"));
    view.clear("Not measured.");
    EXPECT_EQ(sentences->count(), 0);
    EXPECT_TRUE(view.isEmpty());
}

Duel duelOf() {
    Duel duel;
    duel.a = {"dat, step 250", "VisionDualAttnTransformer", {"layer 1", "layer 2"}};
    duel.b = {"transformer, step 250", "VisionTransformer", {"layer 1"}};
    duel.data = "occurs, pentos", duel.noun = "images", duel.examples = 500, duel.untrained = 3;
    duel.divergence = "KL(A || B), nats";
    duel.answers = 500, duel.bothRight = 440, duel.onlyA = 40, duel.onlyB = 10;
    duel.bothWrong = 10, duel.mcnemar = 2e-5;
    duel.matches = {
        {"", "", true, 4, 2, 0.5, 0.2, std::nan(""), std::nan(""), {0.2}, {}, 0.2, false},
        {"layer 1", "layer 1", true, 2, 2, 0.7, 0.3, 0.4, 0.3, {0.2}, {0.1}, 0.2, true}};
    duel.partners = {{"layer 1 relational head 1", "layer 1 head 2", true, -0.7, 0, 0, 0, 1}};
    duel.cka = {0.8, 0.3}, duel.untrainedCka = {0.5, 0.5}, duel.alike = {true, false};
    duel.sentences = {"McNemar's exact p is below 0.0001: A is better.", "More."};
    duel.differences = {{7, -1, 2.5, true, false, "occurs", "occurs", "absent", 0.9, 0.1}};
    duel.complete = true;
    return duel;
}

TEST(DuelView, ShowsSentencesAndTablesAndAsksForExamplesAndMaps) {
    DeclaredView view(core::analysisNamed("duel"));
    view.resize(1000, 500);
    EXPECT_TRUE(view.isEmpty());
    view.showResult(core::answerOf(duelOf()));
    view.show();
    EXPECT_EQ(view.headText(), "500 images of occurs, pentos; beside 3 pairs of untrained models");
    const auto* sentences = child<QListWidget>(view, "What the duel shows");
    EXPECT_TRUE(sentences->item(0)->text().endsWith("A is better."))
        << sentences->item(0)->text().toStdString();
    QSignalSpy maps(&view, &AnalysisFrame::mapRequested),
        examples(&view, &AnalysisFrame::exampleRequested);
    auto* table = child<TableView>(view, "Table of the duel");
    const auto* choice = child<SegmentedControl>(view, "Table");
    const auto* rowsOf = table->model();
    ASSERT_EQ(rowsOf->rowCount(), 1);
    EXPECT_EQ(rowsOf->index(0, 0).data().toString(), "A right, B wrong");
    table->setCurrentIndex(rowsOf->index(0, 0));
    table->setFocus();
    QTest::keyClick(table, Qt::Key_Return);
    ASSERT_EQ(examples.size(), 1);
    EXPECT_EQ(examples[0][0].toLongLong(), 7);
    // Layers, streams and maps.
    for (const auto& [which, count] : {std::pair{1, 2}, {3, 2}, {2, 1}}) {
        QTest::mouseClick(choice->button(which), Qt::LeftButton);
        EXPECT_EQ(rowsOf->rowCount(), count);
    }
    table->setCurrentIndex(rowsOf->index(0, 0));
    table->setFocus();
    QTest::keyClick(table, Qt::Key_Return);
    ASSERT_EQ(maps.size(), 1);
    EXPECT_EQ(maps[0][0].value<MapKind>(), MapKind::SensoryAttention);
    EXPECT_EQ(maps[0][2].toInt(), 1);
    EXPECT_EQ(examples.size(), 1);
    view.clear("Not measured.");
    EXPECT_TRUE(view.isEmpty());
    EXPECT_EQ(rowsOf->rowCount(), 0);
}

TEST(DuelView, ATableOfThousandsOfRowsIsShownAtOnce) {
    DeclaredView view(core::analysisNamed("duel"));
    view.resize(1000, 500);
    view.show();
    auto duel = duelOf();
    duel.matches.resize(6000, duel.matches.front());
    view.showResult(core::answerOf(duel));
    QElapsedTimer clock;
    clock.start();
    QTest::mouseClick(child<SegmentedControl>(view, "Table")->button(1), Qt::LeftButton);
    QTest::qWait(1);
    EXPECT_EQ(child<TableView>(view, "Table of the duel")->model()->rowCount(), 6000);
    EXPECT_LT(clock.elapsed(), 1000) << "ms; a busy machine is slow";
}

TEST(MeasureFigure, EveryViewIsDrawnInEveryFormat) {
    QTemporaryDir folder;
    QString error;
    auto table = tableOf();
    finish(table);
    for (const auto* ending : {"png", "svg", "pdf"}) {
        const auto path = [&](const char* name) {
            return folder.filePath(QString("%1.%2").arg(name, ending));
        };
        EXPECT_TRUE(renderAnalysis(analysisOf("ablate"), core::answerOf(table, {}), "occurs",
                                   path("a"), &error))
            << error.toStdString();
        EXPECT_TRUE(renderAnalysis(core::analysisNamed("patch"), core::answerOf(patches()),
                                   "occurs", path("p"), &error));
        EXPECT_TRUE(renderAnalysis(core::analysisNamed("lens"), core::answerOf(lensResult(false)),
                                   "text", path("l"), &error));
        EXPECT_TRUE(renderAnalysis(analysisOf("attribute"), core::answerOf(attribution()), "text",
                                   path("t"), &error));
        EXPECT_TRUE(renderAnalysis(core::analysisNamed("heads"), headMeasures(), "text", path("h"),
                                   &error));
        EXPECT_TRUE(renderAnalysis(analysisOf("atlas"), core::answerOf(atlasOf()), "occurs",
                                   path("r"), &error));
        EXPECT_TRUE(renderAnalysis(core::analysisNamed("scan"), core::answerOf(scanOf()), "occurs",
                                   path("s"), &error));
        EXPECT_TRUE(renderAnalysis(core::analysisNamed("duel"), core::answerOf(duelOf()), "occurs",
                                   path("d"), &error));
    }
    QFile svg(folder.filePath("a.svg"));
    ASSERT_TRUE(svg.open(QIODevice::ReadOnly));
    const QByteArray text = svg.readAll();
    for (const auto* word : {"layer 2 relation 3", "Parts removed", "Interaction", "occurs"})
        EXPECT_TRUE(text.contains(word)) << word;
    EXPECT_FALSE(renderAnalysis(core::analysisNamed("lens"), core::answerOf(lensResult(true)), "",
                                folder.filePath("l.gif"), &error));
    EXPECT_TRUE(error.contains(".gif"));
}

}  // namespace
