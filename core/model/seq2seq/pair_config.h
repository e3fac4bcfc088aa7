// SPDX-License-Identifier: GPL-3.0-or-later
// The source and target of the published sequence-to-sequence constructors (formats.md 5), for
// every architecture that reads pairs.
#pragma once

#include "model/architecture.h"

namespace relascope::core {

void readPairConfig(PairInput& pairs, StreamOptions& stream, EncoderDecoderDepth& depth,
                    JsonArguments& a);
ConfigJson pairConfig(const PairInput& pairs, const StreamOptions& stream,
                      const EncoderDecoderDepth& depth);
/// The elements of a sequence in words: "85 tokens", "vectors of 12".
std::string sequenceText(const std::string& type, std::int64_t size);
/// Lists the weight of an embedder, and the bias of a linear map of vectors.
void addEmbedderShapes(ShapeList& list, const std::string& name, const std::string& type,
                       std::int64_t size, std::int64_t d);

namespace fields {
FieldTable<EncoderDecoderDepth> encoderDecoderDepth();
}

}  // namespace relascope::core
