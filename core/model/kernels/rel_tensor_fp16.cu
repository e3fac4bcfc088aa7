// SPDX-License-Identifier: GPL-3.0-or-later
// The tensor-core kernels of relational attention in fp16.
#include "model/kernels/rel_tensor_instances.cuh"

namespace relascope::core::kernels {

RelTensorInstances fp16Instances() {
    return relTensorInstances<Float16>();
}

}  // namespace relascope::core::kernels
