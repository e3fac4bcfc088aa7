// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/served/served_model.h"

#include <algorithm>
#include <charconv>

#include "model/served/served_conversation.h"
#include "model/served/served_options.h"
#include "model/served/served_tensor.h"
#include "types/error.h"

namespace relascope::core {
namespace {

Axis axisNamed(const std::string& name) {
    for (int axis = 0; axis <= static_cast<int>(Axis::Expert); ++axis)
        if (name == axisName(static_cast<Axis>(axis))) return static_cast<Axis>(axis);
    throw Error("There is no axis '" + name + "'.");
}

bool isReference(const torch::Tensor& x, InputKind input) {
    return input != InputKind::Tokens && x.dim() == 2 && x.scalar_type() == torch::kLong &&
           x.size(1) == 2;
}

}  // namespace

torch::Tensor servedReferences(const ServedDeclaration& declared, const std::string& split,
                               const std::vector<std::int64_t>& indices) {
    const auto found = std::find_if(declared.splits.begin(), declared.splits.end(),
                                    [&](const auto& one) { return one.name == split; });
    if (found == declared.splits.end())
        throw OptionError("split", "the process that serves " + declared.name +
                                       " has no examples of '" + split + "'");
    const auto numbers = torch::tensor(indices, torch::kLong);
    return torch::stack({torch::full_like(numbers, found - declared.splits.begin()), numbers}, 1);
}

ServedModelImpl::ServedModelImpl(const ModelOptions& options, ServedLinkPtr link,
                                 ServedChoice weights)
    : m_declared(declarationOf(options)), m_link(std::move(link)), m_weights(weights) {
    for (const auto& point : m_declared.points) {
        auto& axes = m_axes.emplace_back();
        for (const auto& axis : point.axes) axes.push_back(axisNamed(axis));
    }
    if (m_weights.fresh && !m_declared.fresh)
        throw OptionError("untrained", "the process that serves " + m_declared.name +
                                           " makes no model with fresh weights; give `fresh` to "
                                           "relascope.serve");
    // The rest of a model can run after a stream of the one stack that there is.
    const auto stackOf = [](const std::string& block) { return block.substr(0, block.rfind('.')); };
    for (const auto& layer : m_declared.layers)
        if (stackOf(layer.block) != stackOf(m_declared.layers.front().block))
            m_whyNoStreams = "has an encoder and a decoder";
    if (m_declared.layers.empty())
        m_whyNoStreams = "has no blocks that were found";
    else if (const auto& last = m_declared.layers.back();
             last.skipped && m_declared.point(last.block + ".hook_resid_post"))
        m_lastBlock = last.block;
    else if (m_whyNoStreams.empty())
        m_whyNoStreams = "has no stream after its blocks that was found";
}

std::string ServedModelImpl::whyNoStreams() const {
    return m_whyNoStreams;
}

void ServedModelImpl::address(ServedPass& pass, const torch::Tensor& given) const {
    const auto x = given.to(torch::kCPU).contiguous();
    pass.version = m_weights.version, pass.step = m_weights.step, pass.fresh = m_weights.fresh;
    if (isReference(x, m_declared.input)) {
        const auto* numbers = x.const_data_ptr<std::int64_t>();
        for (std::int64_t e = 0; e < x.size(0); ++e) {
            const auto split = numbers[2 * e], index = numbers[2 * e + 1];
            if (split < 0 || split >= std::ssize(m_declared.splits) || split != numbers[0])
                throw OptionError("input", "the examples of a batch belong to one split");
            pass.indices.push_back(index);
        }
        pass.split = m_declared.splits[static_cast<std::size_t>(numbers[0])].name;
        return;
    }
    if (m_declared.input == InputKind::Tokens && x.dim() == 2 && x.scalar_type() == torch::kLong) {
        std::vector<ServedTokenRows::Places> rows;
        for (std::int64_t e = 0; e < x.size(0); ++e)
            rows.push_back(m_link->tokenRows.find({x.const_data_ptr<std::int64_t>() + e * x.size(1),
                                                   static_cast<std::size_t>(x.size(1))}));
        if (!rows.empty())
            for (const auto& [split, place] : rows.front())
                if (std::all_of(rows.begin(), rows.end(),
                                [&name = split](const auto& row) { return row.contains(name); }))
                    return addressRows(pass, split, rows);
    }
    if (m_declared.input == InputKind::Images && !m_declared.encode)
        throw OptionError("image", "the process that serves " + m_declared.name +
                                       " does not say how a picture becomes an input; give "
                                       "`encode` to relascope.serve, or choose an example");
    pass.input = servedTensor(x);
}

// By the numbers of examples with these tokens. Where a model reads more than tokens these are not
// enough to tell one example from another.
void ServedModelImpl::addressRows(ServedPass& pass, const std::string& split,
                                  const std::vector<ServedTokenRows::Places>& rows) const {
    pass.split = split;
    for (const auto& row : rows) {
        const auto& place = row.at(split);
        if (place.other >= 0 && !m_declared.tokensAlone)
            throw OptionError(
                "input", "examples " + std::to_string(place.index) + " and " +
                             std::to_string(place.other) + " of " + split +
                             " have the same tokens and other inputs that differ, and are told "
                             "apart by their tokens alone; serve examples whose tokens differ");
        pass.indices.push_back(place.index);
    }
}

torch::Tensor ServedModelImpl::fitted(const ServedTensor& given, const torch::Tensor& x) const {
    auto scores = tensorOf(given).to(torch::kFloat);
    const bool each = scores.dim() == 3;
    if ((scores.dim() != 2 && !each) || scores.size(0) != x.size(0) ||
        scores.size(-1) != m_declared.outputs)
        throw Error("The process that serves " + m_declared.name + " answered " +
                    std::to_string(x.size(0)) + " inputs with scores of another shape; `call` " +
                    "may return something else than " + std::to_string(m_declared.outputs) +
                    " scores.");
    // Its batches may be padded to another length than ours.
    if (!each || m_declared.input != InputKind::Tokens || scores.size(1) == x.size(1))
        return scores;
    if (scores.size(1) > x.size(1)) return scores.slice(1, 0, x.size(1));
    return torch::constant_pad_nd(scores, {0, 0, 0, x.size(1) - scores.size(1)});
}

torch::Tensor ServedModelImpl::forward(const ModelInput& input) {
    if (beforePass) beforePass();
    ServedConversation conversation(*this, input.x);
    m_last = input.x;
    return conversation.run();
}

torch::Tensor ServedModelImpl::ended(const torch::Tensor& stream) {
    if (m_lastBlock.empty() || !m_whyNoStreams.empty())
        throw OptionError("model", m_declared.name + " " + m_whyNoStreams +
                                       ", so that its answer cannot be read after each layer");
    if (!m_last.defined() || m_last.size(0) != stream.size(0))
        throw Error("A served model answers after a stream only for the inputs of its last pass.");
    ServedPass pass;
    address(pass, m_last);
    pass.after = {m_lastBlock, servedTensor(stream.to(torch::kFloat))};
    return fitted(m_link->forward(pass, {}).scores, m_last);
}

torch::Tensor servedExample(const ModelOptions& options, const std::string& name) {
    const auto declared = declarationOf(options);
    const auto space = name.rfind(' ');
    const auto* split = declared.split(name.substr(0, space));
    if (!split || space == std::string::npos || declared.input == InputKind::Tokens) return {};
    std::int64_t index = -1;
    const auto* end = name.data() + name.size();
    const auto read = std::from_chars(name.data() + space + 1, end, index);
    if (read.ec != std::errc() || read.ptr != end || index < 0 || index >= split->size) return {};
    return servedReferences(declared, split->name, {index});
}

std::shared_ptr<ServedModelImpl> servedModel(const ModelOptions& options, ServedChoice weights) {
    return std::make_shared<ServedModelImpl>(options, servedLink(declarationOf(options).name),
                                             weights);
}

}  // namespace relascope::core
