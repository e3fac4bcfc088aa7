// SPDX-License-Identifier: GPL-3.0-or-later
#include "wire/named_figures.h"

#include <algorithm>

#include "types/error.h"
#include "types/suggest.h"

namespace relascope::wire {

const std::vector<NamedFigure>& namedFigures() {
    using Of = NamedFigure::Of;
    const auto study = [](const char* name, const char* title, const char* takes,
                          const char* preset, std::vector<std::string> options = {}) {
        options.insert(options.begin(), {"--show", "--quiet"});
        return NamedFigure{name, title, takes, Of::Study, {"study", "--out"}, options, preset};
    };
    static const std::vector<NamedFigure> all = {
        {"vidat-relation",
         "An image, tinted by a relation",
         "a run on images; --sample N, --source I",
         Of::Run,
         {"inspect"},
         {"--layers", "1,5"},
         ""},
        {"lm-relation",
         "A text, tinted by a relation",
         "a run on text; its pinned sentence, or --text T",
         Of::Run,
         {"inspect"},
         {"--layers", "1,12", "--words", "model,state"},
         ""},
        {"authors-app",
         "A text, tinted by attention and a relation in all forms",
         "a run on text; --transposed as on the authors' pages",
         Of::Run,
         {"inspect"},
         {"--layers", "1", "--tints", "attention,relation,scaled,clip,sign,sigmoid,softmax"},
         ""},
        {"ablation", "Ablation table", "a run", Of::Run, {"ablate"}, {"--cumulative"}, ""},
        {"patching",
         "Patching maps",
         "a run; --clean A, --corrupt B",
         Of::Run,
         {"patch"},
         {"--clean", "sample:0", "--corrupt", "sample:1"},
         ""},
        {"atlas-page", "Atlas of relations", "a run", Of::Run, {"atlas"}, {}, ""},
        {"appeared",
         "Atlas of relations along training",
         "a run that kept weights along training",
         Of::Run,
         {"atlas"},
         {"--along"},
         ""},
        {"duel",
         "Duel of two models",
         "a run, against its step 0; --other-checkpoint STEP, or B with its step",
         Of::Run,
         {"duel"},
         {"--other-checkpoint", "0"},
         ""},
        {"tasks",
         "Tasks of the Relational Games",
         "nothing",
         Of::Nothing,
         {"data", "relational-games-same"},
         {},
         ""},
        study("relational-games", "Sample efficiency on the Relational Games",
              "a study of a task of the Relational Games", "relational-games"),
        study("relational-games-baselines", "Sample efficiency of relational architectures",
              "a study of a task with abstractor, corelnet, predinet", "relational-games",
              {"--curves", "dat,dat-relational,transformer,abstractor,corelnet,predinet"}),
        study("relational-games-symmetry",
              "Sample efficiency of symmetric and asymmetric relations",
              "a study of a task with dat and dat-asymmetric", "relational-games",
              {"--curves", "dat,dat-asymmetric,dat-relational,dat-relational-asymmetric"}),
        study("relational-games-rca",
              "Sample efficiency of relational attention and cross-attention",
              "a study of a task with dat and dat-rca", "relational-games",
              {"--curves", "dat,dat-rca,dat-relational,dat-relational-rca"}),
        study("math", "Sample efficiency on a module of mathematics", "a study of a module",
              "math"),
        study("scaling", "Perplexity by the size of the model",
              "a study of a language model over model.n_layers or model.d_model", "text"),
        study("rca-language", "Perplexity with relational attention and cross-attention",
              "a study of a language model with dat and dat-rca", "text",
              {"--curves", "dat,dat-rca"}),
        study("data-scaling", "Perplexity by the size of the training set",
              "a study of a language model over data.train_size", "text"),
        study("pairwise", "Sample efficiency on pairwise order", "a study of pairwise-order",
              "pairwise"),
        study("set", "Sample efficiency on SET", "a study of set", "set"),
        study("sorting", "Sample efficiency on sorting", "a study of sort-argsort", "sort-argsort"),
        study("pretraining", "Sorting with and without pretraining",
              "a study of sort-pretrain or sort-prelearn", "sort-pre"),
        study("robustness", "Robustness of sorting to corrupted objects",
              "a study of sort-robustness", "sort-robustness"),
        study("recovery", "Recovery of relations from noisy symbols", "a study of symbol-recovery",
              "symbol-recovery")};
    return all;
}

const NamedFigure& namedFigure(const std::string& name) {
    std::vector<std::string> known;
    for (const auto& figure : namedFigures()) {
        if (figure.name == name) return figure;
        known.push_back(figure.name);
    }
    throw OptionError("figure", unknownName("figure", name, known));
}

std::vector<std::string> wordsOf(const NamedFigure& figure, const std::string& path,
                                 const std::string& out, const std::vector<std::string>& more) {
    auto words = figure.words;
    if (!path.empty()) words.push_back(path);
    bool replaced = false;
    for (const auto& word : figure.options) {
        if (word.starts_with("--"))
            replaced = std::find(more.begin(), more.end(), word) != more.end();
        if (!replaced) words.push_back(word);
    }
    words.insert(words.end(), {figure.of == NamedFigure::Of::Study ? "--figure" : "--out", out});
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

}  // namespace relascope::wire
