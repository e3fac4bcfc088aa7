#include "model/generate.h"

#include <algorithm>

namespace relascope {

std::int64_t usableVocabulary(const ModelOptions& options) {
    constexpr std::int64_t padded = 50304, tokens = 50257;  // GPT-2's, rounded up to 128
    return options.vocab_size == padded ? tokens : options.vocab_size;
}

torch::Tensor generateGreedy(ModelImpl& model, const ModelOptions& options, torch::Tensor prompt,
                             std::int64_t count) {
    const torch::NoGradGuard noGrad;
    const std::int64_t vocabulary = usableVocabulary(options);
    for (std::int64_t i = 0; i < count; ++i) {
        const auto seen =
            prompt.slice(1, std::max<std::int64_t>(0, prompt.size(1) - options.max_block_size));
        const auto logits = model.forward(seen).select(1, -1);  // [b, vocab]
        prompt = torch::cat({prompt, logits.slice(1, 0, vocabulary).argmax(1, true)}, 1);
    }
    return prompt;
}

}  // namespace relascope
