// Sets of objects with numbers to predict as kinds of data (DAT 2.4, ABS 3, and the recovery of
// relations in the earlier manuscript of ABS).
#include "datasets/generators/number_sets.h"

#include "datasets/kinds.h"

namespace relascope {
namespace {

// One example is drawn at a time, into memory of its size.
void requireSize(const DataOptions& o, std::int64_t objects) {
    constexpr std::int64_t most = 10000000;
    if (objects > most / o.dim || o.dim > most / o.dim)
        throw OptionError(
            "data.dim",
            std::to_string(objects) + " objects of " + std::to_string(o.dim) +
                " values exceed the limit of 10 million per example; use smaller values");
}

// The three parts: `make` builds the one that it is handed.
template <class Make>
DataSplits openParts(const DataOptions& o, Make make) {
    const auto part = [&](std::uint64_t number, const char* name, std::int64_t size) {
        return NumberPart{static_cast<std::uint64_t>(o.seed), number, size, name};
    };
    DataSplits splits;
    splits.train = make(part(0, "train", o.train_size));
    splits.validation = make(part(1, "validation", o.validation_size));
    splits.tests.emplace_back("test", make(part(2, "test", o.test_size)));
    return splits;
}

}  // namespace

DataSplits openSelectRelate(const DataOptions& o, const ProgressCallback&, std::stop_token) {
    requireSize(o, o.objects + 1);
    return openParts(o, [&](const NumberPart& part) {
        return std::make_shared<SelectRelate>(part, o.task, o.objects, o.dim);
    });
}

DataSplits openInnerProducts(const DataOptions& o, const ProgressCallback&, std::stop_token) {
    requireSize(o, 2);
    return openParts(o, [&](const NumberPart& part) {
        return std::make_shared<InnerProducts>(part, o.task, o.dim);
    });
}

DataSplits openSymbolRecovery(const DataOptions& o, const ProgressCallback&, std::stop_token) {
    requireSize(o, o.objects + 1);
    SymbolRecoveryOptions g;
    g.symbols = o.objects;
    g.dim = o.dim;
    g.adversarial = o.adversarial;
    g.nonzero = o.task == "sparse" ? o.nonzero : 0;
    return openParts(o, [&](const NumberPart& part) {
        return std::make_shared<SymbolRecovery>(part, o.task, g);
    });
}

std::vector<DatasetEntry> listSelectRelate() {
    return {{"select-relate",
             "select-relate",
             "One object selects one of eight others: what are its two relations to the selected "
             "object?",
             {},
             {}},
            {"select-relate",
             "select-kernel",
             "The same with one relation, a Gaussian kernel.",
             {},
             {}},
            {"select-relate",
             "select-wave",
             "The same with one relation, a sine, which is a sum of two products.",
             {},
             {}}};
}

std::vector<DatasetEntry> listInnerProducts() {
    return {{"inner-products",
             "gaussian-kernel",
             "Two points and their Gaussian kernel, which is near 1 if they are close.",
             {},
             {}},
            {"inner-products", "order-relation", "Two points and their order: 1 or -1.", {}, {}}};
}

std::vector<DatasetEntry> listSymbolRecovery() {
    return {{"symbol-recovery",
             "dense",
             "A dense mixture of random symbols with outliers: recover the mixture weights.",
             {},
             {}},
            {"symbol-recovery",
             "sparse",
             "A sparse mixture of a few of many random symbols with outliers: recover the weights.",
             {},
             {}}};
}

}  // namespace relascope
