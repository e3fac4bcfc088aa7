// SPDX-License-Identifier: GPL-3.0-or-later
// Steps of the undo stack: which are merged, and which are skipped.
#include "app/controllers/step.h"

#include <gtest/gtest.h>

#include "support/rooms.h"

using namespace relascope;

namespace {

class StepTest : public ::testing::Test {
protected:
    /// Sets the value, as a step that holds while `run` is shown.
    void set(int to, const QString& mergeKey = {}, int run = 0) {
        const auto go = [this](int number) { return [this, number] { value = number; }; };
        history.push(new Step(QString::number(to), go(std::exchange(value, to)), go(to), mergeKey,
                              [this, run] { return run == shown; }));
    }
    QString undoText() { return history.text(nextStep(history, false)); }
    QUndoStack history;
    int value = 0, shown = 0;
};

TEST_F(StepTest, OfOneKeyAreMergedUntilTheStackIsSealed) {
    set(1, "epochs");
    set(2, "epochs");
    set(3, "seed");
    set(4, "seed");
    history.setClean();
    set(5, "seed");
    set(6, "seed");
    set(7);
    set(8);
    EXPECT_EQ(history.count(), 5);
    for (const int before : {7, 6, 4, 2}) {
        takeStep(history, false);
        EXPECT_EQ(value, before);
    }
    takeStep(history, true);
    EXPECT_EQ(value, 4);
    // Nor is what follows an undo or redo merged with what was before.
    set(9, "seed");
    takeStep(history, false);
    EXPECT_EQ(value, 4);
    takeStep(history, false);
    takeStep(history, false);
    EXPECT_EQ(value, 0);
    EXPECT_EQ(nextStep(history, false), -1);
    takeStep(history, false);
    EXPECT_EQ(value, 0);
    while (nextStep(history, true) >= 0) takeStep(history, true);
    EXPECT_EQ(value, 9);
}

TEST_F(StepTest, AreSkippedWhileTheyDoNotHoldAndStay) {
    set(1);
    set(2, {}, 1);
    EXPECT_EQ(undoText(), "1") << "the second one is of a run that is not shown";
    shown = 1;
    EXPECT_EQ(undoText(), "2");
    takeStep(history, false);
    EXPECT_EQ(value, 1);
    EXPECT_EQ(nextStep(history, false), -1);
    shown = 0;
    EXPECT_EQ(nextStep(history, true), -1);
    takeStep(history, false);
    EXPECT_EQ(value, 0);
    takeStep(history, true);
    EXPECT_EQ(value, 1) << "and no further";
    shown = 1;
    takeStep(history, true);
    EXPECT_EQ(value, 2);
}

}  // namespace
