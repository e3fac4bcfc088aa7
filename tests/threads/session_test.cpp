// SPDX-License-Identifier: GPL-3.0-or-later
// The feed of an inspector, with a model that only waits: late answers, cancelled ones, and two
// jobs at once.
#include <gtest/gtest.h>

#include <QSignalSpy>
#include <QTest>
#include <memory>
#include <thread>

#include "app/controllers/inspector_feed.h"
#include "text/tokenizer.h"
#include "threads/fake_models.h"

namespace relascope::app {
namespace {

using testing_support::fakeModels;

class SessionTest : public ::testing::Test {
protected:
    void SetUp() override {
        QObject::connect(session.get(), &InspectorFeed::inspected, session.get(),
                         [this](const widgets::Inspected& inspected) {
                             if (inspected.result->partial) return ++parts, void();
                             shown << QString::fromStdString(inspected.result->sample.origin);
                         });
        QObject::connect(session.get(), &InspectorFeed::failed, session.get(),
                         [this](const QString& sentence) { failures << sentence; });
    }
    void TearDown() override {
        for (auto* gate : {&fakeModels().loading, &fakeModels().probing, &fakeModels().effects,
                           &fakeModels().picture})
            gate->open();
        session.reset();
        ASSERT_TRUE(settled());
        fakeModels().sessions.clear();  // they end with their connections
        EXPECT_EQ(fakeModels().alive, 0) << "the weights go with the session";
    }
    static bool waitUntil(const std::function<bool()>& holds) {
        return QTest::qWaitFor(holds, 20000);
    }
    /// All answers to what was asked before have arrived.
    bool settled() {
        bool done = false;
        QObject context;
        looker.queue().post(
            &context, [](std::stop_token) { return 0; }, [&](int) { done = true; });
        return waitUntil([&] { return done; });
    }
    void load(const QString& path = "model") {
        QSignalSpy loaded(session.get(), &InspectorFeed::loaded);
        session->load(weightsAt(path, std::nullopt), "Reading");
        ASSERT_TRUE(waitUntil([&] { return loaded.size() == 1; }));
    }
    void choose(quint64 seed) {
        session->choose(inputAs({{"random", static_cast<std::int64_t>(seed)}}));
        inspect();
    }
    void inspect() { session->show(weightsAt(session->path(), std::nullopt, edits)); }
    void choosePicture(const QString& path) {
        session->choose(inputAs({{"image", path.toStdString()}}));
    }

    Looker looker{nullptr, wire::Session(testing_support::playSession)};
    std::unique_ptr<InspectorFeed> session = std::make_unique<InspectorFeed>(looker);
    QStringList shown, failures;
    int parts = 0;
    EditList edits;
};

TEST_F(SessionTest, OfManyRequestsTheNewestIsAnswered) {
    load();
    fakeModels().probing.close();
    choose(1);
    ASSERT_TRUE(waitUntil([] { return fakeModels().probing.waiting() == 1; }));
    for (quint64 seed = 2; seed <= 50; ++seed) choose(seed);
    fakeModels().probing.open();
    ASSERT_TRUE(waitUntil([&] { return !shown.isEmpty(); }));
    ASSERT_TRUE(settled());
    EXPECT_EQ(shown, QStringList("random 50"));
    QSignalSpy refused(session.get(), &InspectorFeed::refused);
    choose(13);
    ASSERT_TRUE(waitUntil([&] { return refused.size() == 1; }));
    EXPECT_EQ(refused[0][0].toString(), "13 is refused");
}

TEST_F(SessionTest, PartsArriveWhileTheRestIsComputedAndNotAfterACancel) {
    load();
    fakeModels().probing.close();
    choose(1);
    ASSERT_TRUE(waitUntil([&] { return parts == 1; }));
    session->task().abandon();
    ASSERT_TRUE(waitUntil([] { return fakeModels().probing.waiting() == 0; }));
    fakeModels().probing.open();
    ASSERT_TRUE(settled());
    EXPECT_TRUE(shown.isEmpty());
    EXPECT_EQ(parts, 1);
}

TEST_F(SessionTest, APictureThatComesLateIsDropped) {
    load();
    session->setModel(ModelOptions("VisionTransformer"), nullptr);
    fakeModels().picture.close();
    choosePicture("slow.png");
    ASSERT_TRUE(waitUntil([] { return fakeModels().picture.waiting() == 1; }));
    choose(7);
    choosePicture("damaged");
    choosePicture("last.png");
    fakeModels().picture.open();
    ASSERT_TRUE(waitUntil([&] { return session->own().has_value(); }));
    EXPECT_EQ(session->own()->origin, "last.png");
    EXPECT_EQ(failures.size(), 1) << "the damaged one";
}

TEST_F(SessionTest, ATextIsReadWhileMapsAreComputed) {
    load();
    session->setModel(session->model(), core::characterTokenizer("abc"));
    fakeModels().probing.close();
    choose(1);
    ASSERT_TRUE(waitUntil([] { return fakeModels().probing.waiting() == 1; }));
    session->chooseText("abc");
    ASSERT_TRUE(waitUntil([&] { return session->own().has_value(); }));
    EXPECT_EQ(session->own()->source.tokens.size(), 3U);
    EXPECT_EQ(fakeModels().probing.waiting(), 1);
    inspect();
    fakeModels().probing.open();
    ASSERT_TRUE(waitUntil([&] { return !shown.isEmpty(); }));
    EXPECT_EQ(shown, QStringList("typed text"));
}

TEST_F(SessionTest, WeightsThatAreReplacedOrCancelledLeaveOneModel) {
    load();
    EXPECT_EQ(fakeModels().alive, 1);
    fakeModels().loading.close();
    session->load(weightsAt("other", std::nullopt), "Reading");
    ASSERT_TRUE(waitUntil([] { return fakeModels().loading.waiting() == 1; }));
    session->task().abandon();
    ASSERT_TRUE(settled());
    fakeModels().loading.open();
    EXPECT_EQ(session->path(), "model");
    session->load(weightsAt("damaged", std::nullopt), "Reading");
    ASSERT_TRUE(waitUntil([&] { return failures.size() == 1; }));
    EXPECT_EQ(session->path(), "model") << "what is asked next is of the weights before";
    load("third");
    EXPECT_EQ(fakeModels().alive, 1);
    session->dropWeights();
    ASSERT_TRUE(settled());
    EXPECT_EQ(fakeModels().alive, 0);
}

TEST_F(SessionTest, ASessionThatEndsIsBegunAnew) {
    load();
    fakeModels().probing.close();
    QSignalSpy refused(session.get(), &InspectorFeed::refused);
    choose(1);
    ASSERT_TRUE(waitUntil([] { return fakeModels().probing.waiting() == 1; }));
    fakeModels().sessions.back().request_stop();  // as if its process were killed
    ASSERT_TRUE(waitUntil([&] { return refused.size() == 1; }));
    EXPECT_TRUE(refused[0][0].toString().contains("was ended from outside; try again"))
        << refused[0][0].toString().toStdString();
    fakeModels().probing.open();
    choose(2);
    ASSERT_TRUE(waitUntil([&] { return !shown.isEmpty(); }));
    EXPECT_EQ(shown, QStringList("random 2"));
    EXPECT_EQ(fakeModels().sessions.size(), 2U);
}

TEST_F(SessionTest, EffectsOfEditsEndWithTheNextRequest) {
    load();
    edits.edits.emplace_back();
    QSignalSpy effects(session.get(), &InspectorFeed::effectsFound);
    fakeModels().effects.close();
    choose(1);
    ASSERT_TRUE(waitUntil([] { return fakeModels().effects.waiting() == 1; }));
    choose(2);
    ASSERT_TRUE(waitUntil([&] { return shown.size() == 2; }));
    fakeModels().effects.open();
    ASSERT_TRUE(waitUntil([&] { return effects.size() == 1; }));
    ASSERT_TRUE(settled());
    ASSERT_EQ(effects.size(), 1);
    EXPECT_EQ(effects[0][0].toStringList(), QStringList("random 2"));
}

TEST_F(SessionTest, NothingArrivesForASessionThatIsGone) {
    load();
    fakeModels().probing.close();
    choose(1);
    ASSERT_TRUE(waitUntil([] { return fakeModels().probing.waiting() == 1; }));
    session.reset();
    ASSERT_TRUE(settled()) << "the job has ended without its result";
    EXPECT_TRUE(shown.isEmpty());
}

TEST_F(SessionTest, ASessionGoesWhileItReads) {
    load();
    session->setModel(ModelOptions("VisionTransformer"), nullptr);
    fakeModels().picture.close();
    choosePicture("slow.png");
    ASSERT_TRUE(waitUntil([] { return fakeModels().picture.waiting() == 1; }));
    std::jthread later([] { fakeModels().picture.open(); });
    session.reset();
    EXPECT_TRUE(failures.isEmpty());
}

}  // namespace
}  // namespace relascope::app
