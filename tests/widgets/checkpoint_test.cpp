// SPDX-License-Identifier: GPL-3.0-or-later
// What a checkpoint holds: its tensors, their numbers, the model's outline, problems and the badge.
#include <gtest/gtest.h>

#include <QDialog>
#include <QHeaderView>
#include <QLineEdit>
#include <QListWidget>
#include <QSignalSpy>
#include <QTableWidget>
#include <QTest>
#include <QTreeView>
#include <QTreeWidget>
#include <limits>

#include "support/rooms.h"
#include "widgets/checkpoint/config_view.h"
#include "widgets/checkpoint/histogram_view.h"
#include "widgets/checkpoint/outline_view.h"
#include "widgets/checkpoint/problems_list.h"
#include "widgets/checkpoint/tensor_model.h"
#include "widgets/checkpoint/tensor_table.h"
#include "widgets/checkpoint/verify_badge.h"
#include "widgets/kit/cell_delegate.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope {
namespace {

StoredTensor tensor(const std::string& name, std::vector<std::int64_t> shape) {
    StoredTensor t{name, name, "F32", std::move(shape)};
    t.bytes = static_cast<std::uint64_t>(t.count()) * 4;
    return t;
}

/// A language model with 24 blocks of three tensors and an alias.
std::vector<StoredTensor> language() {
    std::vector<StoredTensor> all = {tensor("layers.final_out.weight", {50304, 1024}),
                                     tensor("layers.token_embedder.weight", {50304, 1024})};
    all[1].sameAs = "layers.final_out.weight";
    for (int b = 0; b < 24; ++b)
        for (const char* part : {"attn.wq.weight", "attn.wr", "norm.bias"})
            all.push_back(tensor("layers.blocks." + std::to_string(b) + "." + part, {8, b + 1}));
    all.push_back(tensor("layers.symbol_retrievers.0.q_proj.weight", {64, 64}));
    return all;
}

TEST(ByteSize, ReadsAsInTheTable) {
    EXPECT_EQ(byteSize(0), "0 B");
    EXPECT_EQ(byteSize(1023), "1023 B");
    EXPECT_EQ(byteSize(1536), "1.5 KiB");
    EXPECT_EQ(byteSize(16384), "16 KiB");
    EXPECT_EQ(byteSize(206045184), "196.5 MiB");
    EXPECT_EQ(byteSize(1374389535), "1.28 GiB");
}

TEST(TensorNumbers, AreShort) {
    EXPECT_EQ(shortNumber(-0.3149), QString(QChar(0x2212)) + "0.31");
    EXPECT_EQ(shortNumber(4.8), "4.80");
    EXPECT_EQ(shortNumber(0), "0");
    EXPECT_EQ(shortNumber(1e-9), "1e-09");
    EXPECT_EQ(tensorShape({}), "[]");
    EXPECT_EQ(rangeText({"x", 4, 1, -1, 2, 0, 0, {}}),
              QString::fromUtf8("1 not finite, \u22121.00 \u2026 2.00"));
    EXPECT_EQ(rangeText({"x", 4, 4, 0, 0, 0, 0, {}}), "4 not finite");
}

class TensorTableTest : public testing::Test {
protected:
    void SetUp() override {
        table.resize(640, 420);
        table.show();
        table.setTensors(language());
    }
    QModelIndex at(std::initializer_list<int> rows, int column = 0) const {
        QModelIndex parent;
        for (const int row : rows) parent = model()->index(row, 0, parent);
        return parent.siblingAtColumn(column);
    }
    TensorModel* model() const { return table.model(); }
    QString text(std::initializer_list<int> rows, int column = 0) const {
        return at(rows, column).data().toString();
    }
    TensorTable table;
};

TEST_F(TensorTableTest, FoldsBlocksAndSaysThePrefixOnce) {
    EXPECT_EQ(table.headText(), "75, all under layers.");
    EXPECT_EQ(text({0}), "final_out.weight");
    EXPECT_EQ(text({1}), "token_embedder.weight");
    EXPECT_EQ(at({1}).data(TailRole).toString(), "= final_out.weight");
    EXPECT_EQ(text({1}, TensorModel::Bytes), "0 B");
    EXPECT_EQ(text({0}, TensorModel::Shape), "[50304, 1024]");
    EXPECT_EQ(text({2}), "blocks.0");
    EXPECT_EQ(text({2}, TensorModel::Shape), "3 tensors");
    EXPECT_TRUE(table.view()->isExpanded(at({2})));
    EXPECT_EQ(text({2, 1}), "attn.wr");
    EXPECT_EQ(text({3}), "blocks.1 to blocks.23");
    EXPECT_EQ(text({3}, TensorModel::Shape), "69 tensors");
    EXPECT_FALSE(table.view()->isExpanded(at({3})));
    EXPECT_EQ(text({3, 22}), "blocks.23");
    EXPECT_EQ(text({4}), "symbol_retrievers.0.q_proj.weight") << "one of a kind is no block";
    EXPECT_EQ(model()->rowCount(), 5);
}

TEST_F(TensorTableTest, ClickingChoosesATensorAndNoBranch) {
    QSignalSpy chosen(&table, &TensorTable::tensorChosen);
    const auto click = [&](const QModelIndex& index) {
        QTest::mouseClick(table.view()->viewport(), Qt::LeftButton, {},
                          table.view()->visualRect(index).center());
    };
    click(at({2, 1}));
    ASSERT_EQ(chosen.size(), 1);
    EXPECT_EQ(chosen[0][0].toString(), "layers.blocks.0.attn.wr");
    click(at({3}));
    EXPECT_EQ(chosen.size(), 1);
    table.choose("layers.blocks.17.norm.bias");
    EXPECT_EQ(chosen.size(), 2);
    EXPECT_TRUE(table.view()->isExpanded(at({3})));
}

TEST_F(TensorTableTest, FiltersByWordsAndKeepsTheChoice) {
    table.choose("layers.blocks.0.attn.wr");
    table.filterField()->setFocus();
    QTest::keyClicks(table.filterField(), "BLOCKS.1. wr");
    EXPECT_EQ(model()->shown(), 1) << "blocks.1. is not blocks.10.";
    EXPECT_EQ(table.headText(), "1 of 75, all under layers.");
    table.setFilter("attn.wr");
    EXPECT_EQ(model()->shown(), 24);
    EXPECT_EQ(table.chosen(), "layers.blocks.0.attn.wr");
    EXPECT_EQ(table.csv().count('\n'), 25);
    table.setFilter("layers.final_out.weight.");
    EXPECT_EQ(model()->shown(), 1) << "a prefix that is a whole name";
    table.setFilter("nothing like it");
    EXPECT_EQ(model()->rowCount(), 0);
    table.setFilter("");
    EXPECT_EQ(model()->shown(), 75);
    EXPECT_FALSE(table.view()->isExpanded(at({3})));
}

TEST_F(TensorTableTest, SortsWithinBranchesAndComesBack) {
    const QPersistentModelIndex kept = at({2, 1});
    model()->sort(TensorModel::Name, Qt::DescendingOrder);
    EXPECT_EQ(text({0}), "token_embedder.weight");
    EXPECT_EQ(kept.data().toString(), "attn.wr");
    model()->sort(TensorModel::Name, Qt::AscendingOrder);
    EXPECT_EQ(text({1, 1}), "blocks.2") << "numbers sort as numbers";
    model()->sort(TensorModel::Bytes, Qt::DescendingOrder);
    EXPECT_EQ(text({0}), "final_out.weight");
    EXPECT_EQ(text({1, 0}), "blocks.23");
    model()->sort(-1, Qt::AscendingOrder);
    EXPECT_EQ(text({1}), "token_embedder.weight");
    // By the head, as a user does: third click, the file's order.
    QHeaderView* header = table.view()->header();
    const QPoint bytes(header->sectionViewportPosition(TensorModel::Bytes) + 10, 8);
    QTest::mouseClick(header->viewport(), Qt::LeftButton, {}, bytes);
    QTest::mouseClick(header->viewport(), Qt::LeftButton, {}, bytes);
    EXPECT_NE(header->sortIndicatorSection(), -1);
    QTest::mouseClick(header->viewport(), Qt::LeftButton, {}, bytes);
    EXPECT_EQ(header->sortIndicatorSection(), -1);
    EXPECT_EQ(text({0}), "final_out.weight");
}

TEST_F(TensorTableTest, RangesFillAsNumbersArrive) {
    EXPECT_EQ(text({2, 1}, TensorModel::Range), "");
    QSignalSpy changed(model(), &TensorModel::dataChanged);
    table.setStatistics({"layers.blocks.0.attn.wr", 8, 0, -0.31, 0.29, 0, 0.1, {1, 2}});
    EXPECT_EQ(changed.size(), 1);
    EXPECT_EQ(text({2, 1}, TensorModel::Range), QString::fromUtf8("\u22120.31 \u2026 0.29"));
    table.setStatistics({"layers.final_out.weight", 8, 3, -1, 1, 0, 0.1, {1}});
    EXPECT_EQ(at({0}, TensorModel::Range).data(Qt::ForegroundRole).value<QColor>(),
              Theme::current().error);
    table.setStatistics({"no such tensor", 1, 0, 0, 0, 0, 0, {}});
    EXPECT_EQ(changed.size(), 2);
    EXPECT_TRUE(table.csv().contains("layers.blocks.0.attn.wr,\"[8, 1]\",F32,32,,-0.31,0.29"));
}

TEST_F(TensorTableTest, NamesAreNoMarkup) {
    table.setTensors({tensor("<img src=/etc/passwd>", {1}), tensor("%1.%2", {1})});
    const QString tip = at({0}).data(Qt::ToolTipRole).toString();
    EXPECT_FALSE(tip.contains("<img")) << tip.toStdString();
    EXPECT_TRUE(tip.contains("&lt;img") && tip.contains("src=/etc/passwd"));
    EXPECT_EQ(at({1}).data(Qt::ToolTipRole).toString(), "%1.%2");
    EXPECT_FALSE(table.grab().isNull());
}

TEST_F(TensorTableTest, TenThousandRows) {
    std::vector<StoredTensor> many;
    for (int b = 0; b < 100; ++b)
        for (int k = 0; k < 100; ++k)
            many.push_back(
                tensor("m." + std::to_string(b) + ".part" + std::to_string(k) + ".w", {k, b}));
    table.setTensors(many);
    EXPECT_EQ(table.headText(), "10,000");
    EXPECT_EQ(text({0}), "m.0") << "the prefix may not eat the number's stem";
    table.setFilter("part7");
    EXPECT_EQ(model()->shown(), 1100);
    EXPECT_FALSE(table.grab().isNull());
    table.setTensors({});
    EXPECT_EQ(table.headText(), "");
}

TEST_F(TensorTableTest, MarksStandInAWideHead) {
    table.marks()->setProblems({}, true);
    EXPECT_EQ(table.marks()->text(), "none missing, none unexpected, no NaN");
    const int below = table.marks()->mapTo(&table, QPoint()).y();
    table.resize(900, 420);
    QTest::qWait(1);
    EXPECT_LT(table.marks()->mapTo(&table, QPoint()).y(), below);
    EXPECT_TRUE(table.marks()->isVisible());
    table.marks()->setProblems({{ProblemKind::Missing, "a", "b"}}, false);
    EXPECT_EQ(table.marks()->text(), "1 missing, none unexpected, NaN not checked yet");
    const QImage shot = table.marks()->grab().toImage();
    bool red = false;
    for (int x = 0; x < 14; ++x)
        for (int y = 0; y < shot.height(); ++y)
            red |= shot.pixelColor(x, y).red() > shot.pixelColor(x, y).green() + 100;
    EXPECT_TRUE(red);
}

TEST(HistogramTest, BarsFollowTheCounts) {
    HistogramView view;
    view.resize(560, 180);
    view.show();
    view.setStatistics({"w", 111, 0, -1, 1, 0.1, 0.4, {1, 10, 100, 0}});
    const double first = view.barRect(0).height(), second = view.barRect(1).height(),
                 third = view.barRect(2).height();
    EXPECT_NEAR(second / third, 0.1, 1e-9);
    EXPECT_NEAR(first / third, 0.01, 1e-9);
    EXPECT_EQ(view.barRect(3).height(), 0);
    const QPointF middle = view.barRect(2).center();
    EXPECT_EQ(view.plot()->grab().toImage().pixelColor(middle.toPoint()),
              Theme::current().series[0]);
    QTest::mouseClick(view.logChip(), Qt::LeftButton);
    ASSERT_TRUE(view.logY());
    EXPECT_GT(view.barRect(1).height() / view.barRect(2).height(), 0.5);
    EXPECT_EQ(view.csv(), "from,to,count\n-1,-0.5,1\n-0.5,0,10\n0,0.5,100\n0.5,1,0\n");
    view.setStatistics({"nan", 5, 5, 0, 0, 0, 0, {0, 0}});
    EXPECT_TRUE(view.barRect(0).isEmpty());
    EXPECT_FALSE(view.grab().isNull());
    view.clear();
    EXPECT_EQ(view.csv(), "from,to,count\n");
}

TEST(OutlineTest, ChoosingAPartGivesItsPrefix) {
    OutlineView view;
    view.resize(420, 200);
    view.show();
    view.setOutline({"DAT",
                     "24 blocks",
                     "",
                     343000000,
                     {{"block 1", "8 heads", "layers.blocks.1", 14000000, {}},
                      {"output", "", "layers.final_out.", 51511296, {}}}});
    QSignalSpy chosen(&view, &OutlineView::prefixChosen);
    QTreeWidgetItem* block = view.tree()->topLevelItem(0)->child(0);
    EXPECT_EQ(view.tree()->topLevelItem(0)->text(1), "343,000,000");
    QTest::mouseClick(view.tree()->viewport(), Qt::LeftButton, {},
                      view.tree()->visualItemRect(block).center());
    EXPECT_EQ(chosen.last()[0].toString(), "layers.blocks.1.");
    view.tree()->setCurrentItem(view.tree()->topLevelItem(0)->child(1));
    EXPECT_EQ(chosen.last()[0].toString(), "layers.final_out.");
    EXPECT_TRUE(view.csv().contains("block 1,8 heads,layers.blocks.1.,14000000"));
    view.setOutline({});
    EXPECT_EQ(view.tree()->topLevelItemCount(), 0);
}

TEST(ConfigTest, FlattensAndSurvivesWhatIsNoJson) {
    ConfigView view;
    view.setConfig(R"({"d_model": 1024, "decoder": {"n_heads": 8}, "bias": false, "p": 0.1,
                       "shape": [3, 36], "none": null, "name": "RoPE"})");
    EXPECT_EQ(view.csv(),
              "option,value\nbias,false\nd_model,1024\ndecoder.n_heads,8\nname,RoPE\nnone,null\n"
              "p,0.1\nshape,\"[3, 36]\"\n");
    view.setConfig(R"({"class": "ViT", "arguments": {"d_model": 8}})");
    EXPECT_EQ(view.csv(), "option,value\nd_model,8\nclass,ViT\n");
    view.setConfig("{broken");
    ASSERT_EQ(view.rows().size(), 1U);
    view.setConfig("");
    EXPECT_TRUE(view.rows().empty());
    EXPECT_FALSE(view.grab().isNull());
}

TEST(ProblemsTest, OneLineEach) {
    ProblemsList list;
    list.setProblems({{ProblemKind::Missing, "blocks.0.wq", "is not in the file"},
                      {ProblemKind::NotFinite, "blocks.1.wq", "blocks.1.wq holds 3 NaN"}});
    EXPECT_FALSE(list.isHidden());
    EXPECT_EQ(list.list()->item(0)->text(), "blocks.0.wq: is not in the file");
    EXPECT_EQ(list.list()->item(1)->text(), "blocks.1.wq holds 3 NaN");
    QSignalSpy chosen(&list, &ProblemsList::subjectChosen);
    list.list()->setCurrentRow(1);
    EXPECT_EQ(chosen.last()[0].toString(), "blocks.1.wq");
    EXPECT_TRUE(list.csv().contains("missing,blocks.0.wq,is not in the file"));
    list.setProblems({});
    EXPECT_TRUE(list.isHidden());
}

TEST(BadgeTest, SaysAndLists) {
    VerifyBadge badge;
    badge.resize(460, 28);
    badge.show();
    EXPECT_EQ(badge.title(), "Not verified");
    QTest::mouseClick(badge.button(), Qt::LeftButton);
    EXPECT_EQ(badge.lines(), nullptr) << "nothing to list yet";
    VerifyReport report{true, 2.13e-6, {{"logits", 2.13e-6, 1e-5, true, ""}}};
    badge.setReport(report);
    EXPECT_EQ(badge.title(), "Verified");
    EXPECT_EQ(badge.text(), "2.1e-6 largest difference, 1 of 1 outputs");
    report.ok = false;
    report.lines.push_back(
        {"scores", std::numeric_limits<double>::quiet_NaN(), 1, false, "a \"b\""});
    badge.setReport(report);
    EXPECT_EQ(badge.title(), "Differs");
    EXPECT_EQ(badge.text(), "2.1e-6 largest difference, 1 of 2 outputs");
    QTest::mouseClick(badge.button(), Qt::LeftButton);
    ASSERT_NE(badge.lines(), nullptr);
    auto* table = badge.lines()->findChild<QTableWidget*>();
    ASSERT_EQ(table->rowCount(), 2);
    EXPECT_EQ(table->item(0, 3)->text(), "agrees");
    EXPECT_EQ(table->item(1, 1)->text(), "NaN");
    EXPECT_TRUE(VerifyBadge::csv(report).endsWith("scores,nan,1,false,\"a \"\"b\"\"\"\n"));
    badge.lines()->close();
}

}  // namespace
}  // namespace relascope
