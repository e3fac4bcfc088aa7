// SPDX-License-Identifier: GPL-3.0-or-later
// The curve of fitted relations by layer: what it shows, and the layer that a click chooses.
#include <gtest/gtest.h>

#include <QSignalSpy>
#include <QTest>
#include <cmath>

#include "analysis/analysis.h"
#include "analysis/fitted/fitted.h"
#include "answers/column_table.h"
#include "child.h"
#include "support/rooms.h"
#include "widgets/analysis/declared_view.h"
#include "widgets/kit/plot_view.h"
#include "widgets/kit/table_view.h"

namespace relascope {
namespace {

Answer fittedBy(std::vector<double> aucs) {
    auto answer = core::emptyFitted(false);
    const auto title = [](std::size_t k) {
        return k == 0 ? std::string("before layer 1") : "after layer " + std::to_string(k);
    };
    core::addRow(answer, "", "same kind", "symmetric", title(aucs.size() - 1),
                 "blocks.1.hook_resid_post", "learned", 0.98, 0.95, 0.99, 0.99, 12, 0.1, 0.0, 40,
                 0.53, 0.54, 0.84, 300, 100, 100, 0, 900, 800, "");
    for (std::size_t k = 0; k < aucs.size(); ++k)
        core::addRow(answer, "layers", title(k), "point", 40, aucs[k], aucs[k], 0.8, 0.85);
    return answer;
}

TEST(FittedView, AClickOnTheCurveChoosesTheLayer) {
    DeclaredView view(core::analysisNamed("fit-relation"));
    view.resize(900, 700);
    view.showResult(fittedBy({0.86, 0.97, 0.98}));
    view.show();
    auto* plot = child<PlotView>(view, "AUC by layer");
    ASSERT_TRUE(plot && plot->isVisible());
    QSignalSpy options(&view, &AnalysisFrame::optionChosen);
    const QPoint at = plot->pixelOf(1.0).toPoint();
    EXPECT_EQ(plot->hoverText(at), "after layer 1: AUC 0.970, untrained models 0.800 to 0.850");
    QTest::mouseClick(plot, Qt::LeftButton, {}, at);
    ASSERT_EQ(options.size(), 1);
    EXPECT_EQ(options[0][0].toString(), "layer");
    EXPECT_EQ(options[0][1].value<FieldValue>(), FieldValue(std::string("1")));
    QTest::keyClick(plot, Qt::Key_Home);
    ASSERT_EQ(options.size(), 2);
    EXPECT_EQ(options[1][1].value<FieldValue>(), FieldValue(std::string("0")));
    view.showResult(fittedBy({0.9}));
    EXPECT_FALSE(plot->isVisible()) << "one layer is no curve";
}

// While layers are fitted there are some of them and nothing else.
TEST(FittedView, TheCurveGrowsWhileLayersAreFitted) {
    DeclaredView view(core::analysisNamed("fit-relation"));
    view.resize(900, 700);
    view.show();
    auto soFar = core::emptyFitted(true);
    for (int k = 0; k < 3; ++k)
        core::addRow(soFar, "layers", "after layer " + std::to_string(k + 1), "point", 40, 0.9, 0.8,
                     columns::kNone, columns::kNone);
    view.showResult(soFar);
    const auto* plot = child<PlotView>(view, "AUC by layer");
    ASSERT_TRUE(plot && plot->isVisible());
    EXPECT_EQ(plot->hoverText(plot->pixelOf(1.0).toPoint()), "after layer 2: AUC 0.800");
}

TEST(FittedView, AFigureCutsOffNoNumber) {
    auto answer = fittedBy({0.86, 0.97});
    core::addRow(answer, "removed", 8, 8, 0.4387, -0.240, -0.330, -0.150, 0.4387, -0.285, -0.45,
                 -0.12, -0.145, -0.152, -0.129, 0.933);
    TableView table({});
    table.setTable(answer.table("removed"));
    DeclaredView view(core::analysisNamed("fit-relation"));
    view.showResult(answer);
    EXPECT_GE(view.figureSize().width(), table.figureWidth());
    EXPECT_NE(view.headText().indexOf("AUC 0.980"), -1) << view.headText().toStdString();
    EXPECT_EQ(view.headText().indexOf("saved"), -1) << "nothing was saved";
}

}  // namespace
}  // namespace relascope
