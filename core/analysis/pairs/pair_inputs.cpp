// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/pairs/pair_inputs.h"

#include "analysis/open_model.h"
#include "analysis/pairs/sentence_batches.h"
#include "data/continue_text.h"
#include "data/text_tokens.h"
#include "model/public/public_options.h"

namespace relascope::core {

DatasetPtr textOfPairs(OpenedModel& model, const DatasetPtr& pairs) {
    AnalysisSubject subject;
    subject.model = &model, subject.data = pairs;
    const SentenceBatches batches(subject, 0);
    return goodText(batches.tokens(), model.tokenizer());
}

std::pair<ProbeSample, ProbeSample> samplesOfPair(const OpenedModel& model, const DatasetPtr& pairs,
                                                  std::int64_t number) {
    const auto tokenizer = model.tokenizer();
    requireTokenizer(tokenizer, model.options());
    const auto tokens = tokenizePairs(*asPairs(pairs), {number}, *tokenizer,
                                      model.options().tokens(), readsBothWays(model.options()));
    const auto sample = [&](std::size_t sentence, const char* name) {
        const auto& ids = tokens.sentences[sentence].ids;
        return tokenSample(tokenizer.get(), ids,
                           name + (" sentence of pair " + std::to_string(number + 1)));
    };
    const auto& pair = tokens.pairs.front();
    return {sample(pair.good, "good"), sample(pair.bad.front(), "wrong")};
}

}  // namespace relascope::core
