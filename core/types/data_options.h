// What a run trains on.
#pragma once

#include <string>
#include <vector>

#include "types/error.h"
#include "types/field.h"

namespace relascope {

/// The five Relational Games, in the order of the paper.
inline const std::vector<std::string>& relationalGamesTasks() {
    static const std::vector<std::string> names = {"same", "occurs", "xoccurs", "between",
                                                   "match_pattern"};
    return names;
}

/// The data of a run: Relational Games (DAT 4.1, data of Shanahan et al. 2020), or text.
struct DataOptions {
    std::string kind = "relational-games";  // or "text"
    std::string path;                       // empty: generated, or the English text installed
    std::int64_t train_size = 2500;         // images; windows of text a pass, 0 = all
    std::int64_t validation_size = 5000;    // images; windows of text, 0 = all held out
    std::int64_t seed = 0;

    // Relational Games: path is a folder of <task>_<split>.npz or one .npz file
    std::string task = "between";
    std::string family = "pentos";  // trained and validated on
    std::int64_t test_size = 10000;
    bool streaming = false;  // a fresh image for every example; train_size is then an epoch
    std::string patterns = "AAB,ABA,ABB,ABC";  // match_pattern

    // Text: path is a text file, a folder of them, JSON lines, or token shards (formats.md 8)
    std::string tokenizer = "characters";  // or "gpt2", or a tokenizer's file or folder
    std::int64_t context = 256;            // tokens of one example
    double validation_fraction = 0.1;      // the end of the text, held out
    std::string text_field;                // of JSON lines; empty: text, story or content
    std::string pinned_text =
        "The model of a state machine is a state machine of the model.";  // its relations are kept
    std::string prompt = "The ";       // of the sample written along the run
    std::int64_t sample_tokens = 120;  // length of that sample; 0 = none

    bool isText() const { return kind == "text"; }

    std::vector<FieldProblem> problems() const;
    /// Throws OptionError ("data.FIELD: ...") with the first problem.
    void check() const {
        const auto found = problems();
        if (!found.empty()) throw OptionError("data." + found[0].field, found[0].message);
    }

    bool operator==(const DataOptions&) const = default;

    static const FieldTable<DataOptions>& fieldTable();
};

}  // namespace relascope
