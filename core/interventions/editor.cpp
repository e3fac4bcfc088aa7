// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <limits>

#include "interventions/check_edits.h"
#include "interventions/editor.h"
#include "types/error.h"

namespace relascope::core {
namespace {

constexpr double kClosed = -std::numeric_limits<double>::infinity();

bool takesPrefix(const auto& sorted, std::string_view prefix, const auto& nameOf) {
    const auto found = sorted.lower_bound(prefix);
    return found != sorted.end() && nameOf(*found).starts_with(prefix);
}

bool takesOtherRuns(const Edit& edit) {
    return edit.op == EditOp::Resample || edit.op == EditOp::Patch || edit.op == EditOp::Clean ||
           (edit.op == EditOp::Mean && edit.values.empty());
}

std::ptrdiff_t indexOf(const HookPoint& point, Axis axis) {
    return std::find(point.axes.begin(), point.axes.end(), axis) - point.axes.begin();
}

// Values by j - i, [.., 2 offsets + 1, ..] where j stands and i is gone, as the cells of `value`.
// i comes just before j in every point.
torch::Tensor cellsOf(const torch::Tensor& byOffset, std::int64_t offsets, const HookPoint& point,
                      const torch::Tensor& value) {
    const auto i = indexOf(point, Axis::I), j = indexOf(point, Axis::J);
    const auto index = torch::TensorOptions(torch::kLong).device(value.device());
    const auto rows = torch::arange(value.size(i), index) + point.first;
    const auto columns = torch::arange(value.size(j), index);
    const auto offset =
        (columns.unsqueeze(0) - rows.unsqueeze(1)).clamp(-offsets, offsets) + offsets;  // [n, m]
    return byOffset.index_select(j - 1, offset.flatten())
        .unflatten(j - 1, {value.size(i), value.size(j)});
}

// The position in the text of entry 0 of a dimension.
std::int64_t firstOf(Axis axis, const HookPoint& point, std::int64_t origin) {
    if (axis == Axis::Position || axis == Axis::I) return origin + point.first;
    return axis == Axis::J ? origin : 0;
}

}  // namespace

Editor::Editor(const EditList& list) : m_list(list) {
    for (std::size_t i = 0; i < list.edits.size(); ++i) {
        const auto& edit = list.edits[i];
        if (!edit.enabled) continue;
        m_byPoint[edit.point].push_back(i);
        if (takesOtherRuns(edit)) m_references.push_back(i);
        if (edit.op == EditOp::Project)
            m_projections.emplace(i, projectionOf(readRelation(edit.relation)));
    }
}

bool Editor::takes(std::string_view prefix) const {
    return takesPrefix(m_byPoint, prefix,
                       [](const auto& entry) -> const std::string& { return entry.first; });
}

void Editor::setValues(std::size_t index, torch::Tensor values, std::int64_t offsets) {
    m_values[index] = {std::move(values), offsets};
}

void Editor::copyValues(std::size_t index, const Editor& other, std::size_t from) {
    if (const auto found = other.m_values.find(from); found != other.m_values.end())
        m_values[index] = found->second;
}

void Editor::keepStreams(std::map<std::string, torch::Tensor> streams,
                         const std::vector<PointInfo>& points) {
    m_streams.clear();
    for (const auto& point : points) {  // in the order of the pass
        if (m_byPoint.contains(point.name)) return;
        constexpr std::string_view end = ".hook_resid_post";
        if (!point.name.ends_with(end)) continue;
        const auto block = point.name.substr(0, point.name.size() - end.size());
        if (const auto found = streams.find(block); found != streams.end())
            m_streams.insert(*found);
    }
}

torch::Tensor Editor::streamAfter(const std::string& block) {
    const auto found = m_streams.find(block);
    return found == m_streams.end() ? torch::Tensor() : found->second;
}

torch::Tensor Editor::at(const HookPoint& point, const torch::Tensor& value) {
    const auto found = m_byPoint.find(point.name);
    if (found == m_byPoint.end()) return value;
    auto result = value;
    for (const auto index : found->second) {
        result = changed(index, point, result);
        if (point.closed.defined()) result = result.masked_fill(point.closed, point.closedValue);
    }
    return result;
}

torch::Tensor Editor::factors(const std::string& point, Axis axis, const torch::Tensor& like) {
    const auto found = m_byPoint.find(point);
    if (found == m_byPoint.end()) return {};
    const std::int64_t size = like.size(0);
    std::vector<float> factors(static_cast<std::size_t>(size), 1.0F);
    for (const auto index : found->second) {
        const auto& edit = m_list.edits[index];
        const bool multiplies = edit.op == EditOp::Zero || edit.op == EditOp::Scale;
        const bool whole =
            edit.selection.empty() ||
            (edit.selection.size() == 1 && edit.selection.begin()->first == axisName(axis));
        if (!multiplies || !whole || !edit.textPart.empty()) return {};
        const double factor = edit.op == EditOp::Zero ? 0.0 : edit.factor;
        const HookPoint entries{point, {&axis, 1}};
        const auto region = regionOf(edit, entries, torch::empty({size}));
        const auto apply = [&](std::int64_t at) {
            auto& value = factors[static_cast<std::size_t>(at)];
            value = static_cast<float>(value * factor);
        };
        if (region.places[0].defined())
            for (std::int64_t i = 0; i < region.places[0].size(0); ++i)
                apply(region.places[0][i].item<std::int64_t>());
        else
            for (std::int64_t i = 0; i < size; ++i) apply(i);
    }
    return torch::tensor(factors).to(like.options());
}

torch::Tensor HookChain::factors(const std::string& point, Axis axis, const torch::Tensor& like) {
    torch::Tensor all;
    for (auto* hooks : m_hooks) {
        if (!hooks->takes(point)) continue;
        const auto own = hooks->factors(point, axis, like);
        if (!own.defined()) return {};
        all = all.defined() ? all * own : own;
    }
    return all;
}

bool HookChain::plan(const HookPoint& point, const torch::Tensor& like, PointPlan& steps) {
    for (auto* hooks : m_hooks)
        if (hooks->takes(point.name) && !hooks->plan(point, like, steps)) return false;
    return true;
}

bool Editor::plan(const HookPoint& point, const torch::Tensor& like, PointPlan& steps) {
    const auto found = m_byPoint.find(point.name);
    if (found == m_byPoint.end()) return true;
    return std::all_of(found->second.begin(), found->second.end(),
                       [&](auto index) { return planned(index, point, like, steps); });
}

bool Editor::planned(std::size_t index, const HookPoint& point, const torch::Tensor& like,
                     PointPlan& steps) const {
    const auto& edit = m_list.edits[index];
    const bool known = !takesOtherRuns(edit) || m_values.contains(index);
    // Numbers must stay out of closed cells, where values of other passes are closed already.
    const bool closes = point.closed.defined();
    switch (edit.op) {
        case EditOp::Zero:
            if (closes && point.closedValue != 0.0) return false;
            break;
        case EditOp::Scale: {
            if (closes && point.closedValue != 0.0 && edit.factor <= 0.0) return false;
            if (edit.selection.size() != 1 || !edit.textPart.empty()) return false;
            const auto region = regionOf(edit, point, like);
            for (std::size_t d = 0; d < point.axes.size(); ++d)
                if (region.places[d].defined())
                    steps.push_back({PointStep::What::Multiply,
                                     nullptr,
                                     point.axes[d],
                                     {},
                                     torch::ones({like.size(static_cast<std::int64_t>(d))})
                                         .index_fill_(0, region.places[d], edit.factor)});
            return true;
        }
        case EditOp::Set:
            if (closes) return false;
            break;
        case EditOp::Mean:
        case EditOp::Resample:
        case EditOp::Clean:
            break;
        case EditOp::Patch:
            // Places beyond a shorter input keep their values.
            if (known && m_values.at(index).tensor.sizes().slice(1) != like.sizes().slice(1))
                return false;
            break;
        default:
            return false;
    }
    if (m_skipsUnknown && !known) return true;
    const auto region = regionOf(edit, point, like);
    if (region.empty) return true;
    steps.push_back({PointStep::What::Put, nullptr, Axis::Batch, region.places,
                     partOf(index, point, like, region)});
    return true;
}

Editor::Region Editor::regionOf(const Edit& edit, const HookPoint& point,
                                const torch::Tensor& value) const {
    Region region;
    for (std::size_t d = 0; d < point.axes.size(); ++d) {
        const Axis axis = point.axes[d];
        const std::int64_t size = value.size(static_cast<std::int64_t>(d));
        const std::int64_t first = firstOf(axis, point, m_origin);
        const auto found = edit.selection.find(axisName(axis));
        const bool receives = axis == Axis::Position || axis == Axis::I;
        const bool part = receives && !edit.textPart.empty();
        if (found == edit.selection.end() && !part) {
            region.places.emplace_back();
            region.ordinals.emplace_back();
            continue;
        }
        // Negative places count from the end of the whole input, which this tensor then is.
        const auto local = [&](std::int64_t place) {
            return place < 0 ? place + size : place - first;
        };
        std::vector<std::int64_t> places, ordinals;
        const auto add = [&](std::int64_t at, std::int64_t ordinal) {
            if (at < 0 || at >= size) return;  // not there (yet, or any more)
            if (part && (at + first < m_prompt) != (edit.textPart == "prompt")) return;
            places.push_back(at);
            ordinals.push_back(ordinal);
        };
        if (found == edit.selection.end() || found->second.isRange()) {
            const bool all = found == edit.selection.end();
            const auto low = local(all ? 0 : found->second.low.value_or(0));
            const auto end =
                all || !found->second.high ? size : std::min(size, local(*found->second.high));
            for (auto at = std::max<std::int64_t>(0, low); at < end; ++at) add(at, at - low);
        } else {
            const auto& chosen = found->second.places;
            for (std::size_t k = 0; k < chosen.size(); ++k)
                add(local(chosen[k]), static_cast<std::int64_t>(k));
        }
        region.empty = region.empty || places.empty();
        region.places.push_back(torch::tensor(places, torch::kLong).to(value.device()));
        region.ordinals.push_back(torch::tensor(ordinals, torch::kLong));
    }
    return region;
}

torch::Tensor Editor::Region::of(const torch::Tensor& value) const {
    auto part = value;
    for (std::size_t d = 0; d < places.size(); ++d)
        if (places[d].defined()) part = part.index_select(static_cast<std::int64_t>(d), places[d]);
    return part;
}

torch::Tensor Editor::Region::replaced(const torch::Tensor& value,
                                       const torch::Tensor& part) const {
    const auto dims = static_cast<std::int64_t>(places.size());
    torch::List<std::optional<torch::Tensor>> indices;
    bool whole = true;
    for (std::int64_t d = 0; d < dims; ++d) {
        auto at = places[static_cast<std::size_t>(d)];
        whole = whole && !at.defined();
        if (!at.defined()) at = torch::arange(value.size(d), value.options().dtype(torch::kLong));
        std::vector<std::int64_t> shape(static_cast<std::size_t>(dims), 1);
        shape[static_cast<std::size_t>(d)] = at.size(0);
        indices.push_back(at.view(shape));
    }
    return whole ? part.expand_as(value) : torch::index_put(value, indices, part);
}

torch::Tensor Editor::changed(std::size_t index, const HookPoint& point,
                              const torch::Tensor& value) {
    const auto& edit = m_list.edits[index];
    auto region = regionOf(edit, point, value);
    if (edit.op == EditOp::Swap) {
        const auto axis = std::find_if(point.axes.begin(), point.axes.end(),
                                       [&](Axis a) { return edit.axis == axisName(a); });
        if (axis == point.axes.end()) return value;
        const auto d = axis - point.axes.begin();
        const std::int64_t size = value.size(d), first = firstOf(*axis, point, m_origin);
        const auto local = [&](std::int64_t place) {
            return place < 0 ? place + size : place - first;
        };
        const std::int64_t a = local(edit.first), b = local(edit.second);
        if (a < 0 || b < 0 || a >= size || b >= size) return value;
        region.places[static_cast<std::size_t>(d)] =
            torch::tensor({a, b}, torch::kLong).to(value.device());
        if (region.empty) return value;
        return region.replaced(value, region.of(value).flip(d));
    }
    if (region.empty) return value;
    if (edit.op == EditOp::Project) {
        const auto out =
            m_projections.at(index).out(value, point, firstOf(Axis::Position, point, m_origin));
        return region.replaced(value, region.of(out));
    }
    const bool known = !takesOtherRuns(edit) || m_values.contains(index);
    if (m_skipsUnknown && !known) return value;
    const auto part = partOf(index, point, value, region);
    return region.replaced(value, part.expand_as(region.of(value)));
}

torch::Tensor Editor::partOf(std::size_t index, const HookPoint& point, const torch::Tensor& value,
                             const Region& region) const {
    const auto& edit = m_list.edits[index];
    const auto part = region.of(value);
    switch (edit.op) {
        case EditOp::Zero:
            return torch::zeros({1}, value.options());
        case EditOp::Set:
            return numbers(edit, point, part, region);
        case EditOp::Scale:
            return part * edit.factor;
        case EditOp::Add:
            return part + numbers(edit, point, part, region);
        case EditOp::Mask:
            return torch::full({1}, kClosed, value.options());
        case EditOp::Uniform: {
            auto open = point.closed.defined()
                            ? point.closed.logical_not().to(value.scalar_type())
                            : torch::ones({value.size(-2), value.size(-1)}, value.options());
            open = open / open.sum(-1, true).clamp_min(1);  // padding has no open cell
            return region.of(open.expand_as(value));
        }
        default:
            return taken(index, point, value, region);
    }
}

torch::Tensor Editor::numbers(const Edit& edit, const HookPoint& point, const torch::Tensor& part,
                              const Region& region) const {
    // Numbers are given for the axes that are not fixed by one integer, from the last one.
    std::vector<std::int64_t> shape(static_cast<std::size_t>(part.dim()), 1);
    auto next = edit.values.shape.size();
    for (auto d = shape.size(); d-- > 0 && next > 0;) {
        const auto found = edit.selection.find(axisName(point.axes[d]));
        if (found != edit.selection.end() && found->second.places.size() == 1) continue;
        shape[d] = edit.values.shape[--next];
    }
    auto given = torch::tensor(edit.values.numbers.all(), torch::kDouble).view(shape);
    // The values of places that this tensor does not have (a shorter text, a block of rows) are
    // unused.
    for (std::size_t d = 0; d < shape.size(); ++d) {
        const auto dimension = static_cast<std::int64_t>(d);
        if (shape[d] == 1 || shape[d] == part.size(dimension)) continue;
        given = region.ordinals[d].defined()
                    ? given.index_select(dimension, region.ordinals[d])
                    : given.narrow(dimension, firstOf(point.axes[d], point, m_origin),
                                   part.size(dimension));
    }
    return given.to(part.options());
}

torch::Tensor Editor::offsetNumbers(const Edit& edit, const HookPoint& point,
                                    const torch::Tensor& value, const Region& region) const {
    const auto i = indexOf(point, Axis::I), j = indexOf(point, Axis::J);
    std::vector<std::int64_t> shape(point.axes.size(), 1);
    auto next = edit.values.shape.size();
    for (auto d = std::ssize(shape); d-- > 0 && next > 0;) {
        const auto found = edit.selection.find(axisName(point.axes[static_cast<std::size_t>(d)]));
        const bool fixed = found != edit.selection.end() && found->second.places.size() == 1;
        if (d == i || (fixed && d != j)) continue;
        shape[static_cast<std::size_t>(d)] = edit.values.shape[--next];
    }
    shape.erase(shape.begin() + i);
    const auto offsets = shape[static_cast<std::size_t>(j - 1)] / 2;
    auto given = torch::tensor(edit.values.numbers.all(), torch::kDouble).view(shape);
    given = cellsOf(given.to(value.options()), offsets, point, value);
    for (const auto d : {i, j})
        if (const auto& places = region.places[static_cast<std::size_t>(d)]; places.defined())
            given = given.index_select(d, places);
    return given;
}

torch::Tensor Editor::taken(std::size_t index, const HookPoint& point, const torch::Tensor& value,
                            const Region& region) const {
    const auto& edit = m_list.edits[index];
    const auto part = region.of(value);
    if (edit.op == EditOp::Mean && !edit.values.empty()) {
        const bool cells = indexOf(point, Axis::I) < std::ssize(point.axes) &&
                           indexOf(point, Axis::J) < std::ssize(point.axes);
        return meanByOffset(edit, cells) ? offsetNumbers(edit, point, value, region)
                                         : numbers(edit, point, part, region);
    }
    const auto found = m_values.find(index);
    if (found == m_values.end())
        throw Error("edits[" + std::to_string(index) + "]: the values that " +
                    std::string(editOpName(edit.op)) + " takes at " + edit.point +
                    " are not known");
    auto source = found->second.tensor.to(value.options());
    const std::int64_t offsets = found->second.offsets;
    if (offsets >= 0) {
        source = cellsOf(source, offsets, point, value);
        return region.of(source.expand_as(value));
    }
    // Rows or columns that this tensor lacks (a block of rows, a cached text) are left out.
    for (std::size_t d = 0; d < point.axes.size(); ++d) {
        const auto dimension = static_cast<std::int64_t>(d);
        const Axis axis = point.axes[d];
        const bool moves = axis == Axis::Position || axis == Axis::I || axis == Axis::J;
        if (!moves || source.size(dimension) == 1) continue;
        const auto first = firstOf(axis, point, m_origin), size = value.size(dimension);
        if (first + size > source.size(dimension)) {
            if (edit.op != EditOp::Patch)
                throw Error("edits[" + std::to_string(index) + "]: " + edit.point + " has " +
                            std::to_string(first + size) + " places along " + axisName(axis) +
                            ", its values " + std::to_string(source.size(dimension)) +
                            "; give inputs of one length, or another operation");
            // Beyond the other input nothing is patched.
            auto longer =
                value.narrow(dimension, std::max<std::int64_t>(0, source.size(dimension) - first),
                             first + size - std::max(first, source.size(dimension)));
            if (source.size(0) == 1) {
                auto sizes = source.sizes().vec();
                sizes[0] = value.size(0);
                source = source.expand(sizes);
            }
            const auto there =
                source.narrow(dimension, std::min(first, source.size(dimension)),
                              std::max<std::int64_t>(0, source.size(dimension) - first));
            source = torch::cat({there, longer}, dimension);
        } else {
            source = source.narrow(dimension, first, size);
        }
    }
    return region.of(source.expand_as(value)).detach();
}

PointReader::PointReader(std::vector<std::string> names) : m_names(std::move(names)) {
    std::sort(m_names.begin(), m_names.end());
}

bool PointReader::takes(std::string_view prefix) const {
    if (m_names.empty()) return true;
    const auto found = std::lower_bound(m_names.begin(), m_names.end(), prefix);
    return found != m_names.end() && std::string_view(*found).starts_with(prefix);
}

bool PointReader::plan(const HookPoint& point, const torch::Tensor&, PointPlan& steps) {
    if (m_names.empty() || std::binary_search(m_names.begin(), m_names.end(), point.name))
        steps.push_back({PointStep::What::Read, this});
    return true;
}

torch::Tensor PointReader::at(const HookPoint& point, const torch::Tensor& value) {
    if (!m_names.empty() && !std::binary_search(m_names.begin(), m_names.end(), point.name))
        return value;
    PointInfo info{point.name, {}, value.sizes().vec(), point.closed.defined()};
    for (const auto axis : point.axes) info.axes.emplace_back(axisName(axis));
    m_points.push_back(std::move(info));
    if (!m_keeps) return value;
    const auto axis = std::find_if(point.axes.begin(), point.axes.end(), [](Axis one) {
        return one == Axis::Position || one == Axis::I;
    });
    m_tensors[point.name] =
        m_rows.defined() && axis != point.axes.end()
            ? value.index_select(axis - point.axes.begin(), m_rows.to(value.device()))
            : value;
    return value;
}

}  // namespace relascope::core
