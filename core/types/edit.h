// SPDX-License-Identifier: GPL-3.0-or-later
// Interventions on a forward pass: the tensor, the selected part, and the operation on it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace relascope {

/// The operation that replaces the selected part S of a point's tensor T.
enum class EditOp {
    Zero,      ///< 0
    Set,       ///< `values`: one number, or one for each entry of the last axis that is not fixed
    Scale,     ///< factor T
    Add,       ///< T + `values`
    Mean,      ///< the mean of S over a reference set, or `values`
    Resample,  ///< S of example (b + shift) mod N of the same split
    Patch,     ///< S of another input
    Clean,     ///< S of the pass without edits on the same input
    Uniform,   ///< 1 / open cells of the row (patterns)
    Mask,      ///< -infinity, before the softmax (attention scores)
    Swap,      ///< two entries along an axis exchanged
    Project    ///< what a fitted relation reads replaced by its mean
};
inline constexpr int kEditOps = 12;
/// The name of an operation in files: "zero", "set" and so on.
const char* editOpName(EditOp op);

/// The chosen places along one axis, from 0; negative ones count from the end.
struct AxisSelection {
    std::vector<std::int64_t> places;  ///< empty: the range
    std::optional<std::int64_t> low,
        high;  ///< low <= place < high; absent: from the start, to the end
    bool isRange() const { return places.empty(); }
    bool operator==(const AxisSelection&) const = default;
};

/// Examples that a mean is taken over.
struct EditReference {
    std::string split = "train";
    std::int64_t examples = 1024;
    std::uint64_t seed = 0;
    std::string over;  ///< kind of mean: "position", "offset", "all"; empty: as fits the input
    bool operator==(const EditReference&) const = default;

    static constexpr std::int64_t kUsualTexts = 64;  ///< windows of text, whose tokens each count
    /// The reference of a mean that names none; `text`: the examples are windows of text.
    static EditReference usual(bool text) {
        EditReference reference;
        if (text) reference.examples = kUsualTexts;
        return reference;
    }
};

/// Numbers that copies of an edit share, since lists are copied for every step of the history and
/// every pass.
class EditNumbers {
public:
    EditNumbers() = default;
    EditNumbers(std::vector<double> numbers)  // NOLINT: as the vector that it is
        : m_numbers(std::make_shared<const std::vector<double>>(std::move(numbers))) {}
    EditNumbers(std::initializer_list<double> numbers)
        : EditNumbers(std::vector<double>(numbers)) {}

    const std::vector<double>& all() const {
        static const std::vector<double> none;
        return m_numbers ? *m_numbers : none;
    }
    bool empty() const { return all().empty(); }
    std::size_t size() const { return all().size(); }
    double operator[](std::size_t i) const { return all()[i]; }
    bool operator==(const EditNumbers& other) const {
        return m_numbers == other.m_numbers || all() == other.all();
    }

private:
    std::shared_ptr<const std::vector<double>> m_numbers;
};

/// Numbers of any shape, row-major; no shape for a single number.
struct EditValues {
    std::vector<std::int64_t> shape;
    EditNumbers numbers;
    bool empty() const { return numbers.empty(); }
    bool operator==(const EditValues&) const = default;
};

/// One intervention.
struct Edit {
    EditOp op = EditOp::Zero;
    std::string point;  ///< the hook point: "blocks.1.rel.hook_r"
    std::map<std::string, AxisSelection>
        selection;                           ///< by axis; an axis without one is taken whole
    EditValues values;                       ///< for Set, Add, Mean
    double factor = 1.0;                     ///< for Scale
    std::int64_t shift = 1;                  ///< for Resample
    std::string input;                       ///< for Patch: a name of EditList::inputs
    std::string axis;                        ///< for Swap
    std::string relation;                    ///< for Project: a file (relation_file.h)
    std::int64_t first = 0, second = 0;      ///< for Swap: the pair of places
    std::optional<EditReference> reference;  ///< for Mean
    std::string textPart;  ///< "prompt" or "new": only receivers of that part of a text; "": all
    bool enabled = true;
    std::string note;
    bool operator==(const Edit&) const = default;
};

/// A second input, whose tensors are patched in.
struct EditInput {
    std::string split;  ///< split of `sample`
    std::int64_t sample = -1;
    std::string text;
    std::vector<std::int64_t> tokens, target;
    std::string image;         ///< an image file
    std::string file, prefix;  ///< a .safetensors file, and the prefix of its tensors
    bool operator==(const EditInput&) const = default;
};

/// A list of interventions, in order.
struct EditList {
    std::string name, model;
    std::map<std::string, EditInput> inputs;
    std::vector<Edit> edits;

    bool anyEnabled() const {
        for (const auto& edit : edits)
            if (edit.enabled) return true;
        return false;
    }
    /// The files of the fitted relations that edits name, in force or not, each once.
    std::vector<std::string> relations() const {
        std::vector<std::string> files;
        for (const auto& edit : edits)
            if (edit.op == EditOp::Project &&
                std::find(files.begin(), files.end(), edit.relation) == files.end())
                files.push_back(edit.relation);
        return files;
    }
    /// The same edits, none in force.
    EditList switchedOff() const {
        auto list = *this;
        for (auto& edit : list.edits) edit.enabled = false;
        return list;
    }
    bool operator==(const EditList&) const = default;
};

/// The mean that an edit took over a reference set.
struct TakenMean {
    std::int64_t examples = 0;   ///< how many were used: the split may have fewer than asked for
    double standardError = 0.0;  ///< error of the mean: root mean square over its entries
    std::string over;            ///< EditReference::over, never empty
    /// The means of the selected places, for Edit::values; empty where they are not finite or too
    /// many for a file.
    EditValues values;
    bool operator==(const TakenMean&) const = default;
};
/// The means taken by a list of edits, by the index of the edit.
using TakenMeans = std::map<std::size_t, TakenMean>;

/// A named tensor of a model's forward pass on some input.
struct PointInfo {
    std::string name;
    std::vector<std::string> axes;    ///< name of every dimension: "batch", "position", "head", ...
    std::vector<std::int64_t> shape;  ///< sizes on that input
    bool causal = false;              ///< cells j > i are closed

    /// The dimension of an axis, -1 if it has none.
    int dimension(const std::string& axis) const {
        for (std::size_t d = 0; d < axes.size(); ++d)
            if (axes[d] == axis) return static_cast<int>(d);
        return -1;
    }
    bool operator==(const PointInfo&) const = default;
};

}  // namespace relascope
