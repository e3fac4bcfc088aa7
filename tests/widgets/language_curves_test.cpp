// SPDX-License-Identifier: GPL-3.0-or-later
// Curves of language models: tokens as an axis, perplexity, and the power law of the loss.
#include <gtest/gtest.h>

#include <QListWidget>
#include <QPushButton>
#include <QSignalSpy>
#include <QTableView>
#include <QTest>
#include <cmath>
#include <random>

#include "support/rooms.h"
#include "widgets/curves/curve_data.h"
#include "widgets/curves/curve_panel.h"
#include "widgets/curves/curve_plot.h"
#include "widgets/kit/cell_delegate.h"
#include "widgets/lists/sidebar.h"
#include "widgets/tables/runs_model.h"
#include "widgets/tables/runs_table.h"
#include "widgets/text/run_text.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope {
namespace {

std::vector<double> tokensTo(int count, double step = 1e6) {
    std::vector<double> n;
    for (int k = 1; k <= count; ++k) n.push_back(step * k);
    return n;
}

TEST(PowerLaw, FindsTheLawItWasGiven) {
    const auto n = tokensTo(200);
    std::vector<double> loss;
    for (const double x : n) loss.push_back(8.5 * std::pow(x, -0.076));
    PowerLawFit fit;
    fit.add(n, loss);
    const auto law = fit.result();
    ASSERT_TRUE(law);
    EXPECT_NEAR(law->a, 8.5, 1e-8);
    EXPECT_NEAR(law->b, 0.076, 1e-10);
    EXPECT_NEAR(law->r2, 1.0, 1e-12);
    EXPECT_EQ(law->points, 180u) << "the first tenth is left out";
    EXPECT_NEAR(law->first, 21e6, 1.0);
    EXPECT_NEAR(law->last, 200e6, 1.0);
    EXPECT_NEAR(law->at(1e8), 8.5 * std::pow(1e8, -0.076), 1e-9);
}

TEST(PowerLaw, TheFirstTenthChangesNothing) {
    const auto n = tokensTo(100);
    std::vector<double> loss;
    for (const double x : n) loss.push_back(20 * std::pow(x, -0.2));
    for (int k = 0; k < 10; ++k) loss[static_cast<std::size_t>(k)] = 10.8;  // not learning yet
    PowerLawFit fit;
    fit.add(n, loss);
    EXPECT_NEAR(fit.result()->b, 0.2, 1e-10);
    loss[10] = 10.8;  // one more is not left out
    PowerLawFit other;
    other.add(n, loss);
    EXPECT_GT(std::abs(other.result()->b - 0.2), 1e-3);
}

TEST(PowerLaw, NoiseLowersRSquared) {
    std::mt19937 chance(7);
    std::normal_distribution<double> noise(0.0, 0.05);
    const auto n = tokensTo(400);
    std::vector<double> loss;
    for (const double x : n) loss.push_back(9 * std::pow(x, -0.1) * std::exp(noise(chance)));
    PowerLawFit fit;
    fit.add(n, loss);
    const auto law = fit.result();
    EXPECT_NEAR(law->b, 0.1, 0.02);
    EXPECT_LT(law->r2, 0.95);
    EXPECT_GT(law->r2, 0.3);
}

TEST(PowerLaw, WhatHasNoLogarithmIsPassedOver) {
    const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
    PowerLawFit fit;
    fit.add({0, 1e6, 2e6, 4e6, 8e6, -5}, {3, 4, 2, nan, 0.5, 1});
    fit.add({16e6, 32e6}, {0.25, inf});
    const auto law = fit.result();
    ASSERT_TRUE(law);
    EXPECT_EQ(law->points, 4u);
    EXPECT_NEAR(law->b, 1.0, 1e-10);
    EXPECT_FALSE(PowerLawFit().result());
    PowerLawFit few;
    few.add({1, 2}, {2, 1});
    EXPECT_FALSE(few.result());
    PowerLawFit still;
    still.add({5, 5, 5, 5}, {4, 3, 2, 1});
    EXPECT_FALSE(still.result()) << "the same number of tokens everywhere";
    PowerLawFit flat;
    flat.add({1, 2, 3, 4}, {2, 2, 2, 2});
    EXPECT_DOUBLE_EQ(flat.result()->r2, 0.0);
    EXPECT_NEAR(flat.result()->b, 0.0, 1e-12);
}

MetricPoint text(std::int64_t step, double loss, Split split = Split::Validation) {
    return {step,
            static_cast<double>(step) / 100,
            step * 8,
            static_cast<double>(step),
            split,
            {{"loss", loss},
             {"perplexity", std::exp(loss)},
             {"tokens", static_cast<double>(step) * 4096}}};
}

class LanguageCurves : public testing::Test {
protected:
    void SetUp() override {
        panel.resize(1100, 280);
        panel.setRuns({{"a", "stories", "", 0, false}});
        panel.show();
        panel.flush();
    }
    void learn() {
        std::vector<MetricPoint> points;
        for (int k = 1; k <= 40; ++k) points.push_back(text(k * 50, lossAt(k * 50)));
        panel.appendPoints("a", points);
        panel.flush();
        QTest::qWait(1);
    }
    static double lossAt(int step) { return 9.0 * std::pow(step * 4096.0, -0.09); }
    SegmentedControl* axis() const {
        for (auto* control : panel.findChildren<SegmentedControl*>())
            if (control->accessibleName() == "Horizontal axis") return control;
        return nullptr;
    }
    ToggleChip* law() const {
        for (auto* chip : panel.findChildren<ToggleChip*>())
            if (chip->text() == "Power law") return chip;
        return nullptr;
    }
    QStringList axisNames() const {
        QStringList names;
        for (int k = 0; k < axis()->count(); ++k) names << axis()->button(k)->text();
        return names;
    }
    CurvePanel panel;
};

TEST_F(LanguageCurves, TokensAreAnAxisOnceTheyAreCounted) {
    EXPECT_EQ(axisNames(), QStringList({"Step", "Epoch", "Time"}));
    EXPECT_FALSE(law()->isVisible());
    panel.set(&CurveOptions::axis, CurveAxis::Tokens);
    EXPECT_EQ(panel.axis(), CurveAxis::Step) << "none are counted yet";
    learn();
    EXPECT_EQ(axisNames(), QStringList({"Step", "Epoch", "Tokens", "Time"}));
    EXPECT_EQ(panel.axis(), CurveAxis::Tokens) << "as was asked for";
    EXPECT_EQ(axis()->current(), 2);
    EXPECT_DOUBLE_EQ(panel.keyOfStep(100), 409600.0);
    QTest::mouseClick(axis()->button(3), Qt::LeftButton);
    EXPECT_EQ(panel.axis(), CurveAxis::Time);
    QTest::mouseClick(axis()->button(2), Qt::LeftButton);
    EXPECT_EQ(panel.axis(), CurveAxis::Tokens);
    EXPECT_DOUBLE_EQ(panel.lossPlot()->rangeHigh(), 2000 * 4096.0);
    // Another run without tokens: the axis goes, and the curves stand on steps.
    panel.setRuns({{"b", "vision", "", 1, false}});
    EXPECT_EQ(axisNames(), QStringList({"Step", "Epoch", "Time"}));
    EXPECT_EQ(panel.axis(), CurveAxis::Step);
}

TEST_F(LanguageCurves, PerplexityInPlaceOfAccuracy) {
    EXPECT_EQ(panel.accuracyPlot()->metric(), CurveMetric::Accuracy);
    learn();
    EXPECT_EQ(panel.accuracyPlot()->metric(), CurveMetric::Perplexity);
    EXPECT_EQ(panel.accuracyPlot()->accessibleName(), "Perplexity curves");
    panel.setCursorStep(1000);
    EXPECT_EQ(panel.accuracyPlot()->legendTexts().last(),
              "validation " + QString::number(std::exp(lossAt(1000)), 'f', 2));
    EXPECT_TRUE(panel.summary().contains("lowest validation perplexity " +
                                         QString::number(std::exp(lossAt(2000)), 'f', 2) +
                                         " at step 2000"));
    const QString csv = panel.csv();
    EXPECT_TRUE(csv.startsWith("run,split,step,epoch,seconds,loss,accuracy,tokens,perplexity\n"));
    EXPECT_TRUE(csv.contains("stories,validation,100,1,100,"));
    EXPECT_TRUE(csv.contains(",,409600,"));
    // Log y is of both: ten times lower is as far at any height.
    panel.set(&CurveOptions::logY, true);
    panel.flush();
    QTest::qWait(1);
    for (CurvePlot* plot : {panel.lossPlot(), panel.accuracyPlot()}) {
        plot->replotNow();
        const double a = plot->pixelOf(100, 4).y(), b = plot->pixelOf(100, 6).y(),
                     c = plot->pixelOf(100, 9).y();
        EXPECT_NEAR(a - b, b - c, 0.5) << plot->accessibleName().toStdString();
    }
    panel.setRuns({{"b", "vision", "", 1, false}});
    EXPECT_EQ(panel.accuracyPlot()->metric(), CurveMetric::Accuracy);
    EXPECT_EQ(panel.accuracyPlot()->accessibleName(), "Accuracy curves");
}

TEST_F(LanguageCurves, ThePowerLawIsDrawnAgainstTokensOnly) {
    learn();
    ASSERT_TRUE(law()->isVisible());
    EXPECT_FALSE(law()->isEnabled());
    EXPECT_TRUE(law()->toolTip().contains("select Tokens"));
    panel.set(&CurveOptions::axis, CurveAxis::Tokens);
    EXPECT_TRUE(law()->isEnabled());
    EXPECT_TRUE(law()->toolTip().contains("first tenth"));
    QTest::mouseClick(law(), Qt::LeftButton);
    EXPECT_TRUE(panel.options().powerLaw);
    EXPECT_TRUE(panel.options().logX && panel.options().logY) << "where the law is a straight line";
    panel.flush();
    const auto entry = [&] {
        for (const QString& text : panel.lossPlot()->legendTexts())
            if (text.startsWith(QChar(0x221D))) return text;
        return QString();
    };
    EXPECT_EQ(entry(), QString::fromUtf8("∝ N^−0.090 R² 1.000"));
    for (const QString& text : panel.accuracyPlot()->legendTexts())
        EXPECT_FALSE(text.startsWith(QChar(0x221D)));
    // More points, a new fit.
    std::vector<MetricPoint> more;
    for (int k = 41; k <= 400; ++k) more.push_back(text(k * 50, 2.0));
    panel.appendPoints("a", more);
    panel.flush();
    EXPECT_NE(entry(), QString::fromUtf8("∝ N^−0.090 R² 1.000"));
    panel.set(&CurveOptions::axis, CurveAxis::Step);
    panel.flush();
    EXPECT_TRUE(entry().isEmpty());
    EXPECT_TRUE(panel.options().powerLaw) << "comes back with the tokens";
}

TEST_F(LanguageCurves, TheLawIsADottedLineBehindTheCurve) {
    // Training alone, far above its law at first: the dots stand where the curve is not.
    std::vector<MetricPoint> points;
    for (int k = 1; k <= 100; ++k)
        points.push_back(text(k * 10, k <= 10 ? 9.0 : lossAt(k * 10), Split::Train));
    panel.appendPoints("a", points);
    panel.set(&CurveOptions::axis, CurveAxis::Tokens);
    panel.set(&CurveOptions::logX, true);
    panel.set(&CurveOptions::logY, true);
    panel.flush();
    const auto inked = [&] {
        panel.lossPlot()->replotNow();
        const QImage image = panel.lossPlot()->grab().toImage();
        int count = 0;
        for (int step = 20; step < 70; ++step) {
            const QPoint at = panel.lossPlot()->pixelOf(step * 4096.0, lossAt(step)).toPoint();
            for (int dy = -1; dy <= 1; ++dy) {
                const QColor c = image.pixelColor(at + QPoint(0, dy));
                count += c.blue() - c.red() > 60;
            }
        }
        return count;
    };
    EXPECT_EQ(inked(), 0);
    panel.set(&CurveOptions::powerLaw, true);
    panel.flush();
    const int dots = inked();
    EXPECT_GT(dots, 10);
    EXPECT_LT(dots, 140) << "dotted, not a line";
}

TEST(PerplexityText, TwoDecimals) {
    EXPECT_EQ(metricText("perplexity", 4.9214), "4.92");
    EXPECT_EQ(metricText("perplexity", 50257.3), "50,257");
    EXPECT_EQ(metricText("perplexity", std::nan("")), QString(QChar(0x2014)));
}

TEST(PerplexityText, ListsAndTablesShowIt) {
    RunInfo run;
    run.path = "/runs/stories";
    run.name = "stories";
    run.metric = "perplexity";
    run.kept = {400, {{"loss", std::log(4.9214)}}};
    RunInfo vision;
    vision.path = "/runs/vision";
    vision.name = "vision";
    vision.kept = {400, {{"accuracy", 0.959}, {"loss", 0.2}}};
    RunsModel model;
    model.setRows({{run}, {vision}});
    EXPECT_EQ(model.data(model.index(0, RunsModel::Kept), Qt::DisplayRole), "4.92");
    EXPECT_EQ(model.data(model.index(0, RunsModel::Kept), LeadRole), "ppl");
    EXPECT_EQ(model.data(model.index(1, RunsModel::Kept), Qt::DisplayRole), "95.9%");
    Sidebar sidebar;
    sidebar.setRuns({{run}, {vision}});
    EXPECT_EQ(sidebar.runs()->item(0)->data(RunDelegate::Metric), "4.92 ppl");
    EXPECT_EQ(sidebar.runs()->item(1)->data(RunDelegate::Metric), "95.9%");
    RunsTable table;
    const auto head = [&] {
        return table.view()->model()->headerData(RunsModel::Kept, Qt::Horizontal).toString();
    };
    table.setRows({{vision}});
    EXPECT_EQ(head(), "Val. acc. %");
    table.setRows({{run}, {vision}});
    EXPECT_EQ(head(), "Val.");
    EXPECT_TRUE(table.csv().contains(",perplexity,4.92")) << table.csv().toStdString();
    EXPECT_TRUE(table.csv().contains(",accuracy,0.959,"));
    table.setFilter("ppl < 5");
    EXPECT_EQ(table.shownRows(), 1);
    table.setFilter("kept < 5");
    EXPECT_EQ(table.shownRows(), 1);
    table.setRows({{run}});
    EXPECT_EQ(head(), "Val. ppl");
}

}  // namespace
}  // namespace relascope
