// SPDX-License-Identifier: GPL-3.0-or-later
// The data that a run trains on.
#pragma once

#include <string>
#include <vector>

#include "types/error.h"
#include "types/field.h"

namespace relascope {

/// The data of a run. How a kind uses each field is described by its descriptor
/// (types/data_kind.h).
struct DataOptions {
    std::string kind = "relational-games";  // a name of dataKinds()
    std::string task = "between";           // one of the tasks of that kind
    std::string path;                       // files; empty: generated, or what the set-up installs
    std::string name;                       // name of own files in runs, titles; empty: preset
    std::int64_t train_size = 2500;         // examples; windows of text an epoch, 0 = all
    std::int64_t validation_size = 5000;    // examples; 0 = all that is held out
    std::int64_t test_size = 10000;         // examples of each test split; 0 = all
    std::int64_t seed = 0;

    // Relational Games: path is a folder of <task>_<split>.npz or one .npz file
    std::string family = "pentos";  // shape family that is trained and validated on
    std::string arrays;             // arrays of the .npz: images,labels[,test images,test labels]
    bool streaming = false;         // a fresh image for every example; train_size is then an epoch
    std::string patterns = "AAA,AAB,ABA,ABB,ABC";  // patterns of match_pattern

    // Text: path is a text file, a folder of them, JSON lines, or token shards (formats.md 8)
    std::string tokenizer = "characters";  // or "gpt2", or a tokenizer's file or folder
    std::int64_t context = 256;            // tokens of one example
    double validation_fraction = 0.1;      // the end of the text, held out
    std::string text_field;                // field of JSON lines; empty: text, story or content
    std::string pinned_text =
        "The model of a state machine is a state machine of the model.";  // its relations are
                                                                          // captured during
                                                                          // training
    std::string prompt = "The ";       // prompt of the sample that is generated during training
    std::int64_t sample_tokens = 120;  // length of that sample; 0 = none

    // Objects: random vectors
    std::int64_t objects = 64;  // pairs: ordered objects; select-relate: candidates; else symbols
    std::int64_t dim = 32;      // numbers of one object
    std::int64_t length = 10;   // sorting: objects of a sequence
    std::int64_t longest = 10;  // sorting: test splits of every length from 11 to this
    bool corruptions = false;   // sorting: test splits of disturbed objects
    double adversarial = 0.1;   // symbol recovery: fraction of entries far off
    std::int64_t nonzero = 5;   // symbol recovery, sparse: symbols of one relation

    // SET
    std::string set_split = "draws";      // or "triples": no triple on both sides
    std::string set_input = "embedding";  // or "relations": the 12 bits same or different
    std::int64_t embedding = 64;          // width of the card network's output

    // Abstract rules
    std::int64_t held_out = 0;  // m: how many of the 100 glyphs occur in test problems only

    // Minimal pairs: path is JSON lines or a folder of them; text_field may name their fields
    std::int64_t distance = 1;  // phrases between the words that have to agree
    bool attractors = true;     // nouns in them have the other number

    // Images: path is a folder of binaries or IDX files, or of one folder a class
    std::string augment = "none";  // none | crop-flip | autoaugment (after crop and flip)
    std::int64_t image_side = 32;  // px that the pictures of a folder are scaled to
    std::string mix = "none";      // none | cutmix | mixup | either: one of the two a batch

    /// Any images: how they are converted for the model that a run starts from
    /// (options/image_processor.h); empty: images stay as the data have them.
    std::string preprocessor;

    /// Whether the input is one sequence of tokens. Throws OptionError for an unknown kind.
    bool isText() const;

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
