// SPDX-License-Identifier: GPL-3.0-or-later
// Reports of real crashes: what is in them, what is not, and that the process ends as without them.
#include "app/crash/crash.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>
#include <utility>

#include "app/crash/report_parts.h"
#include "support/rooms.h"
#include "support/temporary_folder.h"

namespace relascope {
namespace {

using testing_support::TemporaryFolder;

std::string textOf(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

class CrashTest : public ::testing::Test {
protected:
    struct End {
        int signal = 0, exit = -1;
        std::string err;
    };
    /// Runs the crasher; reports go to `state`/relascope.
    End crash(const std::string& how, const std::string& state) {
        std::filesystem::create_directories(m_folder.path());
        const std::string err = m_folder / "err";
        const std::string command = "HOME=" + m_folder.path() + " XDG_STATE_HOME=" + state +
                                    " exec " RELASCOPE_BIN "/crasher " + how + " 2>" + err;
        const int status = std::system(command.c_str());
        End end;
        if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
        // A shell that has not been replaced says it in its own way.
        if (WIFEXITED(status)) end.exit = WEXITSTATUS(status);
        if (end.exit > 128) end.signal = std::exchange(end.exit, -1) - 128;
        end.err = textOf(err);
        return end;
    }
    End crash(const std::string& how) { return crash(how, state()); }
    std::string state() const { return m_folder / "state"; }
    std::vector<crash::Report> reports() const { return crash::reports(state() + "/relascope"); }

    TemporaryFolder m_folder{"crash"};
};

TEST_F(CrashTest, EveryWayEndsAsEverAndLeavesAReport) {
    struct Way {
        const char* how;
        int signal;
        const char* what;
    };
    const Way ways[] = {
        {"segv", SIGSEGV, "SIGSEGV (invalid memory access, at 0x8)"},
        {"call", SIGSEGV, "SIGSEGV (invalid memory access, at 0x0)"},
        {"fpe", SIGFPE, "SIGFPE (arithmetic error, at 0x"},
        {"ill", SIGILL, "SIGILL (invalid instruction, at 0x"},
        {"bus", SIGBUS, "SIGBUS (memory that is not there, sent by a process)"},
        {"truncated", SIGBUS, "SIGBUS (memory that is not there, at 0x"},
        {"abort", SIGABRT, "SIGABRT (the program gave up)"},
        {"throw", SIGABRT,
         "an exception that nothing caught, std::runtime_error: <path>.pt: no '...'"},
        {"throw-other", SIGABRT, "an exception that nothing caught, (anonymous namespace)::Odd"},
        {"terminate", SIGABRT, "std::terminate without an exception"},
        {"overflow", SIGSEGV, "SIGSEGV (invalid memory access, at 0x"},
        {"overflow-thread", SIGSEGV, "SIGSEGV (invalid memory access, at 0x"},
        {"many", SIGSEGV, "SIGSEGV (invalid memory access, at 0x8)"},
    };
    std::size_t number = 0;
    for (const auto& way : ways) {
        const End end = crash(way.how);
        EXPECT_EQ(end.signal, way.signal) << way.how << ", exit " << end.exit << "\n" << end.err;
        std::set<std::string> names;
        for (const auto& report : reports()) names.insert(report.path);
        ASSERT_EQ(names.size(), ++number) << way.how << ": one report";
        // The newest of a second is not the last by name: its process may have a smaller number.
        std::string text, path;
        for (const auto& report : reports())
            if (end.err.find(report.path) != std::string::npos) {
                path = report.path;
                EXPECT_EQ(report.what.substr(0, std::strlen(way.what)), way.what);
                EXPECT_EQ(report.program, "relascope-cli test");
                EXPECT_TRUE(std::regex_match(
                    report.time,
                    std::regex(R"(20\d\d-[01]\d-[0-3]\d [0-2]\d:\d\d:\d\d [+-]\d{4})")))
                    << report.time;
            }
        ASSERT_FALSE(path.empty()) << way.how << " said: " << end.err;
        EXPECT_NE(end.err.find("relascope-cli: crashed; the report is " + path), std::string::npos);
        text = textOf(path);
        EXPECT_NE(text.find("\nversions\nrelascope 1.2.3\ncommit abc\n"), std::string::npos);
        // The place of the crash, and a build id for addr2line.
        EXPECT_TRUE(std::regex_search(text, std::regex(R"(\nstack\n 0  \S+)"))) << text;
        EXPECT_TRUE(std::regex_search(text, std::regex(R"(\n 1  (crasher|lib\S+)\+0x[0-9a-f]+)")))
            << way.how << text;
        EXPECT_TRUE(std::regex_search(text, std::regex(R"(/crasher  build id [0-9a-f]{16,})")))
            << text;
        EXPECT_NE(text.find("  line 99\n"), std::string::npos);
        EXPECT_EQ(text.find("  line 1\n"), std::string::npos) << "the last lines alone";
        for (const char* secret : {"secret", "prompt", "My", "jo/", m_folder.path().c_str()})
            EXPECT_EQ(text.find(secret), std::string::npos) << way.how << secret << "\n" << text;
        struct stat file {};
        ASSERT_EQ(stat(path.c_str(), &file), 0);
        EXPECT_EQ(file.st_mode & 0777, 0600u) << "for this user alone";
    }
}

TEST_F(CrashTest, AFileThatWasTruncatedWhileInUseIsNamed) {
    const End end = crash("truncated");
    EXPECT_EQ(end.signal, SIGBUS);
    const std::string named = "; weights.safetensors was truncated while it was in use\n";
    EXPECT_NE(end.err.find(named), std::string::npos) << end.err;
    ASSERT_EQ(reports().size(), 1u);
    EXPECT_NE(textOf(reports()[0].path).find(")" + named), std::string::npos);
}

TEST_F(CrashTest, TheFunctionsAreThoseThatCrashed) {
    crash("segv");
    ASSERT_EQ(reports().size(), 1u);
    const std::string text = textOf(reports()[0].path);
    std::smatch place;
    ASSERT_TRUE(std::regex_search(text, place, std::regex(R"(\n 0  crasher\+(0x[0-9a-f]+))")));
    const std::string found = m_folder / "line";
    const std::string command = "addr2line -Cfe " RELASCOPE_BIN "/crasher " + place[1].str() +
                                " >" + found + " 2>/dev/null";
    if (std::system(command.c_str()) != 0) GTEST_SKIP() << "addr2line is not installed";
    EXPECT_NE(textOf(found).find("writeToNowhere"), std::string::npos) << textOf(found);
}

TEST_F(CrashTest, AStackOverflowShowsTheFunctionThatCallsItself) {
    crash("overflow-thread");
    ASSERT_EQ(reports().size(), 1u);
    const std::string text = textOf(reports()[0].path);
    std::smatch place;
    ASSERT_TRUE(std::regex_search(text, place, std::regex(R"(\n50  (crasher\+0x[0-9a-f]+))")));
    EXPECT_NE(text.find("60  " + place[1].str()), std::string::npos) << text;
    EXPECT_NE(text.find("\n    and more\n"), std::string::npos);
}

TEST_F(CrashTest, ACrashWithinTheHandlerEndsAsEver) {
    const End end = crash("lost");
    EXPECT_EQ(end.signal, SIGSEGV) << end.exit;
    ASSERT_EQ(reports().size(), 1u);
    EXPECT_EQ(reports()[0].what.substr(0, 7), "SIGSEGV");
    const std::string text = textOf(reports()[0].path);
    EXPECT_TRUE(std::regex_search(text, std::regex(R"(\nstack\n 0  \S+\+0x)"))) << text;
    EXPECT_NE(text.find("    the stack cannot be read further\n"), std::string::npos) << text;
    EXPECT_NE(text.find("  line 99\n"), std::string::npos) << text;
}

TEST_F(CrashTest, ASignalThatIsHandledIsLeftAlone) {
    const End end = crash("handled");
    EXPECT_EQ(end.exit, 7);
    EXPECT_TRUE(reports().empty());
    EXPECT_FALSE(std::filesystem::exists(state())) << "nothing is made before a crash";
    EXPECT_EQ(crash("nothing").exit, 0);
    EXPECT_FALSE(std::filesystem::exists(state()));
}

TEST_F(CrashTest, WithoutAPlaceItEndsAsEver) {
    std::filesystem::create_directories(m_folder.path());
    std::ofstream(m_folder / "file") << "x";
    End end = crash("segv", m_folder / "file");
    EXPECT_EQ(end.signal, SIGSEGV);
    EXPECT_EQ(end.err.find("report"), std::string::npos);
    // A disk that is full.
    std::filesystem::create_directories(state() + "/relascope");
    end = crash("segv", "/proc/self");
    EXPECT_EQ(end.signal, SIGSEGV);
    EXPECT_EQ(end.err.find("report"), std::string::npos);
    end = crash("throw", "relative");
    EXPECT_EQ(end.signal, SIGABRT);
    EXPECT_TRUE(std::filesystem::exists(m_folder / ".local/state/relascope"))
        << "XDG asks for absolute paths; others do not count";
}

TEST_F(CrashTest, TheNewestReportsAreKept) {
    const std::string folder = state() + "/relascope";
    std::filesystem::create_directories(folder);
    for (int i = 0; i < 30; ++i)
        std::ofstream(folder + "/crash-200001" + std::to_string(10 + i) + "-120000-1.txt")
            << "Relascope crash report, version 1\nprogram: relascope\n";
    std::ofstream(folder + "/crash-notes.md") << "mine";
    crash("segv");
    const auto kept = reports();
    ASSERT_EQ(kept.size(), static_cast<std::size_t>(crash::kMostReports));
    EXPECT_EQ(crash::nameOf(kept[0]), "crash-20000121-120000-1.txt");
    EXPECT_EQ(kept.back().program, "relascope-cli test");
    EXPECT_TRUE(std::filesystem::exists(folder + "/crash-notes.md"));
}

TEST(CrashReports, OtherFilesAreLeftOut) {
    const TemporaryFolder folder("crash-reports");
    std::filesystem::create_directories(folder.path());
    EXPECT_TRUE(crash::reports(folder / "missing").empty());
    std::ofstream(folder / "crash-20260101-000000-1.txt") << "another program's";
    std::ofstream(folder / "crash-20260101-000000-2.txt") << "";
    std::ofstream(folder / "crash-20260101-000000-3.txt")
        << "Relascope crash report, version 1\nwhat: x\n\nwhat: y\n 0  a+0x1  "
           "_ZN9relascope5crash4noteESt17basic_string_viewIcSt11char_traitsIcEE+0x3\n 1  _Zzz+0x1";
    const auto found = crash::reports(folder.path());
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].what, "x");
    const std::string text = crash::readableReport(found[0].path);
    EXPECT_NE(text.find("relascope::crash::note(std::basic_string_view<"), std::string::npos);
    EXPECT_NE(text.find(" 1  _Zzz+0x1"), std::string::npos);
    EXPECT_EQ(crash::readableReport(folder / "missing"), "");
}

TEST(CrashNotes, HoldNoPathsAndNoTexts) {
    const std::pair<const char*, const char*> lines[] = {
        {"Started text-dat-s0", "Started text-dat-s0"},
        {"Wrote /home/jo/My model.pt", "Wrote <path>.pt"},
        {"/home/jo/a b/c.safetensors: ends too early", "<path>.safetensors: ends too early"},
        {"runs/secret: contains no run.json", "<path>: contains no run.json"},
        {"Moved /a/b to /c/d; Undo brings it back", "Moved <path>; Undo brings it back"},
        {"(~/Documents/x.txt)", "(<path>.txt)"},
        {"the token 'my word' is not one", "the token '...' is not one"},
        {"a text \"he said it's\" and more", "a text \"...\" and more"},
        {"the model's 3 words", "the model's 3 words"},
        {"an open 'quote", "an open '...'"},
        {"epoch 3/7, 12 examples/s", "epoch 3/7, 12 examples/s"},
        {"two\nlines\t\x01", "two lines  "},
    };
    for (const auto& [line, kept] : lines) EXPECT_EQ(crash::withoutData(line), kept);
    EXPECT_LT(crash::withoutData(std::string(100000, 'x')).size(), 2000u);
    crash::note("");
    for (int i = 0; i < 1000; ++i) crash::note(std::string(300, 'y') + std::to_string(i));
    const auto notes = crash::notes();
    EXPECT_LE(notes.size(), 100u);
    for (const auto& line : notes) EXPECT_LE(line.size(), 200u);
}

TEST(SafeWriter, WritesNumbersAndPaths) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    {
        crash::SafeWriter out(ends[1], "/home/jo");
        out.number(0).text(" ").number(7, 3).text(" ").number(18446744073709551615u).text(" ");
        out.hex(0).text(" ").hex(0xdeadbeefcafe).text(" ").path("/home/jo/x").text(" ");
        out.path("/home/john").text(" ").path("/home/jo");
    }
    char text[200] = {};
    ASSERT_GT(read(ends[0], text, sizeof text - 1), 0);
    EXPECT_STREQ(text, "0 007 18446744073709551615 0x0 0xdeadbeefcafe ~/x /home/john ~");
    close(ends[0]);
    close(ends[1]);
}

}  // namespace
}  // namespace relascope
