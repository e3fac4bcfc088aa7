// SPDX-License-Identifier: GPL-3.0-or-later
#include "readout/zero_shot.h"

#include <torch/torch.h>
#include <cmath>

#include "checkpoint/tensor_io.h"
#include "files/atomic_file.h"
#include "readout/feature_heads.h"
#include "readout/name_list.h"
#include "types/error.h"

namespace relascope::core {

std::vector<std::string> readTextNames(const std::string& path) {
    constexpr std::uint64_t most = 16u << 20;
    return namesOfLines(readTextFile(path, most), path);
}

TextFeatures readTextFeatures(const std::string& path) {
    const SafetensorsFile file(path);
    const auto fail = [&path](const std::string& why) { throw FileError(path, why); };
    const auto* features = file.find("features");
    if (!features || features->shape.size() != 2 || features->shape[1] == 0 ||
        (features->dtype != "F16" && features->dtype != "BF16" && features->dtype != "F32" &&
         features->dtype != "F64"))
        fail("has no tensor 'features' of texts x numbers, floating point; save one");
    TextFeatures texts;
    const auto& metadata = file.header().metadata;
    if (const auto found = metadata.find("names"); found != metadata.end()) {
        texts.names = namesOfJson(found->second, "names", path);
    } else if (const auto* bytes = file.find("names"); bytes && bytes->dtype == "U8") {
        constexpr std::uint64_t most = 16u << 20;
        if (bytes->bytes() > most) fail("has more than 16 MB of names; give fewer classes");
        std::vector<std::uint8_t> text(bytes->bytes());
        file.read(*bytes, text);
        texts.names = namesOfLines(std::string(text.begin(), text.end()), path);
    } else {
        fail(
            "has no 'names', neither in its metadata, a JSON list, nor as a tensor of bytes; "
            "save them beside the features");
    }
    if (static_cast<std::int64_t>(texts.names.size()) != features->shape[0])
        fail("has " + std::to_string(texts.names.size()) + " names and " +
             std::to_string(features->shape[0]) + " rows of features; give a name for each");
    texts.features = readTensor(file, *features);
    if (!texts.features.isfinite().all().item<bool>())
        fail("has features that are not finite; save them again");
    return texts;
}

std::vector<std::string> filledTemplates(const std::vector<std::string>& templates,
                                         const std::vector<std::string>& names) {
    std::vector<std::string> texts;
    for (const auto& one : templates) {
        const auto at = one.find("{}");
        if (at == std::string::npos)
            throw OptionError("template", "'" + one.substr(0, 60) +
                                              "' has no {} for the name; write one, as in "
                                              "'a photo of a {}.'");
        for (const auto& name : names)
            texts.push_back(one.substr(0, at) + name + one.substr(at + 2));
    }
    return texts;
}

torch::Tensor meanOverTemplates(const torch::Tensor& features, std::int64_t templates) {
    if (features.dim() != 2 || templates < 1 || features.size(0) % templates != 0)
        throw OptionError("template", std::to_string(templates) + " templates do not divide " +
                                          std::to_string(features.size(0)) +
                                          " texts; give the features of each with every name");
    const auto unit = unitRows(features);
    return unitRows(unit.view({templates, -1, unit.size(1)}).mean(0));
}

torch::Tensor ZeroShot::scores(const torch::Tensor& features) const {
    if (features.dim() != 2 || features.size(1) != texts.features.size(1))
        throw OptionError("texts",
                          "have features of the width " + std::to_string(texts.features.size(1)) +
                              ", and those of pictures have " + std::to_string(features.size(-1)) +
                              "; give the texts to the model of the pictures");
    const auto cosines =
        torch::mm(unitRows(features), unitRows(texts.features.to(features.device())).t());
    return cosines * std::exp(logScale) + bias;
}

torch::Tensor ZeroShot::shares(const torch::Tensor& scores) const {
    return each ? scores.sigmoid() : scores.softmax(1);
}

}  // namespace relascope::core
