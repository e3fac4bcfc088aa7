// SPDX-License-Identifier: GPL-3.0-or-later
// Files of Jacobian lenses (resources/docs/formats.md section 25).
#include <charconv>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>

#include "analysis/lens/jacobian.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/tensor_io.h"
#include "checkpoint/torch_archive.h"
#include "files/safetensors.h"
#include "types/error.h"

namespace relascope::core {
namespace {

constexpr const char* kJacobianFormat = "relascope-jacobian/1";
constexpr const char* kEmbedding = "embedding";
constexpr std::size_t kListed = 6;  // names in a message

/// A tensor of a file of either form.
struct StoredMatrix {
    std::string name, dtype;
    std::vector<std::int64_t> shape;
    std::function<void(std::span<std::uint8_t>)> read;
};

std::vector<StoredMatrix> storedMatrices(const std::string& path, JacobianLens& lens) {
    std::vector<StoredMatrix> all;
    if (!path.ends_with(".safetensors")) {
        if (!path.ends_with(".pt") && !path.ends_with(".pth"))
            throw FileError(path, "is no lens by its name; give a .safetensors or a .pt file");
        const auto file = std::make_shared<const TorchArchive>(openFileBytes(path));
        for (const auto& one : file->tensors())
            all.push_back(
                {one.name, one.dtype, one.shape,
                 [file, &one](std::span<std::uint8_t> out) { file->readPart(one, 0, out); }});
        return all;
    }
    const auto file = std::make_shared<const SafetensorsFile>(path);
    const auto& facts = file->header().metadata;
    const auto fact = [&](const char* name, auto& value) {
        if (const auto at = facts.find(name); at != facts.end())
            std::from_chars(at->second.data(), at->second.data() + at->second.size(), value);
    };
    if (const auto at = facts.find("format"); at != facts.end() && at->second == kJacobianFormat)
        fact("texts", lens.texts), fact("tokens", lens.tokens), fact("weights", lens.weights);
    for (const auto& one : file->header().tensors)
        all.push_back({one.name, one.dtype, one.shape,
                       [file, &one](std::span<std::uint8_t> out) { file->read(one, out); }});
    return all;
}

/// The stream that a name means, as an index of AnswerStream::points.
std::optional<std::size_t> streamOf(std::string_view name) {
    if (name == kEmbedding) return 0;
    for (const std::string_view prefix : {"layers.", "J."})
        if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
    std::size_t layer = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), layer);
    if (error != std::errc() || end != name.data() + name.size() || name.size() > 6) return {};
    return layer + 1;
}

}  // namespace

JacobianLens readJacobians(const std::string& path, const JacobianSize& size) {
    JacobianLens lens;
    const std::vector<std::int64_t> shape = {size.width, size.width};
    const auto wanted =
        "layers.0 to layers." + std::to_string(size.layers - 1) + ", each " + shapeText(shape);
    std::string others;
    std::map<std::size_t, StoredMatrix> found;
    const auto stored = storedMatrices(path, lens);
    for (const auto& one : stored) {
        const auto fail = [&](const std::string& what) {
            throw FileError(path, "tensor '" + one.name.substr(0, 200) + "' " + what +
                                      "; a Jacobian lens of this model has " + wanted);
        };
        const auto stream = streamOf(one.name);
        if (!stream) {
            others += (others.empty() ? "'" : ", '") + one.name.substr(0, 80) + "'";
            continue;
        }
        if (*stream > size.layers)
            fail("is of a layer that the model does not have: it has " +
                 std::to_string(size.layers));
        if (one.shape != shape) fail("is " + shapeText(one.shape));
        const auto type = scalarType(one.dtype);
        if (!type || !torch::isFloatingType(*type))
            fail("is " + one.dtype + " and no matrix of numbers");
        if (!found.emplace(*stream, one).second) fail("names a layer for the second time");
    }
    if (found.empty()) {
        std::size_t cut = 0;
        for (std::size_t k = 0; k < kListed && cut != std::string::npos; ++k)
            cut = others.find("', '", cut + 1);
        throw FileError(path, "holds no Jacobian lens: its tensors are " +
                                  (others.empty()       ? "none"
                                   : cut == others.npos ? others
                                                        : others.substr(0, cut + 1) + ", ...") +
                                  "; one of this model has " + wanted);
    }
    for (const auto& [stream, one] : found) {
        auto matrix = torch::empty(shape, torch::TensorOptions(*scalarType(one.dtype)));
        one.read({static_cast<std::uint8_t*>(matrix.data_ptr()),
                  static_cast<std::size_t>(matrix.nbytes())});
        if (!matrix.isfinite().all().item<bool>())
            throw FileError(path, "tensor '" + one.name +
                                      "' has numbers that are not finite; fit the lens anew");
        lens.matrices[stream] = matrix.to(torch::kFloat);
    }
    return lens;
}

void writeJacobians(const JacobianLens& lens, const std::string& path) {
    std::error_code none;
    if (std::filesystem::exists(path, none)) {
        std::string format;
        try {
            const auto metadata = SafetensorsFile(path).header().metadata;
            if (const auto at = metadata.find("format"); at != metadata.end()) format = at->second;
        } catch (const FileError&) {
        }
        if (format != kJacobianFormat)
            throw FileError(
                path,
                "exists and is no Jacobian lens that was fitted here; save it under another name");
    }
    std::vector<std::pair<std::string, torch::Tensor>> tensors;
    for (const auto& [stream, matrix] : lens.matrices)
        tensors.emplace_back(stream == 0 ? kEmbedding : "layers." + std::to_string(stream - 1),
                             matrix);
    if (const auto folder = std::filesystem::path(path).parent_path(); !folder.empty())
        makeDirectories(folder.string());
    saveTensors(path, tensors,
                {{"format", kJacobianFormat},
                 {"texts", std::to_string(lens.texts)},
                 {"tokens", std::to_string(lens.tokens)},
                 {"weights", std::to_string(lens.weights)}});
}

}  // namespace relascope::core
