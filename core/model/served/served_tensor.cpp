// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/served/served_tensor.h"

#include <torch/utils.h>
#include <algorithm>
#include <array>
#include <utility>

#include "types/error.h"

namespace relascope::core {
namespace {

constexpr std::array<std::pair<const char*, torch::ScalarType>, 8> kServedTypes = {
    {{"float32", torch::kFloat},
     {"float64", torch::kDouble},
     {"float16", torch::kHalf},
     {"bfloat16", torch::kBFloat16},
     {"int64", torch::kLong},
     {"int32", torch::kInt},
     {"uint8", torch::kByte},
     {"bool", torch::kBool}}};

}  // namespace

ServedTensor servedTensor(const torch::Tensor& tensor) {
    const auto own =
        std::make_shared<const torch::Tensor>(tensor.detach().to(torch::kCPU).contiguous());
    const auto type = std::find_if(kServedTypes.begin(), kServedTypes.end(), [&](const auto& one) {
        return one.second == own->scalar_type();
    });
    if (type == kServedTypes.end())
        throw Error("Numbers of the type " + std::string(torch::toString(own->scalar_type())) +
                    " are not sent to another process.");
    return {type->first,
            own->sizes().vec(),
            {static_cast<const std::uint8_t*>(own->const_data_ptr()), own->nbytes()},
            own};
}

torch::Tensor tensorOf(const ServedTensor& given) {
    const auto type = std::find_if(kServedTypes.begin(), kServedTypes.end(),
                                   [&](const auto& one) { return given.type == one.first; });
    if (type == kServedTypes.end())
        throw Error("A tensor has the unknown type " + given.type + ".");
    std::size_t bytes = torch::elementSize(type->second);
    for (const auto size : given.sizes)
        if (size < 0 || __builtin_mul_overflow(bytes, static_cast<std::size_t>(size), &bytes))
            throw Error("A tensor has a size that is none: " + std::to_string(size) + ".");
    if (bytes != given.bytes.size())
        throw Error("A tensor has " + std::to_string(given.bytes.size()) +
                    " bytes, and its sizes " + std::to_string(bytes) + ".");
    if (bytes == 0) return torch::empty(given.sizes, type->second);
    // Regions that came here are private copies, which may be written to.
    return torch::from_blob(
        const_cast<std::uint8_t*>(given.bytes.data()), given.sizes, [owner = given.owner](void*) {},
        type->second);
}

}  // namespace relascope::core
