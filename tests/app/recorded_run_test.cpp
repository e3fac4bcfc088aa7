// SPDX-License-Identifier: GPL-3.0-or-later
// A run that another program records: its curves and captures are shown and followed, its captures
// have an atlas, and what needs a model is off with the reason.
#include <filesystem>
#include <nlohmann/json.hpp>

#include <QSignalSpy>

#include "app/edits_tab.h"
#include "app/pages/analysis_tab.h"
#include "app/pages/atlas_page.h"
#include "app/run_actions.h"
#include "app/view_files.h"
#include "files/atomic_file.h"
#include "files/file_lock.h"
#include "question/question_words.h"
#include "support/recorded_run.h"
#include "tests/app/window_fixture.h"
#include "tests/widgets/child.h"
#include "views/view_file.h"
#include "widgets/analysis/answer_view.h"
#include "widgets/edits/edits_panel.h"

namespace relascope {
namespace {

namespace fs = std::filesystem;
using testing_support::recordRun;

class RecordedRunTest : public WindowTest {
protected:
    void SetUp() override {
        WindowTest::SetUp();
        const QString own = finishedRun(12);
        path = folder.filePath(QStringLiteral("other"));
        recordRun(own.toStdString(), path.toStdString());
        ASSERT_TRUE(openRun(path));
        ASSERT_TRUE(waitUntil([this] {
            return c().runInput.recorded() && inspector()->result() &&
                   inspector()->result()->step == 12;
        }));
    }
    QString path;
};

TEST_F(RecordedRunTest, ShowsItsCurvesAndCaptures) {
    EXPECT_FALSE(c().runs.records().points(path).empty());
    EXPECT_EQ(inspector()->result()->count(MapKind::Relation, 0), 1);
    c().selection.setStep(4);
    EXPECT_TRUE(waitUntil([this] { return inspector()->result()->step == 4; }));
    c().selection.setStep(std::nullopt);
    EXPECT_TRUE(waitUntil([this] { return inspector()->result()->step == 12; }));
}

TEST_F(RecordedRunTest, FollowsWhatIsRecordedMeanwhile) {
    // Its program holds the lock while it runs.
    const core::FileLock lock(path.toStdString() + "/.lock");
    const auto file = path.toStdString() + "/run.json";
    auto run = nlohmann::ordered_json::parse(core::readTextFile(file, 1 << 24));
    run["state"] = "running";
    core::writeTextFile(file, run.dump());
    c().runs.refresh();
    ASSERT_TRUE(waitUntil([this] { return c().runs.info(path)->state == RunState::Running; }));
    const auto captures = path.toStdString() + "/captures/";
    fs::copy_file(captures + "step-4.safetensors", captures + "step-20.safetensors.part");
    fs::rename(captures + "step-20.safetensors.part", captures + "step-20.safetensors");
    EXPECT_TRUE(waitUntil([this] {
        const auto& steps = c().runs.records().captures(path);
        return !steps.empty() && steps.back() == 20;
    }));
    // The maps of the new capture are those of step 4.
    EXPECT_TRUE(waitUntil([this] { return inspector()->result()->step != 12; }));
}

TEST_F(RecordedRunTest, SaysWhyItsModelCannotBeUsed) {
    const auto saysWhy = [](const QString& text) {
        return text.contains(QLatin1String("other was recorded by another program"));
    };
    auto* learn = child<QPushButton>(window->workbench(), "What did it learn?");
    EXPECT_FALSE(learn->isEnabled());
    EXPECT_TRUE(saysWhy(learn->toolTip())) << learn->toolTip().toStdString();
    for (const auto& entry : window->runActions().entries({path})) {
        const bool needs =
            entry.kind == RunActions::Kind::Duplicate || entry.kind == RunActions::Kind::Extend;
        EXPECT_EQ(saysWhy(entry.reason), needs) << entry.text.toStdString();
    }
    QString said;
    QObject::connect(&c().experiment, &ExperimentController::failed, window.get(),
                     [&](const QString& sentence) { said = sentence; });
    c().experiment.resume(path);
    EXPECT_TRUE(waitUntil([&] { return saysWhy(said); })) << said.toStdString();
}

TEST_F(RecordedRunTest, OpensAViewOfItsCaptures) {
    const QString file = folder.filePath(QStringLiteral("seen.relaview"));
    View view;
    view.command = "inspect";
    view.subjects = {{path.toStdString(), "", "4", "", {}}};
    core::addOption(view, "sample", std::int64_t{1});
    core::addOption(view, "layer", std::int64_t{2});
    core::identify(view);
    core::writeViewFile(file.toStdString(), view);
    window = std::make_unique<MainWindow>(false);
    window->show();
    c().runs.setFolder(folder.path());
    QSignalSpy opened(&window->views(), &ViewFiles::opened);
    window->views().open(file);
    ASSERT_TRUE(waitUntil([&] { return opened.count() > 0; }));
    EXPECT_TRUE(waitUntil([this] {
        const auto* result = inspector()->result();
        return result && result->step == 4 && inspector()->view().layer == 1 &&
               result->sample.origin.ends_with(" 1");
    }));
    EXPECT_LT(nextStep(c().history, false), 0);
}

TEST_F(RecordedRunTest, HasAnAtlasOfItsCaptures) {
    window->showPage(PageId::Atlas);
    auto* page = qobject_cast<AtlasPage*>(window->page(PageId::Atlas));
    auto* tab = page->tab("atlas");
    EXPECT_EQ(tab->missing(), QString());
    EXPECT_TRUE(page->tab("scan")->missing().contains(QLatin1String("recorded by another")));
    QString refused;
    QObject::connect(&tab->asking(), &Asking::refused, window.get(),
                     [&](const QString& sentence) { refused = sentence; });
    tab->run();
    ASSERT_TRUE(waitUntil([&] { return !tab->view()->isEmpty() || !refused.isEmpty(); }, 60000));
    ASSERT_EQ(refused.toStdString(), "");
    EXPECT_GT(tab->view()->shown().table("relations").rows(), 0U);
}

}  // namespace
}  // namespace relascope
