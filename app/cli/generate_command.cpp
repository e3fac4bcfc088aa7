// SPDX-License-Identifier: GPL-3.0-or-later
// generate: continues a text with a language model, token by token.
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <nlohmann/json.hpp>

#include "analysis/open_model.h"
#include "app/cli/commands.h"
#include "app/cli/edit_arguments.h"
#include "files/atomic_file.h"
#include "types/error.h"
#include "types/text_piece.h"

namespace relascope::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string promptOf(const GenerateArguments& a) {
    if (a.promptFile.empty()) return a.prompt;
    constexpr std::uint64_t most = 64u << 20;
    if (a.promptFile != "-") return core::readTextFile(a.promptFile, most);
    std::string text;
    for (char c; text.size() < most && std::cin.get(c);) text += c;
    return text;
}

const char* endName(TextEnd end) {
    switch (end) {
        case TextEnd::Length:
            return "length";
        case TextEnd::StopText:
            return "stop text";
        case TextEnd::EndOfText:
            return "end of text";
        case TextEnd::Stopped:
            break;
    }
    return "stopped";
}

}  // namespace

int generate(const GenerateArguments& a) {
    const auto stop = stopOnSignals();
    a.options.check();
    const std::string prompt = promptOf(a);
    core::OpenedModel opened(a.path, a.checkpoint, a.device, stop);
    if (!opened.warning().empty())
        std::cerr << "warning: " << a.path << ": " << opened.warning() << "\n";
    if (!a.tokenizer.empty()) opened.setTokenizer(a.tokenizer);
    resolveTrainingEdits(a.edits, a.path, opened);
    if (!a.edits.empty())
        opened.setEdits(
            editsOf(a.edits, opened.points(opened.promptInput(prompt)), core::EditUse::Generate),
            editData(a.path, opened));
    if (a.bfloat16) opened.narrow();

    Json tokens = Json::array();
    std::string written;
    bool begun = false;
    const auto start = std::chrono::steady_clock::now();
    const auto end = opened.generate(prompt, a.options, [&](const GeneratedToken& token) {
        const auto& chosen = token.chosen;
        written += chosen.piece;
        if (a.json) {
            tokens.push_back({{"id", chosen.id},
                              {"piece", validUtf8(chosen.piece)},
                              {"probability", chosen.probability}});
        } else {
            if (!begun) std::fwrite(prompt.data(), 1, prompt.size(), stdout);
            begun = true;
            std::fwrite(chosen.piece.data(), 1, chosen.piece.size(), stdout);
            std::fflush(stdout);
        }
        return !stop.stop_requested();
    });
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (a.json) {
        Json json = {{"prompt", validUtf8(prompt)},
                     {"text", validUtf8(written)},
                     {"end", endName(end)},
                     {"seconds", seconds},
                     {"tokens", tokens}};
        if (opened.trainingEdits().anyEnabled())
            json["training_edits"] = wordsOfEach(opened.trainingEdits());
        std::cout << json.dump(2) << "\n";
    } else {
        std::printf("\n");
    }
    if (!std::cout.flush() || std::ferror(stdout) || std::fflush(stdout) != 0)
        throw FileError("standard output",
                        "cannot be written: " + std::string(std::strerror(errno)));
    return end == TextEnd::Stopped ? kExitInterrupted : 0;
}

}  // namespace relascope::cli
