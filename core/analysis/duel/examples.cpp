// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/duel/examples.h"

#include <algorithm>
#include <random>
#include <utility>

#include "analysis/pairs/pair_objects.h"
#include "interventions/active_edits.h"
#include "model/architecture.h"
#include "model/public/public_options.h"
#include "train/requirements.h"
#include "types/error.h"
#include "types/option_groups.h"
#include "types/text_alignment.h"

namespace relascope::core {
namespace {

constexpr std::int64_t kDuelBatch = 250, kDuelTextBatch = 8;
constexpr std::int64_t kFewestObjects = 4;  // common ends of tokens in a text

std::vector<std::string> piecesOf(const Tokenizer& tokenizer,
                                  const std::vector<std::int64_t>& tokens) {
    std::vector<std::string> pieces;
    for (const auto id : tokens)
        pieces.emplace_back(tokenizer.piece(static_cast<std::int32_t>(id)));
    return pieces;
}

Batch windowsOf(const torch::Tensor& tokens) {  // [b, n + 1]
    Batch batch;
    const auto n = tokens.size(1) - 1;
    batch.inputs = tokens.narrow(1, 0, n).contiguous();
    batch.targets = tokens.narrow(1, 1, n).contiguous();
    batch.kind = TargetKind::Tokens;
    return batch;
}

}  // namespace

DuelExamples::DuelExamples(const OpenedModel& a, const OpenedModel& b, DatasetPtr data,
                           std::int64_t examples, std::int64_t tokens)
    : m_data(std::move(data)) {
    for (const auto* side : {&a, &b}) requireNextToken(side->options(), "duel");
    if (!m_data || m_data->size() == 0) throw OptionError("data", "contains nothing to compare on");
    requireReadable(a.options(), *m_data);
    const bool text = a.options().input() == InputKind::Tokens;
    if (a.options().input() != b.options().input())
        throw OptionError("other", b.options().architecture() + " reads other inputs than " +
                                       a.options().architecture() +
                                       "; choose a model that reads the same");
    if (!text) try {
            requireReadable(b.options(), *m_data);
        } catch (const OptionError& error) {
            throw OptionError("other",
                              "B does not read the data of A: " + std::string(error.what()));
        }
    m_examples = drawnExamples(m_data->size(), examples, 0);
    if (m_examples.size() < 2)
        throw OptionError("examples", "two or more are compared on, and " +
                                          std::to_string(m_examples.size()) + " is there");
    m_noun = text                                       ? "windows of text"
             : a.options().input() == InputKind::Images ? "images"
                                                        : "examples";
    if (text)
        readTexts(a, b, tokens);
    else
        findObjects(a, b);
}

std::int64_t DuelExamples::batchSize() const {
    return !isText() ? kDuelBatch : segments() ? 1 : kDuelTextBatch;
}

void DuelExamples::findObjects(const OpenedModel& a, const OpenedModel& b) {
    const auto count = static_cast<std::int64_t>(m_examples.size());
    try {
        auto ours = pairObjects(a.options(), *m_data, count, ""),
             theirs = pairObjects(b.options(), *m_data, count, "");
        m_whole = {ours.whole, theirs.whole};
        if (ours.shape.objects != theirs.shape.objects || ours.columns != theirs.columns) {
            m_whyNot = "A sees " + std::to_string(ours.shape.objects) + " objects and B " +
                       std::to_string(theirs.shape.objects) + ", which are not the same ones.";
            return;
        }
        m_shape = ours.shape;
        m_positions = {std::move(ours.positions), std::move(theirs.positions)};
    } catch (const OptionError&) {
        m_whyNot = "The examples have one object, and maps are between two.";
    }
}

void DuelExamples::readTexts(const OpenedModel& a, const OpenedModel& b, std::int64_t tokens) {
    const auto& data = dynamic_cast<const TokenDataset&>(*m_data);
    const auto longest = std::min({tokens, data.context(), a.options().tokens()});
    if (longest < kFewestObjects) throw OptionError("tokens", "windows of four tokens are needed");
    const auto ours = data.tokenizer() ? data.tokenizer() : a.tokenizer(), theirs = b.tokenizer();
    const bool alike = (ours && theirs) ? ours->fingerprint() == theirs->fingerprint()
                                        : a.options().outputs() == b.options().outputs();
    if (!alike && (!ours || !theirs))
        throw OptionError("other",
                          "the tokenizer of one of the two is not known, and their "
                          "vocabularies differ; put a tokenizer.json beside its weights");
    m_window = alike ? std::min(longest, b.options().tokens()) : longest;
    auto objects = std::min(PairObjects::kTextObjects, m_window);
    std::mt19937_64 random(1);
    if (alike) {
        for (std::size_t e = 0; e < m_examples.size(); ++e)
            m_starts.push_back(static_cast<std::int64_t>(
                random() % static_cast<std::uint64_t>(m_window - objects + 1)));
    } else {
        std::vector<std::int64_t> kept, window(static_cast<std::size_t>(data.context() + 1));
        for (const auto example : m_examples) {
            data.read(example, window);
            Text text;
            text.tokens[0].assign(window.begin(), window.begin() + m_window + 1);
            const auto pieces = piecesOf(*ours, text.tokens[0]);
            std::string whole;
            for (const auto& piece : pieces) whole += piece;
            const auto ids = theirs->encode(whole);
            text.tokens[1].assign(ids.begin(), ids.end());
            if (const auto most = static_cast<std::size_t>(b.options().tokens() + 1);
                text.tokens[1].size() > most)
                text.tokens[1].resize(most);
            if (text.tokens[1].size() < 2) continue;
            text.ends = alignTexts(pieces, piecesOf(*theirs, text.tokens[1])).ends;
            // The last token is a target alone.
            const auto inputs = std::count_if(text.ends.begin(), text.ends.end(), [&](auto& at) {
                return at[0] + 1 < std::ssize(text.tokens[0]) &&
                       at[1] + 1 < std::ssize(text.tokens[1]);
            });
            if (inputs < kFewestObjects) continue;
            objects = std::min<std::int64_t>(objects, inputs);
            kept.push_back(example);
            m_starts.push_back(inputs);
            m_texts.push_back(std::move(text));
        }
        if (kept.size() < 2)
            throw OptionError("other",
                              "the tokenizers of the two divide these texts too "
                              "differently to compare them; choose other data");
        m_examples = std::move(kept);
        for (auto& start : m_starts)
            start = static_cast<std::int64_t>(random() %
                                              static_cast<std::uint64_t>(start - objects + 1));
    }
    m_shape = {m_examples.size(), static_cast<std::size_t>(objects), true, true};
}

DuelExamples::Slice DuelExamples::textPart(std::int64_t index) const {
    const auto& text = m_texts.at(static_cast<std::size_t>(index));
    const auto start = m_starts.at(static_cast<std::size_t>(index));
    Slice part;
    for (std::size_t side = 0; side < 2; ++side) {
        part.batches[side] = windowsOf(torch::tensor(text.tokens[side], torch::kLong).unsqueeze(0));
        std::vector<std::int64_t> positions;
        for (std::size_t k = 0; k < m_shape.objects; ++k)
            positions.push_back(text.ends[static_cast<std::size_t>(start) + k][side]);
        part.objects[side] = torch::tensor(positions, torch::kLong).unsqueeze(0);
        part.positions[side] = part.batches[side].inputs.size(1);
    }
    // Target t is token t + 1: those after one common end up to the next.
    for (std::size_t k = 0; k + 1 < text.ends.size(); ++k) {
        const auto &from = text.ends[k], &to = text.ends[k + 1];
        part.segments.push_back({{from[0], from[1]}, {to[0] - from[0], to[1] - from[1]}});
    }
    return part;
}

DuelExamples::Slice DuelExamples::slice(std::int64_t first, std::int64_t count) const {
    Slice part;
    if (segments()) {
        part = textPart(first);
        part.indices = {m_examples[static_cast<std::size_t>(first)]};
        return part;
    }
    part.indices.assign(m_examples.begin() + first, m_examples.begin() + first + count);
    auto batch = makeBatch(*m_data, part.indices.data(), count);
    if (isText() && batch.inputs.size(1) > m_window) {
        batch.inputs = batch.inputs.narrow(1, 0, m_window).contiguous();
        batch.targets = batch.targets.narrow(1, 0, m_window).contiguous();
    }
    part.batches = {batch, batch};
    part.positions = m_whole;
    if (isText()) part.positions = {batch.inputs.size(1), batch.inputs.size(1)};
    if (m_shape.objects == 0) return part;
    for (std::size_t side = 0; side < 2; ++side) {
        if (!isText()) {
            part.objects[side] =
                torch::tensor(m_positions[side], torch::kLong).unsqueeze(0).expand({count, -1});
            continue;
        }
        const auto starts = torch::tensor(
            std::vector<std::int64_t>(m_starts.begin() + first, m_starts.begin() + first + count),
            torch::kLong);
        part.objects[side] =
            starts.unsqueeze(1) +
            torch::arange(static_cast<std::int64_t>(m_shape.objects), torch::kLong);
    }
    return part;
}

ObjectReader::ObjectReader(std::vector<std::string> names, torch::Tensor objects,
                           std::int64_t positions)
    : PointReader(std::move(names)), m_objects(std::move(objects)), m_positions(positions) {
    if (m_objects.defined()) m_same = m_objects.eq(m_objects.narrow(0, 0, 1)).all().item<bool>();
}

torch::Tensor ObjectReader::at(const HookPoint& point, const torch::Tensor& value) {
    auto kept = value;
    for (std::size_t d = 0; d < point.axes.size(); ++d) {
        const auto axis = point.axes[d];
        if ((axis != Axis::Position && axis != Axis::I && axis != Axis::J) ||
            value.size(static_cast<std::int64_t>(d)) != m_positions)
            continue;
        const auto along = static_cast<std::int64_t>(d);
        if (!m_objects.defined()) {
            if (axis == Axis::Position) kept = kept.mean(along, true);
        } else if (m_same) {
            kept = kept.index_select(along, m_objects[0].to(value.device()));
        } else {
            std::vector<torch::Tensor> each;
            for (std::int64_t e = 0; e < kept.size(0); ++e)
                each.push_back(
                    kept.narrow(0, e, 1).index_select(along, m_objects[e].to(value.device())));
            kept = torch::cat(each);
        }
    }
    PointReader::at(point, kept);
    return value;
}

}  // namespace relascope::core
