// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <numeric>

#include "interventions/check_edits.h"
#include "interventions/relation_file.h"
#include "types/error.h"
#include "types/suggest.h"

namespace relascope::core {
namespace {

// Along which a growing text grows.
bool grows(const std::string& axis) {
    return axis == "position" || axis == "i" || axis == "j";
}

// Stand in place of the size of an axis.
constexpr std::int64_t kAnySize = -1, kOffsets = -2;

class Check {
public:
    Check(const Edit& edit, const PointInfo& point, std::string where, EditUse use)
        : m_edit(edit), m_point(point), m_where(std::move(where)), m_use(use) {}

    void all() const {
        operation();
        for (const auto& [axis, selection] : m_edit.selection) along(axis, selection);
        mask();
        values();
        swap();
        project();
    }

private:
    std::string field(const std::string& key) const { return m_where + "." + key; }

    void operation() const {
        const auto op = m_edit.op;
        const std::string name = editOpName(op);
        if (op == EditOp::Mask && !m_point.name.ends_with("hook_attn_scores"))
            throw OptionError(field("op"),
                              "mask is for hook_attn_scores only, not for " + m_point.name);
        if (op == EditOp::Uniform && !m_point.name.ends_with("hook_pattern"))
            throw OptionError(field("op"),
                              "uniform is for hook_pattern only, not for " + m_point.name);
        const bool batch = m_point.dimension("batch") >= 0;
        if (op == EditOp::Resample && !batch)
            throw OptionError(field("op"), m_point.name +
                                               " is the same for every example: resample changes "
                                               "nothing");
        if (m_use == EditUse::Generate && op == EditOp::Resample)
            throw OptionError(field("op"),
                              "resample needs a split of examples; a generated text "
                              "has none");
        if (m_use == EditUse::Generate && op == EditOp::Clean)
            throw OptionError(field("op"),
                              "clean holds a part of a whole input; a generated text "
                              "grows");
        if (m_use == EditUse::Generate && op == EditOp::Mean && m_edit.reference &&
            m_edit.reference->over == "position")
            throw OptionError(field("reference.over"),
                              "a text that grows has no fixed positions; "
                              "take the mean over offset or all");
        if (m_use == EditUse::Train && (op == EditOp::Patch || op == EditOp::Clean))
            throw OptionError(field("op"), name + " is for single inputs, not for training");
        if (m_use == EditUse::Train && op == EditOp::Mean && m_edit.values.empty())
            throw OptionError(field("values"), "are missing: in training a mean needs its values");
        if (!m_edit.textPart.empty() && m_use != EditUse::Generate)
            throw OptionError(field("when"),
                              "'" + m_edit.textPart + "' is for generated text only");
        if (op == EditOp::Patch && !batch)
            throw OptionError(field("op"), m_point.name + " does not depend on the input");
    }

    void along(const std::string& axis, const AxisSelection& selection) const {
        const int d = m_point.dimension(axis);
        if (d < 0) {
            std::vector<std::string> known;
            for (const auto& name : m_point.axes)
                if (name != "batch") known.push_back(name);
            throw OptionError(field(axis), m_point.name + " has no such axis; " +
                                               unknownName("axis", axis, known));
        }
        if (m_use == EditUse::Generate && grows(axis)) {
            const auto negative = [](std::int64_t n) { return n < 0; };
            if (std::any_of(selection.places.begin(), selection.places.end(), negative) ||
                (selection.low && *selection.low < 0) || (selection.high && *selection.high < 0))
                throw OptionError(field(axis),
                                  "counts from the end, which moves as the text grows; "
                                  "count from its start");
            if (selection.isRange() &&
                selection.low.value_or(0) >= selection.high.value_or(INT64_MAX))
                throw OptionError(field(axis), "selects nothing");
            return;
        }
        placesOf(selection, size(d), field(axis));
    }

    std::int64_t size(int dimension) const {
        return m_point.shape[static_cast<std::size_t>(dimension)];
    }

    std::vector<std::int64_t> places(const std::string& axis) const {
        const auto found = m_edit.selection.find(axis);
        const int d = m_point.dimension(axis);
        return placesOf(found == m_edit.selection.end() ? AxisSelection{} : found->second, size(d),
                        field(axis));
    }

    void mask() const {
        if (!m_point.causal || m_use == EditUse::Generate) return;
        const auto i = places("i"), j = places("j");
        if (i.empty() || j.empty()) return;
        if (*std::min_element(j.begin(), j.end()) > *std::max_element(i.begin(), i.end()))
            throw OptionError(field("j"),
                              "all cells are behind the causal mask (j > i), where "
                              "nothing is ever sent");
    }

    // The sizes of the selected part without the batch; 1 where an axis is fixed by one integer. A
    // mean by offset has no axis i, and along j any odd number of offsets.
    std::vector<std::int64_t> freeSizes() const {
        std::vector<std::int64_t> sizes;
        for (std::size_t d = 0; d < m_point.axes.size(); ++d) {
            const auto& axis = m_point.axes[d];
            if (axis == "batch" || (byOffset() && axis == "i")) continue;
            if (byOffset() && axis == "j") {
                sizes.push_back(kOffsets);
                continue;
            }
            const auto found = m_edit.selection.find(axis);
            if (found != m_edit.selection.end() && found->second.places.size() == 1) continue;
            const bool moves = m_use == EditUse::Generate && grows(axis);
            sizes.push_back(moves ? kAnySize : static_cast<std::int64_t>(places(axis).size()));
        }
        return sizes;
    }

    void values() const {
        const auto& v = m_edit.values;
        if (v.shape.empty()) return;
        const std::string key = m_edit.op == EditOp::Mean ? "values" : "value";
        const auto sizes = freeSizes();
        const auto text = [](const std::vector<std::int64_t>& shape) {
            std::string line;
            for (const auto n : shape) {
                const auto one = n == kAnySize   ? std::string("n")
                                 : n == kOffsets ? std::string("2 n + 1 offsets")
                                                 : std::to_string(n);
                line += (line.empty() ? "" : " x ") + one;
            }
            return line.empty() ? std::string("a single number") : line;
        };
        bool fits = v.shape.size() <= sizes.size();
        for (std::size_t d = 0; fits && d < v.shape.size(); ++d) {
            const auto wanted = sizes[sizes.size() - v.shape.size() + d];
            fits = v.shape[d] == 1 || wanted == kAnySize || v.shape[d] == wanted ||
                   (wanted == kOffsets && v.shape[d] % 2 == 1);
        }
        if (!fits)
            throw OptionError(field(key), "have the shape " + text(v.shape) +
                                              ", but the selected part is " + text(sizes));
    }

    bool byOffset() const {
        return meanByOffset(m_edit, m_point.dimension("i") >= 0 && m_point.dimension("j") >= 0);
    }

    void swap() const {
        if (m_edit.op != EditOp::Swap) return;
        const int d = m_edit.axis == "batch" ? -1 : m_point.dimension(m_edit.axis);
        if (d < 0)
            throw OptionError(field("axis"), m_point.name + " has no axis '" + m_edit.axis + "'");
        if (m_edit.selection.contains(m_edit.axis))
            throw OptionError(field(m_edit.axis), "is exchanged by \"pair\" already");
        if (m_edit.first == m_edit.second)
            throw OptionError(field("pair"),
                              "exchanges " + std::to_string(m_edit.first) + " with itself");
        if (m_use == EditUse::Generate && grows(m_edit.axis)) return;
        for (const auto place : {m_edit.first, m_edit.second})
            if (place < -size(d) || place >= size(d))
                throw OptionError(field("pair"), std::to_string(place) +
                                                     " is out of range: there "
                                                     "are " +
                                                     std::to_string(size(d)));
    }

    // What a fitted relation reads must be there.
    void project() const {
        if (m_edit.op != EditOp::Project) return;
        const int dim = m_point.dimension("dim"), position = m_point.dimension("position");
        if (dim < 0)
            throw OptionError(field("op"), "project is for points with an axis dim, and " +
                                               m_point.name + " has none");
        if (m_edit.selection.contains("dim"))
            throw OptionError(field("dim"),
                              "project takes directions of the whole axis out; leave it away");
        const auto relation = [&] {
            try {
                return readRelation(m_edit.relation);
            } catch (const FileError& error) {
                throw OptionError(field("relation"), error.what());
            }
        }();
        if (relation.width != size(dim))
            throw OptionError(field("relation"), m_edit.relation + " is of streams with " +
                                                     std::to_string(relation.width) + " numbers, " +
                                                     m_point.name + " has " +
                                                     std::to_string(size(dim)));
        const auto places = relation.firstTokens + relation.places;
        if (relation.places > 1 &&
            (position < 0 || (!(m_use == EditUse::Generate) && size(position) < places)))
            throw OptionError(field("relation"),
                              m_edit.relation + " has means of " + std::to_string(places) +
                                  " positions, " + m_point.name + " has " +
                                  std::to_string(position < 0 ? 1 : size(position)));
    }

    const Edit& m_edit;
    const PointInfo& m_point;
    std::string m_where;
    EditUse m_use;
};

}  // namespace

const PointInfo& findPoint(const std::vector<PointInfo>& points, const std::string& name,
                           const std::string& field) {
    std::vector<std::string> names;
    for (const auto& point : points) {
        if (point.name == name) return point;
        names.push_back(point.name);
    }
    if (names.empty()) throw OptionError(field, "this model has no hook points");
    const auto last = name.rfind('.');
    if (last != std::string::npos && name.substr(last + 1) == "hook_resid_mid" &&
        std::find(names.begin(), names.end(), name.substr(0, last + 1) + "hook_mlp_out") !=
            names.end())
        throw OptionError(field, "there is no " + name +
                                     ": the block is parallel, and its feed-forward reads the same "
                                     "stream as its attention, " +
                                     name.substr(0, last + 1) + "hook_resid_pre");
    throw OptionError(field, unknownName("hook point", name, names));
}

std::vector<std::int64_t> placesOf(const AxisSelection& s, std::int64_t size,
                                   const std::string& field) {
    const auto inRange = [&](std::int64_t place, std::int64_t most) {
        const auto at = place < 0 ? place + size : place;
        if (at < 0 || at > most)
            throw OptionError(field, std::to_string(place) + " is out of range: there are " +
                                         std::to_string(size));
        return at;
    };
    if (!s.isRange()) {
        std::vector<std::int64_t> places;
        for (const auto place : s.places) places.push_back(inRange(place, size - 1));
        return places;
    }
    const auto low = inRange(s.low.value_or(0), size), high = inRange(s.high.value_or(size), size);
    if (low >= high) throw OptionError(field, "selects nothing");
    std::vector<std::int64_t> places(static_cast<std::size_t>(high - low));
    std::iota(places.begin(), places.end(), low);
    return places;
}

void checkEdits(const EditList& list, const std::vector<PointInfo>& points, EditUse use) {
    for (std::size_t i = 0; i < list.edits.size(); ++i) {
        const auto where = "edits[" + std::to_string(i) + "]";
        const auto& edit = list.edits[i];
        Check(edit, findPoint(points, edit.point, where + ".at"), where, use).all();
    }
}

}  // namespace relascope::core
