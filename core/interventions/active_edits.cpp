// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>

#include "checkpoint/tensor_io.h"
#include "data/batches.h"
#include "interventions/active_edits.h"
#include "model/model.h"
#include "probe/probe.h"
#include "types/suggest.h"

namespace relascope::core {
namespace {

torch::Device deviceOf(ModelImpl& model) {
    return model.device();
}

ModelInput secondInput(const EditInput& from, const ModelOptions& options, const EditData& data,
                       const std::string& field) {
    if (!from.file.empty())
        return storedInput(readTensors(from.file), from.prefix, options, from.file);
    ProbeSample sample;
    if (!from.text.empty()) {
        if (!data.text) throw OptionError(field + ".text", "is for language models only");
        sample = data.text(from.text);
    } else if (!from.image.empty()) {
        if (!data.image) throw OptionError(field + ".image", "pictures cannot be read here");
        try {
            sample = data.image(from.image);
        } catch (const OptionError& error) {  // from the reader, which does not know the field
            throw OptionError(field + ".image", error.message());
        } catch (const FileError& error) {
            throw OptionError(field + ".image", error.what());
        }
    } else if (!from.tokens.empty()) {
        sample.source.tokens = from.tokens;
        sample.target.tokens = from.target;
    } else {
        const auto split = from.split.empty() ? std::string("validation") : from.split;
        const auto set = data.split ? data.split(split) : nullptr;
        if (!set) throw OptionError(field + ".split", "there are no examples of '" + split + "'");
        if (from.sample >= set->size())
            throw OptionError(field + ".sample", std::to_string(from.sample) +
                                                     " is out of range: there are " +
                                                     std::to_string(set->size()) + " examples");
        sample = set->sample(from.sample);
    }
    return inputOf(sample, options);
}

}  // namespace

std::vector<std::int64_t> drawnExamples(std::int64_t size, std::int64_t examples,
                                        std::uint64_t seed) {
    auto order = shuffledOrder(size, seed, 0);
    order.resize(static_cast<std::size_t>(std::min(size, examples)));
    return order;
}

namespace {

EditList withReferences(EditList list, const ModelOptions& options) {
    for (auto& edit : list.edits)
        if (edit.op == EditOp::Mean && edit.values.empty() && !edit.reference)
            edit.reference = EditReference::usual(options.input() == InputKind::Tokens);
    return list;
}

}  // namespace

ActiveEdits::ActiveEdits(ModelImpl& model, const ModelOptions& options, EditList list,
                         const EditData& data, EditUse use)
    : m_model(model),
      m_options(options),
      m_list(withReferences(std::move(list), options)),
      m_data(data),
      m_use(use),
      m_editor(m_list) {
    if (use == EditUse::Train) m_editor.skipUnknownValues();
    for (const auto& [name, from] : m_list.inputs) {
        const bool used =
            std::any_of(m_list.edits.begin(), m_list.edits.end(),
                        [&](const auto& edit) { return edit.enabled && edit.input == name; });
        if (!used) continue;
        m_inputs.named.emplace(
            name, secondInput(from, options, data, "inputs." + name).to(deviceOf(model)));
    }
}

void ActiveEdits::check(const ModelInput& input) {
    if (m_use == EditUse::Train) return;
    auto sizes = input.x.sizes().vec();
    if (input.target.defined())
        for (const auto size : input.target.sizes()) sizes.push_back(size);
    sizes[0] = 0;  // the batch changes nothing
    if (sizes == m_checked) return;
    // One example suffices for the shapes.
    auto one = input;
    one.x = one.x.slice(0, 0, 1);
    if (one.target.defined()) one.target = one.target.slice(0, 0, 1);
    m_points = sizes == m_knownSizes ? m_known : pointsOf(m_model, one);
    checkEdits(m_list, m_points, m_use);
    m_checked = sizes;
    if (m_meansTaken) return;
    // Numbers of places differ between texts; images and sets all have the same places.
    const auto usual = m_options.input() == InputKind::Tokens ? "offset" : "position";
    std::unique_ptr<BatchLoader> loader;
    auto means =
        takeMeans(m_editor, m_model, usual, [&](std::size_t index) -> std::optional<ModelInput> {
            const auto field = "edits[" + std::to_string(index) + "].reference.split";
            if (!loader) {
                const auto r = m_editor.edit(index).reference.value_or(EditReference{});
                const auto set = m_data.split ? m_data.split(r.split) : nullptr;
                if (!set)
                    throw OptionError(field, "there are no examples of '" + r.split +
                                                 "' to take a mean of; give the mean's \"values\"");
                const std::int64_t batch = m_options.input() == InputKind::Tokens ? 4 : 256;
                loader = std::make_unique<BatchLoader>(
                    set, drawnExamples(set->size(), r.examples, r.seed), batch);
            }
            const auto batch = loader->next();
            if (!batch) {
                loader.reset();
                return std::nullopt;
            }
            return inputOf(*batch, deviceOf(m_model));
        });
    m_means.merge(means);
    m_meansTaken = true;
}

void ActiveEdits::continueFrom(const ActiveEdits& before) {
    m_known = before.m_points;
    m_knownSizes = before.m_checked;
    if (!before.m_meansTaken) return;
    for (const auto index : m_editor.references()) {
        if (m_editor.edit(index).op != EditOp::Mean) continue;
        for (const auto from : before.m_editor.references()) {
            if (!(before.m_editor.edit(from) == m_editor.edit(index))) continue;
            m_editor.copyValues(index, before.m_editor, from);
            if (const auto found = before.m_means.find(from); found != before.m_means.end())
                m_means.emplace(index, found->second);
        }
    }
}

ModelInput ActiveEdits::examples(const Dataset& data, std::vector<std::int64_t> indices,
                                 std::int64_t shift) const {
    if (shift % data.size() == 0)
        throw OptionError("edits.shift", std::to_string(shift) + " gives every example of " +
                                             std::to_string(data.size()) + " itself");
    for (auto& index : indices) index = (index + shift) % data.size();
    const auto count = static_cast<std::int64_t>(indices.size());
    return inputOf(makeBatch(data, indices.data(), count), deviceOf(m_model));
}

void ActiveEdits::take(const ModelInput& input) {
    // Training edits are applied before all others; the pass that gives their values has no edits,
    // even if they are in force already.
    const HookScope scope(m_use == EditUse::Train ? nullptr : activeHooks());
    takeValues(m_editor, m_model, input, m_inputs);
}

void ActiveEdits::prepare(const ModelInput& given) {
    const auto input = given.to(deviceOf(m_model));
    check(input);
    m_inputs.shifted = {};
    if (m_data.example >= 0 && m_data.split)
        if (const auto set = m_data.split(m_data.exampleSplit))
            m_inputs.shifted = [this, set](std::int64_t shift) {
                return examples(*set, {m_data.example}, shift);
            };
    if (m_use == EditUse::Train && !m_inputs.shifted) return forgetValues();
    take(input);
}

void ActiveEdits::prepareSample(const ProbeSample& sample) {
    m_data.example = -1;
    // Finding the example may require reading the data.
    const bool resamples =
        std::any_of(m_editor.references().begin(), m_editor.references().end(),
                    [&](auto i) { return m_editor.edit(i).op == EditOp::Resample; });
    if (resamples) findExample(m_data, sample);
    const EvaluationMode evaluation(m_model);
    prepare(inputOf(sample, m_options));
}

void ActiveEdits::prepareStep(const ModelInput& input, const ModelInput& whole,
                              std::int64_t first) {
    if (m_editor.references().empty()) return;
    const auto last = first + input.x.size(0);
    m_inputs.shifted = [&whole, first, last](std::int64_t shift) {
        auto others = whole;
        others.x = whole.x.roll(-shift, 0).slice(0, first, last);
        if (whole.target.defined())
            others.target = whole.target.roll(-shift, 0).slice(0, first, last);
        return others;
    };
    const EvaluationMode evaluation(m_model);
    take(input);
}

void ActiveEdits::prepareBatch(const ModelInput& input, const DatasetPtr& data,
                               const std::vector<std::int64_t>& indices) {
    check(input);
    m_inputs.shifted = [this, data, indices](std::int64_t shift) {
        return examples(*data, indices, shift);
    };
    take(input);
}

}  // namespace relascope::core
