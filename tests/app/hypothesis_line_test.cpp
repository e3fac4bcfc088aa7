// SPDX-License-Identifier: GPL-3.0-or-later
// The line for hypotheses above Measure: what it completes, and that it is kept with the run.
#include <gtest/gtest.h>

#include <QAbstractItemView>
#include <QCompleter>
#include <QTest>
#include <QUndoStack>

#include "analysis/analysis.h"
#include "analysis/atlas/atlas.h"
#include "analysis/scan/scan.h"
#include "app/pages/analysis_tab.h"
#include "app/pages/analysis_window.h"
#include "app/pages/statement_line.h"
#include "support/rooms.h"
#include "tests/app/subject_at.h"
#include "tests/widgets/child.h"

using namespace relascope;

namespace {

QStringList offered(StatementLine& line) {
    QStringList all;
    auto* list = line.list();
    for (int k = 0; k < list->completionCount(); ++k) {
        list->setCurrentRow(k);
        all << list->currentCompletion();
    }
    return all;
}

TEST(HypothesisLine, CompletesTheWordThatIsTyped) {
    StatementLine line(nullptr);
    line.setWords({"same(colour)", "same(shape)", "same row", "label = occurs", "and"});
    line.show();
    QTest::keyClicks(&line, "colo");
    EXPECT_TRUE(line.list()->popup()->isVisible());
    EXPECT_EQ(offered(line), QStringList({"same(colour)"}));
    Q_EMIT line.list()->activated(QStringLiteral("same(colour)"));
    EXPECT_EQ(line.text(), "same(colour)");
    // Behind a conjunction and a parenthesis the next word begins; one within a name is none.
    QTest::keyClicks(&line, " and not (sha");
    EXPECT_EQ(offered(line), QStringList({"same(shape)"}));
    Q_EMIT line.list()->activated(QStringLiteral("same(shape)"));
    EXPECT_EQ(line.text(), "same(colour) and not (same(shape)");
    QTest::keyClicks(&line, "); same(col");
    EXPECT_EQ(offered(line), QStringList({"same(colour)"}));
    line.clear();
    QTest::keyClicks(&line, "nothing like it");
    EXPECT_FALSE(line.list()->popup()->isVisible());
}

TEST(HypothesisLine, StandsAboveMeasureAndIsKeptWithTheRun) {
    QUndoStack history;
    Measurements measurements;
    AnalysisWindow page({&analysisNamed("atlas"), &analysisNamed("scan")}, history, measurements);
    page.setSubject(subjectAt("/runs/a", {"same(colour)"}));
    auto* tab = page.tab("atlas");
    auto* line = tab->findChild<StatementLine*>();
    ASSERT_NE(line, nullptr);
    EXPECT_EQ(line->words(), QStringList({"same(colour)"}));
    EXPECT_FALSE(tab->isUnfolded()) << "it is shown without the options";
    EXPECT_TRUE(line->isVisibleTo(tab));
    QTest::keyClicks(line, "same(colour); j - i = 1");
    EXPECT_EQ(std::get<std::vector<std::string>>(tab->values().at("hypothesis")),
              (std::vector<std::string>{"same(colour); j - i = 1"}));
    EXPECT_EQ(tab->foldButton()->text(), "Options");
    // Of another run it is another one.
    page.setSubject(subjectAt("/runs/b", {"same(size)"}));
    EXPECT_EQ(line->text(), "");
    EXPECT_TRUE(tab->values().empty());
    EXPECT_EQ(line->words(), QStringList({"same(size)"}));
    QTest::keyClicks(line, "same(size)");
    page.setSubject(subjectAt("/runs/a", {"same(colour)"}));
    EXPECT_EQ(line->text(), "same(colour); j - i = 1");
    // And in the next session.
    QUndoStack later;
    AnalysisWindow again({&analysisNamed("atlas"), &analysisNamed("scan")}, later, measurements);
    again.restoreOptions(page.saveOptions());
    again.setSubject(subjectAt("/runs/b", {}));
    EXPECT_EQ(again.tab("atlas")->findChild<StatementLine*>()->text(), "same(size)");
    again.setSubject(subjectAt("/runs/a", {}));
    EXPECT_EQ(again.tab("atlas")->findChild<StatementLine*>()->text(), "same(colour); j - i = 1");
    EXPECT_TRUE(again.tab("scan")->values().empty());
}

}  // namespace
