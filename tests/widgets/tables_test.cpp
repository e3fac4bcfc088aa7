// Table of runs and comparison of configurations.
#include <gtest/gtest.h>

#include <QLineEdit>
#include <QSignalSpy>
#include <QTableView>
#include <QTableWidget>
#include <QTest>

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
    r.info.bestAccuracy = accuracy;
    r.info.parameters = 423010;
    r.published = published;
    return r;
}

struct Shown {
    RunsTable table;
    Shown() {
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
    Shown s;
    EXPECT_EQ(s.name(0), "high");
    EXPECT_EQ(s.name(2), "none");
    s.table.view()->sortByColumn(RunsModel::Accuracy, Qt::AscendingOrder);
    EXPECT_EQ(s.name(0), "low");
    EXPECT_EQ(s.name(2), "none");
}

TEST(RunsTable, FiltersByWordsAndComparisons) {
    Shown s;
    QTest::keyClicks(s.table.filterField(), "best_acc > 85");
    EXPECT_EQ(s.table.shownRows(), 1);
    s.table.setFilter("LOW vidat");
    EXPECT_EQ(s.table.shownRows(), 1);
    s.table.setFilter("params>=423010 best_acc<85");
    EXPECT_EQ(s.table.shownRows(), 1);
    s.table.setFilter("bestacc > 85");
    EXPECT_TRUE(s.table.filterField()->property("error").toBool());
    EXPECT_TRUE(s.table.filterField()->toolTip().contains("best_acc"));
    s.table.setFilter("");
    EXPECT_EQ(s.table.shownRows(), 3);
}

TEST(RunsTable, ChecksAndNotesSignal) {
    Shown s;
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

TEST(RunsTable, WritesCsvAsShown) {
    Shown s;
    s.table.setColumnShown(RunsModel::Time, false);
    const QStringList lines = s.table.csv().split('\n');
    EXPECT_FALSE(lines[0].contains("Time"));
    EXPECT_TRUE(lines[1].startsWith("high,ViDAT,423K,0,done,,91.2,91.7,-0.5"));
    EXPECT_EQ(lines.size(), 5);
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
    EXPECT_EQ(table.view()->rowCount(), 2);
    EXPECT_EQ(table.view()->item(0, 2)->background().color(), Theme::current().warningFill);
    EXPECT_EQ(table.view()->item(0, 1)->background().style(), Qt::NoBrush);
    table.setAllFields(true);
    EXPECT_EQ(table.view()->rowCount(), 3);
    EXPECT_TRUE(table.csv().contains("train.seeds,\"0, 1\",\"0, 1\""));
    table.setRuns({});
    EXPECT_EQ(table.view()->rowCount(), 0);
}
