// Loss and accuracy over a data set.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "model/factory.h"
#include "train/open_model.h"

namespace relascope {

/// In evaluation mode, without gradients; the model's mode is restored. Of text, loss and accuracy
/// are means over tokens. Throws OptionError for a label beyond the model's classes, Cancelled.
Evaluation evaluateModel(ModelImpl& model, const DatasetPtr& data, std::int64_t batchSize,
                         std::int64_t classes, bool bfloat16 = false, std::stop_token stop = {},
                         const ProgressCallback& progress = {});

/// bfloat16 autocast on CUDA while it lives, when `enabled`.
class AutocastScope {
public:
    explicit AutocastScope(bool enabled);
    ~AutocastScope();
    AutocastScope(const AutocastScope&) = delete;
    AutocastScope& operator=(const AutocastScope&) = delete;

private:
    bool m_enabled;
};

/// Mean (or summed) cross entropy of scores [b, classes] or [b, n, classes] and targets [b] or [b,
/// n].
torch::Tensor crossEntropy(const torch::Tensor& scores, const torch::Tensor& targets,
                           bool sum = false);

/// Throws OptionError when a label is not one of the classes: on a GPU it would poison the device.
void requireLabels(const torch::Tensor& targets, std::int64_t classes);

}  // namespace relascope
