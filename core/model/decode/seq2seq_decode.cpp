// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/decode/seq2seq_decode.h"

#include <torch/utils.h>

#include <algorithm>
#include <optional>

#include "model/decode/cache.h"
#include "model/model.h"
#include "model/seq2seq/seq2seq.h"
#include "types/error.h"

namespace relascope::core {
bool canCacheAnswers(const ModelOptions& o) {
    const auto* blocks = o.find<Seq2SeqTransformerOptions>();
    if (!blocks)
        return o.input() == InputKind::Pairs;  // an Abstractor's decoder is causal, sensory
    const auto& decoder = blocks->decoder;
    const auto* dual = o.find<Seq2SeqDualAttnTransformerOptions>();
    if (!dual || !decoder.causal || decoder.n_heads_ra == 0) return decoder.causal;
    const bool wholeRows = decoder.ra_type != "rca" && decoder.rel_activation == "softmax";
    return !wholeRows && dual->symbol_retrieval != "rel_sym_attn";
}

torch::Tensor decodeGreedy(ModelImpl& model, const ModelOptions& options,
                           const torch::Tensor& source, std::int64_t startToken,
                           std::int64_t length, std::int64_t endToken, std::stop_token stop) {
    auto* sequences = dynamic_cast<SequenceModelImpl*>(&model);
    if (!sequences)
        throw OptionError("model.architecture",
                          options.architecture() + " cannot decode sequences");
    const torch::NoGradGuard noGrad;
    const EvaluationMode evaluation(model);
    const auto contexts = sequences->encodeSource(source);
    const auto ids = torch::TensorOptions().dtype(torch::kLong).device(source.device());
    auto answers = torch::full({source.size(0), length}, std::max<std::int64_t>(endToken, 0), ids);
    auto read = torch::full({source.size(0), 1}, startToken, ids);
    auto ended = torch::zeros({source.size(0)}, ids.dtype(torch::kBool));
    DecodingCache cache(length);
    const bool cached = canCacheAnswers(options);
    for (std::int64_t i = 0; i < length; ++i) {
        if (stop.stop_requested()) throw Cancelled();
        torch::Tensor logits;
        {
            std::optional<CacheScope> scope;
            if (cached) scope.emplace(cache);
            logits = sequences->decodeTarget(read, contexts);  // [b, 1 or i + 1, out_dim]
        }
        auto next = logits.select(1, -1).argmax(-1);
        if (endToken >= 0) {
            next = next.masked_fill(ended, endToken);
            ended = ended.logical_or(next.eq(endToken));
        }
        answers.select(1, i).copy_(next);
        if (endToken >= 0 && ended.all().item<bool>()) break;
        read = cached ? next.unsqueeze(1) : torch::cat({read, next.unsqueeze(1)}, 1);
    }
    return answers.to(torch::kCPU);
}

}  // namespace relascope::core
