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

/// Options of the Relational Games data (DAT 4.1, relational-games data of Shanahan et al. 2020).
struct DataOptions {
    std::string task = "between";
    std::string path;  // empty: generated; else a folder of <task>_<split>.npz or one .npz file
    std::string family = "pentos";  // trained and validated on
    std::int64_t train_size = 2500;
    std::int64_t validation_size = 5000;
    std::int64_t test_size = 10000;
    bool streaming = false;  // a fresh image for every example; train_size is then an epoch
    std::int64_t seed = 0;
    std::string patterns = "AAB,ABA,ABB,ABC";  // match_pattern

    std::vector<FieldProblem> problems() const {
        std::vector<FieldProblem> found;
        if (task == "match_pattern") {
            std::string rest = patterns + ",";
            std::size_t count = 0;
            for (std::size_t comma; (comma = rest.find(',')) != std::string::npos;
                 rest.erase(0, comma + 1), ++count) {
                const std::string name = rest.substr(0, comma);
                if (name != "AAA" && name != "AAB" && name != "ABA" && name != "ABB" &&
                    name != "ABC")
                    found.push_back(
                        {"patterns", "'" + name + "' is none of AAA, AAB, ABA, ABB, ABC"});
            }
            if (count < 2)
                found.push_back({"patterns", "needs at least two patterns, separated by commas"});
        }
        if (streaming && !path.empty())
            found.push_back(
                {"streaming", "goes with generated images only; leave data.path empty"});
        return found;
    }
    /// Throws OptionError ("data.FIELD: ...") with the first problem.
    void check() const {
        const auto found = problems();
        if (!found.empty()) throw OptionError("data." + found[0].field, found[0].message);
    }

    bool operator==(const DataOptions&) const = default;

    static const FieldTable<DataOptions>& fieldTable() {
        using O = DataOptions;
        using namespace fields;
        static const auto generated =
            std::function<bool(const O&)>([](const O& o) { return o.path.empty(); });
        static const FieldTable<O> table = {
            choice(&O::task, "task", "Task", "Which relation decides the label.",
                   relationalGamesTasks()),
            integer(&O::train_size, "train_size", "Training size", "Images trained on.", 2,
                    100000000),
            integer(&O::validation_size, "validation_size", "Validation size",
                    "Images held out to watch training.", 2, 10000000),
            integer(&O::test_size, "test_size", "Test size", "Images of each test split.", 2,
                    10000000),
            choice(&O::family, "family", "Train on",
                   "Family of figures in training and validation; the others are test splits.",
                   {"pentos", "hexos", "stripes"}),
            when<O>(
                generated,
                integer(&O::seed, "seed", "Data seed",
                        "Start of the generator; the run's own seed does not change the images.", 0,
                        9007199254740992.0)),
            when<O>(
                generated,
                boolean(&O::streaming, "streaming", "Streaming",
                        "A fresh image for every example; the training size is then one epoch.")),
            when<O>([](const O& o) { return o.task == "match_pattern" && o.path.empty(); },
                    text(&O::patterns, "patterns", "Patterns",
                         "Patterns that occur, separated by commas.")),
            advanced(
                text(&O::path, "path", "Real data",
                     "A .npz file, or a folder of <task>_<split>.npz; empty means generated.")),
        };
        return table;
    }
};

}  // namespace relascope
