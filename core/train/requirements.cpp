// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/requirements.h"

namespace relascope::core {
namespace {

std::string shape(std::int64_t channels, std::int64_t height, std::int64_t width) {
    return std::to_string(channels) + " x " + std::to_string(height) + " x " +
           std::to_string(width);
}

void require(std::int64_t model, std::int64_t data, const char* field, const std::string& what) {
    if (model != data)
        throw OptionError(std::string("model.") + field,
                          std::to_string(model) + ", but " + what + " " + std::to_string(data));
}

void requireAtLeast(std::int64_t model, std::int64_t data, const char* field,
                    const std::string& what) {
    if (model < data)
        throw OptionError(std::string("model.") + field, std::to_string(model) + " is less than " +
                                                             what + " " + std::to_string(data));
}

void requireImages(const ImageInput& m, const Dataset& data) {
    const auto& info = data.info();
    if (info.channels != m.image_shape[0] || info.width != m.image_shape[1] ||
        info.height != m.image_shape[2])
        throw OptionError("model.image_shape",
                          shape(m.image_shape[0], m.image_shape[2], m.image_shape[1]) +
                              " does not fit " + info.name + ", whose images are " +
                              shape(info.channels, info.height, info.width) +
                              " (channels, height, width)");
    requireAtLeast(m.num_classes, static_cast<std::int64_t>(info.classNames.size()), "num_classes",
                   "the classes of " + info.name + ",");
}

void requireObjects(const ObjectInput& m, const ObjectDataset& data) {
    const auto s = data.shape();
    const auto& name = data.info().name;
    require(m.n_objects, s.objects, "n_objects", "sets of " + name + " have");
    require(m.object_dim, s.width, "object_dim", "objects of " + name + " have values:");
    const bool yesNo =
        data.info().targets == TargetKind::Class && data.info().classNames.size() <= 2;
    if (data.info().targets != TargetKind::Class)
        require(m.out_dim, s.targets, "out_dim", "answers of " + name + " have values:");
    else if (!(yesNo && m.out_dim == 1))
        requireAtLeast(m.out_dim, static_cast<std::int64_t>(data.info().classNames.size()),
                       "out_dim", "the classes of " + name + ",");
}

void requireSequences(const PairInput& m, const SequenceDataset& data) {
    const auto s = data.shape();
    const auto& name = data.info().name;
    if ((m.input_type == "token") != (s.width == 0))
        throw OptionError("model.input_type", m.input_type + ", but the sources of " + name +
                                                  " are " + (s.width == 0 ? "tokens" : "vectors"));
    if (m.output_type != "token")
        throw OptionError("model.output_type", "must be token: the answers of " + name + " are");
    require(m.input_size, s.width == 0 ? s.sourceVocabulary : s.width, "input_size",
            "elements of " + name + " have the size");
    requireAtLeast(m.output_size, s.targetVocabulary, "output_size", "the tokens of " + name + ",");
    requireAtLeast(m.in_block_size, s.source, "in_block_size", "the elements of " + name + ",");
    requireAtLeast(m.out_block_size, s.target, "out_block_size", "the answers of " + name + ",");
}

}  // namespace

void requireReadable(const ModelOptions& m, const Dataset& data) {
    switch (m.input()) {
        case InputKind::Images:
            if (dynamic_cast<const ImageDataset*>(&data))
                return requireImages(m.get<ImageInput>(), data);
            break;
        case InputKind::Tokens:
            if (const auto* text = dynamic_cast<const TokenDataset*>(&data)) {
                if (text->context() > m.tokens())
                    throw OptionError("data.context", std::to_string(text->context()) +
                                                          " tokens exceed the model's " +
                                                          std::to_string(m.tokens()));
                return;
            }
            break;
        case InputKind::Objects:
            if (const auto* sets = dynamic_cast<const ObjectDataset*>(&data))
                return requireObjects(m.get<ObjectInput>(), *sets);
            break;
        case InputKind::Pairs:
            if (const auto* pairs = dynamic_cast<const SequenceDataset*>(&data))
                return requireSequences(m.get<PairInput>(), *pairs);
            break;
    }
    throw OptionError("data", data.info().name + " cannot be used with a " + m.architecture());
}

}  // namespace relascope::core
