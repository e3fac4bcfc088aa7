// SPDX-License-Identifier: GPL-3.0-or-later
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <span>
#include <thread>
#include <vector>

#include "analysis/open_model.h"
#include "answers/answer_text.h"
#include "app/cli/cli.h"
#include "app/cli/drawing.h"
#include "files/atomic_file.h"
#include "files/program_folder.h"
#include "types/error.h"
#include "wire/socket.h"

extern char** environ;

namespace relascope::cli {

namespace fs = std::filesystem;

std::string ownProgram() {
    const fs::path file = core::programFile();
    if (file.empty()) throw Error("the path of this program cannot be determined");
    return file.string();
}

namespace {

std::string drawingProgram() {
    const fs::path program = fs::path(ownProgram()).parent_path() / "relascope";
    if (!fs::exists(program))
        throw Error(
            "figures are drawn by the program relascope, which was not found next to this one; "
            ".csv works without it");
    return program.string();
}

// A file in memory without a name, with the bytes that another process reads.
wire::Descriptor memoryFile(std::span<const std::uint8_t> bytes) {
    wire::Descriptor file(memfd_create("figure", MFD_CLOEXEC));
    if (!file) throw Error("no memory for the figure: " + std::string(std::strerror(errno)));
    for (std::size_t done = 0; done < bytes.size();) {
        const auto part = ::write(file.get(), bytes.data() + done, bytes.size() - done);
        if (part < 0) throw Error("no memory for the figure: " + std::string(std::strerror(errno)));
        done += static_cast<std::size_t>(part);
    }
    ::lseek(file.get(), 0, SEEK_SET);
    return file;
}

std::string textOf(const wire::Descriptor& file) {
    std::string text(static_cast<std::size_t>(::lseek(file.get(), 0, SEEK_END)), '\0');
    const auto got = ::pread(file.get(), text.data(), text.size(), 0);
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, got)));
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
}

}  // namespace

void requireDrawing(const std::string& out) {
    if (isPicture(out)) drawingProgram();
}

wire::FigureOrigin& figureOrigin() {
    static wire::FigureOrigin origin;
    return origin;
}

std::vector<std::string> withoutOutput(std::vector<std::string> words) {
    const bool study = !words.empty() && words[0] == "study";  // whose --out is the study
    const std::string file = study ? "--figure" : "--out";
    std::vector<std::string> kept;
    for (std::size_t k = 0; k < words.size(); ++k) {
        const auto& word = words[k];
        if (word == file || word == "--threads")
            ++k;  // its value
        else if (word != "--json" && !word.starts_with(file + "=") &&
                 !word.starts_with("--threads="))
            kept.push_back(word);
    }
    return kept;
}

void draw(const std::string& out, const wire::Figure& figure, bool paper) {
    std::string program = drawingProgram(), word = "draw", file = out, style = "--paper";
    std::array<char*, 5> arguments = {program.data(), word.data(), file.data(),
                                      paper ? style.data() : nullptr, nullptr};
    const auto input = memoryFile(wire::figureBytes(figure, figureOrigin())), said = memoryFile({});
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, input.get(), 0);
    posix_spawn_file_actions_adddup2(&files, said.get(), 2);
    pid_t child = 0;
    const int problem =
        posix_spawn(&child, program.c_str(), &files, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&files);
    if (problem != 0) throw Error(program + " cannot be started: " + std::strerror(problem));
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
    std::string error = textOf(said);
    error.erase(0, error.rfind('\n') + 1);  // messages of libraries come before it
    if (error.empty()) error = "relascope has ended before it was drawn";
    // The file is named by the FileError below.
    if (error.starts_with(out + ": ")) error.erase(0, out.size() + 2);
    throw FileError(out, error);
}

int runSideBySide(const std::vector<std::string>& arguments, int count,
                  const std::stop_token& stop) {
    const std::string program = ownProgram();
    std::vector<std::string> texts = arguments;
    std::vector<char*> pointers = {const_cast<char*>(program.c_str())};
    for (auto& text : texts) pointers.push_back(text.data());
    pointers.push_back(nullptr);
    // The children handle signals themselves and must not inherit the blocked ones.
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    std::vector<pid_t> children;
    for (int i = 0; i < count; ++i) {
        pid_t child = 0;
        if (posix_spawn(&child, program.c_str(), nullptr, &attributes, pointers.data(), environ) ==
            0)
            children.push_back(child);
    }
    posix_spawnattr_destroy(&attributes);
    if (children.empty()) throw Error(program + " cannot be restarted");
    int exit = 0;
    bool signalled = false;
    while (!children.empty()) {
        if (stop.stop_requested() && !signalled) {
            for (const auto child : children) kill(child, SIGINT);
            signalled = true;
        }
        std::erase_if(children, [&](pid_t child) {
            int status = 0;
            if (waitpid(child, &status, WNOHANG) != child) return false;
            exit = std::max(exit, WIFEXITED(status) ? WEXITSTATUS(status) : kExitFailed);
            return true;
        });
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return exit;
}

namespace {

const std::vector<std::string> kPictures = {".png", ".svg", ".pdf"};

}  // namespace

bool isPicture(const std::string& path) {
    return std::find(kPictures.begin(), kPictures.end(),
                     std::filesystem::path(path).extension().string()) != kPictures.end();
}

std::string endingOf(const std::string& out, std::initializer_list<const char*> known) {
    const auto ending = std::filesystem::path(out).extension().string();
    auto all = kPictures;
    all.insert(all.end(), known.begin(), known.end());
    std::string list;
    for (std::size_t k = 0; k < all.size(); ++k) {
        if (all[k] == ending) return ending;
        list += (k == 0 ? "" : k + 1 == all.size() ? " or " : ", ") + all[k];
    }
    throw OptionError("--out", "'" + out + "' must end in " + list);
}

void writeCsv(const std::string& path, const Answer& answer) {
    core::writeTextFile(path, core::csvOf(answer));
    for (const auto* table : core::furtherTables(answer))
        core::writeTextFile(path.substr(0, path.size() - 3) + table->key + ".csv",
                            core::csvOf(*table));
}

std::string captionOf(const std::string& path, const core::OpenedModel& model,
                      const std::string& more) {
    std::string caption = folderName(path);
    if (model.isRun()) caption += ", step " + std::to_string(model.step());
    if (!more.empty()) caption += ", " + more;
    const auto head = core::headText(model.head());
    return head.empty() ? caption : caption + ", by " + head;
}

}  // namespace relascope::cli
