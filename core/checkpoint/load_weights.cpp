// SPDX-License-Identifier: GPL-3.0-or-later
// Weights of any checkpoint into a model.
#include <algorithm>
#include <optional>
#include <set>

#include "checkpoint/checkpoint.h"

#include <torch/utils.h>

#include "checkpoint/packed_weights.h"
#include "checkpoint/tensor_io.h"
#include "checkpoint/tensor_names.h"
#include "checkpoint/tensor_numbers.h"
#include "files/byte_source.h"
#include "model/blocks/parameters.h"
#include "model/public/stored_form.h"

namespace relascope::core {
namespace {

std::string listed(const char* what, const std::vector<std::string>& names) {
    if (names.empty()) return "";
    std::string text = std::string(what) + " ";
    for (std::size_t i = 0; i < names.size() && i < 8; ++i) text += (i ? ", " : "") + names[i];
    if (names.size() > 8) text += " and " + std::to_string(names.size() - 8) + " more";
    return text;
}

// The stored tensor of a parameter: under its own name, else under one of its aliases.
using Found = std::map<std::string, const StoredTensor*>;

Found findAll(const std::vector<NamedTensor>& state, const CheckpointSource& source) {
    Found found;
    for (const auto& entry : state) {
        const auto& own = entry.aliasOf.empty() ? entry.name : entry.aliasOf;
        auto& stored = found[own];
        if (!stored) stored = source.find(entry.name);
    }
    return found;
}

// Reads one tensor into one parameter.
class Loader {
public:
    Loader(const CheckpointSource& source, std::stop_token stop,
           const std::function<bool(double)>& progress, std::uint64_t total)
        : m_source(source), m_stop(std::move(stop)), m_progress(progress), m_total(total) {}

    /// Loads a tensor of a family's file into the parameters that are its parts; false if it holds
    /// values that are not finite.
    bool load(const StoredTensor& stored, const FileTensor& tensor,
              const std::vector<torch::Tensor>& parameters) {
        // A plain tensor has the bytes of its parameter in their order.
        const bool plain = tensor.form == StoredForm::Plain || tensor.form == StoredForm::Patches;
        if (plain) return load(stored, parameters.front());
        auto whole = torch::empty(stored.shape, *scalarType(stored.dtype));
        const bool finite = load(stored, whole);
        const auto parts = partsOf(tensor, whole);
        for (std::size_t i = 0; i < parts.size(); ++i) parameters[i].copy_(parts[i]);
        return finite;
    }

    /// Returns whether all values are finite.
    bool load(const StoredTensor& stored, torch::Tensor parameter) {
        const auto type = *scalarType(stored.dtype);
        const bool direct = parameter.device().is_cpu() && parameter.scalar_type() == type &&
                            parameter.is_contiguous();
        // Works on a view of a contiguous parameter; any other one is filled through a copy.
        const auto target = parameter.is_contiguous() ? parameter : parameter.contiguous();
        const auto flat = target.view({-1});
        const auto size = static_cast<std::uint64_t>(torch::elementSize(type));
        bool finite = true;
        for (std::uint64_t at = 0; at < stored.bytes;) {
            const auto count = std::min<std::uint64_t>(kReadPiece, stored.bytes - at);
            auto* to = direct ? static_cast<std::uint8_t*>(parameter.data_ptr()) + at : buffer();
            m_source.readPart(stored, at, {to, count}, m_stop);
            finite = finite && allFinite(stored.dtype, {to, count});
            if (!direct)
                flat.narrow(0, static_cast<std::int64_t>(at / size),
                            static_cast<std::int64_t>(count / size))
                    .copy_(torch::from_blob(to, {static_cast<std::int64_t>(count / size)}, type));
            at += count;
            advance(count);
        }
        if (!target.is_same(parameter)) parameter.copy_(target);
        return finite;
    }

private:
    std::uint8_t* buffer() {
        m_buffer.resize(kReadPiece);
        return m_buffer.data();
    }
    void advance(std::uint64_t bytes) {
        m_done += bytes;
        const bool go =
            !m_progress || m_progress(static_cast<double>(m_done) / static_cast<double>(m_total));
        if (!go || m_stop.stop_requested()) throw Cancelled();
    }

    const CheckpointSource& m_source;
    std::stop_token m_stop;
    const std::function<bool(double)>& m_progress;
    std::uint64_t m_total, m_done = 0;
    std::vector<std::uint8_t> m_buffer;
};

}  // namespace

std::string LoadReport::text() const {
    std::string all = names;
    for (const auto& part : {listed("missing:", missing), listed("unexpected:", unexpected),
                             listed("wrong shape:", wrongShape), listed("wrong type:", wrongType),
                             listed("not finite:", nonFinite)})
        if (!part.empty()) all += (all.empty() ? "" : "; ") + part;
    return all;
}

namespace {

// The name of a missing tensor, with the reason if the file holds it in another form.
std::string missingText(const std::string& name, const CheckpointSource& source) {
    const auto* there = source.findLeftOut(name);
    return there ? name + " (it " + there->note + ")" : name;
}

// What the model has, from the message of a wrong shape: " instead of [3] in the model".
std::string insteadOf(const std::string& message) {
    constexpr std::string_view between = " in the file, ";
    const auto at = message.find(between);
    return at == std::string::npos ? "" : " instead of " + message.substr(at + between.size());
}

LoadReport reportOf(const std::vector<CheckpointProblem>& problems,
                    const CheckpointSource& source) {
    LoadReport report;
    for (const auto& problem : problems) {
        const auto* stored = source.find(problem.subject);
        if (problem.kind == ProblemKind::Names)
            report.names = problem.message;
        else if (problem.kind == ProblemKind::Missing)
            report.missing.push_back(missingText(problem.subject, source));
        else if (problem.kind == ProblemKind::Unexpected)
            report.unexpected.push_back(problem.subject);
        else if (problem.kind == ProblemKind::WrongShape)
            report.wrongShape.push_back(problem.subject + " " + shapeText(stored->shape) +
                                        insteadOf(problem.message));
        else
            report.wrongType.push_back(problem.subject + " " + stored->dtype);
    }
    return report;
}

}  // namespace

LoadReport requireFit(const ModelOptions& options, const CheckpointSource& source) {
    auto report = reportOf(compareCheckpoint(options, source), source);
    if (!report.loads())
        throw FileError(source.files().at(0), "does not fit the model: " + report.text());
    return report;
}

LoadReport compareWeights(ModelImpl& model, const CheckpointSource& source) {
    std::vector<TensorShape> shapes;
    for (const auto& entry : stateOf(model))
        shapes.push_back({entry.name, entry.tensor.sizes().vec(), entry.aliasOf});
    auto report = reportOf(compareTensors(shapes, source.tensors()), source);
    if (report.loads()) return report;
    if (const auto packed = packedWeights(source.tensors()); !packed.empty()) {
        report = {};
        report.names = "it " + packed;
    } else if (!report.missing.empty()) {
        report.names = howNamesDiffer(source.tensors(), {namesOf(shapes)});
    }
    return report;
}

namespace {

// The weights of a family's file.
LoadReport loadFamily(ModelImpl& model, const ModelOptions& options, const CheckpointSource& source,
                      std::stop_token stop, const std::function<bool(double)>& progress,
                      LoadReport report, const MappedWeights& mapped) {
    std::map<std::string, torch::Tensor> parameters;
    for (const auto& entry : stateOf(model)) parameters[entry.name] = entry.tensor;
    const FamilyFile file(options, source.tensors());
    std::vector<std::pair<const FileTensor*, const StoredTensor*>> read;
    std::uint64_t total = 0;
    const torch::NoGradGuard noGrad;
    for (const auto& tensor : file.tensors()) {
        const auto* stored = file.find(tensor);
        if (!stored && tensor.absent)
            for (const auto& part : tensor.parts) parameters.at(part).fill_(*tensor.absent);
        if (!stored || tensor.optional || mapped.hold(parameters.at(tensor.parts.front())))
            continue;
        read.emplace_back(&tensor, stored);
        total += stored->bytes;
    }
    Loader loader(source, std::move(stop), progress, total);
    for (const auto& [pointer, stored] : read) {
        const auto& tensor = *pointer;
        if (!loader.load(*stored, tensor, placesOf(tensor, parameters)))
            report.nonFinite.push_back(stored->name);
    }
    return report;
}

// Whether Linear and Embedding take weights of that type as they are.
bool isKeptType(const std::string& dtype) {
    return dtype == "BF16" || dtype == "F16";
}

}  // namespace

std::uint64_t keptBytes(const ModelOptions& options, const CheckpointSource& source) {
    const auto all = 4 * static_cast<std::uint64_t>(countParameters(options).total);
    if (!hasFamilyNames(options, source)) return all;
    std::uint64_t saved = 0;
    const FamilyFile file(options, source.tensors());
    for (const auto& tensor : file.tensors())
        if (const auto* stored = file.find(tensor);
            stored && !tensor.optional && isKeptType(stored->dtype) && stored->shape.size() > 1)
            saved += stored->bytes;
    return all - std::min(all, saved);
}

bool MappedWeights::hold(const torch::Tensor& tensor) const {
    if (!tensor.is_cpu()) return false;
    return std::any_of(
        m_files.begin(), m_files.end(),
        [at = tensor.const_data_ptr()](const auto& file) { return file->holds(at); });
}

void MappedWeights::requireUnchanged() const {
    for (const auto& file : m_files) file->requireUnchanged();
}

namespace {

// Finds the tensors of a checkpoint in the maps of its files.
class FileMaps {
public:
    FileMaps(const CheckpointSource& source, std::uint64_t least, MappedWeights& mapped)
        : m_source(source), m_maps(source.bytes() >= least), m_mapped(mapped) {}

    /// The stored tensor where it lies; undefined if it has to be read.
    torch::Tensor find(const StoredTensor& stored, torch::ScalarType type) {
        // Rows of 16 bits are read by pairs (row_kernels.h).
        const auto place = m_maps ? m_source.placeOf(stored) : std::nullopt;
        if (!place || place->at % std::max<std::uint64_t>(4, torch::elementSize(type)) != 0)
            return {};
        auto [known, added] = m_files.try_emplace(place->file);
        auto& file = known->second;
        if (added && (file = place->file->map())) m_mapped.add(file);
        if (!file) return {};
        // The mapping lives as long as a tensor in it.
        return torch::from_blob(
            file->writable(place->at, stored.bytes), stored.shape,
            [file](void*) mutable { file.reset(); }, type);
    }

private:
    const CheckpointSource& m_source;
    bool m_maps;
    MappedWeights& m_mapped;
    std::map<const ByteSource*, std::shared_ptr<const MappedFile>> m_files;
};

}  // namespace

MappedWeights keepFileTypes(ModelImpl& model, const ModelOptions& options,
                            const CheckpointSource& source, std::uint64_t mappedFrom) {
    MappedWeights mapped;
    if (!hasFamilyNames(options, source)) return mapped;
    const torch::NoGradGuard noGrad;
    const FamilyFile file(options, source.tensors());
    FileMaps maps(source, mappedFrom, mapped);
    std::set<std::string> matrices;  // weights of Linear and Embedding
    for (const auto& part : model.named_modules())
        if (part.value()->as<LinearImpl>() || part.value()->as<EmbeddingImpl>())
            matrices.insert(part.key() + ".weight");
    std::map<std::string, torch::Tensor> weights;
    for (const auto& entry : stateOf(model))
        if (!entry.buffer) weights[entry.name] = entry.tensor;
    for (const auto& tensor : file.tensors()) {
        const auto* stored = file.find(tensor);
        if (!stored || tensor.optional) continue;
        const auto type = *scalarType(stored->dtype);
        if (tensor.index >= 0) continue;  // a row of a tensor that lies nowhere as a whole
        const bool plain = tensor.form == StoredForm::Plain || tensor.form == StoredForm::Patches;
        const bool views = plain || tensor.form == StoredForm::Rows;
        std::int64_t row = 0;
        for (std::size_t at = 0; at < tensor.parts.size(); ++at) {
            const auto& part = tensor.parts[at];
            auto& weight = weights.at(part);
            const bool kept = isKeptType(stored->dtype) && matrices.count(part);
            auto there = views && (kept || type == weight.scalar_type()) ? maps.find(*stored, type)
                                                                         : torch::Tensor();
            if (there.defined() && !plain) there = there.narrow(0, row, tensor.rows[at]);
            row += tensor.rows[at];
            // Replaces the data and not the tensor, so that tied weights stay one tensor.
            if (there.defined())
                weight.set_data(there.view(weight.sizes()));
            else if (kept)
                weight.set_data(torch::empty(weight.sizes(), type));
        }
    }
    return mapped;
}

LoadReport loadWeights(ModelImpl& model, const ModelOptions& options,
                       const CheckpointSource& source, std::stop_token stop,
                       const std::function<bool(double)>& progress, const MappedWeights& mapped) {
    if (!hasFamilyNames(options, source))
        return loadWeights(model, source, std::move(stop), progress);
    auto report = requireFit(options, source);
    return loadFamily(model, options, source, std::move(stop), progress, std::move(report), mapped);
}

LoadReport loadWeights(ModelImpl& model, const CheckpointSource& source, std::stop_token stop,
                       const std::function<bool(double)>& progress) {
    auto report = compareWeights(model, source);
    if (!report.loads())
        throw FileError(source.files().at(0), "does not fit the model: " + report.text());
    const auto state = stateOf(model);
    const auto found = findAll(state, source);
    std::uint64_t total = 0;
    for (const auto& [name, stored] : found) total += stored->bytes;
    const torch::NoGradGuard noGrad;
    Loader loader(source, std::move(stop), progress, total);
    for (const auto& entry : state)
        if (entry.aliasOf.empty() && !loader.load(*found.at(entry.name), entry.tensor))
            report.nonFinite.push_back(entry.name);
    return report;
}

LoadReport loadWeights(ModelImpl& model, const std::string& path) {
    return loadWeights(model, *CheckpointSource::open(path));
}

}  // namespace relascope::core
