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

using Json = nlohmann::ordered_json;

/// `file`: no part of the question, as it may be the standard input; empty: none.
std::string promptOf(const Question& asked, const std::string& file) {
    if (file.empty()) return asked.text("prompt");
    constexpr std::uint64_t most = 64u << 20;
    if (file != "-") {
        auto text = core::readTextFile(file, most);
        core::requireUtf8Text(file, text);
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

int generate(const Question& asked, const std::string& promptFile, const Call& call) {
    const auto stop = stopOnSignals();
    const auto options = serve::generateOptionsOf(asked);
    const std::string prompt = promptOf(asked, promptFile);
    const auto& named = asked.subjects.front();
    const auto &path = named.path, &checkpoint = named.checkpoint;
    const auto& edits = named.edits;
    core::OpenedModel opened(path, checkpoint, serve::deviceOf(named), stop, {}, named.imageSize);
    if (!opened.warning().empty())
        std::cerr << "warning: " << plainName(path) << ": " << plainName(opened.warning()) << "\n";
    if (const auto tokenizer = asked.text("tokenizer"); !tokenizer.empty())
        opened.setTokenizer(tokenizer);
    resolveTrainingEdits(edits, path, opened);
    serve::OpenedDataSets sets;
    const auto interventions = serve::generateEdits(wire::Asked(asked), opened, prompt, sets);
    if (asked.value("bf16", false)) opened.narrow();

    Json tokens = Json::array();
    std::string written;
    bool begun = false;
    const auto start = std::chrono::steady_clock::now();
    const auto end = opened.generate(
        prompt, options,
        [&](const GeneratedToken& token) {
            const auto& chosen = token.chosen;
            written += chosen.piece;
            if (call.json) {
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
    if (call.json) {
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

}  // namespace

Command generateCommand() {
    const auto promptFile = std::make_shared<std::string>();
    return questionCommand(
        "generate", nullptr,
        [promptFile](const Asked& a, const Call& call) {
            return generate(a.question, *promptFile, call);
        },
        Needs::Threads,
        [promptFile](CLI::App& app, Asked&) {
            promptFile->clear();  // the file of the call before
            app.add_option("--prompt-file", *promptFile,
                           "a file with the prompt, or - for standard input");
        });
}

}  // namespace relascope::cli
