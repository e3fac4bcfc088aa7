// SPDX-License-Identifier: GPL-3.0-or-later
// After a crash the window says so, once, and shows the report.
#include "app/crash_notice.h"

#include <QClipboard>
#include <QDialog>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSettings>
#include <QToolButton>
#include <fstream>

#include "support/rooms.h"
#include "tests/app/window_fixture.h"
#include "tests/widgets/child.h"
#include "widgets/bar/notice_bar.h"
#include "widgets/bar/status_strip.h"

namespace relascope {
namespace {

class CrashNoticeTest : public WindowTest {
protected:
    void SetUp() override {
        WindowTest::SetUp();
        QSettings().remove("crash");
        before = qgetenv("XDG_STATE_HOME");
        qputenv("XDG_STATE_HOME", (folder.path() + "/state").toUtf8());
    }
    void TearDown() override {
        qputenv("XDG_STATE_HOME", before);
        WindowTest::TearDown();
    }
    QString write(const std::string& name, const std::string& program = "relascope") {
        const std::string place = crash::folder();
        std::filesystem::create_directories(place);
        std::ofstream(place + "/" + name)
            << "Relascope crash report, version 1\nprogram: " << program
            << "\ntime: 2026-03-01 14:05:09 +0100\nwhat: SIGSEGV (invalid memory access, at 0x8)\n"
               "\nstack\n 0  relascope+0x1  _ZNSt6vectorIiE4sizeEv+0x2\n";
        return QString::fromStdString(place + "/" + name);
    }
    NoticeBar* look() {
        bool done = false;
        NoticeBar* notice = nullptr;
        showCrashNotice(*window, [&](NoticeBar* shown) { done = true, notice = shown; });
        EXPECT_TRUE(waitUntil([&] { return done; }));
        return notice;
    }
    QByteArray before;
};

TEST_F(CrashNoticeTest, NothingIsSaidWithoutACrash) {
    EXPECT_FALSE(look());
    EXPECT_EQ(window->status()->message(), "");
}

TEST_F(CrashNoticeTest, EachReportIsToldOnce) {
    const QString path = write("crash-20260301-140509-77.txt");
    NoticeBar* notice = look();
    ASSERT_TRUE(notice && notice->isVisible());
    EXPECT_EQ(notice->sentence(),
              "Relascope crashed on 1 March at 14:05: SIGSEGV (invalid memory access, at 0x8).");
    EXPECT_TRUE(window->status()->message().contains("crash-20260301-140509-77.txt"));
    EXPECT_LT(notice->mapTo(window.get(), QPoint()).y(), 200) << "below the bar";
    EXPECT_EQ(notice->width(), window->width());
    QTest::mouseClick(child<QPushButton>(notice, "Copy path"), Qt::LeftButton);
    EXPECT_EQ(QGuiApplication::clipboard()->text(), path);
    QTest::mouseClick(child<QPushButton>(notice, "Show report"), Qt::LeftButton);
    QPlainTextEdit* text = nullptr;
    ASSERT_TRUE(waitUntil([&] {
        for (auto* field : window->findChildren<QPlainTextEdit*>())
            if (field->accessibleName() == "Report") text = field;
        return text != nullptr;
    }));
    EXPECT_TRUE(text->isVisible());
    EXPECT_TRUE(text->toPlainText().contains("std::vector<int>::size()"))
        << text->toPlainText().toStdString();
    QTest::mouseClick(child<QPushButton>(text->window(), "Copy"), Qt::LeftButton);
    EXPECT_EQ(QGuiApplication::clipboard()->text(), text->toPlainText());
    text->window()->close();
    QPointer<NoticeBar> kept = notice;
    for (auto* cross : notice->findChildren<QToolButton*>())
        QTest::mouseClick(cross, Qt::LeftButton);
    EXPECT_TRUE(waitUntil([&] { return !kept; }));
    EXPECT_FALSE(look()) << "once";

    write("crash-20260301-140509-78.txt", "relascope-cli train");
    write("crash-20260301-140510-79.txt", "relascope-cli train");
    notice = look();
    ASSERT_TRUE(notice);
    EXPECT_TRUE(notice->sentence().startsWith("relascope-cli train crashed"));
    EXPECT_TRUE(notice->sentence().endsWith("There is one report more."));
    EXPECT_FALSE(look());
}

TEST_F(CrashNoticeTest, TheReportOfARunThatCrashedIsOffered) {
    followCrashes(*window);
    const QString sentence = "tiny: the program crashed at step 3; " +
                             write("crash-20260301-140509-77.txt", "relascope-cli train") +
                             " says where";
    c().messages.error(sentence);
    const auto notices = [&] { return window->findChildren<NoticeBar*>(); };
    ASSERT_TRUE(waitUntil([&] { return !notices().empty(); }));
    EXPECT_TRUE(notices().front()->sentence().startsWith("relascope-cli train crashed"));
    EXPECT_EQ(window->status()->message(), sentence) << "it is not replaced";
}

TEST_F(CrashNoticeTest, AReportThatIsGoneIsSaidToBe) {
    const QString path = write("crash-20260301-140509-77.txt");
    NoticeBar* notice = look();
    ASSERT_TRUE(notice);
    QFile::remove(path);
    QTest::mouseClick(child<QPushButton>(notice, "Show report"), Qt::LeftButton);
    EXPECT_TRUE(waitUntil([&] { return window->status()->message().contains("deleted"); }));
}

TEST_F(CrashNoticeTest, TheLogIsKeptForAReport) {
    c().messages.info("Loaded the weights of tiny");
    c().messages.error("/home/jo/My model.pt: ends too early");
    const auto notes = crash::notes();
    ASSERT_GE(notes.size(), 2u);
    EXPECT_TRUE(QString::fromStdString(notes[notes.size() - 2]).endsWith("the weights of tiny"));
    EXPECT_TRUE(QString::fromStdString(notes.back()).endsWith("<path>.pt: ends too early"));
}

}  // namespace
}  // namespace relascope
