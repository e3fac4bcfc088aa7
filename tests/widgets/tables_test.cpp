// SPDX-License-Identifier: GPL-3.0-or-later
// Table of runs and comparison of configurations.
#include <gtest/gtest.h>

#include <QLineEdit>
#include <QSignalSpy>
#include <QTableView>
#include <QTest>

#include "support/rooms.h"
#include "widgets/kit/cell_delegate.h"
#include "widgets/tables/diff_table.h"
#include "widgets/tables/runs_model.h"
#include "widgets/tables/runs_table.h"
#include "widgets/theme/theme.h"

using namespace relascope;

namespace {

TableRow row(const std::string& name, double accuracy,
             double published = std::numeric_limits<double>::quiet_NaN()) {
    TableRow r;
    r.info.path = "/" + name;
    r.info.name = name;
    r.info.model = "ViDAT";
    r.info.state = RunState::Done;
    r.info.kept = {400, {{"accuracy", accuracy}}};
    r.info.parameters = 423010;
    r.published = published;
    return r;
}

struct ShownTable {
    RunsTable table;
    ShownTable() {
        table.resize(1160, 230);
        table.setRows({row("low", 0.611), row("none", std::numeric_limits<double>::quiet_NaN()),
                       row("high", 0.912, 0.917)});
        table.show();
    }
    QString name(int r) {
        return table.view()->model()->index(r, RunsModel::Run).data().toString();
    }
};

}  // namespace

TEST(RunsTable, SortsWithMissingNumbersLastBothWays) {
    ShownTable s;
    EXPECT_EQ(s.name(0), "high");
    EXPECT_EQ(s.name(2), "none");
    s.table.view()->sortByColumn(RunsModel::Kept, Qt::AscendingOrder);
    EXPECT_EQ(s.name(0), "low");
    EXPECT_EQ(s.name(2), "none");
}

TEST(RunsTable, FiltersByWordsAndComparisons) {
    ShownTable s;
    QTest::keyClicks(s.table.filterField(), "acc > 85");
    EXPECT_EQ(s.table.shownRows(), 1);
    s.table.setFilter("LOW vidat");
    EXPECT_EQ(s.table.shownRows(), 1);
    s.table.setFilter("params>=423010 acc<85");
    EXPECT_EQ(s.table.shownRows(), 1);
    s.table.setFilter("keptacc > 85");
    EXPECT_TRUE(s.table.filterField()->property("error").toBool());
    EXPECT_TRUE(s.table.filterField()->toolTip().contains("try kept"));
    s.table.setFilter("");
    EXPECT_EQ(s.table.shownRows(), 3);
}

TEST(RunsTable, ChecksAndNotesSignal) {
    ShownTable s;
    QSignalSpy overlay(&s.table, &RunsTable::overlayChanged),
        note(&s.table, &RunsTable::noteEdited);
    QAbstractItemModel* model = s.table.view()->model();
    s.table.view()->setCurrentIndex(model->index(0, RunsModel::Overlay));
    QTest::keyClick(s.table.view(), Qt::Key_Space);
    ASSERT_EQ(overlay.count(), 1);
    EXPECT_EQ(overlay[0][0].toStringList(), QStringList({"/high"}));
    model->setData(model->index(0, RunsModel::NoteText), "seen", Qt::EditRole);
    ASSERT_EQ(note.count(), 1);
    EXPECT_EQ(note[0][0].toString(), "/high");
    EXPECT_EQ(note[0][1].toString(), "seen");
}

TEST(RunsTable, TabLeavesTheTable) {
    ShownTable s;
    s.table.view()->setCurrentIndex(s.table.view()->model()->index(0, 1));
    s.table.view()->setFocus();
    QTest::keyClick(s.table.view(), Qt::Key_Tab);
    EXPECT_FALSE(s.table.view()->hasFocus());
}

TEST(RunsTable, WritesCsvAsShown) {
    ShownTable s;
    s.table.setColumnShown(RunsModel::Time, false);
    const QStringList lines = s.table.csv().split('\n');
    EXPECT_EQ(lines[0],
              "run,path,model,parameters,seed,state,loss,metric,validation,published,difference,"
              "note");
    EXPECT_TRUE(lines[1].startsWith("high,/high,ViDAT,423010,0,done,,accuracy,0.912,0.917,-0.005"))
        << lines[1].toStdString();
    EXPECT_EQ(lines.size(), 5);
    EXPECT_EQ(s.table.shownColumns().size(), 11u) << "without the time and the tags";
    EXPECT_EQ(s.table.shownRuns().front()->info.name, "high");
}

TEST(RunsTable, EachRunShowsTheNumberThatStandsForIt) {
    TableRow sorting = row("sorting", 0.99);
    sorting.info.metric = "sequence_accuracy";
    sorting.info.kept = {400, {{"loss", 0.02}, {"sequence_accuracy", 0.875}}};
    sorting.info.bestMetric = 0.912, sorting.info.bestStep = 480;
    sorting.info.results = {
        {"test", 5000, {{"loss", 0.031}, {"accuracy", 0.98}, {"sequence_accuracy", 0.861}}},
        {"length-11", 5000, {{"accuracy", 0.7}, {"sequence_accuracy", 0.2}}}};
    sorting.published = 0.976;
    sorting.ours = 0.98;
    sorting.publishedText = "accuracy, test";
    TableRow errors = row("errors", std::numeric_limits<double>::quiet_NaN());
    errors.info.metric = "mean_error";
    errors.info.kept = {400, {{"mean_error", 0.01234}}};
    RunsModel model;
    const auto text = [&](int r, int column, int role = Qt::DisplayRole) {
        return model.data(model.index(r, column), role).toString();
    };
    const auto title = [&](int column) { return model.columns()[std::size_t(column)].title; };
    model.setRows({sorting});
    EXPECT_EQ(title(RunsModel::Kept), "Val. seq. acc. %");
    EXPECT_EQ(text(0, RunsModel::Kept), "87.5");
    EXPECT_EQ(
        text(0, RunsModel::Kept, Qt::ToolTipRole),
        "validation sequence accuracy 87.5% (weights of step 400); best seen 91.2% (step 480, "
        "not kept)");
    for (const char* holds : {"kept = 87.5", "best > 91.1 best<91.3", "loss < 0.1 seed=0"}) {
        EXPECT_EQ(model.setFilterText(holds), "");
        EXPECT_EQ(model.rowCount(), 1) << holds;
    }
    model.setFilterText("ppl > 0");
    EXPECT_EQ(model.rowCount(), 0) << "no run of text";
    model.setFilterText({});
    EXPECT_EQ(title(RunsModel::Test), "Test seq. acc. %");
    EXPECT_EQ(text(0, RunsModel::Test), "86.1");
    EXPECT_EQ(text(0, RunsModel::Test, Qt::ToolTipRole),
              "test: loss 0.031, accuracy 98.0%, sequence accuracy 86.1% (5,000 examples)\n"
              "length-11: accuracy 70.0%, sequence accuracy 20.0% (5,000 examples)");
    EXPECT_EQ(text(0, RunsModel::Difference), "+0.4") << "of the published split and metric";
    EXPECT_EQ(text(0, RunsModel::Published, Qt::ToolTipRole), "accuracy, test");
    model.setRows({sorting, errors});
    EXPECT_EQ(title(RunsModel::Kept), "Val.") << "each cell says which";
    EXPECT_EQ(text(0, RunsModel::Kept), "87.5%");
    EXPECT_EQ(text(0, RunsModel::Kept, LeadRole), "seq. acc.");
    EXPECT_EQ(text(1, RunsModel::Kept), "0.0123");
    EXPECT_EQ(text(1, RunsModel::Kept, LeadRole), "mean err.");
    EXPECT_EQ(text(1, RunsModel::Test), QString(QChar(0x2014)));

    RunsTable table;
    table.setRows({sorting, errors});
    const QStringList lines = table.csv().split('\n');
    EXPECT_TRUE(
        lines[0].contains("metric,validation,test/test/loss,test/test/accuracy,"
                          "test/test/sequence_accuracy,test/length-11/accuracy"))
        << lines[0].toStdString();
    EXPECT_TRUE(table.csv().contains("sequence_accuracy,0.875,0.031,0.98,0.861,0.7,"))
        << table.csv().toStdString();
    EXPECT_TRUE(table.csv().contains("mean_error,0.01234,,,,,"));
    table.setFilter("test > 80");
    EXPECT_EQ(table.shownRows(), 1);
    EXPECT_FALSE(table.grab().isNull());
}

TEST(RunsTable, TheBestStandsOnTopAlsoWhereLessIsBetter) {
    std::vector<TableRow> rows;
    for (const double error : {0.5, 0.01, 0.2}) {
        TableRow r = row(std::to_string(error), std::numeric_limits<double>::quiet_NaN());
        r.info.metric = "mean_error";
        r.info.kept = {400, {{"mean_error", error}}};
        rows.push_back(r);
    }
    RunsTable table;
    table.setRows(rows);
    const auto* shown = table.view()->model();
    EXPECT_EQ(shown->index(0, RunsModel::Kept).data().toString(), "0.01");
    EXPECT_EQ(shown->index(2, RunsModel::Kept).data().toString(), "0.5");
}

TEST(DiffTable, ShowsDifferencesFromTheReference) {
    RunInfo a, b;
    a.name = "a";
    b.name = "b";
    a.options = {{"model.n_heads_sa", "6"}, {"train.seeds", "0, 1"}};
    b.options = {{"model.n_heads_sa", "12"}, {"train.seeds", "0, 1"}, {"model.rope", "on"}};
    DiffTable table;
    table.setRuns({{a, 0}, {b, 1}});
    EXPECT_EQ(table.differingFields(), 2);
    EXPECT_EQ(table.view()->model()->rowCount(), 2);
    const auto ground = [&](int column) {
        return table.view()->model()->index(0, column).data(Qt::BackgroundRole);
    };
    EXPECT_EQ(ground(2).value<QColor>(), Theme::current().warningFill);
    EXPECT_FALSE(ground(1).isValid());
    table.setAllFields(true);
    EXPECT_EQ(table.view()->model()->rowCount(), 3);
    EXPECT_TRUE(table.csv().contains("train.seeds,\"0, 1\",\"0, 1\""));
    table.setRuns({});
    EXPECT_EQ(table.view()->model()->rowCount(), 0);
}
