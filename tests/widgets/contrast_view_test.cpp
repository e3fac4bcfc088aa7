// SPDX-License-Identifier: GPL-3.0-or-later
// The view of contrast: which segments its bars have, and that they add up.
#include <gtest/gtest.h>

#include <QImage>
#include <QPainter>
#include <QTest>
#include <cmath>
#include <numeric>

#include "analysis/analysis.h"
#include "analysis/contrast/contrast.h"
#include "child.h"
#include "support/rooms.h"
#include "widgets/analysis/declared_view.h"
#include "widgets/analysis/share_bars.h"
#include "widgets/kit/table_view.h"

namespace relascope {
namespace {

Contrast someContrast() {
    Contrast c;
    c.map = "layer 2 relation 1", c.attribute = "same object";
    c.data = "occurs", c.noun = "images";
    c.examples = 1000, c.difference = 4.0, c.low = 3.8, c.high = 4.2;
    c.strongestI = c.strongestJ = "embedding";
    c.untrained = 8;
    const std::string head = "layer 1 relational head 1";
    c.parts = {{"both", "embedding", "embedding", 0.5, 0.48, 0.52, 0.9, 1.1},
               {"both", head + " relation 1", "embedding", 0.2, 0.18, 0.22, 0.0, 0.0},
               {"both", "embedding", head + " symbols", 0.1, 0.08, 0.12, 0.0, 0.0},
               {"receiver", "positions", "", 0.3, 0.28, 0.32, 0.0, 0.0},
               {"sender", "", "positions", -0.11, -0.12, -0.1, 0.0, 0.0},
               {"both", "positions", "positions", 0.01, 0.0, 0.02, 0.0, 0.0}};
    c.facts = {{"", "colour", "colour", 0.6, 0.5, 0.7, std::nan(""), std::nan("")},
               {"", "rest", "rest", 0.2, 0.1, 0.3, std::nan(""), std::nan("")}};
    return c;
}

TEST(ContrastView, PutsHeadsAndBothOrdersTogetherAndLosesNothing) {
    const auto answer = core::answerOf(someContrast());
    const auto bar = shareBarOf(answer.table("parts"));
    ASSERT_EQ(bar.segments.size(), 5U);
    EXPECT_EQ(bar.segments[0].name, QStringLiteral("embedding \u00D7 embedding"));
    EXPECT_NEAR(bar.segments[0].untrained, 1.0, 1e-12);
    EXPECT_EQ(bar.segments[1].name, QStringLiteral("embedding \u00D7 layer 1 rel. head 1"));
    EXPECT_NEAR(bar.segments[1].share, 0.3, 1e-12);
    EXPECT_TRUE(bar.segments[4].rest);
    EXPECT_NEAR(std::accumulate(bar.segments.begin(), bar.segments.end(), 0.0,
                                [](double sum, const auto& s) { return sum + s.share; }),
                1.0, 1e-12);
}

TEST(ContrastView, SentencesAreAsHighAsTheirLines) {
    DeclaredView view(core::analysisNamed("contrast"));
    view.resize(700, 900);
    view.show();
    ASSERT_TRUE(view.showResult(core::answerOf(someContrast())));
    QTest::qWait(1);
    const auto* table = child<TableView>(view, "Contrast");
    const auto* bars = child<ShareBars>(view);
    const int above = bars->mapTo(&view, QPoint(0, bars->height())).y();
    EXPECT_LT(table->mapTo(&view, QPoint()).y() - above, 160) << "no empty room between them";
    EXPECT_GT(table->height(), 300);
}

TEST(ContrastView, PaintsABarForEachTableAndTheSentence) {
    DeclaredView view(core::analysisNamed("contrast"));
    view.resize(700, 520);
    view.show();
    ASSERT_TRUE(view.showResult(core::answerOf(someContrast())));
    QTest::qWait(1);
    const auto* bars = child<ShareBars>(view);
    EXPECT_EQ(bars->bars().size(), 2U);
    EXPECT_TRUE(child<QLabel>(bars->parentWidget())->text().contains("the score differs by 4"));
    EXPECT_TRUE(view.headText().contains("layer 2 relation 1"));
    EXPECT_TRUE(bars->accessibleDescription().contains("embedding 50 %"));
    EXPECT_EQ(child<TableView>(view)->tableModel()->rowCount(), 6);
    // Untrained models have a bar of their own where they were measured.
    for (const int width : {260, 500, 1100}) {
        QImage image(width, bars->paint(nullptr, width), QImage::Format_RGB32);
        QPainter painter(&image);
        EXPECT_EQ(bars->paint(&painter, width), image.height());
    }
    const auto size = view.figureSize();
    EXPECT_GT(size.height(), 300);
    view.clear(QStringLiteral("Not measured."));
    EXPECT_TRUE(bars->bars().empty());
}

}  // namespace
}  // namespace relascope
