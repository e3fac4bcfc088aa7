// SPDX-License-Identifier: GPL-3.0-or-later
// A second start of the program: what it says to the window that is open, what that window does,
// and that neither can harm the other.
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <QDialog>
#include <QFile>
#include <QLocalSocket>
#include <QProcess>
#include <QSignalSpy>
#include <future>
#include <random>
#include <thread>

#include "app/help.h"
#include "app/launch.h"
#include "app/one_window.h"
#include "support/rooms.h"
#include "tests/app/window_fixture.h"
#include "widgets/bar/status_strip.h"
#include "widgets/tour/tour_overlay.h"

namespace relascope {
namespace {

using namespace std::chrono_literals;
using StartAnswer = OneWindow::Answer;

TEST(Handover, IsReadAsItWasWritten) {
    const Handover both{{"/a b/c.pt", QString::fromUtf8("/\u00e4\n\"x\"")}, "token_TIME12"};
    EXPECT_EQ(decodedHandover(encoded(both)), both);
    EXPECT_EQ(encoded(both).count('\n'), 1) << "one line";
    EXPECT_EQ(decodedHandover(encoded({})), Handover());
    // A token that is none is left out, the files are opened all the same.
    EXPECT_EQ(decodedHandover(encoded({{"/x"}, "a\nb"})), (Handover{{"/x"}, {}}));
    EXPECT_EQ(decodedHandover(encoded({{"/x"}, QByteArray(5000, 'a')})), (Handover{{"/x"}, {}}));
}

TEST(Handover, RefusesWhatIsNone) {
    for (const QByteArray& line :
         {QByteArray(), QByteArray("\n"), QByteArray("{}\n"), QByteArray("[]\n"),
          QByteArray("{\"open\":3}\n"), QByteArray("{\"open\":[3]}\n"),
          QByteArray("{\"open\":[\"relative\"]}\n"), QByteArray("{\"open\":[\":/docs/a\"]}\n"),
          QByteArray("{\"open\":[\"/a\\u0000b\"]}\n"), QByteArray("{\"open\":[\"\"]}\n"),
          QByteArray("{\"open\":[\"/a\"]}"), QByteArray("{\"open\":[\"/a\"]\n")})
        EXPECT_FALSE(decodedHandover(line)) << line.constData();
    QStringList many;
    for (int i = 0; i <= kMostPaths; ++i) many << QStringLiteral("/a");
    EXPECT_FALSE(decodedHandover(encoded({many, {}})));
    EXPECT_FALSE(decodedHandover(encoded({{u'/' + QString(20000, u'a')}, {}})));
    EXPECT_FALSE(decodedHandover("{\"open\":[\"/" + QByteArray(kLongestHandover, 'a') + "\"]}\n"));
}

TEST(Handover, DamagedLinesAreNeverMoreThanPaths) {
    std::mt19937 random(7);
    const QByteArray whole = encoded({{"/runs/one", "/models/two.safetensors"}, "token"});
    for (int i = 0; i < 20000; ++i) {
        QByteArray line = whole;
        for (unsigned k = random() % 4; k-- > 0;) {
            const auto at = static_cast<qsizetype>(random() % static_cast<unsigned>(line.size()));
            if (random() % 3 == 0)
                line.remove(at, 1 + random() % 9);
            else if (random() % 2 == 0)
                line.insert(at, static_cast<char>(random() % 256));
            else
                line[at] = static_cast<char>(random() % 256);
            if (line.isEmpty()) line = "x";
        }
        const auto read = decodedHandover(line);
        if (!read) continue;
        EXPECT_LE(read->paths.size(), kMostPaths);
        for (const QString& path : read->paths) EXPECT_TRUE(path.startsWith(u'/'));
        for (const char c : read->activation) EXPECT_GT(c, ' ');
    }
}

class OneWindowTest : public ::testing::Test {
protected:
    QString place() const { return folder.path() + QStringLiteral("/w"); }
    /// As another process would, while this one keeps its window alive.
    StartAnswer handOver(const Handover& handover, std::chrono::milliseconds patience = 10s) {
        auto answer = std::async(std::launch::async, [=, place = place()] {
            return OneWindow(place).handOver(handover, patience);
        });
        EXPECT_TRUE(waitUntil([&] { return answer.wait_for(0s) == std::future_status::ready; }));
        return answer.get();
    }
    /// A guest of which only the bytes are known.
    std::unique_ptr<QLocalSocket> guest(const OneWindow& window) {
        auto socket = std::make_unique<QLocalSocket>();
        socket->connectToServer(window.socketPath());
        EXPECT_TRUE(socket->waitForConnected(5000));
        EXPECT_TRUE(waitUntil([&] { return socket->canReadLine(); }));
        EXPECT_EQ(socket->readLine(), kGreeting);
        return socket;
    }

    QTemporaryDir folder;
};

TEST_F(OneWindowTest, TakesFilesInOrder) {
    OneWindow window(place());
    ASSERT_TRUE(window.listen());
    QList<Handover> asked;
    QObject::connect(&window, &OneWindow::asked, &window,
                     [&](const Handover& handover) { asked << handover; });
    const Handover files{{"/z", "/a"}, "token"};
    EXPECT_EQ(handOver(files), StartAnswer::Taken);
    EXPECT_EQ(handOver({}), StartAnswer::Taken) << "only to be shown";
    ASSERT_EQ(asked.size(), 2);
    EXPECT_EQ(asked[0], files);
    EXPECT_EQ(asked[1], Handover());
    struct stat file {};
    ASSERT_EQ(::stat(QFile::encodeName(window.socketPath()).constData(), &file), 0);
    EXPECT_EQ(file.st_mode & 0777, 0700u & file.st_mode) << "nobody else may connect";
    window.close();
    EXPECT_EQ(handOver(files), StartAnswer::Nobody);
    EXPECT_EQ(asked.size(), 2);
}

TEST_F(OneWindowTest, OnlyOneListens) {
    OneWindow first(place()), second(place());
    ASSERT_TRUE(first.listen());
    EXPECT_TRUE(first.listen()) << "already";
    EXPECT_FALSE(second.listen());
    first.close();
    EXPECT_TRUE(second.listen());
    OneWindow nowhere(QStringLiteral("/nonexistent/w"));
    EXPECT_FALSE(nowhere.listen());
    EXPECT_FALSE(handOverOrListen(nowhere, {}).ends) << "a window of its own, without a word";
    EXPECT_TRUE(handOverOrListen(nowhere, {}).complaint.isEmpty());
}

TEST_F(OneWindowTest, WhatAKilledWindowLeavesIsNoObstacle) {
    OneWindow window(place());
    {
        // Its files, without a process: what kill -9 leaves.
        const int dead = ::socket(AF_UNIX, SOCK_STREAM, 0);
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        const QByteArray path = QFile::encodeName(window.socketPath());
        ASSERT_LT(path.size(), static_cast<qsizetype>(sizeof address.sun_path));
        std::memcpy(address.sun_path, path.constData(), static_cast<std::size_t>(path.size()));
        ASSERT_EQ(::bind(dead, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
        ::close(dead);
        QFile lock(window.lockPath());
        ASSERT_TRUE(lock.open(QIODevice::WriteOnly));
    }
    EXPECT_EQ(handOver({{"/x"}, {}}), StartAnswer::Nobody);
    const SecondStart start = handOverOrListen(window, {{"/x"}, {}});
    EXPECT_FALSE(start.ends);
    EXPECT_TRUE(start.complaint.isEmpty());
    EXPECT_TRUE(window.listening());
    EXPECT_EQ(handOver({{"/x"}, {}}), StartAnswer::Taken);
}

TEST_F(OneWindowTest, AWindowThatHangsIsNotWaitedForLong) {
    OneWindow hangs(place());
    ASSERT_TRUE(hangs.listen());
    QSignalSpy asked(&hangs, &OneWindow::asked);
    OneWindow second(place());
    // Nobody runs the loop of the first.
    const SecondStart start = handOverOrListen(second, {{"/x"}, {}}, 100ms);
    EXPECT_FALSE(start.ends);
    EXPECT_TRUE(start.complaint.contains("does not answer"));
    EXPECT_FALSE(second.listening());
    // When it wakes up it must not open what the second start has opened itself.
    EXPECT_EQ(handOver({}), StartAnswer::Taken);
    ASSERT_EQ(asked.size(), 1);
    EXPECT_EQ(asked[0][0].value<Handover>(), Handover());
}

TEST_F(OneWindowTest, AnotherVersionIsLeftAlone) {
    QLocalServer other;
    QObject::connect(&other, &QLocalServer::newConnection, &other,
                     [&] { other.nextPendingConnection()->write("relascope-window 2\n"); });
    ASSERT_TRUE(other.listen(OneWindow(place()).socketPath()));
    EXPECT_EQ(handOver({{"/x"}, {}}), StartAnswer::Silent);
}

TEST_F(OneWindowTest, BadGuestsAreSentAway) {
    OneWindow window(place());
    ASSERT_TRUE(window.listen());
    QSignalSpy asked(&window, &OneWindow::asked);
    const auto endsWith = [](QLocalSocket& socket, const char* last) {
        EXPECT_TRUE(
            waitUntil([&] { return socket.state() == QLocalSocket::UnconnectedState; }, 5000));
        EXPECT_EQ(socket.readAll(), last);
    };
    auto silent = guest(window);
    auto wrong = guest(window);
    wrong->write("open everything\n");
    endsWith(*wrong, kRefused);
    auto endless = guest(window);
    endless->write(QByteArray(kLongestHandover + 10, 'a'));
    endsWith(*endless, kRefused);
    std::mt19937 random(3);
    for (int i = 0; i < 15; ++i) {
        QByteArray bytes;
        for (unsigned k = random() % 2000; k-- > 0;) bytes += static_cast<char>(random() % 256);
        auto noisy = guest(window);
        noisy->write(bytes + '\n');
        endsWith(*noisy, kRefused);
    }
    auto two = guest(window);
    two->write(encoded({{"/first"}, {}}) + encoded({{"/second"}, {}}));
    endsWith(*two, kTaken);
    EXPECT_EQ(asked.size(), 1) << "one handover a guest";
    auto gone = guest(window);
    gone->write("{\"open\":[\"/half");
    gone->abort();
    std::vector<std::unique_ptr<QLocalSocket>> crowd;
    for (int i = 0; i < 40; ++i) {
        crowd.push_back(std::make_unique<QLocalSocket>());
        crowd.back()->connectToServer(window.socketPath());
    }
    crowd.clear();
    EXPECT_EQ(handOver({{"/x"}, {}}), StartAnswer::Taken) << "beside one that says nothing";
    EXPECT_EQ(asked.size(), 2);
    EXPECT_EQ(silent->state(), QLocalSocket::ConnectedState);
}

TEST_F(OneWindowTest, NobodyMeetsWithoutADisplay) {
    EXPECT_TRUE(windowPlace().isEmpty()) << "the tests' platform is offscreen";
}

class OtherStartsTest : public WindowTest {
protected:
    void SetUp() override {
        WindowTest::SetUp();
        others = std::make_unique<OneWindow>(folder.path() + "/w");
        ASSERT_TRUE(others->listen());
        serveOtherStarts(*window, *others);
    }
    void ask(const QStringList& paths) { Q_EMIT others->asked({paths, {}}); }
    std::unique_ptr<OneWindow> others;
};

TEST_F(OtherStartsTest, RunsAreShownTogetherAndTheLastIsInspected) {
    const QString first = finishedRun(3), second = finishedRun(4);
    c().selection.setRuns({});
    window->showPage(PageId::Data);
    window->setWindowState(Qt::WindowMinimized);
    ask({first, second + "/run.json"});
    ASSERT_TRUE(waitUntil([&] { return c().selection.current() == second; }));
    EXPECT_EQ(c().selection.runs(), (QStringList{first, second}));
    EXPECT_EQ(window->currentPage(), PageId::Workbench);
    EXPECT_FALSE(window->isMinimized());
    EXPECT_EQ(window->opener().recentRuns().value(0), second);
    EXPECT_EQ(window->opener().recentRuns().value(1), first);
}

TEST_F(OtherStartsTest, FilesAreOpenedInOrder) {
    const QString run = finishedRun(3);
    const QString one = QStringLiteral(RELASCOPE_FIXTURES "/golden/lm_rca");
    c().selection.setRuns({});
    QSignalSpy opened(&c().checkpoint, &CheckpointController::opened);
    ask({one, run, folder.path() + "/missing.pt"});
    ASSERT_TRUE(waitUntil([&] { return c().selection.current() == run; }));
    EXPECT_EQ(opened.count(), 1);
    EXPECT_TRUE(waitUntil([&] { return window->currentPage() == PageId::Checkpoint; }))
        << "of the file that is missing";
    EXPECT_TRUE(waitUntil([&] { return !c().checkpoint.task().busy(); }));
    ask({run});
    EXPECT_TRUE(waitUntil([&] { return window->currentPage() == PageId::Workbench; }))
        << "a file that was refused does not stop the next";
}

TEST_F(OtherStartsTest, ATourEndsAndADialogIsWaitedFor) {
    const QString run = finishedRun(3);
    c().selection.setRuns({});
    showTour(*window);
    QDialog dialog(window.get());
    dialog.open();
    ask({run});
    EXPECT_TRUE(waitUntil([&] { return window->status()->message().contains("second start"); }));
    EXPECT_TRUE(window->findChild<TourOverlay*>());
    EXPECT_NE(c().selection.current(), run);
    dialog.close();
    EXPECT_TRUE(waitUntil([&] { return c().selection.current() == run; }));
    EXPECT_TRUE(waitUntil([&] { return !window->findChild<TourOverlay*>(); }));
}

TEST_F(OtherStartsTest, AWindowThatClosesTakesNothing) {
    chooseTiny();
    c().experiment.start();
    ASSERT_TRUE(trains(3));
    window->confirmClose = [] { return MainWindow::Closing::Stay; };
    window->close();
    EXPECT_TRUE(others->listening()) << "it stays open";
    window->confirmClose = [] { return MainWindow::Closing::StopFirst; };
    window->close();
    EXPECT_FALSE(others->listening()) << "while it saves";
    EXPECT_TRUE(waitUntil([this] { return !window->isVisible(); }));
}

TEST(Launch, FilesAreAbsoluteAndExist) {
    const QTemporaryDir folder;
    const QString odd = folder.path() + QString::fromUtf8("/a b \u00e4.pt");
    QFile file(odd);
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
    const QString before = QDir::currentPath();
    ASSERT_TRUE(QDir::setCurrent(folder.path()));
    int exit = -1;
    const auto launch = parseLaunch(
        {"relascope", QString::fromUtf8("a b \u00e4.pt"), QUrl::fromLocalFile(odd).toEncoded(),
         "file://localhost" + QUrl::fromLocalFile(odd).path(QUrl::FullyEncoded)},
        &exit);
    ASSERT_TRUE(QDir::setCurrent(before));
    ASSERT_TRUE(launch);
    EXPECT_EQ(launch->files, (QStringList{odd, odd, odd}));
    EXPECT_TRUE(launch->shares);
    for (const QStringList& bad : {QStringList{"file://elsewhere.example/a.pt"},
                                   {odd, "missing.pt"},
                                   {"file:///missing.pt"},
                                   {"--screenshot", "a.png", odd, odd}}) {
        exit = -1;
        EXPECT_FALSE(parseLaunch(QStringList{"relascope"} + bad, &exit));
        EXPECT_EQ(exit, 2) << bad.join(' ').toStdString();
    }
}

TEST(Launch, CommandsAreThoseOfTheCommandLineProgram) {
    QProcess program;
    program.start(QStringLiteral(RELASCOPE_BIN "/relascope-cli"), {"--help"});
    ASSERT_TRUE(program.waitForFinished());
    const QString help = program.readAllStandardOutput();
    QStringList commands;
    bool inside = false;
    for (const QString& line : help.split(u'\n')) {
        if (inside && line.startsWith(u' ') && line.size() > 2 && line[2] != u' ')
            commands << line.simplified().section(u' ', 0, 0);
        inside |= line.startsWith("Subcommands:");
    }
    commands.removeAll(QStringLiteral("train"));  // opens a window that trains
    commands.removeAll(QStringLiteral("duel"));   // one that compares
    commands.sort();
    QStringList names = commandNames();
    names.sort();
    EXPECT_EQ(names.join(u' '), commands.join(u' '));
}

TEST(Launch, OptionsAskForAWindowOfTheirOwn) {
    char program[] = "relascope", command[] = "export", file[] = "/a/run";
    char* words[] = {program, command, file};
    EXPECT_TRUE(isCommandLine(3, words));
    char former[] = "dictionary";
    words[1] = former;
    EXPECT_TRUE(isCommandLine(3, words)) << "a command by its name of earlier versions";
    words[1] = file;
    EXPECT_FALSE(isCommandLine(3, words));
    int exit = -1;
    EXPECT_TRUE(parseLaunch({"relascope"}, &exit)->shares);
    for (const QStringList& own : {QStringList{"--new-instance"},
                                   {"--theme", "dark"},
                                   {"--page", "data"},
                                   {"train", "quick"}}) {
        const auto launch = parseLaunch(QStringList{"relascope"} + own, &exit);
        ASSERT_TRUE(launch);
        EXPECT_FALSE(launch->shares) << own.join(' ').toStdString();
    }
}

}  // namespace
}  // namespace relascope
