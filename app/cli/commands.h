// SPDX-License-Identifier: GPL-3.0-or-later
// One function for each command. It returns the exit code and throws relascope::Error.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/cli/cli.h"
#include "app/cli/drawing.h"
#include "app/cli/sample_input.h"
#include "types/generate_options.h"

namespace relascope::cli {

struct TrainArguments {
    std::string preset, model, data, device, out, resume, tensorboard;
    std::vector<std::string> settings, edits;
    std::int64_t epochs = 0, steps = 0, seed = -1, captureEvery = -1;
    int threads = 0;
    bool json = false;
    std::string devices, rendezvous;  ///< of several ranks
    int ranks = 0, restarts = 0, rankTimeout = 600;
};
struct RankArguments {
    std::string device = "auto";
    int threads = 0;
};
struct StudyArguments {
    std::string preset, out, shard, device = "auto", metric, split, csv, latex, figure;
    std::vector<std::string> models, settings, vary;
    std::vector<std::int64_t> sizes;
    std::string seeds = "3";
    int threads = 0, jobs = 1, slurm = 0, slurmNodes = 1, slurmGpus = 0;
    bool sameData = false, retry = false, show = false, quiet = false, json = false;
};
struct EvalArguments {
    std::string path, data, split, checkpoint, device = "auto";
    std::vector<std::string> edits;
    std::int64_t batch = 512, step = -1;
    bool json = false;
};
struct PointsArguments {
    std::string path, checkpoint;
    bool json = false;
};
struct AblateArguments {
    std::string path, checkpoint, split = "validation", metric, out, device = "auto";
    std::vector<std::string> how = {"zero", "mean", "resample"};
    std::vector<std::string> what = {"heads", "relations", "columns", "paths", "mlp"};
    std::int64_t examples = 2000;
    std::vector<std::string> edits;
    bool cumulative = false, pairs = false, json = false;
};
struct PatchArguments {
    std::string path, checkpoint, split = "validation", clean, corrupt, metric = "auto", out,
                                  device = "auto";
    std::vector<std::string> over = {"resid", "attn", "mlp", "heads", "relations"};
    std::vector<std::string> edits;
    bool estimate = false, noising = false, json = false;
};
struct InspectArguments : SampleArguments {
    std::string path, kind = "relation", out, device = "auto";
    std::int64_t step = -1;
    std::vector<std::string> edits;
    std::string show = "after";
    int layer = 1, index = 1, source = -1;
    bool along = false;  ///< every kept step: of cell (source, to), and of an answer by its name
    int to = -1;
    std::string answer;
    bool json = false;
};
struct LensArguments : SampleArguments {
    std::string path, checkpoint, out, device = "auto";
    std::vector<std::string> answers;  ///< of lens: --answer, more than once
    std::string logit, minus;          ///< of attribute
    std::optional<std::int64_t> position;
    std::vector<std::string> edits;
    std::int64_t top = 5;
    bool json = false;
};
struct DataArguments {
    std::string preset, out;
    std::vector<std::string> settings;
    std::int64_t count = 1000, seed = 0;
    std::string family;
};
struct GenerateArguments {
    std::string path, prompt, promptFile, checkpoint, tokenizer, device = "auto";
    GenerateOptions options;
    std::vector<std::string> edits;
    bool bfloat16 = false, json = false;
};
struct ExportArguments {
    std::string run, tensorboard, csv, json;  ///< where to; empty: not
};
struct TokenizeArguments {
    std::string file, tokenizer = "gpt2";
    bool decode = false, json = false;
};

int listPresets(bool json);
int listDatasets(bool json);
int listDevices(bool json);
int train(const TrainArguments& arguments);
/// A rank other than 0, which the process of rank 0 has started.
int rank(const RankArguments& arguments);
int study(const StudyArguments& arguments, const Drawing& drawing);
int evaluate(const EvalArguments& arguments);
int inspect(const InspectArguments& arguments, const Drawing& drawing);
/// The same with --along.
int inspectAlong(const InspectArguments& arguments, MapKind kind, const Drawing& drawing);
int points(const PointsArguments& arguments);
int ablate(const AblateArguments& arguments, const Drawing& drawing);
int patch(const PatchArguments& arguments, const Drawing& drawing);
int lens(const LensArguments& arguments, const Drawing& drawing);
int attribute(const LensArguments& arguments, const Drawing& drawing);
int makeData(const DataArguments& arguments);
int verify(const std::vector<std::string>& folders, const std::string& models,
           const std::string& device, bool json);
int info(const std::string& path, bool json);
int exportRun(const ExportArguments& arguments);
int convert(const std::string& in, const std::string& out, bool json);
int tokenize(const TokenizeArguments& arguments);
int generate(const GenerateArguments& arguments);
int bench(const std::vector<std::string>& names, const std::string& device, double seconds,
          bool json);

}  // namespace relascope::cli
