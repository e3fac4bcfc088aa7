// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <charconv>
#include <initializer_list>

#include "interventions/map_edits.h"
#include "types/error.h"

namespace relascope::core {
namespace {

const PointInfo* find(const std::vector<PointInfo>& points, const std::string& name) {
    const auto found = std::find_if(points.begin(), points.end(),
                                    [&](const PointInfo& point) { return point.name == name; });
    return found == points.end() ? nullptr : &*found;
}

/// "layer 2" and the rest of a name that begins with a word and a number.
struct Numbered {
    std::string word, rest;
    int number = 0;  // 0: the name does not begin so
};
Numbered numbered(const std::string& name) {
    Numbered out;
    const auto space = name.find(' ');
    if (space == std::string::npos) return out;
    const char* end = name.data() + name.size();
    const auto [last, error] = std::from_chars(name.data() + space + 1, end, out.number);
    if (error != std::errc()) return {};
    out.word = name.substr(0, space);
    out.rest = std::string(last, static_cast<std::size_t>(end - last));
    return out;
}

/// The prefix of the hook points of a layer of the probe; `cross` for its attention to another
/// sequence.
std::string blockOf(const std::string& layer, const std::vector<PointInfo>& points, bool& cross) {
    if (layer == "learned query") return "pool";
    auto name = numbered(layer);
    if (name.number == 0) return {};
    static const std::string crossing = " cross";
    cross = name.rest.ends_with(crossing);
    if (cross) name.rest.erase(name.rest.size() - crossing.size());
    std::string stack = name.word;
    if (const bool first = hasPrefix(points, "blocks."); first && !hasPrefix(points, stack + "."))
        stack = "blocks";
    else if (!first && !hasPrefix(points, stack + "."))
        stack = "abstractor";
    int block = name.number - 1;
    // A decoder that reads encoder and Abstractor in turn has two blocks a layer.
    static const std::string turns[] = {" (encoder)", " (abstractor)"};
    for (int k = 0; k < 2; ++k)
        if (name.rest == turns[k]) block = 2 * block + k;
    // "abstractor 2 layer 1": a chain of Abstractors.
    if (const auto inner = numbered(name.rest.empty() ? "" : name.rest.substr(1)); inner.number > 0)
        return stack + "." + std::to_string(block) + "." + std::to_string(inner.number - 1);
    return stack + "." + std::to_string(block);
}

class Names {
public:
    Names(const std::vector<PointInfo>& points, std::string block)
        : m_points(points), m_block(std::move(block)) {}
    std::string in(const std::string& name) const { return pointIn(m_block, name); }
    /// The first of the names that the layer has; empty if there is none.
    std::string first(std::initializer_list<const char*> names) const {
        for (const char* name : names)
            if (find(m_points, in(name))) return in(name);
        return {};
    }
    const PointInfo& point(const std::string& name) const { return *find(m_points, name); }

private:
    const std::vector<PointInfo>& m_points;
    std::string m_block;
};

/// The point of the symbols that an Abstractor begins with; empty if there is none.
std::string symbolsOfAbstractor(const std::string& block, const std::vector<PointInfo>& points) {
    const auto whole = block.substr(0, block.rfind('.')) + ".hook_symbols";
    return find(points, whole) ? whole : std::string();
}

void setAxis(MapTarget& target, const PointInfo& point) {
    for (const char* axis : {"relation", "head"}) {
        const int d = point.dimension(axis);
        if (d < 0) continue;
        target.axis = axis;
        target.count = point.shape[static_cast<std::size_t>(d)];
        return;
    }
    target.count = 1;
}

Edit editAt(const std::string& point, EditOp op) {
    Edit edit;
    edit.op = op;
    edit.point = point;
    return edit;
}

AxisSelection one(std::int64_t place) {
    AxisSelection s;
    s.places = {place};
    return s;
}

void setCell(Edit& edit, const MapTarget& target, std::int64_t i, std::int64_t j) {
    // The map of a single head has a column for the object that sends nothing to itself.
    if (target.firstRow + i < 0 || target.firstColumn + j < 0)
        throw OptionError("cell", "this object sends nothing to itself; choose another cell");
    edit.selection["i"] = one(target.firstRow + i);
    edit.selection["j"] = one(target.firstColumn + j);
}

bool selects(const AxisSelection& s, std::int64_t place, std::int64_t size) {
    const auto absolute = [size](std::int64_t p) { return p < 0 ? p + size : p; };
    if (s.isRange())
        return absolute(s.low.value_or(0)) <= place && place < absolute(s.high.value_or(size));
    return std::any_of(s.places.begin(), s.places.end(),
                       [&](std::int64_t p) { return absolute(p) == place; });
}

}  // namespace

std::string pointIn(const std::string& block, const std::string& name) {
    static const std::string attention = "attn.";
    if (block.empty()) return name;
    const bool itself = block == "pool" && name.starts_with(attention);
    return block + "." + (itself ? name.substr(attention.size()) : name);
}

bool hasPrefix(const std::vector<PointInfo>& points, const std::string& prefix) {
    return std::any_of(points.begin(), points.end(),
                       [&](const PointInfo& point) { return point.name.starts_with(prefix); });
}

MapTarget targetOf(const MapPlace& place, const std::vector<PointInfo>& points) {
    if (!place.fitted.empty())
        throw OptionError("map",
                          "a fitted relation can be taken out of the stream; its cells are "
                          "no part of what the model computes");
    bool cross = false;
    MapTarget target;
    target.block = blockOf(place.layer, points, cross);
    target.index = place.index;
    const Names names(points, target.block);
    const auto attention = [&](std::initializer_list<const char*> modules) {
        for (const char* module : modules) {
            const std::string name = module;
            target.values = names.first({(name + ".hook_pattern").c_str()});
            target.part = names.first({(name + ".hook_z").c_str()});
            // An Abstractor's pattern is one for all heads of a point without that axis.
            if (target.part.empty() || names.point(target.part).dimension("head") < 0)
                target.part = target.values;
            target.scores = names.first({(name + ".hook_attn_scores").c_str()});
            if (!target.values.empty()) return;
        }
    };
    switch (place.kind) {
        case MapKind::Relation:
        case MapKind::AttentionTimesRelation:
            target.part =
                names.first({"rel.hook_r", "rca.hook_r", "relation.hook_r", "predinet.hook_r",
                             "binding.hook_r", "rel.hook_pattern", "rca.hook_pattern"});
            target.scores = names.first({"rel.hook_attn_scores", "rca.hook_attn_scores"});
            // The map of a relation that is also the attention shows it before the activation.
            target.values = target.part.ends_with("hook_pattern") ? target.scores
                            : !find(points, "abstractor.hook_symbols")
                                ? names.first({"relation.hook_rel_scores"})
                                : std::string();
            if (target.values.empty()) target.values = target.part;
            // The map of a single relational head shows what is sent, to which its relations add.
            if (target.part == "rel.hook_r") target.values.clear();
            break;
        case MapKind::RelationalAttention:
            attention({"rel", "rca", "cross_attn"});
            if (target.part.empty())
                target.part = names.first({"relation.hook_r", "binding.hook_r"});
            // The weights of ESBN's retrieval are computed step by step, from relations.
            if (target.values.empty()) target.values = names.first({"relation.hook_r"});
            break;
        case MapKind::SensoryAttention:
            if (cross)
                attention({"cross_attn"});
            else
                attention({"attn", "predinet", "binding", "cross_attn"});
            break;
        case MapKind::Symbols:
            target.values = names.first({"sym.hook_pattern"});
            target.scores = names.first({"sym.hook_attn_scores"});
            target.part = names.first({"rel.hook_z_sym", "sym.hook_symbols", "rel.hook_s"});
            if (target.part.empty()) target.part = symbolsOfAbstractor(target.block, points);
            break;
    }
    if (target.part.empty())
        throw OptionError("edit", "the " + std::string(mapKindName(place.kind)) + " map of " +
                                      place.layer +
                                      " has no hook point in this model; edit another map");
    target.count = 1;
    if (place.kind == MapKind::Symbols) return target;
    setAxis(target, names.point(target.part));
    // The numbers of objects of other models differ from input to input.
    if (target.block.empty() && !target.values.empty()) {
        const auto& shown = names.point(target.values);
        const auto first = [&](const char* axis, int size) -> std::int64_t {
            const int d = shown.dimension(axis);
            return d < 0 || size <= 0 ? 0 : shown.shape[static_cast<std::size_t>(d)] - size;
        };
        target.firstRow = first("i", place.rows);
        target.firstColumn = first("j", place.columns);
    }
    return target;
}

Edit partEdit(const MapTarget& target, EditOp op, double factor) {
    Edit edit = editAt(target.part, op);
    edit.factor = factor;
    if (!target.axis.empty()) edit.selection[target.axis] = one(target.index);
    return edit;
}

std::optional<Edit> othersEdit(const MapTarget& target, EditOp op) {
    if (target.axis.empty() || target.count < 2) return std::nullopt;
    Edit edit = editAt(target.part, op);
    for (std::int64_t k = 0; k < target.count; ++k)
        if (k != target.index) edit.selection[target.axis].places.push_back(k);
    return edit;
}

Edit uniformEdit(const MapTarget& target) {
    if (!target.values.ends_with("hook_pattern"))
        throw OptionError("uniform", "is for attention weights only; choose a map of attention");
    Edit edit = editAt(target.values, EditOp::Uniform);
    if (!target.axis.empty()) edit.selection["head"] = one(target.index);
    return edit;
}

Edit edgeEdit(const MapTarget& target, std::int64_t i, std::int64_t j, bool allHeads) {
    if (target.scores.empty())
        throw OptionError("edge", "there is no attention along this map, so no edge to cut");
    Edit edit = editAt(target.scores, EditOp::Mask);
    // Relations have no heads of their own: an edge is cut for all that send along it.
    if (!allHeads && target.axis == "head") edit.selection["head"] = one(target.index);
    setCell(edit, target, i, j);
    return edit;
}

Edit cellEdit(const MapTarget& target, std::int64_t i, std::int64_t j, double value) {
    if (target.values.empty())
        throw OptionError("set", "the cells of this map are computed from others; set those");
    Edit edit = editAt(target.values, EditOp::Set);
    if (!target.axis.empty()) edit.selection[target.axis] = one(target.index);
    setCell(edit, target, i, j);
    edit.values.numbers = {value};
    return edit;
}

Edit symbolEdit(const MapTarget& target, const std::vector<PointInfo>& points,
                std::int64_t position, std::optional<std::int64_t> other) {
    const Names names(points, target.block);
    auto point = names.first({"sym.hook_symbols"});
    if (point.empty()) point = symbolsOfAbstractor(target.block, points);
    if (point.empty())
        throw OptionError("symbols",
                          "the symbols of this layer do not belong to objects; edit another part");
    Edit edit = editAt(point, other ? EditOp::Swap : EditOp::Zero);
    if (other) {
        edit.axis = "position";
        edit.first = position;
        edit.second = *other;
    } else {
        edit.selection["position"] = one(position);
    }
    return edit;
}

Edit streamEdit(const MapTarget& target, const std::vector<PointInfo>& points,
                std::int64_t position, const std::string& from) {
    const auto point = Names(points, target.block).first({"hook_resid_pre"});
    if (point.empty())
        throw OptionError("patch", "this model has no residual stream that enters the layer");
    Edit edit = editAt(point, EditOp::Patch);
    edit.selection["position"] = one(position);
    edit.input = from;
    return edit;
}

bool takesOut(const EditList& list, const MapTarget& target) {
    return std::any_of(list.edits.begin(), list.edits.end(), [&](const Edit& edit) {
        const bool removes = edit.op == EditOp::Zero || edit.op == EditOp::Mean ||
                             edit.op == EditOp::Resample ||
                             (edit.op == EditOp::Scale && edit.factor == 0.0);
        if (!edit.enabled || !removes || (edit.point != target.part && edit.point != target.values))
            return false;
        return std::all_of(edit.selection.begin(), edit.selection.end(), [&](const auto& axis) {
            return axis.first == target.axis && selects(axis.second, target.index, target.count);
        });
    });
}

int indexOf(const EditList& list, const Edit& edit) {
    const auto found = std::find_if(list.edits.begin(), list.edits.end(), [&](const Edit& other) {
        return other.op == edit.op && other.point == edit.point &&
               other.selection == edit.selection && other.input == edit.input &&
               other.axis == edit.axis && other.first == edit.first && other.second == edit.second;
    });
    return found == list.edits.end() ? -1 : static_cast<int>(found - list.edits.begin());
}

}  // namespace relascope::core
