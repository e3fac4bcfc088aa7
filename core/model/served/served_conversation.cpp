// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/served/served_conversation.h"

#include <torch/csrc/autograd/function.h>
#include <torch/utils.h>
#include <algorithm>
#include <limits>

#include "model/blocks/recording.h"
#include "model/served/served_tensor.h"
#include "types/error.h"

namespace relascope::core {
namespace {

constexpr double kServedCut = -std::numeric_limits<double>::infinity();

/// Asks the process for the gradients of the points that a pass has read.
struct ServedBackward : torch::autograd::Node {
    ServedBackward(ServedLink& l, std::uint64_t p, std::vector<std::string> n)
        : link(l), pass(p), names(std::move(n)) {}

    torch::autograd::variable_list apply(torch::autograd::variable_list&& given) override {
        torch::autograd::variable_list all(names.size());
        if (given.empty() || !given[0].defined()) return all;
        const auto found = link.backward(pass, servedTensor(given[0].to(torch::kFloat)));
        for (std::size_t k = 0; k < names.size(); ++k)
            if (const auto at = found.find(names[k]); at != found.end())
                all[k] = tensorOf(at->second).to(torch::kFloat);
        return all;
    }

    ServedLink& link;
    std::uint64_t pass;
    std::vector<std::string> names;
};

std::string blockIn(const std::string& point) {
    return point.substr(0, point.rfind('.'));
}

// The name of a module that says what its maps are (probe/layers.h); empty: they are not recorded.
std::string moduleOfMaps(const std::string& prefix) {
    static const std::map<std::string, std::string, std::less<>> modules = {
        {"attn", ".self_attn"}, {"rel", ".relational_attention"}, {"rca", ".rca"}};
    const auto dot = prefix.rfind('.');
    const auto found =
        dot == std::string::npos ? modules.end() : modules.find(prefix.substr(dot + 1));
    return found == modules.end() ? std::string() : prefix.substr(0, dot) + found->second;
}

// The closed cells of a pattern or of scores, with those that no head of no example reads: outside
// of a window.
torch::Tensor alsoClosed(const HookPoint& point, const torch::Tensor& value) {
    const bool scores = point.name.ends_with(".hook_attn_scores");
    if ((!scores && !point.name.ends_with(".hook_pattern")) || value.dim() != 4)
        return point.closed;
    constexpr double cut = -1e30;  // programs cut with large numbers, too
    const auto shut = (scores ? value.lt(cut) : value.eq(0.0)).all(0).all(0);
    if (!shut.any().item<bool>()) return point.closed;
    return point.closed.defined() ? point.closed.logical_or(shut) : shut;
}

torch::Tensor inOrder(const ServedPoint& point, const torch::Tensor& value,
                      std::initializer_list<const char*> axes) {
    std::vector<std::int64_t> order;
    for (const auto* axis : axes) {
        const auto at = std::find(point.axes.begin(), point.axes.end(), axis);
        if (at == point.axes.end()) return {};
        order.push_back(at - point.axes.begin());
    }
    return std::ssize(order) == value.dim() ? value.permute(order) : torch::Tensor();
}

}  // namespace

ServedConversation::ServedConversation(ServedModelImpl& model, const torch::Tensor& x)
    : m_model(model),
      m_declared(model.m_declared),
      m_x(x),
      m_hooks(activeHooks()),
      m_recorder(activeRecorder()) {
    // Shorter texts of a batch are padded, and how far is up to the process.
    if (m_declared.input == InputKind::Tokens && x.dim() == 2 && x.ge(0).all().item<bool>())
        m_length = x.size(1);
}

HookPoint ServedConversation::hookPoint(std::size_t index, std::int64_t rows,
                                        std::int64_t columns) const {
    const auto& point = m_declared.points[index];
    HookPoint at{point.name, m_model.m_axes[index]};
    const bool scores = point.name.ends_with(".hook_attn_scores");
    at.closedValue = scores ? kServedCut : 0.0;
    if (point.causal && rows > 0 && (scores || point.name.ends_with(".hook_pattern"))) {
        at.closed = torch::ones({rows, columns}, torch::kBool).triu(1 + columns - rows);
    }
    return at;
}

torch::Tensor ServedConversation::sizesOf(const ServedPoint& point) const {
    auto sizes = point.sizes;
    for (std::size_t d = 0; d < sizes.size(); ++d) {
        if (sizes[d] >= 0) continue;
        sizes[d] = point.axes[d] == "batch" ? m_x.size(0) : m_length;
        if (sizes[d] < 0) return {};
    }
    return torch::zeros({1}).expand(sizes);
}

bool ServedConversation::records(const ServedPoint& point) const {
    if (!m_recorder) return false;
    if (point.name.ends_with(".hook_pattern") || point.name.ends_with(".hook_r"))
        return !moduleOfMaps(blockIn(point.name)).empty();
    return !m_recorder->takesFactors() && point.name.ends_with(".hook_resid_post");
}

void ServedConversation::record(const ServedPoint& point, const torch::Tensor& value) const {
    const auto prefix = blockIn(point.name);
    if (point.name.ends_with(".hook_resid_post")) return m_recorder->hidden(prefix, value);
    const auto module = moduleOfMaps(prefix);
    if (point.name.ends_with(".hook_r")) {
        const auto r = inOrder(point, value, {"batch", "i", "j", "relation"});
        if (r.defined()) m_recorder->relations(module, r);
    } else if (const auto alpha = inOrder(point, value, {"batch", "head", "i", "j"});
               alpha.defined()) {
        m_recorder->scores(module, alpha);
    }
}

void ServedConversation::add(const ServedPoint& point, ServedAction action, Taker taker) {
    const bool comes =
        action.what == ServedAction::Do::Read || action.what == ServedAction::Do::Exchange;
    if (comes) {
        auto& takers = m_takers[point.name];
        const bool first = std::none_of(takers.begin(), takers.end(),
                                        [](const Taker& one) { return one.gradient; });
        taker.gradient = action.gradient = first && point.gradient && !taker.records &&
                                           !taker.mends && m_declared.gradients &&
                                           torch::GradMode::is_enabled();
        m_pass.gradients = m_pass.gradients || action.gradient;
        takers.push_back(taker);
    } else if (!point.replace) {
        throw OptionError("edits.point",
                          point.name + " can be read in this model, and not replaced");
    }
    m_pass.points.emplace_back(point.name, std::move(action));
}

void ServedConversation::askHooks(std::size_t index, const torch::Tensor& like, bool records) {
    const auto& point = m_declared.points[index];
    using Do = ServedAction::Do;
    PointPlan plan;
    const auto size = [&](const char* axis) {
        const auto at = std::find(point.axes.begin(), point.axes.end(), axis);
        return like.defined() && at != point.axes.end() ? like.size(at - point.axes.begin()) : 0;
    };
    const auto at = hookPoint(index, size("i"), size("j"));
    if (!like.defined() || !m_hooks->plan(at, like, plan)) {
        constexpr std::string_view scores = "attn_scores";
        if (point.replace && point.name.ends_with(scores))
            m_mended = point.name.substr(0, point.name.size() - scores.size()) + "pattern";
        ServedAction action;
        action.what = point.replace ? Do::Exchange : Do::Read;
        Taker taker;
        taker.exchanges = true;
        add(point, std::move(action), taker);
        if (records) {
            Taker recorder;
            recorder.records = true;
            add(point, {}, recorder);
        }
        return;
    }
    for (const auto& step : plan) {
        ServedAction action;
        Taker taker;
        switch (step.what) {
            case PointStep::What::Read:
                if (!step.reader->takesValues()) {
                    step.reader->at(at, like);
                    continue;
                }
                taker.reader = step.reader;
                break;
            case PointStep::What::Multiply:
                action.what = Do::Multiply;
                action.axis = axisName(step.axis);
                action.values = servedTensor(step.values.to(torch::kFloat));
                break;
            case PointStep::What::Put:
                action.what = Do::Put;
                for (const auto& places : step.places) {
                    auto& chosen = action.places.emplace_back();
                    if (!places.defined()) continue;
                    const auto numbers = places.to(torch::kCPU, torch::kLong).contiguous();
                    const auto* data = numbers.const_data_ptr<std::int64_t>();
                    chosen.emplace(data, data + numbers.numel());
                }
                action.values = servedTensor(step.values.to(torch::kFloat));
                break;
        }
        add(point, std::move(action), taker);
    }
    if (!records) return;
    Taker recorder;
    recorder.records = true;
    add(point, {}, recorder);
}

void ServedConversation::ask(std::size_t index) {
    const auto& point = m_declared.points[index];
    const bool recorded = records(point);
    if (point.name == m_mended && point.replace) {
        // A softmax of scores that are all cut is NaN in other programs, and zeros in ours.
        ServedAction action;
        action.what = ServedAction::Do::Exchange;
        Taker taker;
        taker.mends = true;
        add(point, std::move(action), taker);
    }
    if (m_hooks && m_hooks->takes(point.name)) return askHooks(index, sizesOf(point), recorded);
    if (!recorded) return;
    Taker recorder;
    recorder.records = true;
    add(point, {}, recorder);
}

std::optional<ServedTensor> ServedConversation::met(const std::string& name,
                                                    const ServedTensor& given, bool wait) {
    const auto found = m_takers.find(name);
    if (found == m_takers.end() || found->second.empty())
        throw Error("The process that serves " + m_declared.name + " sent " + name +
                    ", which was not asked for.");
    const auto taker = found->second.front();
    found->second.pop_front();
    const auto index = static_cast<std::size_t>(m_declared.point(name) - m_declared.points.data());
    const auto& point = m_declared.points[index];
    auto value = tensorOf(given);
    if (value.is_floating_point()) value = value.to(torch::kFloat);
    bool fits = value.dim() == std::ssize(point.sizes);
    for (std::size_t d = 0; fits && d < point.sizes.size(); ++d)
        fits = point.sizes[d] < 0 || point.sizes[d] == value.size(static_cast<std::int64_t>(d));
    if (!fits)
        throw Error("The process that serves " + m_declared.name + " sent " + name +
                    " with other sizes than it declared; open it again.");
    const auto i = std::find(point.axes.begin(), point.axes.end(), "i"),
               j = std::find(point.axes.begin(), point.axes.end(), "j");
    const bool cells = i != point.axes.end() && j != point.axes.end();
    auto at = hookPoint(index, cells ? value.size(i - point.axes.begin()) : 0,
                        cells ? value.size(j - point.axes.begin()) : 0);
    // Programs close cells with numbers of their own.
    if (at.closed.defined() && at.closedValue != 0.0)
        value = value.masked_fill(at.closed, at.closedValue);
    if (taker.mends) {
        const auto dead = value.isnan();
        if (!dead.any().item<bool>()) return std::nullopt;
        return servedTensor(value.masked_fill(dead, 0.0));
    }
    if (taker.records) {
        m_recorded.emplace_back(&point, value);
        return std::nullopt;
    }
    if (taker.gradient) value.requires_grad_();
    if (!taker.exchanges) {
        taker.reader->at(at, value);
        if (taker.gradient) m_leaves.emplace_back(name, value);
        return std::nullopt;
    }
    if (cells) at.closed = alsoClosed(at, value);
    const auto result = m_hooks->at(at, value);
    if (taker.gradient) m_leaves.emplace_back(name, result);
    if (result.is_same(value)) return std::nullopt;
    if (!wait)
        throw OptionError("edits.point", name + " can be read in this model, and not replaced");
    return servedTensor(result.to(torch::kFloat));
}

torch::Tensor ServedConversation::run() {
    std::string begun;  // the last block that need not run
    if (m_hooks && m_model.m_whyNoStreams.empty())
        for (const auto& layer : m_declared.layers)
            if (auto kept = m_hooks->streamAfter(layer.block); kept.defined() && layer.skipped) {
                begun = layer.block;
                m_pass.after = {begun, servedTensor(kept.to(torch::kFloat))};
            }
    bool runs = begun.empty();
    const bool values = !m_hooks || m_hooks->takesValues();
    for (std::size_t index = 0; index < m_declared.points.size(); ++index) {
        const auto& name = m_declared.points[index].name;
        if (runs) {
            ask(index);
        } else if (name == begun + ".hook_resid_post") {
            runs = true;
        }
    }
    // Who asks for names and sizes alone needs no pass, where these were declared.
    if (!values && !m_recorder && m_pass.points.empty()) {
        std::vector<std::int64_t> sizes = {m_x.size(0), m_declared.outputs};
        if (m_length > 0) sizes.insert(sizes.begin() + 1, m_length);
        return torch::zeros({1}).expand(sizes);
    }
    m_model.address(m_pass, m_x);
    const auto answer =
        m_model.m_link->forward(m_pass, [&](const std::string& name, const ServedTensor& value,
                                            bool wait) { return met(name, value, wait); });
    auto scores = m_model.fitted(answer.scores, m_x);
    for (const auto& [name, left] : m_takers)
        if (!left.empty())
            throw Error("The pass of " + m_declared.name + " did not meet " + name +
                        "; it goes another way for this input.");
    {
        const torch::NoGradGuard noGrad;
        for (const auto& [point, value] : m_recorded) record(*point, value);
    }
    // A probe counts its last layer as done when it sees what comes after.
    if (m_recorder && m_recorder->takesFactors()) m_recorder->hidden("", scores);
    if (m_leaves.empty()) return scores;
    std::vector<std::string> names;
    torch::autograd::variable_list leaves;
    for (auto& [name, tensor] : m_leaves) {
        names.push_back(name);
        leaves.push_back(tensor);
    }
    const auto node = std::shared_ptr<ServedBackward>(
        new ServedBackward(*m_model.m_link, answer.pass, std::move(names)),
        torch::autograd::deleteNode);
    node->set_next_edges(torch::autograd::collect_next_edges(leaves));
    torch::autograd::create_gradient_edge(scores, node);
    return scores;
}

}  // namespace relascope::core
