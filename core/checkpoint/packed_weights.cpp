// SPDX-License-Identifier: GPL-3.0-or-later
#include "checkpoint/packed_weights.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "checkpoint/pickle.h"

namespace relascope::core {
namespace {

struct Packer {
    std::string_view part;  ///< how a part of a name, between dots, begins
    const char* what;       ///< before the name of the tensor
    const char* wayOut;
};

constexpr const char *kDequantize = "open it in transformers, and save it after model.dequantize()",
                     *kOriginal = "open the model that it was made from";
constexpr std::array kPackers = {
    Packer{"SCB", "weights that bitsandbytes packed into 8 bits", kDequantize},
    Packer{"weight_format", "weights that bitsandbytes packed into 8 bits", kDequantize},
    Packer{"absmax", "weights that bitsandbytes packed into 4 bits", kDequantize},
    Packer{"quant_state", "weights that bitsandbytes packed into 4 bits", kDequantize},
    Packer{"quant_map", "weights that bitsandbytes packed into 4 bits", kDequantize},
    Packer{"g_idx", "weights that GPTQ packed", kOriginal},
    Packer{"qweight", "weights that GPTQ or AWQ packed", kOriginal},
    Packer{"qzeros", "weights that GPTQ or AWQ packed", kOriginal},
    Packer{"W_q", "weights that HQQ packed", kOriginal},
    Packer{"weight_packed", "weights that compressed-tensors packed", kOriginal},
};

// The parameters of a module in one row, of which each process of FSDP has a part.
bool isFlat(std::string_view name) {
    const auto last = name.substr(name.rfind('.') + 1);
    return last == "_flat_param" || last == "flat_param" || last.starts_with("_flat_param_") ||
           last.starts_with("flat_param_");
}

bool hasPart(std::string_view name, std::string_view part) {
    for (auto at = name.find(part); at != std::string_view::npos; at = name.find(part, at + 1)) {
        const auto end = at + part.size();
        if (at > 0 && name[at - 1] == '.' && (end == name.size() || name[end] == '.')) return true;
    }
    return false;
}

std::string named(const StoredTensor& tensor) {
    return " ('" + tensor.name.substr(0, 200) + "')";
}

}  // namespace

std::string packedWeights(const std::vector<StoredTensor>& tensors) {
    const auto first = [&](auto&& is) -> const StoredTensor* {
        const auto found = std::find_if(tensors.begin(), tensors.end(), is);
        return found == tensors.end() ? nullptr : &*found;
    };
    if (const auto* flat = first([](const auto& t) { return isFlat(t.stored); }))
        return "holds flattened parameters of FSDP" + named(*flat) +
               ", of which each process has a part; save the whole model: " + kGather;
    for (const auto& packer : kPackers)
        if (const auto* found =
                first([&](const auto& t) { return hasPart(t.stored, packer.part); }))
            return std::string("holds ") + packer.what + named(*found) + "; " + packer.wayOut;
    if (const auto* small = first([](const auto& t) { return t.dtype.starts_with("F8_"); }))
        return "holds weights of 8-bit floats (" + small->dtype + ", '" +
               small->name.substr(0, 200) +
               "'); open it in transformers with "
               "quantization_config=FineGrainedFP8Config(dequantize=True) where it has scales, "
               "and save it in bfloat16";
    if (const auto* whole = first([](const auto& t) {
            return t.stored.ends_with(".weight") && (t.dtype == "I8" || t.dtype == "U8");
        }))
        return "holds weights of whole numbers (" + whole->dtype + ", '" +
               whole->name.substr(0, 200) +
               "'), which mean nothing without their scales; save the model in float32, float16 or "
               "bfloat16";
    // Buffers keep their values.
    const auto isEmpty = [](const auto& t) { return t.shape == std::vector<std::int64_t>{0}; };
    if (2 * std::count_if(tensors.begin(), tensors.end(), isEmpty) > std::ssize(tensors))
        return "holds no values of '" + first(isEmpty)->name.substr(0, 200) +
               "', as DeepSpeed's ZeRO-3 spreads them over files of their own; " + kZeroToFloat;
    return {};
}

}  // namespace relascope::core
