// The field table of DataOptions, and what of them cannot be opened.
#include <algorithm>
#include <map>

#include "types/data_options.h"
#include "types/suggest.h"

namespace relascope {
namespace {

using Tasks = std::vector<std::pair<std::string, std::vector<std::string>>>;

const Tasks& allTasks() {
    static const Tasks table = {
        {"relational-games", relationalGamesTasks()},
        {"text", {}},
        {"sorting", {"argsort", "permuted-argsort"}},
        {"pairs", {"order", "sorting-order"}},
        {"set", {"sets", "attributes"}},
        {"math",
         {"algebra__linear_1d", "algebra__sequence_next_term", "calculus__differentiate",
          "polynomials__add", "polynomials__expand"}},
        {"images", {"cifar10", "cifar100", "fashion-mnist", "folder"}},
        {"select-relate", {"select-relate", "select-kernel", "select-wave"}},
        {"inner-products", {"gaussian-kernel", "order-relation"}},
        {"symbol-recovery", {"dense", "sparse"}}};
    return table;
}

}  // namespace

const std::vector<std::string>& dataKinds() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> all;
        for (const auto& [kind, tasks] : allTasks()) all.push_back(kind);
        return all;
    }();
    return names;
}

const std::vector<std::string>& tasksOf(const std::string& kind) {
    static const std::vector<std::string> none;
    for (const auto& [name, tasks] : allTasks())
        if (name == kind) return tasks;
    return none;
}

std::vector<FieldProblem> DataOptions::problems() const {
    std::vector<FieldProblem> found;
    if (isText()) {
        if (tokenizer.empty())
            found.push_back({"tokenizer", "must be characters, gpt2 or a tokenizer file"});
        return found;
    }
    const auto& tasks = tasksOf(kind);
    if (std::find(tasks.begin(), tasks.end(), task) == tasks.end()) {
        found.push_back({"task", unknownName("task of " + kind, task, tasks)});
        return found;
    }
    const auto least = [&](const char* field, std::int64_t value, std::int64_t minimum) {
        if (value < minimum)
            found.push_back({field, "needs at least " + std::to_string(minimum) + ", not " +
                                        std::to_string(value)});
    };
    if (is("relational-games"))
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
                found.push_back(
                    {"patterns", "'" + name + "' must be one of AAA, AAB, ABA, ABB, ABC"});
        }
        if (count < 2)
            found.push_back({"patterns", "needs at least two patterns, separated by commas"});
    }
    if (streaming && !path.empty())
        found.push_back({"streaming", "is for generated images only; leave data.path empty"});
    if (is("sorting")) {
        least("length", length, 2);
        if (length > 48)
            found.push_back({"length", "must be at most 48, the number of different objects"});
        if (longest > 48)
            found.push_back({"longest", "must be at most 48, the number of different objects"});
    }
    if (is("pairs") || is("select-relate") || is("symbol-recovery")) least("objects", objects, 2);
    if (is("select-relate") || is("inner-products") || is("symbol-recovery")) {
        least("dim", dim, 1);
        for (const auto& [field, value] : {std::pair{"train_size", train_size},
                                           {"validation_size", validation_size},
                                           {"test_size", test_size}})
            least(field, value, 1);  // 0 means all there are, and there is no end to them
    }
    if (is("symbol-recovery") && task == "sparse" && nonzero > objects)
        found.push_back({"nonzero", "is more than the " + std::to_string(objects) + " symbols"});
    if (is("images") && path.empty() && task != "fashion-mnist")
        found.push_back({"path", task + " is not included; give the folder that contains it"});
    return found;
}

const FieldTable<DataOptions>& DataOptions::fieldTable() {
    using O = DataOptions;
    using namespace fields;
    using Applies = std::function<bool(const O&)>;
    static const auto kinds = [](std::vector<std::string> names) -> Applies {
        return [names = std::move(names)](const O& o) {
            return std::find(names.begin(), names.end(), o.kind) != names.end();
        };
    };
    static const Applies texts = kinds({"text"}), games = kinds({"relational-games"}),
                         sorting = kinds({"sorting"}), set = kinds({"set"}),
                         triples = [](const O&o) { return set(o) && o.task == "sets"; },
                         images = kinds({"images"}), recovery = kinds({"symbol-recovery"});
    static const Applies hasTasks = [](const O& o) { return tasksOf(o.kind).size() > 1; };
    static const Applies fromFiles = kinds({"relational-games", "text", "math", "images"});
    static const Applies generated = [](const O& o) {
        return !o.isText() && !o.is("images") && o.path.empty();
    };
    static const Applies generatedGames = [](const O& o) { return games(o) && o.path.empty(); };
    static const FieldTable<O> table = [] {
        std::vector<std::string> everyTask;
        for (const auto& [kind, tasks] : allTasks())
            everyTask.insert(everyTask.end(), tasks.begin(), tasks.end());
        auto task = when<O>(
            hasTasks, choice(&O::task, "task", "Task", "Task to learn on these data.", everyTask));
        task.choicesFor = [](const O& o) { return tasksOf(o.kind); };
        FieldTable<O> fields = {
            advanced(choice(&O::kind, "kind", "Data", "Kind of training data.", dataKinds())),
            task,
            when<O>(
                fromFiles,
                text(&O::path, "path", "Files",
                     "Images: a .npz file, or a folder with <task>_<split>.npz, CIFAR or IDX "
                     "files, or one folder per class. Text: a text file, a folder of text files, "
                     "JSON lines or token shards. Mathematics: a folder with the published files. "
                     "Empty: generated data, or the data installed by the set-up.")),
            when<O>(texts, text(&O::tokenizer, "tokenizer", "Tokenizer",
                                "characters, gpt2, or a tokenizer file or folder.")),
            when<O>(texts,
                    integer(&O::context, "context", "Context",
                            "Tokens per example; at most the context of the model.", 2, 1048576)),
            integer(&O::train_size, "train_size", "Training size",
                    "Number of training examples: images, sets, sequences, or windows of text; 0 "
                    "means all available.",
                    0, 100000000),
            integer(&O::validation_size, "validation_size", "Validation size",
                    "Number of validation examples; 0 means all that are held out.", 0, 10000000),
            when<O>(texts,
                    real(&O::validation_fraction, "validation_fraction", "Held out",
                         "Fraction of the text, taken from its end, held out for validation.",
                         0.0001, 0.9)),
            when<O>([](const O& o) { return !o.isText(); },
                    integer(&O::test_size, "test_size", "Test size",
                            "Number of examples in each test split; 0 means all available.", 0,
                            10000000)),
            when<O>(
                games,
                choice(&O::family, "family", "Train on",
                       "Shape family used for training and validation; the others are test splits.",
                       {"pentos", "hexos", "stripes"})),
            when<O>(generated,
                    integer(&O::seed, "seed", "Data seed",
                            "Random seed of the data; independent of the seed of the run.", 0,
                            9007199254740992.0)),
            when<O>(generatedGames, boolean(&O::streaming, "streaming", "Streaming",
                                            "Generates new images in every epoch; the training "
                                            "size is the length of an epoch.")),
            when<O>([](const O& o) { return o.task == "match_pattern" && generatedGames(o); },
                    text(&O::patterns, "patterns", "Patterns",
                         "Patterns to generate, comma-separated.")),
            when<O>(texts, text(&O::pinned_text, "pinned_text", "Pinned sentence",
                                "Sentence whose relations are captured during training.")),
            when<O>(texts, text(&O::prompt, "prompt", "Prompt",
                                "Text that is continued at each evaluation.")),
            advanced(when<O>(
                texts, integer(&O::sample_tokens, "sample_tokens", "Sample length",
                               "Tokens generated at each evaluation; 0 means none.", 0, 100000))),
            advanced(when<O>(
                texts,
                text(&O::text_field, "text_field", "Field of JSON lines",
                     "Name of the field with the text; empty means text, story or content."))),
            when<O>(
                [](const O& o) {
                    return (o.is("pairs") && o.task == "order") || o.is("select-relate") ||
                           o.is("symbol-recovery");
                },
                integer(&O::objects, "objects", "Objects",
                        "Pairs: number of ordered objects. Select-relate: number of candidate "
                        "objects. Symbol recovery: number of symbols m.",
                        2, 100000)),
            when<O>(
                [](const O& o) {
                    return (o.is("pairs") && o.task == "order") || o.is("select-relate") ||
                           o.is("inner-products") || o.is("symbol-recovery");
                },
                integer(&O::dim, "dim", "Dimension", "Number of features of an object.", 1,
                        100000)),
            when<O>(sorting, integer(&O::length, "length", "Objects of a sequence",
                                     "Number of objects to sort.", 2, 48)),
            when<O>(sorting, integer(&O::longest, "longest", "Longest test length",
                                     "Adds test splits of every length from 11 to this one; the "
                                     "output vocabulary grows accordingly.",
                                     2, 48)),
            when<O>(sorting,
                    boolean(&O::corruptions, "corruptions", "Corrupted test sets",
                            "Adds test splits with corrupted objects: multiplied by a random "
                            "matrix, or with added noise, at increasing strength.")),
            when<O>(recovery,
                    real(&O::adversarial, "adversarial", "Outlier fraction",
                         "Fraction of the values that are replaced by outliers.", 0.0, 1.0)),
            when<O>([](const O& o) { return recovery(o) && o.task == "sparse"; },
                    integer(&O::nonzero, "nonzero", "Non-zero weights",
                            "Number of symbols in each mixture.", 1, 100000)),
            when<O>(triples, choice(&O::set_split, "set_split", "Split",
                                    "draws: as published, a SET can occur in both training and "
                                    "test data. triples: the splits contain different triples.",
                                    {"draws", "triples"})),
            when<O>(triples, choice(&O::set_input, "set_input", "Cards as",
                                    "The output of the card network, or the bits for the "
                                    "attributes shared by each pair of cards.",
                                    {"embedding", "relations"})),
            when<O>(
                [](const O& o) { return set(o) && !(triples(o) && o.set_input == "relations"); },
                integer(&O::embedding, "embedding", "Card embedding",
                        "Width of the output of the card network.", 2, 4096)),
            when<O>(images, choice(&O::augment, "augment", "Augmentation",
                                   "Random crop with padding 4 and horizontal flip, optionally "
                                   "followed by AutoAugment.",
                                   {"none", "crop-flip", "autoaugment"})),
            when<O>(images,
                    choice(&O::mix, "mix", "Mixing",
                           "CutMix pastes a rectangle of another image, MixUp interpolates between "
                           "two images; either chooses one of them at random for each batch.",
                           {"none", "cutmix", "mixup", "either"})),
        };
        return fields;
    }();
    return table;
}

}  // namespace relascope
