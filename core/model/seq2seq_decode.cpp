#include "model/seq2seq_decode.h"

#include "types/error.h"

namespace relascope {

torch::Tensor decodeGreedy(ModelImpl& model, const ModelOptions&, const torch::Tensor& source,
                           std::int64_t startToken, std::int64_t length, std::int64_t,
                           std::stop_token stop) {
    const torch::NoGradGuard noGrad;
    const bool training = model.is_training();
    model.eval();
    auto seen = torch::full({source.size(0), 1}, startToken,
                            torch::TensorOptions().dtype(torch::kLong).device(source.device()));
    for (std::int64_t i = 0; i < length; ++i) {
        if (stop.stop_requested()) throw Cancelled();
        seen = torch::cat({seen, model.forward({source, seen}).select(1, -1).argmax(-1, true)}, 1);
    }
    model.train(training);
    return seen.slice(1, 1).to(torch::kCPU).contiguous();
}

}  // namespace relascope
