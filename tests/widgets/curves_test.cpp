// SPDX-License-Identifier: GPL-3.0-or-later
// Learning curves and the captures track: numbers, legends, cursor, log axes, bands.
#include <gtest/gtest.h>

#include <QMenu>
#include <QSignalSpy>
#include <QTest>
#include <QToolButton>
#include <algorithm>
#include <cmath>

#include "support/rooms.h"
#include "types/metric_text.h"
#include "widgets/curves/captures_track.h"
#include "widgets/curves/curve_data.h"
#include "widgets/curves/curve_items.h"
#include "widgets/curves/curve_panel.h"
#include "widgets/curves/curve_plot.h"
#include "widgets/text/run_text.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

using namespace relascope;

namespace {

const double missing = std::numeric_limits<double>::quiet_NaN();

MetricPoint point(std::int64_t step, double loss, double accuracy,
                  Split split = Split::Validation) {
    return {step,       step / 10.0, step * 32,
            step * 0.5, split,       {{"loss", loss}, {"accuracy", accuracy}}};
}

/// A shown panel with one run of 11 validation points, loss 1.0 down to 0.5.
struct ShownPanel {
    CurvePanel panel;
    ShownPanel() {
        panel.resize(920, 270);
        panel.setRuns({{"a", "run a", "", 0, false}});
        std::vector<MetricPoint> points;
        for (int i = 0; i <= 10; ++i)
            points.push_back(point(i * 10, 1.0 - 0.05 * i, 0.5 + 0.04 * i));
        panel.appendPoints("a", points);
        panel.show();
        panel.flush();
        QCoreApplication::processEvents();
        panel.lossPlot()->replotNow();
        panel.accuracyPlot()->replotNow();
    }
};

int near(const QImage& image, const QColor& wanted) {
    int count = 0;
    for (int y = 0; y < image.height(); ++y)
        for (int x = 0; x < image.width(); ++x) {
            const QColor c = image.pixelColor(x, y);
            count += std::abs(c.red() - wanted.red()) + std::abs(c.green() - wanted.green()) +
                         std::abs(c.blue() - wanted.blue()) <
                     24;
        }
    return count;
}

}  // namespace

TEST(CurveSeries, SmoothsWithItsFormulaAndSkipsNaN) {
    CurveSeries s;
    s.append(point(0, 1.0, 0.5));
    s.append(point(1, missing, 0.5));
    s.append(point(2, 0.0, 0.5));
    const auto& smooth = s.smoothed(CurveMetric::Loss, 0.8);
    EXPECT_DOUBLE_EQ(smooth[0], 1.0);
    EXPECT_TRUE(std::isnan(smooth[1]));
    EXPECT_DOUBLE_EQ(smooth[2], 0.8);
    s.append(point(3, 0.0, 0.5));  // goes on where it stood
    EXPECT_DOUBLE_EQ(s.smoothed(CurveMetric::Loss, 0.8)[3], 0.64);
    EXPECT_DOUBLE_EQ(s.smoothed(CurveMetric::Loss, 0.5)[2], 0.5);  // another factor starts over
}

TEST(CurveSeries, ResumedRunReplacesLaterPoints) {
    CurveSeries s;
    for (int i = 0; i < 10; ++i) s.append(point(i, 1.0 - 0.1 * i, 0.5));
    EXPECT_EQ(*s.best(CurveMetric::Loss), 9u);
    s.append(point(5, 0.9, 0.5));
    EXPECT_EQ(s.size(), 6u);
    EXPECT_EQ(*s.best(CurveMetric::Loss), 4u);
    EXPECT_EQ(s.cuts(), 1u);
}

TEST(CurveSeries, InfiniteBecomesNaNAndInterpolationStaysInside) {
    CurveSeries s;
    s.append(point(0, std::numeric_limits<double>::infinity(), 0.5));
    s.append(point(10, 1.0, 0.5));
    s.append(point(20, 2.0, 0.5));
    EXPECT_TRUE(std::isnan(s.values(CurveMetric::Loss)[0]));
    EXPECT_DOUBLE_EQ(s.at(CurveMetric::Loss, CurveAxis::Step, 15, -1), 1.5);
    EXPECT_DOUBLE_EQ(s.at(CurveMetric::Loss, CurveAxis::Step, 10, -1), 1.0);
    EXPECT_TRUE(std::isnan(s.at(CurveMetric::Loss, CurveAxis::Step, 5, -1)));
    EXPECT_TRUE(std::isnan(s.at(CurveMetric::Loss, CurveAxis::Step, 21, -1)));
}

TEST(CurveBand, SeedsWithUnequalSteps) {
    CurveSeries a, b;
    for (const int i : {0, 10, 20}) a.append(point(i, 1.0, 0.5));
    for (const int i : {0, 15}) b.append(point(i, 3.0, 0.5));
    const CurveBand band = bandOf({&a, &b}, CurveMetric::Loss, CurveAxis::Step, -1.0);
    EXPECT_EQ(band.keys, (std::vector<double>{0, 10, 15, 20}));
    EXPECT_EQ(band.mean, (std::vector<double>{2, 2, 2, 1}));  // the second seed ends at 15
    EXPECT_EQ(band.low[1], 1.0);
    EXPECT_EQ(band.high[1], 3.0);
    EXPECT_TRUE(bandOf({}, CurveMetric::Loss, CurveAxis::Step, -1.0).keys.empty());
}

TEST(CurveBand, KeepsLongSeedsSmall) {
    CurveSeries a, b;
    for (int i = 0; i < 50000; ++i) {
        a.append(point(i, 1.0, 0.5));
        b.append(point(i, 2.0, 0.5));
    }
    EXPECT_LT(bandOf({&a, &b}, CurveMetric::Loss, CurveAxis::Step, -1.0).keys.size(), 5000u);
}

TEST(CurveNames, LoseWhatTheyShare) {
    EXPECT_EQ(shortNames({"vidat-sym", "vidat-asym"}), QStringList({"sym", "asym"}));
    EXPECT_EQ(shortNames({"one"}), QStringList({"one"}));
    EXPECT_EQ(shortNames({"same", "same"}), QStringList({"same", "same"}));
    EXPECT_EQ(shortNames({"run", "run-b"}), QStringList({"run", "run-b"}));
}

TEST(CurvePanel, LegendShowsValuesAtTheCursor) {
    ShownPanel s;
    s.panel.setCursorStep(50);
    EXPECT_EQ(s.panel.lossPlot()->legendTexts().last(), "validation 0.750");
    EXPECT_EQ(s.panel.accuracyPlot()->legendTexts().last(), "validation 70.0%");
    s.panel.setCursorStep(std::nullopt);
    EXPECT_EQ(s.panel.lossPlot()->legendTexts().last(), "validation 0.500");
}

TEST(CurvePanel, DraggingTheFlagMovesTheCursorInBothPlots) {
    ShownPanel s;
    s.panel.setCursorStep(50);
    QSignalSpy moved(&s.panel, &CurvePanel::cursorMoved);
    QWidget* plot = s.panel.lossPlot()->findChildren<QWidget*>().last();
    const auto at = [&](double step) {
        return plot->mapFrom(s.panel.lossPlot(), s.panel.lossPlot()->pixelOf(step, 0.6).toPoint());
    };
    QTest::mousePress(plot, Qt::LeftButton, {}, at(50));
    QTest::mouseMove(plot, at(20));
    QTest::mouseRelease(plot, Qt::LeftButton, {}, at(20));
    ASSERT_GE(moved.count(), 1);
    EXPECT_NEAR(static_cast<double>(moved.last()[0].toLongLong()), 20.0, 1.0);
    EXPECT_EQ(s.panel.cursorStep(), moved.last()[0].toLongLong());
    QTest::keyClick(plot, Qt::Key_Right);
    EXPECT_EQ(*s.panel.cursorStep() % 10, 0);
}

TEST(CurvePanel, DrawsTheRunInItsColourAndFollowsTheTheme) {
    ShownPanel s;
    const QImage light = s.panel.grab().toImage();
    EXPECT_GT(near(light, Theme::light().series[0]), 200);
    applyTheme(*qApp, ThemeMode::Dark);
    QCoreApplication::processEvents();
    s.panel.lossPlot()->replotNow();
    const QImage dark = s.panel.grab().toImage();
    applyTheme(*qApp, ThemeMode::Light);
    EXPECT_GT(near(dark, Theme::darkTheme().series[0]), 200);
    EXPECT_EQ(dark.pixelColor(3, 150), Theme::darkTheme().panel);
}

TEST(CurvePanel, ThePublishedValueIsNotWrittenOverTheCurve) {
    CurvePanel panel;
    panel.resize(920, 270);
    panel.setRuns({{"a", "run a", "", 0, false}});
    std::vector<MetricPoint> points;
    for (int i = 0; i <= 10; ++i) points.push_back(point(i * 10, 0.5, i < 3 ? 0.3 + 0.2 * i : 0.9));
    panel.appendPoints("a", points);
    panel.setPublished({{"published", 0.9, 0}});
    panel.show();
    panel.flush();
    QCoreApplication::processEvents();
    panel.accuracyPlot()->replotNow();
    const QImage picture = panel.accuracyPlot()->grab().toImage();
    const QColor color = Theme::current().seriesColor(0);
    const auto isCurve = [&](int x, int y) {
        const QColor c = picture.pixelColor(x, y);
        return std::abs(c.red() - color.red()) + std::abs(c.green() - color.green()) +
                   std::abs(c.blue() - color.blue()) <
               90;
    };
    // The row of the curve's flat part, and the widest gap in it.
    int row = 0, most = 0;
    for (int y = 30; y < picture.height() - 30; ++y) {
        int count = 0;
        for (int x = 0; x < picture.width(); ++x) count += isCurve(x, y);
        if (count > most) most = count, row = y;
    }
    ASSERT_GT(most, 100);
    int last = -1, widest = 0;
    for (int x = 0; x < picture.width(); ++x) {
        bool there = false;
        for (int y = row - 2; y <= row + 2; ++y) there = there || isCurve(x, y);
        if (!there) continue;
        if (last >= 0) widest = std::max(widest, x - last);
        last = x;
    }
    EXPECT_LT(widest, 20) << "the label and its background cover the curve";
}

TEST(CurvePanel, SharesThatAreAllZeroHaveAnAxisOfOnePercent) {
    CurvePanel panel;
    panel.resize(700, 260);
    panel.setRuns({{"a", "a", "", 0, false}});
    std::vector<MetricPoint> points;
    for (int i = 1; i <= 3; ++i)
        points.push_back(
            {i * 10, 1.0 * i, i, 1.0 * i, Split::Validation, {{"loss", 1.0}, {"accuracy", 0.0}}});
    panel.appendPoints("a", points);
    panel.show();
    panel.flush();
    const auto* plot = panel.accuracyPlot();
    EXPECT_GT(plot->pixelOf(10, 0.01).y(), 0.0) << "1 % is within the plot";
    EXPECT_GT(plot->pixelOf(10, 0.0).y() - plot->pixelOf(10, 0.01).y(), 40.0);
}

TEST(CurvePanel, LogarithmicAxesLeaveOutZeros) {
    ShownPanel s;
    s.panel.appendPoints("a", {point(110, 0.0, 0.0), point(120, -1.0, 1.0), point(130, 0.3, 0.9)});
    s.panel.set(&CurveOptions::logX, true);
    s.panel.set(&CurveOptions::logY, true);
    s.panel.flush();
    EXPECT_GT(s.panel.lossPlot()->rangeLow(), 0.0);
    EXPECT_TRUE(std::isfinite(s.panel.lossPlot()->rangeHigh()));
    EXPECT_GE(s.panel.lossPlot()->replotNow(), 0.0);
}

TEST(CurvePanel, XAxisByEpochAndTime) {
    ShownPanel s;
    s.panel.set(&CurveOptions::axis, CurveAxis::Epoch);
    EXPECT_NEAR(s.panel.lossPlot()->rangeHigh(), 10.0, 1e-9);
    s.panel.set(&CurveOptions::axis, CurveAxis::Time);
    EXPECT_NEAR(s.panel.lossPlot()->rangeHigh(), 50.0, 1e-9);
    s.panel.setCursorStep(50);  // still a step
    EXPECT_EQ(s.panel.lossPlot()->legendTexts().last(), "validation 0.750");
}

TEST(CurvePanel, RunsOfDifferentMetricsHaveOneAxis) {
    ShownPanel s;
    s.panel.setRuns({{"a", "run a", "", 0, false}, {"b", "run b", "", 1, false}});
    s.panel.appendPoints("b", {{200, 20.0, 6400, 100.0, Split::Validation, {{"loss", 0.4}}}});
    s.panel.flush();
    EXPECT_DOUBLE_EQ(s.panel.lossPlot()->rangeHigh(), 200.0);
    EXPECT_DOUBLE_EQ(s.panel.accuracyPlot()->rangeHigh(), 200.0);
}

TEST(CurvePanel, WheelZoomsBothAndDoubleClickResets) {
    ShownPanel s;
    QWidget* plot = s.panel.lossPlot()->findChildren<QWidget*>().last();
    const QPoint middle = plot->rect().center();
    QWheelEvent wheel(middle, plot->mapToGlobal(middle), {}, {0, 240}, Qt::NoButton, Qt::NoModifier,
                      Qt::NoScrollPhase, false);
    QCoreApplication::sendEvent(plot, &wheel);
    EXPECT_GT(s.panel.lossPlot()->rangeLow(), 1.0);
    EXPECT_DOUBLE_EQ(s.panel.lossPlot()->rangeLow(), s.panel.accuracyPlot()->rangeLow());
    QTest::mouseDClick(plot, Qt::LeftButton, {}, middle);
    EXPECT_DOUBLE_EQ(s.panel.lossPlot()->rangeLow(), 0.0);
    EXPECT_DOUBLE_EQ(s.panel.accuracyPlot()->rangeHigh(), 100.0);
}

TEST(CurvePanel, EmptyUnknownAndAllNaN) {
    CurvePanel panel;
    panel.resize(600, 200);
    panel.show();
    panel.appendPoints("nobody", {point(1, 1, 1)});
    panel.setRuns({{"a", "a", "", 9, false}, {"a", "twice", "", 0, false}});
    panel.appendPoints("a", {point(1, missing, missing), point(2, missing, missing)});
    panel.setCursorStep(7);
    panel.set(&CurveOptions::smooth, true);
    panel.flush();
    EXPECT_TRUE(std::isfinite(panel.lossPlot()->rangeHigh()));
    EXPECT_EQ(panel.summary(), "a: no validation point yet.");
    panel.setRuns({});
    panel.flush();
    EXPECT_EQ(panel.summary(), "No runs are shown.");
}

TEST(CurvePanel, CsvHasAPointALine) {
    CurvePanel panel;
    panel.setRuns({{"a", "with, comma", "", 0, false}});
    panel.appendPoints("a", {point(10, 0.5, missing), point(12, 0.4, 0.5, Split::Train)});
    EXPECT_EQ(panel.csv(),
              "run,split,step,epoch,seconds,loss,accuracy\n"
              "\"with, comma\",train,12,1.2,6,0.4,0.5\n"
              "\"with, comma\",validation,10,1,5,0.5,\n");
}

// A train point with values of two layers, as a training measures them.
MetricPoint layerPoint(std::int64_t step, double first, double second) {
    auto of = point(step, 0.5, 0.5, Split::Train);
    of.values.insert(of.values.end(), {{"grad_norm", 1.0},
                                       {"largest_relation/encoder 1", first},
                                       {"largest_relation/encoder 2", second},
                                       {"largest_relation", std::max(first, second)}});
    return of;
}

TEST(CurvePanel, LayersOfARunHaveALineEach) {
    ShownPanel shown;
    auto& panel = shown.panel;
    panel.appendPoints("a", {layerPoint(20, 1.0, 2.0), point(30, 0.4, 0.5, Split::Train),
                             layerPoint(40, 3.0, 8.0)});
    panel.flush();
    EXPECT_EQ(panel.accuracyPlot()->metric(), CurveMetric::Accuracy) << "it says most";
    auto* menu = panel.controls()->secondMetricMenu();
    QStringList names;
    for (auto* action : menu->actions()) names << action->text();
    EXPECT_EQ(names, QStringList({"Accuracy", "Gradient norm", "Largest |r|"}));
    menu->actions().back()->trigger();
    panel.flush();
    EXPECT_EQ(panel.accuracyPlot()->metric(), CurveMetric::LargestRelation);
    EXPECT_EQ(panel.accuracyPlot()->legendTexts(), QStringList({"1 3", "2 8", "training"}));
    panel.setMarks("a", {{40.0, "largest |r| of encoder 2 rose from 2 to 8", false, true}});
    panel.flush();
    // Of several runs the largest of all layers.
    panel.setRuns({{"a", "run a", "", 0, false}, {"b", "run b", "", 1, false}});
    panel.appendPoints("b", {layerPoint(20, 5.0, 1.0), layerPoint(40, 6.0, 1.0)});
    panel.flush();
    EXPECT_EQ(panel.accuracyPlot()->legendTexts(), QStringList({"a 8", "b 6", "training"}));
    panel.clearPoints("a");
    panel.appendPoints("a", {layerPoint(10, 1.0, 1.0)});
    panel.flush();
    EXPECT_EQ(panel.accuracyPlot()->legendTexts(), QStringList({"a 1", "b \u2014", "training"}));
}

TEST(CurvePanel, SeedsOfAGroupAreOneCurve) {
    CurvePanel panel;
    panel.resize(900, 260);
    panel.setRuns({{"a", "seed 0", "both", 0, false}, {"b", "seed 1", "both", 0, false}});
    panel.appendPoints("a", {point(0, 1.0, 0.5), point(10, 0.5, 0.6)});
    panel.appendPoints("b", {point(0, 2.0, 0.5), point(10, 1.5, 0.6)});
    panel.flush();
    panel.setCursorStep(10);
    EXPECT_EQ(panel.lossPlot()->legendTexts().last(), "validation (n = 2) 1.000");
}

TEST(CurvePanel, LegendAndDotsAgreeWhereSeedsEndEarly) {
    CurvePanel panel;
    panel.resize(900, 260);
    panel.setRuns({{"a", "seed 0", "all", 0, false},
                   {"b", "seed 1", "all", 0, false},
                   {"c", "seed 2", "all", 0, false}});
    panel.appendPoints("a", {point(10, 1.0, 0.50), point(20, 0.5, 0.60)});
    panel.appendPoints("b", {point(10, 2.0, 0.52), point(20, 1.5, 0.70)});
    panel.appendPoints("c", {point(10, 3.0, 0.90)});
    panel.flush();
    const auto agrees = [&](double step, const char* text) {
        EXPECT_EQ(panel.lossPlot()->legendTexts().last(), QString(text));
        const auto dots = panel.lossPlot()->cursorDots();
        ASSERT_EQ(dots.size(), 1u);
        EXPECT_EQ(dots[0].x(), step);
        EXPECT_EQ(QString(text).section(' ', -1).toDouble(), dots[0].y());
    };
    agrees(20, "validation (n = 2) 1.000");  // live
    panel.setCursorStep(10);
    agrees(10, "validation (n = 3) 2.000");
    panel.setCursorStep(20);
    agrees(20, "validation (n = 2) 1.000");
    // The best of the mean is where all three have a value: not the 65 % of two of them.
    EXPECT_EQ(panel.accuracyPlot()->bestTexts(), QStringList("best mean seen 64.0%"));
}

TEST(CurvePanel, TheUntrainedModelIsNotTheBestOne) {
    CurveSeries s;
    s.append(point(0, 0.1, 0.509));  // by chance, as in the tables it does not count
    EXPECT_FALSE(s.best(CurveMetric::Accuracy));
    EXPECT_TRUE(s.has(CurveMetric::Accuracy)) << "it is measured, and drawn";
    s.append(point(10, 0.7, 0.507));
    s.append(point(20, 0.8, 0.506));
    EXPECT_EQ(*s.best(CurveMetric::Accuracy), 1u);
    EXPECT_EQ(*s.best(CurveMetric::Loss), 1u);
}

TEST(CurveBand, MinMaxStandardErrorAndInterval) {
    CurveSeries a, b, c;
    a.append(point(1, 1.0, 0.5));
    b.append(point(1, 2.0, 0.5));
    c.append(point(1, 6.0, 0.5));
    const auto at = [&](CurveBandKind kind) {
        return valueAt({&a, &b, &c}, CurveMetric::Loss, CurveAxis::Step, 1, -1.0, kind);
    };
    EXPECT_EQ(at(CurveBandKind::MinMax).low, 1.0);
    EXPECT_EQ(at(CurveBandKind::MinMax).high, 6.0);
    EXPECT_EQ(at(CurveBandKind::MinMax).count, 3);
    const double error = std::sqrt(7.0 / 3.0);  // sample variance 7 of three
    EXPECT_NEAR(at(CurveBandKind::StandardError).high, 3.0 + error, 1e-12);
    EXPECT_NEAR(at(CurveBandKind::Confidence95).low, 3.0 - 4.303 * error, 1e-9);
    const auto one =
        valueAt({&a}, CurveMetric::Loss, CurveAxis::Step, 1, -1.0, CurveBandKind::Confidence95);
    EXPECT_EQ(one.mean, 1.0);
    EXPECT_TRUE(std::isnan(one.low)) << "one seed says nothing of others";
    EXPECT_TRUE(std::isnan(one.high));
}

TEST(CurvePanel, TheBandIsChosenInTheMenu) {
    CurvePanel panel;
    panel.resize(900, 260);
    panel.setRuns({{"a", "seed 0", "all", 0, false}, {"b", "seed 1", "all", 0, false}});
    panel.appendPoints("a", {point(10, 1.0, 0.5), point(20, 1.0, 0.5)});
    panel.appendPoints("b", {point(10, 3.0, 0.5), point(20, 3.0, 0.5)});
    panel.flush();
    EXPECT_NEAR(panel.lossPlot()->shownHigh(), 3.0, 0.2);
    for (QAction* menu : panel.controls()->menu()->actions())
        if (menu->menu() && menu->text().contains("Band"))
            for (QAction* action : menu->menu()->actions())
                if (action->text().startsWith("95")) action->trigger();
    panel.flush();
    EXPECT_EQ(panel.options().band, CurveBandKind::Confidence95);
    EXPECT_NEAR(panel.lossPlot()->shownHigh(), 2.0 + 12.706, 2.0) << "t of one degree of freedom";
    EXPECT_TRUE(panel.findChild<PanelHead*>()->subText().contains("95 % interval"));
}

TEST(CurvePanel, ASpikeDoesNotSqueezeTheLoss) {
    CurvePanel panel;
    panel.resize(900, 260);
    panel.setRuns({{"a", "run", "", 0, false}});
    std::vector<MetricPoint> points;
    for (int i = 1; i <= 200; ++i)
        points.push_back(point(i, i == 1 ? 80.0 : 1.0 + 1.0 / i, 0.5, Split::Train));
    panel.appendPoints("a", points);
    panel.flush();
    EXPECT_LT(panel.lossPlot()->shownHigh(), 2.0);
    EXPECT_EQ(panel.lossPlot()->beyondText(), "80.0");
    panel.set(&CurveOptions::withoutOutliers, false);
    panel.flush();
    EXPECT_GT(panel.lossPlot()->shownHigh(), 80.0);
    EXPECT_EQ(panel.lossPlot()->beyondText(), "");
    // Of a validation curve with few points, what the untrained model did.
    panel.set(&CurveOptions::withoutOutliers, true);
    panel.clearPoints("a");
    panel.appendPoints(
        "a", {point(0, 9.0, 0.5), point(10, 1.0, 0.5), point(20, 0.5, 0.5), point(30, 0.4, 0.5)});
    panel.flush();
    EXPECT_LT(panel.lossPlot()->shownHigh(), 1.2);
    EXPECT_EQ(panel.lossPlot()->beyondText(), "9.000");
    // A loss that falls as losses do is shown whole.
    panel.clearPoints("a");
    panel.appendPoints("a", {point(0, 0.7, 0.5), point(10, 0.5, 0.5), point(20, 0.3, 0.5)});
    panel.flush();
    EXPECT_GT(panel.lossPlot()->shownHigh(), 0.7);
}

TEST(CurvePanel, RecentShowsTheLastQuarter) {
    ShownPanel s;
    for (auto* chip : s.panel.findChildren<ToggleChip*>())
        if (chip->text() == "Recent") chip->click();
    s.panel.flush();
    EXPECT_TRUE(s.panel.options().recentOnly);
    EXPECT_DOUBLE_EQ(s.panel.lossPlot()->rangeLow(), 75.0);
    EXPECT_DOUBLE_EQ(s.panel.lossPlot()->rangeHigh(), 100.0);
    EXPECT_LT(s.panel.lossPlot()->shownHigh(), 0.65) << "fitted to what is seen";
    EXPECT_GT(s.panel.lossPlot()->shownLow(), 0.45);
    s.panel.set(&CurveOptions::recentOnly, false);
    s.panel.flush();
    EXPECT_DOUBLE_EQ(s.panel.lossPlot()->rangeLow(), 0.0);
}

TEST(CurveMarks, TextsCoverNeitherOneAnotherNorTheirDiamonds) {
    const QFontMetrics metrics(captionFont());
    const QString text = QString::fromUtf8("learning rate 0.001 \u2192 0.0005");
    for (const double right : {1200.0, 420.0, 200.0, 110.0}) {
        const std::vector<double> at{60, 64, 90, 0.9 * right};
        auto positions = at;
        std::sort(positions.begin(), positions.end());
        const auto labels =
            placeMarkLabels(positions, {text, text, text, text}, 50, right, metrics);
        ASSERT_EQ(labels.size(), 4u);
        for (std::size_t a = 0; a < labels.size(); ++a) {
            const double end = labels[a].left + metrics.horizontalAdvance(labels[a].text);
            EXPECT_GE(labels[a].left, 50);
            EXPECT_LE(end, right + 1);
            if (right > 300) {
                EXPECT_EQ(labels[a].text, text);
            }
            for (std::size_t b = 0; b < a; ++b)
                if (labels[a].row == labels[b].row) {
                    const double other = labels[b].left + metrics.horizontalAdvance(labels[b].text);
                    EXPECT_TRUE(labels[b].left > end || labels[a].left > other) << right;
                }
            for (const double x : positions)
                if (labels[a].row == 0) {
                    EXPECT_TRUE(x < labels[a].left - 4 || x > end + 4) << right;
                }
        }
    }
}

TEST(CurveMarks, LabelsDodge) {
    // The two numbers that are to be compared, at nearly one height, and a fixed text below them.
    const std::vector<QRectF> wanted{{100, 50, 80, 13}, {120, 54, 80, 13}, {130, 52, 80, 13}};
    const std::vector<QRectF> fixed{{100, 70, 100, 13}};
    for (const double bottom : {300.0, 110.0}) {
        auto boxes = wanted;
        dodge(boxes, fixed, 0, bottom);
        for (std::size_t a = 0; a < boxes.size(); ++a) {
            EXPECT_FALSE(boxes[a].intersects(fixed[0])) << a;
            EXPECT_LE(boxes[a].bottom(), bottom) << a;
            EXPECT_EQ(boxes[a].left(), wanted[a].left());
            for (std::size_t b = 0; b < a; ++b) EXPECT_FALSE(boxes[a].intersects(boxes[b]));
        }
        EXPECT_EQ(boxes[0], wanted[0]) << "as long as there is room it stays";
    }
    std::vector<QRectF> apart{{0, 0, 10, 13}, {20, 5, 10, 13}};
    const auto before = apart;
    dodge(apart, {}, 0, 100);
    EXPECT_EQ(apart, before);
}

TEST(MetricText, CommandsPrintADigitMore) {
    const auto printed = [](const char* key, double value) {
        return metricValueText(metricInfo(key), value, MetricForm::Printed);
    };
    EXPECT_EQ(metricValueText(metricInfo("accuracy"), 0.93), "93.0%");
    EXPECT_EQ(printed("accuracy", 0.93), "93.0 %");
    EXPECT_EQ(metricValueText(metricInfo("mean_error"), 0.01234), "0.0123");
    EXPECT_EQ(printed("mean_error", 0.01234), "0.01234");
    EXPECT_EQ(metricValueText(metricInfo("mean_error"), 1234567.0), "1.23e06");
    EXPECT_EQ(printed("perplexity", 50257.3), "50257.30");
    EXPECT_EQ(metricValueText(metricInfo("loss"), std::nan("")), "\u2014");
    EXPECT_EQ(printed("loss", std::nan("")), "nan");
}

TEST(CurveMarks, LargeNumbersAreShort) {
    EXPECT_EQ(metricText(metricInfo("loss"), 2113538621440.0), "2.1e12");
    EXPECT_EQ(metricText(metricInfo("perplexity"), 2113538621440.0), "2.1e12");
    EXPECT_EQ(metricText(metricInfo("loss"), 4.25), "4.250");
    CurveTicker ticker(CurveTicker::Format::Plain);
    QVector<double> ticks;
    QVector<QString> labels;
    ticker.generate(QCPRange(0, 2.2e12), QLocale::c(), 'g', 6, ticks, nullptr, &labels);
    EXPECT_TRUE(labels.contains("1e12")) << QStringList(labels).join(' ').toStdString();
    for (const auto& label : labels) EXPECT_LE(label.size(), 6) << label.toStdString();
}

TEST(CurvePanel, ThePublishedLineHasTheColourOfItsSwatch) {
    ShownPanel s;
    s.panel.setPublished({{"dat", 0.929, 2}});
    s.panel.flush();
    for (auto* child : s.panel.findChildren<QWidget*>()) {
        const auto* legend = dynamic_cast<CurveLegend*>(child);
        if (!legend) continue;
        for (const auto& entry : legend->entries())
            if (entry.published) {
                EXPECT_EQ(entry.color, Theme::current().seriesColor(2));
                return;
            }
    }
    FAIL() << "no published entry";
}

TEST(CapturesTrack, ButtonsKeysAndClicksChoose) {
    CapturesTrack track;
    track.resize(920, 34);
    track.setAxis(0, 1000, false, 50, 24);
    track.setSteps({400, 0, 100, 100, 1000});
    track.show();
    EXPECT_EQ(track.steps().size(), 4u);
    QSignalSpy chosen(&track, &CapturesTrack::stepChosen),
        live(&track, &CapturesTrack::liveRequested);
    const auto buttons = track.findChildren<QToolButton*>();
    QTest::mouseClick(buttons[0], Qt::LeftButton);
    EXPECT_EQ(chosen.last()[0].toLongLong(), 400);
    QTest::keyClick(&track, Qt::Key_Left);
    EXPECT_EQ(chosen.last()[0].toLongLong(), 100);
    QTest::mouseClick(&track, Qt::LeftButton, {},
                      QPoint(static_cast<int>(track.pixelOf(400)) + 2, 17));
    EXPECT_EQ(chosen.last()[0].toLongLong(), 400);
    QTest::keyClick(&track, Qt::Key_L);
    EXPECT_EQ(live.count(), 1);
    EXPECT_FALSE(track.chosen());
    track.setChosen(399);  // not captured: the one before
    EXPECT_EQ(*track.chosen(), 100);
}

TEST(CapturesTrack, FollowsALogarithmicAxisAndStandsEmpty) {
    CapturesTrack track;
    track.resize(920, 34);
    track.setSteps({0, 1, 10, 100});
    track.setAxis(1, 100, true, 50, 24);
    EXPECT_NEAR(track.pixelOf(10), (track.pixelOf(1) + track.pixelOf(100)) / 2, 0.5);
    EXPECT_DOUBLE_EQ(track.pixelOf(0), track.pixelOf(1));
    track.setSteps({});
    QTest::keyClick(&track, Qt::Key_Home);
    EXPECT_FALSE(track.grab().isNull());
}

TEST(CurveControls, TellWhatTheUserChangesAndWaitForTokens) {
    CurveControls controls(nullptr);
    QSignalSpy changed(&controls, &CurveControls::changed);
    CurveOptions wanted;
    wanted.axis = CurveAxis::Tokens;
    wanted.smooth = true;
    controls.display(wanted);
    EXPECT_EQ(changed.size(), 0);
    EXPECT_EQ(controls.axis(), CurveAxis::Step) << "no run counts tokens";
    EXPECT_TRUE(controls.offerTokens(true));
    EXPECT_FALSE(controls.offerTokens(true));
    EXPECT_EQ(controls.axis(), CurveAxis::Tokens);
    for (auto* chip : controls.findChildren<ToggleChip*>())
        if (chip->text() == "Power law") chip->click();
    EXPECT_EQ(changed.size(), 3);
    EXPECT_TRUE(controls.options().powerLaw && controls.options().logX && controls.options().logY)
        << "a power law is a line on logarithmic axes";
    controls.offerMetrics({CurveMetric::Accuracy, CurveMetric::Loss}, CurveMetric::Accuracy);
    controls.secondMetricMenu()->actions().at(1)->trigger();
    EXPECT_EQ(controls.options().second, CurveMetric::Loss);
}
