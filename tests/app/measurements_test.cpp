// SPDX-License-Identifier: GPL-3.0-or-later
// Measurements that continue while another run is shown, wait for a place, and are opened from the
// status bar.
#include <gtest/gtest.h>

#include <QPushButton>
#include <QSignalSpy>
#include <QTest>
#include <QToolButton>

#include "analysis/scan/scan.h"
#include "app/controllers/measurements.h"
#include "app/pages/analysis_tab.h"
#include "app/pages/atlas_page.h"
#include "app/pages/data_source.h"
#include "interventions/relation_file.h"
#include "tests/app/window_fixture.h"
#include "tests/widgets/child.h"
#include "widgets/analysis/declared_view.h"
#include "widgets/bar/job_list.h"
#include "widgets/bar/status_strip.h"

namespace relascope {
namespace {

using State = app::Measurement::State;

class MeasurementsTest : public WindowTest {
protected:
    AtlasPage* page() { return qobject_cast<AtlasPage*>(window->page(PageId::Atlas)); }
    AnalysisTab* scan() { return page()->tab("scan"); }
    DeclaredView* view() { return dynamic_cast<DeclaredView*>(scan()->view()); }
    app::Measurements& measurements() { return c().measurements; }
    /// Chooses a run while the page Atlas is shown.
    void choose(const QString& run) {
        c().selection.setRuns({run});
        c().selection.setCurrent(run);
        ASSERT_TRUE(waitUntil([&] {
            const auto& subject = page()->about().subject;
            return subject && placeOf(subject->asked) == run && subject->data;
        }));
    }
    bool ended(std::size_t number) {
        return waitUntil([&] { return !measurements().all().at(number)->active(); }, 60000);
    }
    /// Two runs, and the tab *Scan* of the second one.
    void openTwo() {
        first = finishedRun();
        second = finishedRun();
        QTest::keyClick(window.get(), Qt::Key_6, Qt::ControlModifier);
        page()->showTab("scan");
        scan()->setValues({{"examples", std::int64_t{60}}, {"seconds", std::int64_t{5}}});
        choose(second);
    }
    QString first, second;
};

TEST_F(MeasurementsTest, GoOnWhenAnotherRunIsChosenAndAreShownWithTheirRun) {
    openTwo();
    click(scan()->runButton());
    ASSERT_EQ(measurements().all().size(), 1u);
    EXPECT_TRUE(page()->scanTask().busy());
    choose(first);
    EXPECT_FALSE(scan()->asking().followed()) << "it is not of this run";
    EXPECT_TRUE(measurements().all()[0]->active());
    EXPECT_TRUE(view()->isEmpty());
    choose(second);
    EXPECT_TRUE(page()->scanTask().busy() || !view()->isEmpty()) << "it is followed again";
    choose(first);
    ASSERT_TRUE(ended(0));
    EXPECT_EQ(measurements().all()[0]->state(), State::Done)
        << measurements().all()[0]->problem().toStdString();
    EXPECT_TRUE(view()->isEmpty());
    choose(second);
    ASSERT_TRUE(waitUntil([&] { return !view()->isEmpty(); }));
    EXPECT_EQ(measurements().all().size(), 1u) << "it was not measured again";
    EXPECT_TRUE(measurements().all()[0]->seen());
}

TEST_F(MeasurementsTest, OfARelationThatIsFittedAgainAreOfTheOldOne) {
    first = finishedRun();
    ASSERT_TRUE(waitUntil([this] { return c().runEdits.points() != nullptr; }));
    const auto file = folder.filePath("same.safetensors").toStdString();
    core::RelationFile relation;
    relation.rank = relation.places = 1, relation.width = 16;
    relation.a.assign(16, 1.0F), relation.b.assign(16, 1.0F), relation.mean.assign(16, 0.0F);
    relation.point = "blocks.0.hook_resid_pre", relation.fact = "same";
    core::writeRelation(relation, file);
    c().runEdits.addWords(QString::fromStdString("fitted " + file + " out"));
    ASSERT_EQ(c().runEdits.list().edits.size(), 1U);
    QTest::keyClick(window.get(), Qt::Key_6, Qt::ControlModifier);
    page()->showTab("scan");
    scan()->setValues({{"examples", std::int64_t{60}}, {"seconds", std::int64_t{2}}});
    choose(first);
    click(scan()->runButton());
    ASSERT_EQ(measurements().all().size(), 1u);
    ASSERT_TRUE(ended(0));
    const auto one = measurements().all()[0];
    ASSERT_EQ(one->state(), State::Done) << one->problem().toStdString();
    ASSERT_TRUE(one->asked.edits[0].anyEnabled());
    EXPECT_EQ(measurements().done(one->analysis, one->asked), one);
    relation.bias = 2.0F;
    core::writeRelation(relation, file);
    EXPECT_EQ(measurements().done(one->analysis, one->asked), nullptr);
}

TEST_F(MeasurementsTest, GoOnWhenATrainingBegins) {
    openTwo();
    click(scan()->runButton());
    chooseTiny(8);
    c().experiment.start();
    ASSERT_TRUE(ended(0));
    EXPECT_EQ(measurements().all()[0]->state(), State::Done);
    EXPECT_TRUE(waitUntil([&] { return !c().training.busy(); }));
}

TEST_F(MeasurementsTest, WaitForAPlaceAndEndWhenTheyAreCancelled) {
    openTwo();
    measurements().places = 1;
    scan()->strip()->setDelay(0);
    click(scan()->runButton());
    choose(first);
    click(scan()->runButton());
    ASSERT_EQ(measurements().all().size(), 2u);
    const auto waits = measurements().all()[1];
    EXPECT_EQ(measurements().all()[0]->state(), State::Running);
    EXPECT_EQ(waits->state(), State::Waiting);
    const auto before = measurements().all()[0];
    measurements().cancel(*before);
    EXPECT_EQ(before->state(), State::Cancelled);
    EXPECT_EQ(waits->state(), State::Running);
    ASSERT_EQ(measurements().all().size(), 1u);
    QTest::mouseClick(scan()->strip()->cancelButton(), Qt::LeftButton);
    EXPECT_EQ(waits->state(), State::Cancelled);
    EXPECT_TRUE(measurements().all().empty());
    EXPECT_TRUE(scan()->runButton()->isEnabled());
}

TEST_F(MeasurementsTest, AreListedInTheStatusBarAndOpenedFromThere) {
    openTwo();
    auto* button = window->status()->jobsButton();
    auto* list = window->status()->findChild<JobList*>();
    EXPECT_EQ(button->text(), "Measurements");
    EXPECT_EQ(list->count(), 0);
    click(scan()->runButton());
    EXPECT_TRUE(button->text().startsWith("1 measuring")) << button->text().toStdString();
    choose(first);
    window->showPage(PageId::Data);
    ASSERT_TRUE(ended(0));
    EXPECT_EQ(button->text(), "1 measured");
    QTest::mouseClick(button, Qt::LeftButton);
    ASSERT_TRUE(list->isVisible());
    ASSERT_EQ(list->count(), 1);
    const auto number = measurements().all()[0]->number;
    EXPECT_TRUE(list->text(number).startsWith("Scan of")) << list->text(number).toStdString();
    EXPECT_EQ(list->button(number)->text(), "Open");
    EXPECT_EQ(button->text(), "Measurements") << "it is known now";
    click(list->button(number));
    EXPECT_FALSE(list->isVisible());
    ASSERT_TRUE(waitUntil([&] {
        return window->currentPage() == PageId::Atlas && c().selection.current() == second &&
               !view()->isEmpty();
    }));
    EXPECT_EQ(measurements().all().size(), 1u) << "it was not measured again";
    measurements().clear();
    EXPECT_EQ(list->count(), 0);
}

TEST_F(MeasurementsTest, ThatFailedAreSeenWhereTheReasonStands) {
    openTwo();
    auto* tab = page()->tab("fit-relation");
    page()->showTab("fit-relation");
    tab->setValues({{"fact", std::string("no such fact")}});
    click(tab->runButton());
    ASSERT_TRUE(ended(0));
    ASSERT_EQ(measurements().all()[0]->state(), State::Failed);
    EXPECT_TRUE(measurements().all()[0]->seen());
    measurements().clear();
    click(tab->runButton());
    window->showPage(PageId::Data);
    ASSERT_TRUE(ended(0));
    EXPECT_FALSE(measurements().all()[0]->seen());
    window->showPage(PageId::Atlas);
    EXPECT_TRUE(measurements().all()[0]->seen());
}

TEST_F(MeasurementsTest, AScanAfterTrainingIsShownWhereverItsRunIsChosen) {
    openTwo();
    scan()->setValues({});
    page()->learn(AtlasPage::Learn::Asked);  // of kQuickScan seconds
    ASSERT_TRUE(ended(0));
    measurements().clear();
    ASSERT_TRUE(AtlasPage::hasKeptScan(second));
    choose(first);
    EXPECT_TRUE(view()->isEmpty());
    QSignalSpy learned(page(), &AtlasPage::learned);
    choose(second);
    EXPECT_TRUE(waitUntil([&] { return !view()->isEmpty(); })) << "kept with the run";
    EXPECT_EQ(learned.size(), 1) << "the Workbench shows it, too";
}

TEST(JobListTest, SaysHowFarTheyAre) {
    using JobState = JobItem::State;
    JobItem one{.number = 1, .title = "Scan of a", .state = JobState::Running, .fraction = 0.4};
    JobItem two{.number = 2, .title = "Atlas of b", .state = JobState::Waiting};
    EXPECT_EQ(jobsText({one, two}), "2 measuring, 20 %");
    two.state = JobState::Done;
    EXPECT_EQ(jobsText({one, two}), "1 measuring, 40 %, 1 measured");
    two.seen = true;
    one.state = JobState::Failed;
    EXPECT_EQ(jobsText({one, two}), "1 failed");
    JobList list;
    list.setJobs({one, two});
    EXPECT_TRUE(list.button(1)->isHidden()) << "there is nothing to open";
    QSignalSpy opened(&list, &JobList::openRequested), cancelled(&list, &JobList::cancelRequested);
    list.button(2)->click();
    EXPECT_EQ(opened.size(), 1);
    two.state = JobState::Running;
    list.setJobs({two});
    EXPECT_EQ(list.count(), 1);
    list.button(2)->click();
    EXPECT_EQ(cancelled.size(), 1);
}

}  // namespace
}  // namespace relascope
