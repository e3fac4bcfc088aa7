// SPDX-License-Identifier: GPL-3.0-or-later
// The table of metrics.
#include <gtest/gtest.h>

#include <set>

#include "support/rooms.h"
#include "types/metric.h"
#include "types/run_info.h"
#include "types/train_options.h"

namespace relascope {
namespace {

TEST(Metrics, AreComplete) {
    std::set<std::string_view> keys, titles;
    std::set<int> places;
    for (const auto& info : kMetrics) {
        EXPECT_TRUE(keys.insert(info.key).second) << info.key;
        EXPECT_TRUE(titles.insert(info.title).second) << info.title;
        EXPECT_FALSE(info.shortTitle.empty()) << info.key;
        EXPECT_LT(info.low, info.high) << info.key;
        EXPECT_EQ(info.isFraction(), info.unit == "%") << info.key;
        EXPECT_FALSE(info.isFraction() && info.lowerIsBetter) << info.key;
        if (info.second > 0) {
            EXPECT_TRUE(places.insert(info.second).second) << info.key;
        }
        EXPECT_EQ(&metricInfo(info.key), &info);
        EXPECT_EQ(&metricInfo(info.id), &info);
    }
}

TEST(Metrics, KnowWhichWayIsBetter) {
    for (const char* key :
         {"loss", "perplexity", "mean_error", "largest_error", "val_loss", "my_error"})
        EXPECT_TRUE(lowerIsBetter(key)) << key;
    for (const char* key : {"accuracy", "recovered", "sequence_accuracy", "f1", "losses"})
        EXPECT_FALSE(lowerIsBetter(key)) << key;
}

TEST(Metrics, CallUnknownOnesByTheirKey) {
    const std::string key = "class_accuracy";
    const auto& info = metricInfo(key);
    EXPECT_EQ(info.id, Metric::Other);
    EXPECT_EQ(info.title, key);
    EXPECT_NE(info.title.data(), key.data()) << "it outlives the key it was asked with";
    EXPECT_TRUE(info.isFraction());
    EXPECT_EQ(&metricInfo(std::string(key)), &info);
    EXPECT_FALSE(metricInfo("f1").isFraction());
    EXPECT_EQ(metricLabel("sequence_accuracy"), "sequence accuracy");
}

TEST(Metrics, AreTheBestOfARun) {
    RunInfo info;
    info.bestLoss = 2.0, info.bestAccuracy = 0.5;
    EXPECT_EQ(info.best("loss"), 2.0);
    EXPECT_EQ(info.best("accuracy"), 0.5);
    EXPECT_EQ(info.best("perplexity"), std::exp(2.0));
    EXPECT_TRUE(std::isnan(info.best("mean_error")));
    info.metric = "mean_error", info.bestMetric = 0.1;
    EXPECT_EQ(info.best("mean_error"), 0.1);
}

TEST(Metrics, StopARunEarly) {
    EarlyStopping stopping;
    stopping.metric = "accuracy";
    EXPECT_TRUE(stopping.maximize());
    for (const char* metric : {"loss", "train_loss"}) {
        stopping.metric = metric;
        EXPECT_FALSE(stopping.maximize());
    }
    stopping.mode = "max";
    EXPECT_TRUE(stopping.maximize());
}

}  // namespace
}  // namespace relascope
