// SPDX-License-Identifier: GPL-3.0-or-later
#include "data/example_checksum.h"

#include "files/crc32.h"

namespace relascope::core {

std::uint32_t examplesChecksum(const Dataset& data, const std::vector<std::int64_t>& examples) {
    const auto* images = dynamic_cast<const ImageDataset*>(&data);
    const auto* text = dynamic_cast<const TokenDataset*>(&data);
    const auto* sets = dynamic_cast<const ObjectDataset*>(&data);
    const auto* pairs = dynamic_cast<const SequenceDataset*>(&data);
    const auto* facts = data.objectFacts();
    const auto count = [](std::int64_t a, std::int64_t b) {
        return static_cast<std::size_t>(a) * static_cast<std::size_t>(b);
    };
    std::vector<std::uint8_t> pixels(images ? images->pixelBytes() : 0);
    std::vector<std::int64_t> tokens, answer;
    std::vector<float> vectors, targets;
    if (text) tokens.resize(count(text->context() + 1, 1));
    if (sets) {
        vectors.resize(count(sets->shape().objects, sets->shape().width));
        targets.resize(count(sets->shape().targets, 1));
    }
    if (pairs) {
        const auto shape = pairs->shape();
        vectors.resize(count(shape.source, shape.width));
        tokens.resize(shape.width == 0 ? count(shape.source, 1) : 0);
        answer.resize(count(shape.target, 1));
    }
    std::vector<std::int32_t> known(
        facts ? count(facts->objects, static_cast<std::int64_t>(facts->facts.size())) : 0);
    std::uint32_t crc = 0;
    const auto add = [&crc](const auto& numbers) {
        if (!numbers.empty())
            crc = crc32Of(crc, numbers.data(), numbers.size() * sizeof(numbers[0]));
    };
    for (const auto& name : data.info().classNames) add(name);
    for (const auto index : examples) {
        std::int64_t label = -1;
        if (images) label = images->read(index, pixels);
        if (text) text->read(index, tokens);
        if (sets) sets->read(index, vectors, targets);
        if (pairs) pairs->read(index, vectors, tokens, answer);
        if (facts) data.readFacts(index, known);
        add(pixels), add(tokens), add(vectors), add(targets), add(answer), add(known);
        crc = crc32Of(crc, &label, sizeof label);
    }
    return crc;
}

}  // namespace relascope::core
