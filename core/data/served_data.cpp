// SPDX-License-Identifier: GPL-3.0-or-later
#include "data/served_data.h"

#include <torch/types.h>
#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <numeric>

#include "data/batches.h"
#include "data/text_tokens.h"
#include "model/served/served_model.h"
#include "model/served/served_options.h"
#include "model/served/served_tensor.h"
#include "types/error.h"

namespace relascope::core {
namespace {

constexpr std::int64_t kExamplesAsked = 256;                       // in one request
constexpr std::size_t kShownBytes = std::size_t{256} << 20;        // kept of what people see
constexpr std::int64_t kNotCounted = -1, kNotCountedThere = -100;  // labels

/// One example. `label` -1: it has none.
struct ServedExample {
    std::int64_t label = -1;
    torch::Tensor labels;                        ///< [n] of tokens; undefined: none
    torch::Tensor picture, tokens, vectors;      ///< [H, W, 3] uint8, [n] int64, [n, d] float
    std::map<std::string, torch::Tensor> pairs;  ///< attributes [n, n]
    std::string origin, text;
    std::vector<std::string> pieces;
    bool whole = false;  ///< not its label alone
    std::size_t bytes() const {
        std::size_t all = 512;
        for (const auto* one : {&picture, &tokens, &vectors})
            if (one->defined()) all += one->nbytes();
        for (const auto& [name, values] : pairs) all += values.nbytes();
        return all;
    }
};
using ServedExamplePtr = std::shared_ptr<const ServedExample>;

/// The examples of a split, asked for once.
class ServedSource {
public:
    ServedSource(ServedLinkPtr link, ServedDeclaration declared, std::size_t split)
        : m_link(std::move(link)), m_declared(std::move(declared)) {
        m_split = m_declared.splits.at(split);
        const bool texts = m_declared.input == InputKind::Tokens;
        m_info.name = m_split.name;
        m_info.origin = "served by " + m_declared.program;
        m_info.size = m_split.size;
        m_info.channels = m_declared.input != InputKind::Images ? 0
                          : m_declared.channels == 1            ? 1
                                                                : 3;
        m_info.height = static_cast<int>(m_declared.height);
        m_info.width = static_cast<int>(m_declared.width);
        m_info.classNames = m_declared.classNames;
        m_info.targets = texts && m_declared.tokenScores ? TargetKind::Tokens : TargetKind::Class;
        if (!m_split.labels && m_info.targets == TargetKind::Class)
            m_info.note = "without labels, so that answers cannot be scored";
    }

    const DatasetInfo& info() const { return m_info; }
    const ServedDeclaration& declared() const { return m_declared; }
    ServedLink& link() const { return *m_link; }

    std::vector<ServedExamplePtr> get(std::span<const std::int64_t> indices, bool whole) const {
        std::vector<ServedExamplePtr> all(indices.size());
        std::vector<std::int64_t> missing;
        {
            const std::lock_guard lock(m_mutex);
            for (std::size_t e = 0; e < indices.size(); ++e) {
                const auto index = indices[e];
                if (index < 0 || index >= m_split.size)
                    throw OptionError("sample", std::to_string(index) +
                                                    " is out of range: " + m_split.name + " has " +
                                                    std::to_string(m_split.size) + " examples");
                const auto found = m_kept.find(index);
                if (found == m_kept.end() || (whole && !found->second->whole))
                    missing.push_back(index);
                else
                    all[e] = found->second;
            }
        }
        std::map<std::int64_t, ServedExamplePtr> fresh;
        for (std::size_t first = 0; first < missing.size(); first += kExamplesAsked) {
            const auto count = std::min<std::size_t>(kExamplesAsked, missing.size() - first);
            ask(std::span(missing).subspan(first, count), whole, fresh);
        }
        const std::lock_guard lock(m_mutex);
        for (std::size_t e = 0; e < indices.size(); ++e)
            if (!all[e]) all[e] = fresh.at(indices[e]);
        for (auto& [index, example] : fresh) {
            m_keptBytes += example->bytes();
            m_kept[index] = std::move(example);
        }
        if (m_keptBytes > kShownBytes) {  // labels and small examples come again quickly
            m_kept.clear();
            m_keptBytes = 0;
        }
        return all;
    }
    ServedExamplePtr get(std::int64_t index) const { return get({&index, 1}, true)[0]; }

    /// For display.
    ProbeSample sample(std::int64_t index) const {
        const auto example = get(index);
        ProbeSample s;
        s.label = example->label;
        s.origin = m_split.name + " " + std::to_string(index);
        if (example->picture.defined()) {
            const auto bytes = example->picture.contiguous();
            const auto* data = bytes.const_data_ptr<std::uint8_t>();
            s.image = {static_cast<int>(bytes.size(1)),
                       static_cast<int>(bytes.size(0)),
                       static_cast<int>(bytes.size(2)),
                       {data, data + bytes.numel()}};
        }
        if (example->tokens.defined()) {
            const auto ids = example->tokens.contiguous();
            s.source.tokens.assign(ids.const_data_ptr<std::int64_t>(),
                                   ids.const_data_ptr<std::int64_t>() + ids.numel());
            s.source.labels = example->pieces;
            s.source.text = !example->pieces.empty();
        }
        if (example->vectors.defined()) {
            const auto numbers = example->vectors.contiguous();
            s.source.width = static_cast<int>(numbers.size(-1));
            s.source.vectors.assign(numbers.const_data_ptr<float>(),
                                    numbers.const_data_ptr<float>() + numbers.numel());
        }
        return s;
    }

private:
    void ask(std::span<const std::int64_t> indices, bool whole,
             std::map<std::int64_t, ServedExamplePtr>& fresh) const {
        const auto answer = m_link->examples(m_split.name, indices, whole);
        if (answer.about.size() != indices.size())
            throw Error("The process that serves " + m_declared.name + " sent " +
                        std::to_string(answer.about.size()) + " examples of " +
                        std::to_string(indices.size()) + ".");
        std::map<std::string, torch::Tensor> tensors;
        for (const auto& [name, given] : answer.tensors) {
            auto tensor = tensorOf(given);
            if (tensor.dim() < 1 || tensor.size(0) != std::ssize(indices))
                throw Error("The process that serves " + m_declared.name + " sent " + name +
                            " of another number of examples.");
            tensors[name] = tensor;
        }
        const auto row = [&](const char* name, std::int64_t dims, torch::ScalarType type,
                             std::size_t e) {
            const auto found = tensors.find(name);
            if (found == tensors.end()) return torch::Tensor();
            if (found->second.dim() != dims + 1)
                throw Error("The process that serves " + m_declared.name + " sent " + name +
                            " with " + std::to_string(found->second.dim()) + " axes.");
            return found->second[static_cast<std::int64_t>(e)].to(type).clone();
        };
        for (std::size_t e = 0; e < indices.size(); ++e) {
            auto example = std::make_shared<ServedExample>();
            const auto& about = answer.about[e];
            example->whole = whole;
            example->origin = about.origin, example->text = about.text;
            example->pieces = about.pieces;
            example->picture = row("pictures", 3, torch::kByte, e);
            example->tokens = row("tokens", 1, torch::kLong, e);
            example->vectors = row("vectors", 2, torch::kFloat, e);
            if (const auto found = tensors.find("labels"); found != tensors.end()) {
                if (found->second.dim() == 1)
                    example->label =
                        found->second[static_cast<std::int64_t>(e)].item<std::int64_t>();
                else
                    example->labels = row("labels", 1, torch::kLong, e);
            }
            if (example->label == kNotCountedThere) example->label = kNotCounted;
            if (example->picture.defined() && m_info.channels < example->picture.size(2))
                example->picture = example->picture.slice(2, 0, m_info.channels).contiguous();
            if (example->labels.defined())
                example->labels = example->labels.masked_fill(example->labels.lt(0), kNotCounted);
            if (about.length >= 0) {
                const auto cut = [&](torch::Tensor& t) {
                    if (t.defined() && t.size(0) > about.length) t = t.slice(0, 0, about.length);
                };
                cut(example->tokens), cut(example->labels);
            }
            if (example->tokens.defined())
                m_link->tokenRows.note({example->tokens.const_data_ptr<std::int64_t>(),
                                        static_cast<std::size_t>(example->tokens.numel())},
                                       m_split.name, indices[e]);
            for (const auto& [name, tensor] : tensors)
                if (name.starts_with("attribute/") && tensor.dim() == 3)
                    example->pairs[name.substr(10)] =
                        tensor[static_cast<std::int64_t>(e)].to(torch::kFloat).clone();
            fresh[indices[e]] = std::move(example);
        }
    }

    ServedLinkPtr m_link;
    ServedDeclaration m_declared;
    ServedSplit m_split;
    DatasetInfo m_info;
    mutable std::mutex m_mutex;
    mutable std::map<std::int64_t, ServedExamplePtr> m_kept;
    mutable std::size_t m_keptBytes = 0;
};

using ServedSourcePtr = std::shared_ptr<const ServedSource>;

/// What all kinds of served data share.
template <class Kind>
class ServedOf : public Kind, public ServedSet {
public:
    explicit ServedOf(ServedSourcePtr source) : m_source(std::move(source)) {}
    const DatasetInfo& info() const override { return m_source->info(); }
    ProbeSample sample(std::int64_t index) const override { return m_source->sample(index); }

    Batch batch(const std::int64_t* indices, std::int64_t count) const override {
        const std::vector<std::int64_t> all(indices, indices + count);
        Batch batch;
        batch.inputs = servedReferences(m_source->declared(), info().name, all);
        std::vector<std::int64_t> labels;
        for (const auto& example : m_source->get(all, false)) labels.push_back(example->label);
        batch.targets = torch::tensor(labels, torch::kLong);
        return batch;
    }
    std::vector<std::string> pairAttributes() const override {
        std::vector<std::string> names;
        if (info().size > 0)
            for (const auto& [name, values] : m_source->get(0)->pairs) names.push_back(name);
        return names;
    }
    std::vector<float> pairAttribute(const std::string& name, std::int64_t index,
                                     std::int64_t n) const override {
        const auto example = m_source->get(index);
        const auto found = example->pairs.find(name);
        if (found == example->pairs.end() || found->second.size(0) != n ||
            found->second.size(1) != n)
            throw Error("The attribute " + name + " of example " + std::to_string(index) + " of " +
                        info().name + " is not of " + std::to_string(n) + " x " +
                        std::to_string(n) + " pairs.");
        const auto values = found->second.contiguous();
        return {values.template const_data_ptr<float>(),
                values.template const_data_ptr<float>() + values.numel()};
    }

protected:
    const ServedSource& source() const { return *m_source; }

private:
    ServedSourcePtr m_source;
};

class ServedImages final : public ServedOf<ImageDataset> {
public:
    using ServedOf::ServedOf;
    std::int64_t read(std::int64_t index, std::span<std::uint8_t> pixels) const override {
        const auto example = source().get(index);
        if (!example->picture.defined() ||
            example->picture.numel() != static_cast<std::int64_t>(pixels.size()))
            throw Error("Example " + std::to_string(index) + " of " + info().name +
                        " has no picture of " + std::to_string(info().height) + " x " +
                        std::to_string(info().width) + "; give `show` to relascope.serve.");
        const auto bytes = example->picture.contiguous();
        std::memcpy(pixels.data(), bytes.const_data_ptr<std::uint8_t>(), pixels.size());
        return example->label;
    }
};

class ServedTexts final : public ServedOf<TokenDataset> {
public:
    ServedTexts(ServedSourcePtr given, TokenizerPtr tokenizer)
        : ServedOf(std::move(given)), m_tokenizer(std::move(tokenizer)) {}
    ProbeSample sample(std::int64_t index) const override {
        auto plain = source().sample(index);
        if (!m_tokenizer) return plain;
        auto named = tokenSample(m_tokenizer.get(), plain.source.tokens, plain.origin);
        named.label = plain.label;
        return named;
    }
    std::int64_t context() const override {
        if (m_context == 0) m_context = info().size > 0 ? lengthOf(*source().get(0)) : 1;
        return m_context;
    }
    TokenizerPtr tokenizer() const override { return m_tokenizer; }
    void read(std::int64_t index, std::span<std::int64_t> tokens) const override {
        const auto example = source().get(index);
        const auto n = context();
        if (lengthOf(*example) != n)
            throw Error("Examples of " + info().name + " have different lengths (" +
                        std::to_string(n) + " and " + std::to_string(lengthOf(*example)) +
                        " tokens), which this cannot compare; serve windows of one length.");
        std::copy_n(example->tokens.const_data_ptr<std::int64_t>(), n, tokens.begin());
        const auto last = example->labels.defined() ? example->labels[-1].item<std::int64_t>() : -1;
        if (std::ssize(tokens) > n)
            tokens[static_cast<std::size_t>(n)] = std::max<std::int64_t>(0, last);
    }
    Batch batch(const std::int64_t* indices, std::int64_t count) const override {
        const auto examples = source().get({indices, static_cast<std::size_t>(count)}, true);
        std::int64_t longest = 1;
        for (const auto& example : examples) longest = std::max(longest, lengthOf(*example));
        Batch batch;
        const auto all = info().targets == TargetKind::Tokens;
        batch.inputs = torch::full({count, longest}, kNotCounted, torch::kLong);
        batch.targets = all ? torch::full({count, longest}, kNotCounted, torch::kLong)
                            : torch::full({count}, kNotCounted, torch::kLong);
        if (all) batch.kind = TargetKind::Tokens, batch.hidden = true;
        for (std::int64_t e = 0; e < count; ++e) {
            const auto& example = *examples[static_cast<std::size_t>(e)];
            const auto n = lengthOf(example);
            batch.inputs[e].slice(0, 0, n).copy_(example.tokens);
            if (!all)
                batch.targets[e] = example.label;
            else if (example.labels.defined() && example.labels.size(0) != n)
                throw Error("Example " + std::to_string(indices[e]) + " of " + info().name +
                            " has " + std::to_string(n) + " tokens and " +
                            std::to_string(example.labels.size(0)) +
                            " labels: answers about another sequence cannot be scored here.");
            else if (example.labels.defined())
                batch.targets[e].slice(0, 0, n).copy_(example.labels);
            else
                batch.targets[e].slice(0, 0, n - 1).copy_(example.tokens.slice(0, 1, n));
        }
        return batch;
    }

private:
    std::int64_t lengthOf(const ServedExample& example) const {
        if (!example.tokens.defined() || example.tokens.numel() == 0)
            throw Error("An example of " + info().name + " has no tokens.");
        return example.tokens.numel();
    }
    TokenizerPtr m_tokenizer;
    mutable std::atomic<std::int64_t> m_context = 0;
};

class ServedObjects final : public ServedOf<ObjectDataset> {
public:
    using ServedOf::ServedOf;
    Shape shape() const override {
        return {source().declared().objects, source().declared().objectDim, 1};
    }
    void read(std::int64_t index, std::span<float> objects,
              std::span<float> targets) const override {
        const auto example = source().get(index);
        if (!example->vectors.defined() ||
            example->vectors.numel() != static_cast<std::int64_t>(objects.size()))
            throw Error("Example " + std::to_string(index) + " of " + info().name +
                        " has no vectors of its objects.");
        const auto numbers = example->vectors.contiguous();
        std::copy_n(numbers.const_data_ptr<float>(), objects.size(), objects.begin());
        if (!targets.empty()) targets[0] = static_cast<float>(example->label);
    }
};

}  // namespace

DataSplits servedSplits(const ServedLinkPtr& link) {
    const auto declared = declarationFrom(link->declaration());
    DataSplits splits;
    if (!declared.tokenizer.empty()) splits.tokenizer = openTokenizer(declared.tokenizer);
    const auto make = [&](std::size_t split) -> DatasetPtr {
        auto source = std::make_shared<const ServedSource>(link, declared, split);
        switch (declared.input) {
            case InputKind::Images:
                return std::make_shared<ServedImages>(std::move(source));
            case InputKind::Tokens:
                return std::make_shared<ServedTexts>(std::move(source), splits.tokenizer);
            default:
                return std::make_shared<ServedObjects>(std::move(source));
        }
    };
    for (std::size_t k = 0; k < declared.splits.size(); ++k) {
        const auto& name = declared.splits[k].name;
        if (name == "train")
            splits.train = make(k);
        else if (name == "validation")
            splits.validation = make(k);
        else
            splits.tests.emplace_back(name, make(k));
    }
    if (!splits.validation && !declared.splits.empty()) splits.validation = make(0);
    return splits;
}

}  // namespace relascope::core
