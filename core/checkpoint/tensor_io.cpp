// SPDX-License-Identifier: GPL-3.0-or-later
#include <optional>

#include "checkpoint/tensor_io.h"
#include "model/public/stored_form.h"
#include "types/error.h"

namespace relascope::core {
namespace {

const std::vector<std::pair<const char*, torch::ScalarType>>& dtypes() {
    static const std::vector<std::pair<const char*, torch::ScalarType>> table = {
        {"F32", torch::kFloat},     {"F64", torch::kDouble}, {"F16", torch::kHalf},
        {"BF16", torch::kBFloat16}, {"I64", torch::kLong},   {"I32", torch::kInt},
        {"I16", torch::kShort},     {"I8", torch::kChar},    {"U8", torch::kByte},
        {"BOOL", torch::kBool}};
    return table;
}

}  // namespace

std::optional<torch::ScalarType> scalarType(const std::string& dtype) {
    for (const auto& [name, type] : dtypes())
        if (dtype == name) return type;
    return std::nullopt;
}

torch::Tensor readTensor(const SafetensorsFile& file, const TensorEntry& entry) {
    if (const auto type = scalarType(entry.dtype)) {
        auto tensor = torch::empty(entry.shape, torch::TensorOptions().dtype(*type));
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

namespace {

// Calls `use` with each tensor of a family's file, the one that it was read from, and all tensors
// of the model.
template <class Use>
void ofFamily(ModelImpl& model, const FamilyForm& form, Use&& use) {
    std::map<std::string, torch::Tensor> state;
    for (const auto& entry : stateOf(model)) state[entry.name] = entry.tensor.detach();
    const FamilyFile file(form.model, form.tensors);
    for (const auto& tensor : file.tensors()) {
        const auto* stored = file.find(tensor);
        if (!stored) continue;  // a tied output
        use(tensor, *stored, state);
    }
}

}  // namespace

void saveWeights(ModelImpl& model, const FamilyForm& form, const std::string& path) {
    std::vector<std::pair<std::string, torch::Tensor>> tensors;
    ofFamily(model, form, [&](const FileTensor& tensor, const StoredTensor& stored, auto& state) {
        tensors.emplace_back(
            stored.name,
            storedOf(tensor, placesOf(tensor, state)).cpu().to(*scalarType(stored.dtype)));
    });
    saveTensors(path, tensors, {{"format", "pt"}});
}

std::vector<std::pair<std::string, torch::Tensor>> roundedWeights(ModelImpl& model,
                                                                  const FamilyForm& form) {
    std::vector<std::pair<std::string, torch::Tensor>> rounded;
    ofFamily(model, form, [&](const FileTensor& tensor, const StoredTensor& stored, auto& state) {
        if (tensor.optional || stored.dtype == "F32" || stored.dtype == "F64") return;
        if (tensor.index > 0) return;  // its part is there with the first row
        for (const auto& part : tensor.parts) rounded.emplace_back(part, state.at(part));
    });
    return rounded;
}

torch::Tensor storedTensor(const std::map<std::string, torch::Tensor>& tensors,
                           const std::string& name, const std::string& file) {
    const auto found = tensors.find(name);
    if (found == tensors.end()) throw FileError(file, "has no tensor '" + name + "'");
    return found->second;
}

ModelInput storedInput(const std::map<std::string, torch::Tensor>& tensors,
                       const std::string& prefix, const ModelOptions& options,
                       const std::string& file) {
    const auto tensor = [&](const char* name) {
        return storedTensor(tensors, prefix + name, file);
    };
    switch (options.input()) {
        case InputKind::Images:
            return tensor("images");
        case InputKind::Tokens:
            return tensor("tokens");
        case InputKind::Pairs:
            return {tensor("source"), tensor("target_in")};
        case InputKind::Objects:
            break;
    }
    return tensor("objects");
}

}  // namespace relascope::core
