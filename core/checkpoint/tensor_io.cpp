#include "checkpoint/tensor_io.h"

#include <optional>

namespace relascope {
namespace {

const std::vector<std::pair<const char*, torch::ScalarType>>& dtypes() {
    static const std::vector<std::pair<const char*, torch::ScalarType>> table = {
        {"F32", torch::kFloat},     {"F64", torch::kDouble}, {"F16", torch::kHalf},
        {"BF16", torch::kBFloat16}, {"I64", torch::kLong},   {"I32", torch::kInt},
        {"I16", torch::kShort},     {"I8", torch::kChar},    {"U8", torch::kByte},
        {"BOOL", torch::kBool}};
    return table;
}

std::string listed(const char* what, const std::vector<std::string>& names) {
    if (names.empty()) return "";
    std::string text = std::string(what) + " ";
    for (std::size_t i = 0; i < names.size() && i < 8; ++i) text += (i ? ", " : "") + names[i];
    if (names.size() > 8) text += " and " + std::to_string(names.size() - 8) + " more";
    return text;
}

}  // namespace

torch::Tensor readTensor(const SafetensorsFile& file, const TensorEntry& entry) {
    for (const auto& [name, type] : dtypes()) {
        if (entry.dtype != name) continue;
        auto tensor = torch::empty(entry.shape, torch::TensorOptions().dtype(type));
        file.read(entry, {static_cast<std::uint8_t*>(tensor.data_ptr()),
                          static_cast<std::size_t>(entry.bytes())});
        return tensor;
    }
    throw SafetensorsError(
        SafetensorsFault::UnknownDtype, file.path(),
        "tensor '" + entry.name + "': dtype " + entry.dtype + " cannot be loaded");
}

std::map<std::string, torch::Tensor> readTensors(const std::string& path) {
    const SafetensorsFile file(path);
    std::map<std::string, torch::Tensor> tensors;
    for (const auto& entry : file.header().tensors) tensors[entry.name] = readTensor(file, entry);
    return tensors;
}

void saveTensors(const std::string& path,
                 const std::vector<std::pair<std::string, torch::Tensor>>& tensors,
                 const std::map<std::string, std::string>& metadata) {
    std::vector<torch::Tensor> kept;
    std::vector<TensorToWrite> out;
    for (const auto& [name, tensor] : tensors) {
        kept.push_back(tensor.detach().to(torch::kCPU).contiguous());
        const auto& t = kept.back();
        const char* dtype = nullptr;
        for (const auto& [text, type] : dtypes())
            if (t.scalar_type() == type) dtype = text;
        if (!dtype)
            throw FileError(path, "tensor '" + name + "' has a type that safetensors cannot hold");
        out.push_back({name,
                       dtype,
                       t.sizes().vec(),
                       {static_cast<const std::uint8_t*>(t.const_data_ptr()),
                        static_cast<std::size_t>(t.nbytes())}});
    }
    writeSafetensors(path, std::move(out), metadata);
}

std::string LoadReport::text() const {
    std::string all;
    for (const auto& part : {listed("missing:", missing), listed("unexpected:", unexpected),
                             listed("wrong shape:", wrongShape), listed("not finite:", nonFinite)})
        if (!part.empty()) all += (all.empty() ? "" : "; ") + part;
    return all;
}

LoadReport compareWeights(ModelImpl& model, const SafetensorsFile& file) {
    LoadReport report;
    std::map<std::string, torch::Tensor> known;
    std::map<std::string, bool> present;  // by the parameter's own name
    for (const auto& entry : stateOf(model)) {
        known[entry.name] = entry.tensor;
        const auto& own = entry.aliasOf.empty() ? entry.name : entry.aliasOf;
        present[own] = present[own] || file.find(entry.name) != nullptr;
    }
    for (const auto& [name, found] : present)
        if (!found) report.missing.push_back(name);
    for (const auto& entry : file.header().tensors) {
        const auto at = known.find(entry.name);
        if (at == known.end())
            report.unexpected.push_back(entry.name);
        else if (at->second.sizes() != torch::IntArrayRef(entry.shape)) {
            std::string shape;
            for (const auto n : entry.shape)
                shape += (shape.empty() ? "" : ", ") + std::to_string(n);
            report.wrongShape.push_back(entry.name + " [" + shape + "]");
        }
    }
    return report;
}

LoadReport loadWeights(ModelImpl& model, const std::string& path) {
    const SafetensorsFile file(path);
    auto report = compareWeights(model, file);
    if (!report.loads()) throw FileError(path, "does not fit the model: " + report.text());
    // Everything is read before anything is replaced.
    std::vector<std::pair<torch::Tensor, torch::Tensor>> replacements;
    for (const auto& entry : stateOf(model)) {
        const auto* stored = file.find(entry.name);
        if (!stored) continue;
        auto value = readTensor(file, *stored);
        if (value.is_floating_point() && !torch::isfinite(value).all().item<bool>())
            report.nonFinite.push_back(entry.name);
        replacements.emplace_back(entry.tensor, std::move(value));
    }
    torch::NoGradGuard noGrad;
    for (auto& [parameter, value] : replacements) parameter.copy_(value);
    return report;
}

void saveWeights(ModelImpl& model, const std::string& path) {
    std::vector<std::pair<std::string, torch::Tensor>> tensors;
    std::map<std::string, std::string> metadata = {{"format", "pt"}};
    for (const auto& entry : stateOf(model)) {
        if (entry.aliasOf.empty())
            tensors.emplace_back(entry.name, entry.tensor);
        else
            metadata[entry.name] = entry.aliasOf;
    }
    saveTensors(path, tensors, metadata);
}

}  // namespace relascope
