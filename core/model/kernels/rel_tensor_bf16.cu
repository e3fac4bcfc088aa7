// SPDX-License-Identifier: GPL-3.0-or-later
// The tensor-core kernels of relational attention in bf16.
#include "model/kernels/rel_tensor_instances.cuh"

namespace relascope::core::kernels {

RelTensorInstances bf16Instances() {
    return relTensorInstances<BFloat16>();
}

}  // namespace relascope::core::kernels
