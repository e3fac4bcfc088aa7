// SPDX-License-Identifier: GPL-3.0-or-later
// generate: continues a text with a language model, token by token.
#include <CLI/CLI.hpp>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "analysis/open_model.h"
#include "app/cli/commands.h"
#include "app/cli/edit_arguments.h"
#include "app/cli/plain_output.h"
#include "app/cli/question_arguments.h"
#include "app/serve/question_subject.h"
#include "data/text_files.h"
#include "files/atomic_file.h"
#include "question/question_fields.h"
#include "types/error.h"
#include "types/text_piece.h"

namespace relascope::cli {
namespace {

constexpr const char* kGenerate = "generate";

struct GenerateArguments {
    Question asked;
    std::string promptFile;  ///< no part of the question, as it may be the standard input
    bool json = false;
};

using Json = nlohmann::ordered_json;

std::string promptOf(const GenerateArguments& a) {
    if (a.promptFile.empty()) return a.asked.text("prompt");
    constexpr std::uint64_t most = 64u << 20;
    if (a.promptFile != "-") {
        auto text = core::readTextFile(a.promptFile, most);
        core::requireUtf8Text(a.promptFile, text);
        return text.starts_with("\xEF\xBB\xBF") ? text.substr(3) : text;
    }
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

int generate(const GenerateArguments& a, const Call&) {
    const auto stop = stopOnSignals();
    const auto options = serve::generateOptionsOf(a.asked);
    const std::string prompt = promptOf(a);
    const auto& [path, hub, checkpoint, weights, edits, device] = a.asked.subjects.front();
    core::OpenedModel opened(path, checkpoint, device.empty() ? "auto" : device, stop);
    if (!opened.warning().empty())
        std::cerr << "warning: " << plainName(path) << ": " << plainName(opened.warning()) << "\n";
    if (const auto tokenizer = a.asked.text("tokenizer"); !tokenizer.empty())
        opened.setTokenizer(tokenizer);
    resolveTrainingEdits(edits, path, opened);
    serve::OpenedDataSets sets;
    const auto interventions = serve::interventionsOf(
        wire::Asked(a.asked), 0, opened, opened.promptInput(prompt), sets, core::EditUse::Generate);
    if (a.asked.value("bf16", false)) opened.narrow();

    Json tokens = Json::array();
    std::string written;
    bool begun = false;
    const auto start = std::chrono::steady_clock::now();
    const auto end = opened.generate(
        prompt, options,
        [&](const GeneratedToken& token) {
            const auto& chosen = token.chosen;
            written += chosen.piece;
            if (a.json) {
                tokens.push_back({{"id", chosen.id},
                                  {"piece", validUtf8(chosen.piece)},
                                  {"probability", chosen.probability}});
            } else {
                writeText(begun ? chosen.piece : prompt + chosen.piece);
                begun = true;
            }
            return !stop.stop_requested();
        },
        interventions);
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
        print("\n");
    }
    if (!std::cout.flush() || std::ferror(stdout) || std::fflush(stdout) != 0)
        throw FileError("standard output",
                        "cannot be written: " + std::string(std::strerror(errno)));
    return end == TextEnd::Stopped ? kExitInterrupted : 0;
}

void generateOptions(CLI::App& command, GenerateArguments& a) {
    declareQuestion(command, kGenerate, a.asked, nullptr);
    command.add_option("--prompt-file", a.promptFile,
                       "a file with the prompt, or - for standard input");
}

}  // namespace

Command generateCommand() {
    return commandOf(kGenerate, core::summaryOf(kGenerate), generateOptions, generate,
                     Needs::Threads);
}

}  // namespace relascope::cli
