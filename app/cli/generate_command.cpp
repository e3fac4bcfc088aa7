// SPDX-License-Identifier: GPL-3.0-or-later
// generate: continues a text with a language model, token by token.
#include <CLI/CLI.hpp>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <nlohmann/json.hpp>

#include "analysis/open_model.h"
#include "app/cli/commands.h"
#include "app/cli/edit_arguments.h"
#include "app/cli/plain_output.h"
#include "data/text_files.h"
#include "files/atomic_file.h"
#include "types/error.h"
#include "types/text_piece.h"

namespace relascope::cli {
namespace {

struct GenerateArguments {
    std::string path, prompt, promptFile, checkpoint, tokenizer, device = "auto";
    GenerateOptions options;
    std::vector<std::string> edits;
    bool bfloat16 = false, json = false;
};

using Json = nlohmann::ordered_json;

std::string promptOf(const GenerateArguments& a) {
    if (a.promptFile.empty()) return a.prompt;
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
    a.options.check();
    const std::string prompt = promptOf(a);
    core::OpenedModel opened(a.path, a.checkpoint, a.device, stop);
    if (!opened.warning().empty())
        std::cerr << "warning: " << plainName(a.path) << ": " << plainName(opened.warning())
                  << "\n";
    if (!a.tokenizer.empty()) opened.setTokenizer(a.tokenizer);
    resolveTrainingEdits(a.edits, a.path, opened);
    core::Interventions interventions{{}, editData(a.path, opened)};
    if (!a.edits.empty())
        interventions.edits = core::editsNamed(a.edits, opened.points(opened.promptInput(prompt)),
                                               core::EditUse::Generate);
    if (a.bfloat16) opened.narrow();

    Json tokens = Json::array();
    std::string written;
    bool begun = false;
    const auto start = std::chrono::steady_clock::now();
    const auto end = opened.generate(
        prompt, a.options,
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
    checkpointOption(command, a.path, "run or checkpoint");
    command.add_option("--prompt", a.prompt, "the text to continue");
    command.add_option("--prompt-file", a.promptFile,
                       "a file with the prompt, or - for standard input");
    command.add_option("--tokens", a.options.tokens, "number of tokens to generate");
    command.add_option("--temperature", a.options.temperature, "0: greedy decoding");
    command.add_option("--top-k", a.options.top_k, "sample from the K most likely tokens");
    command.add_option("--top-p", a.options.top_p,
                       "sample from the smallest set of tokens with this total probability");
    command.add_option("--seed", a.options.seed, "random seed; the same seed gives the same text");
    command.add_option("--stop", a.options.stop, "stop after this text");
    command.add_option("--tokenizer", a.tokenizer, "gpt2, or a tokenizer file or folder");
    command.add_option("--checkpoint", a.checkpoint, "checkpoint of a run: last, best, or a step");
    command.add_flag("--bf16", a.bfloat16, "use bfloat16 weights: faster, less exact");
    command.add_option("--device", a.device, "auto, cpu, cuda:0");
    command.add_option("--edit", a.edits, kEditHelp)->take_all();
}

}  // namespace

Command generateCommand() {
    return commandOf("generate", "continues a text with a language model", generateOptions,
                     generate, Needs::Threads);
}

}  // namespace relascope::cli
