#include "options/fit_data.h"

#include <algorithm>

namespace relascope {
namespace {

constexpr std::int64_t kSortedObject = 12;  // attributes of 4 and 8 numbers (ABS 4.2)
constexpr std::int64_t kSymbols = 85, kQuestion = 161, kAnswer = 31;  // formats.md section 6

void fitSequences(ModelOptions& m, std::int64_t source, std::int64_t sourceSize,
                  std::int64_t target, std::int64_t targetSize, std::int64_t answers) {
    m.input_size = sourceSize;
    m.in_block_size = source;
    m.output_type = "token";
    m.output_size = targetSize;
    m.out_dim = answers;
    m.out_block_size = target;
}

void fitObjects(ModelOptions& m, std::int64_t objects, std::int64_t width, std::int64_t outputs) {
    m.n_objects = objects;
    m.object_dim = width;
    m.out_dim = outputs;
}

}  // namespace

void fitToData(RunOptions& options) {
    const auto& d = options.data;
    auto& m = options.model;
    if (d.is("sorting")) {
        const auto longest = std::max(d.length, d.longest);
        m.input_type = "vector";
        // One token more than places to name: the start, which is never an answer.
        fitSequences(m, longest, kSortedObject, longest, longest + 1, longest);
    } else if (d.is("math")) {
        m.input_type = "token";
        fitSequences(m, kQuestion, kSymbols, kAnswer, kSymbols, kSymbols);
        m.loss_ignore_idx = 0;
    } else if (d.is("pairs")) {
        fitObjects(m, 2, d.task == "sorting-order" ? kSortedObject : d.dim, 1);
        if (m.is("ObjectAbstractor")) m.in_block_size = 2;
    } else if (d.is("set")) {
        if (d.task == "attributes")
            fitObjects(m, 2, d.embedding, 4);
        else
            fitObjects(m, 3, d.set_input == "relations" ? 4 : d.embedding, 1);
    } else if (d.is("select-relate")) {
        fitObjects(m, d.objects + 1, d.dim, d.task == "select-relate" ? 2 : 1);
    } else if (d.is("inner-products")) {
        fitObjects(m, 2, d.dim, 1);
    } else if (d.is("symbol-recovery")) {
        fitObjects(m, d.objects + 1, d.dim, d.objects);
        // The weight of |u|_1 belongs to sparse relations, and only to them.
        if (d.task != "sparse")
            m.rel_scale = 0.0;
        else if (m.is("RobustRegression") && m.rel_scale == 0.0)
            m.rel_scale = 1.0;
    } else if (d.is("images") && d.task != "folder") {
        const bool grey = d.task == "fashion-mnist";
        m.image_shape =
            grey ? std::vector<std::int64_t>{1, 28, 28} : std::vector<std::int64_t>{3, 32, 32};
        m.num_classes = d.task == "cifar100" ? 100 : 10;
    }
}

}  // namespace relascope
