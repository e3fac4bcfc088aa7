// SPDX-License-Identifier: GPL-3.0-or-later
// The commands: each declares its options and runs, in the file of its name or of its subject.
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/cli/cli.h"
#include "types/question.h"
#include "types/view.h"

namespace CLI {
class App;
}

namespace relascope::core {
struct Analysis;
struct TableCommand;
}  // namespace relascope::core

namespace relascope::cli {

/// What a command gets beside its options.
struct Call {
    bool json = false, paper = false;
};

enum class Needs {
    Nothing,
    Threads  ///< computes with LibTorch: takes --threads, and signals stop it
};

struct Command {
    std::string name, help;
    /// Declares the options, and returns what runs once they are parsed. That returns the exit code
    /// and throws relascope::Error.
    std::function<std::function<int(const Call&)>(CLI::App&)> declare;
    Needs needs = Needs::Nothing;
    bool json = false;   ///< takes --json
    bool paper = false;  ///< draws pictures: takes --paper
};

/// A command whose options are kept in `Arguments`; its members `bool json` and `bool paper`, if it
/// has them, say whether --json and --paper were given.
template <class Arguments>
Command commandOf(std::string name, std::string help, void (*options)(CLI::App&, Arguments&),
                  int (*run)(const Arguments&, const Call&), Needs needs = Needs::Nothing) {
    Command command{std::move(name), std::move(help), {}, needs};
    constexpr bool json = requires(Arguments a) {
        { a.json } -> std::same_as<bool&>;
    };
    constexpr bool paper = requires(Arguments a) {
        { a.paper } -> std::same_as<bool&>;
    };
    command.json = json;
    command.paper = paper;
    command.declare = [options, run](CLI::App& app) -> std::function<int(const Call&)> {
        const auto arguments = std::make_shared<Arguments>();
        options(app, *arguments);
        return [arguments, run](const Call& call) {
            if constexpr (json) arguments->json = call.json;
            if constexpr (paper) arguments->paper = call.paper;
            return run(*arguments, call);
        };
    };
    return command;
}

/// What the command of a question gets.
struct Asked {
    Question question;
    std::string out;  ///< the file to write; empty: none
};
/// The command of a question. `out` says what --out may be; null: it has none. `more` declares what
/// is no part of the question.
Command questionCommand(const std::string& name, const char* out,
                        std::function<int(const Asked&, const Call&)> run,
                        Needs needs = Needs::Nothing,
                        const std::function<void(CLI::App&, Asked&)>& more = {});

struct TrainArguments {
    std::string preset, model, data, device, out, resume;
    std::string initFrom;  ///< the checkpoint that a new run starts from
    std::string start;     ///< a folder of startRun() (wire/start_run.h)
    std::vector<std::string> settings, edits;
    std::int64_t epochs = 0, steps = 0, seed = -1, captureEvery = -1;
    int threads = 0;
    bool json = false, queue = false;
    std::string devices, rendezvous;  ///< options for several ranks
    int ranks = 0, restarts = 0, rankTimeout = 600;
};

struct InspectArguments {
    Question input;  ///< its options choose the input
    std::string path, kind = "relation", out, device = "auto";
    std::int64_t step = -1;
    std::string named;  ///< in place of a step: "last", "best"
    std::vector<std::string> edits;
    std::string head, imageSize;  ///< Model::head, Model::imageSize
    std::string other;            ///< the model whose maps are taken from those of `path`
    std::int64_t otherStep = -1;
    std::string otherNamed;
    std::vector<std::string> otherEdits;
    std::string otherHead, otherImageSize;
    std::string show;  ///< empty: after, of two models the difference
    int layer = 1, index = 1, source = -1;
    std::vector<int> layers;         ///< layers of the papers' figure, from 1
    std::vector<std::string> words;  ///< the source in each layer: the end of this word
    std::vector<std::string> tints = {"relation"};  ///< forms of the same figure
    bool transposed = false;                        ///< show what the source sends
    bool along = false;  ///< values at every kept step: of cell (source, to) and of the answer
    std::shared_ptr<bool> fetches = std::make_shared<bool>(false);  ///< --fetch
    int to = -1;                                                    ///< also object j of a picture
    std::string answer;
    MapLook look = {};  ///< without `to` and `reversed`, which are above
    bool json = false, paper = false;
};

/// Whether a command draws pictures of its answer: takes --out FILE.png.
bool drawsPictures(const std::string& name);
/// Runs the words of another command within one, and returns its exit code. Throws what it throws.
int runOtherCommand(std::vector<std::string> words);

/// Called before any thread starts: signals stop what is computed from then on, with this number of
/// threads.
void beginComputing(int threads);

/// The positional option of commands that open a checkpoint; also by its name on the hub
/// (hub/hub_cache.h), which `path` becomes the folder of, and --fetch.
/// `fetches` gets whether --fetch was given.
void checkpointOption(CLI::App& command, std::string& path, const char* help,
                      const char* name = "path", std::shared_ptr<bool> fetches = nullptr);

/// A path as it is, or for "hub:ORG/NAME[@REVISION]" the folder on this machine, also of a series.
std::string hubPlaceOf(const std::string& given);

/// For a series of the hub whose steps are followed: says how many of them are on this machine, or
/// fetches the others. Revisions without weights are left out with a note. Throws Error, Cancelled.
void followSeries(const std::string& run, bool fetches);

/// The positional option of the second of two models, which may be named as the first.
void otherOption(CLI::App& command, std::string& path, const char* help);

/// Lets weights along training that are revisions of the hub be fetched when they are opened.
void fetchRevisionsOnDemand();

/// Runs `eval --pairs` with the weights of a checkpoint, and returns the exit code. Writes `out`
/// unless it is empty.
int evaluatePairs(const Question& asked, const std::string& checkpoint, const std::string& out,
                  const Call& call);

/// Runs `inspect --along` and returns the exit code.
int inspectAlong(const InspectArguments& arguments, const Call& call);

/// The command of an analysis, which must outlive it.
Command analysisCommand(const core::Analysis& analysis);
/// The command of tables about a model, which must outlive it.
Command tableCommand(const core::TableCommand& command);

Command presetsCommand();
Command familiesCommand();
Command datasetsCommand();
Command devicesCommand();
Command servedCommand();
Command trainCommand();
Command rankCommand();
Command studyCommand();
Command evalCommand();
Command pointsCommand();
Command inspectCommand();
Command dataCommand();
Command verifyCommand();
Command infoCommand();
Command convertCommand();
Command exportCommand();
Command tokenizeCommand();
Command generateCommand();
Command sessionCommand();
Command attachCommand();
Command mcpCommand();
Command fetchCommand();
Command figureCommand();
Command drawCommand();
Command curvesCommand();
Command compareCommand();

}  // namespace relascope::cli
