// SPDX-License-Identifier: GPL-3.0-or-later
// A window with a tiny experiment that trains in a moment; private to the tests of the window.
#pragma once

#include <gtest/gtest.h>

#include <QApplication>
#include <QListWidget>
#include <QPushButton>
#include <QTemporaryDir>
#include <QTest>
#include <filesystem>
#include <functional>

#include "app/controllers/controllers.h"
#include "app/main_window.h"
#include "app/opener.h"
#include "app/pages/workbench_page.h"
#include "app/run_export.h"
#include "options/presets.h"
#include "support/rooms.h"
#include "widgets/bar/train_bar.h"
#include "widgets/curves/captures_track.h"
#include "widgets/curves/curve_panel.h"
#include "widgets/form/field_row.h"
#include "widgets/form/options_form.h"
#include "widgets/inspector/relation_inspector.h"
#include "widgets/lists/sidebar.h"
#include "widgets/theme/controls.h"

namespace relascope {

/// Lets the window work until `holds`, or the time is over.
inline bool waitUntil(const std::function<bool()>& holds, int milliseconds = 60000) {
    return QTest::qWaitFor(holds, milliseconds);
}

/// Quick with a model and data so small that a step takes about a millisecond.
inline RunOptions tinyOptions(std::int64_t steps = 100000) {
    RunOptions options = presetOptions("quick");
    options.model.set("d_model", 16);
    options.model.set("dff", 16);
    options.model.set("n_layers", 2);
    options.data.train_size = 64;
    options.data.validation_size = 32;
    options.data.test_size = 16;
    options.train.batch_size = 16;
    options.train.steps = steps;
    return options;
}

class WindowTest : public ::testing::Test {
protected:
    void SetUp() override {
        window = std::make_unique<MainWindow>(false);
        c().training.setEndsWithWindow(true);
        c().runs.setFolder(folder.path());
        window->show();
        (void)QTest::qWaitForWindowActive(window.get());
    }
    void TearDown() override {
        if (window && c().training.busy()) {
            c().training.cancel();
            EXPECT_TRUE(waitUntil([this] { return !c().training.busy(); }));
        }
        window.reset();
    }
    Controllers& c() { return window->controllers(); }
    CurvePanel* curves() { return window->workbench()->curves(); }
    RelationInspector* inspector() { return window->workbench()->inspector(); }
    void undo() { takeStep(c().history, false); }
    void redo() { takeStep(c().history, true); }
    QString undoText() { return c().history.text(nextStep(c().history, false)); }
    void click(QPushButton* button) { QTest::mouseClick(button, Qt::LeftButton); }
    /// Puts a tiny experiment into the form, as a user would by typing.
    void chooseTiny(std::int64_t steps = 100000) {
        c().selection.setPreset(QStringLiteral("quick"));
        c().experiment.choosePreset(QStringLiteral("quick"));
        const RunOptions tiny = tinyOptions(steps);
        for (const auto& field : RunOptions::fieldTable())
            c().experiment.set(QString::fromStdString(field.spec.name), field.get(tiny));
    }
    /// Trains a tiny run to its end; its folder.
    QString finishedRun(std::int64_t steps = 12, bool keepsWeights = true) {
        chooseTiny(steps);
        if (!keepsWeights) c().experiment.set("train.keep_mib", std::int64_t{0});
        c().experiment.start();
        QString path;
        const auto connection = QObject::connect(&c().training, &TrainingController::runBegan,
                                                 window.get(), [&](const QString& p) { path = p; });
        EXPECT_TRUE(waitUntil([&] { return !path.isEmpty() && !c().training.busy(); }));
        QObject::disconnect(connection);
        return path;
    }
    /// Opens a run and waits until it is shown; false when it is refused.
    bool openRun(const QString& path) { return openRunIn(*window, path); }
    static bool openRunIn(MainWindow& in, const QString& path) {
        in.opener().openRun(path);
        EXPECT_TRUE(waitUntil([&] { return !in.opener().opensRun(); }));
        return in.controllers().selection.current() == path;
    }
    bool trains(std::int64_t step) {
        return waitUntil(
            [this, step] { return c().training.running() && c().training.info().step >= step; });
    }

    QTemporaryDir folder;
    std::unique_ptr<MainWindow> window;
};

}  // namespace relascope
