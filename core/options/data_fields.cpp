// The field table of DataOptions, and what of them cannot be opened.
#include "types/data_options.h"

namespace relascope {

std::vector<FieldProblem> DataOptions::problems() const {
    std::vector<FieldProblem> found;
    if (isText()) {
        if (tokenizer.empty())
            found.push_back({"tokenizer", "needs a name: characters, gpt2, or a tokenizer's file"});
        return found;
    }
    for (const auto& [field, value] :
         {std::pair{"train_size", train_size}, {"validation_size", validation_size}})
        if (value < 2) found.push_back({field, "needs at least 2 images"});
    if (task == "match_pattern") {
        std::string rest = patterns + ",";
        std::size_t count = 0;
        for (std::size_t comma; (comma = rest.find(',')) != std::string::npos;
             rest.erase(0, comma + 1), ++count) {
            const std::string name = rest.substr(0, comma);
            if (name != "AAA" && name != "AAB" && name != "ABA" && name != "ABB" && name != "ABC")
                found.push_back({"patterns", "'" + name + "' is none of AAA, AAB, ABA, ABB, ABC"});
        }
        if (count < 2)
            found.push_back({"patterns", "needs at least two patterns, separated by commas"});
    }
    if (streaming && !path.empty())
        found.push_back({"streaming", "goes with generated images only; leave data.path empty"});
    return found;
}

const FieldTable<DataOptions>& DataOptions::fieldTable() {
    using O = DataOptions;
    using namespace fields;
    using Applies = std::function<bool(const O&)>;
    static const Applies texts = [](const O& o) { return o.isText(); };
    static const Applies games = [](const O& o) { return !o.isText(); };
    static const Applies generated = [](const O& o) { return !o.isText() && o.path.empty(); };
    static const FieldTable<O> table = {
        advanced(choice(&O::kind, "kind", "Data", "Relational Games, or text to continue.",
                        {"relational-games", "text"})),
        when<O>(games, choice(&O::task, "task", "Task", "Which relation decides the label.",
                              relationalGamesTasks())),
        text(&O::path, "path", "Files",
             "Images: a .npz file, or a folder of <task>_<split>.npz. Text: a text file, a folder "
             "of them, JSON lines or token shards. Empty: generated, or the English text "
             "installed."),
        when<O>(texts, text(&O::tokenizer, "tokenizer", "Tokenizer",
                            "characters, gpt2, or a tokenizer's file or folder.")),
        when<O>(texts, integer(&O::context, "context", "Context",
                               "Tokens of one example; at most the model's context.", 2, 1048576)),
        integer(&O::train_size, "train_size", "Training size",
                "Examples trained on: images, or windows of text (0 means the whole text).", 0,
                100000000),
        integer(&O::validation_size, "validation_size", "Validation size",
                "Examples held out to watch training (of text, 0 means all that is held out).", 0,
                10000000),
        when<O>(texts,
                real(&O::validation_fraction, "validation_fraction", "Held out",
                     "Share of the text, from its end, that is never trained on.", 0.0001, 0.9)),
        when<O>(games, integer(&O::test_size, "test_size", "Test size",
                               "Images of each test split.", 2, 10000000)),
        when<O>(games, choice(&O::family, "family", "Train on",
                              "Family of figures in training and validation; the others are test "
                              "splits.",
                              {"pentos", "hexos", "stripes"})),
        when<O>(generated,
                integer(&O::seed, "seed", "Data seed",
                        "Start of the generator; the run's own seed does not change the images.", 0,
                        9007199254740992.0)),
        when<O>(generated,
                boolean(&O::streaming, "streaming", "Streaming",
                        "A fresh image for every example; the training size is then one epoch.")),
        when<O>([](const O& o) { return o.task == "match_pattern" && generated(o); },
                text(&O::patterns, "patterns", "Patterns",
                     "Patterns that occur, separated by commas.")),
        when<O>(texts, text(&O::pinned_text, "pinned_text", "Pinned sentence",
                            "Its relations are kept along the run.")),
        when<O>(texts, text(&O::prompt, "prompt", "Prompt",
                            "What the sample of each evaluation continues.")),
        advanced(when<O>(texts, integer(&O::sample_tokens, "sample_tokens", "Sample length",
                                        "Tokens of that sample; 0 means none.", 0, 100000))),
        advanced(when<O>(texts, text(&O::text_field, "text_field", "Field of JSON lines",
                                     "Which field holds the text; empty means text, story or "
                                     "content."))),
    };
    return table;
}

}  // namespace relascope
