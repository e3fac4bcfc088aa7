#include "probe/probe.h"

#include <algorithm>
#include <charconv>

#include "probe/collector.h"

namespace relascope {
namespace {

bool endsWith(const std::string& text, const std::string& tail) {
    return text.size() >= tail.size() &&
           text.compare(text.size() - tail.size(), tail.size(), tail) == 0;
}

// "encoder_blocks.3.dual_attn..." -> 3.
int layerOf(const std::string& module) {
    int layer = 0;
    if (const auto dot = module.find('.'); dot != std::string::npos)
        std::from_chars(module.data() + dot + 1, module.data() + module.size(), layer);
    return layer;
}

// maps [count, rows, columns], any device and floating type.
void addMaps(ProbeResult& result, MapKind kind, int layer, torch::Tensor maps) {
    maps = maps.to(torch::kCPU, torch::kFloat).contiguous();
    const auto rows = maps.size(1), columns = maps.size(2);
    for (std::int64_t index = 0; index < maps.size(0); ++index) {
        const float* values = maps.const_data_ptr<float>() + index * rows * columns;
        result.maps.push_back({kind,
                               layer,
                               static_cast<int>(index),
                               static_cast<int>(rows),
                               static_cast<int>(columns),
                               {values, values + rows * columns}});
    }
}

}  // namespace

ProbeResult probeModel(ModelImpl& model, const ModelOptions& options,
                       const ProbeSample& sample, std::int64_t step,
                       const std::vector<std::string>& classNames) {
    const auto& image = sample.image;
    if (image.channels != options.image_shape[0] || image.width != options.image_shape[1] ||
        image.height != options.image_shape[2])
        throw OptionError("image", sample.origin + " is " + std::to_string(image.channels) + " x " +
                                       std::to_string(image.height) + " x " +
                                       std::to_string(image.width) + ", the model takes " +
                                       std::to_string(options.image_shape[0]) + " x " +
                                       std::to_string(options.image_shape[2]) + " x " +
                                       std::to_string(options.image_shape[1]));
    const bool training = model.is_training();
    const auto device = model.parameters().front().device();
    const torch::NoGradGuard noGrad;
    model.eval();
    Collector collector;
    torch::Tensor logits;
    {
        const RecordingScope scope(collector);
        const auto bytes = torch::tensor(torch::ArrayRef<std::uint8_t>(image.pixels))
                               .view({1, image.height, image.width, image.channels});
        logits = model.forward((bytes.permute({0, 3, 1, 2}).to(torch::kFloat) / 255.0f).to(device));
    }
    model.train(training);

    ProbeResult result;
    result.step = step;
    result.sample = sample;
    result.grid = {static_cast<int>(options.gridRows()), static_cast<int>(options.gridColumns()),
                   true};
    for (std::int64_t layer = 0; layer < options.n_layers; ++layer)
        result.layers.push_back({"layer " + std::to_string(layer + 1)});
    result.sides = {{"patches", {}}};
    result.classNames = classNames;
    for (std::size_t c = result.classNames.size();
         c < static_cast<std::size_t>(options.num_classes); ++c)
        result.classNames.push_back(std::to_string(c));
    const auto probabilities =
        torch::softmax(logits.to(torch::kFloat), 1).to(torch::kCPU).contiguous();
    result.probabilities.assign(probabilities.const_data_ptr<float>(),
                                probabilities.const_data_ptr<float>() + probabilities.numel());

    for (const auto& [key, tensor] : collector.tensors()) {
        const auto slash = key.find('/');
        const std::string kind = key.substr(0, slash), module = key.substr(slash + 1);
        if (kind == "scores") {
            const bool relational = endsWith(module, "relational_attention");
            addMaps(result, relational ? MapKind::RelationalAttention : MapKind::SensoryAttention,
                    layerOf(module), tensor[0]);
        } else if (kind == "relations") {
            // [b, i, j, relation], but [b, head, i, j] for disrca.
            addMaps(result, MapKind::Relation, layerOf(module),
                    options.ra_type == "disrca" ? tensor[0] : tensor[0].permute({2, 0, 1}));
        } else if (kind == "symbols") {
            addMaps(result, MapKind::Symbols, std::stoi(module.substr(module.rfind('/') + 1)),
                    tensor[0]);
        }
    }
    std::stable_sort(
        result.maps.begin(), result.maps.end(), [](const RelationMap& a, const RelationMap& b) {
            return std::tie(a.kind, a.layer, a.index) < std::tie(b.kind, b.layer, b.index);
        });
    return result;
}

}  // namespace relascope
