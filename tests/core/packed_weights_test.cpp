// SPDX-License-Identifier: GPL-3.0-or-later
// Weights that were quantised or spread over processes say so in one sentence.
#include "checkpoint/packed_weights.h"

#include <gtest/gtest.h>

#include "analysis/open_model.h"
#include "support/golden_copy.h"
#include "support/rooms.h"

namespace relascope {
namespace {

using testing_support::GoldenCopy;
using testing_support::NamedTensors;
using Changes = std::function<void(NamedTensors&)>;

constexpr const char* kGolden = "public/llama_gqa_untied";

// All matrices of the blocks, by the name without "weight".
void eachMatrix(NamedTensors& all,
                const std::function<void(const std::string&, torch::Tensor)>& f) {
    for (const auto& [name, tensor] : NamedTensors(all))
        if (name.ends_with("proj.weight")) f(name.substr(0, name.size() - 6), tensor);
}

std::string problemOf(const Changes& change, bool configured) {
    const GoldenCopy copy(kGolden);
    copy.tensors(change);
    if (configured)
        copy.json("config.json", [](GoldenCopy::Json& json) {
            json["quantization_config"] = {{"quant_method", "some"}};
        });
    const auto problem = copy.problem();
    try {
        core::OpenedModel opened(copy.path(), "", "cpu");
        ADD_FAILURE() << "opened";
    } catch (const Error& error) {
        const std::string said = error.what();
        EXPECT_EQ(said.find("missing:"), std::string::npos) << said;
        EXPECT_NE(said.find("holds"), std::string::npos) << said;
    }
    return problem;
}

TEST(PackedWeights, AreNamedWithTheWayOut) {
    const Changes bytes = [](NamedTensors& all) {
        eachMatrix(all, [&](const std::string& name, const torch::Tensor& tensor) {
            all[name + "weight"] = torch::ones_like(tensor, torch::kChar);
            all[name + "SCB"] = torch::ones({tensor.size(0)});
        });
    };
    const Changes halfBytes = [](NamedTensors& all) {
        eachMatrix(all, [&](const std::string& name, const torch::Tensor& tensor) {
            all[name + "weight"] = torch::ones({tensor.numel() / 2, 1}, torch::kByte);
            all[name + "weight.absmax"] = torch::ones({4});
            all[name + "weight.quant_state.bitsandbytes__nf4"] = torch::ones({9}, torch::kByte);
        });
    };
    const auto packer = [](bool index) -> Changes {
        return [index](NamedTensors& all) {
            eachMatrix(all, [&](const std::string& name, const torch::Tensor& tensor) {
                all.erase(name + "weight");
                all[name + "qweight"] = torch::ones({2, tensor.size(0)}, torch::kInt);
                all[name + "qzeros"] = torch::ones({1, 2}, torch::kInt);
                all[name + "scales"] = torch::ones({1, tensor.size(0)});
                if (index) all[name + "g_idx"] = torch::ones({tensor.size(1)}, torch::kInt);
            });
        };
    };
    const Changes empty = [](NamedTensors& all) {
        for (auto& [name, tensor] : all) tensor = torch::empty({0});
    };
    const Changes integers = [](NamedTensors& all) {
        eachMatrix(all, [&](const std::string& name, const torch::Tensor& tensor) {
            all[name + "weight"] = tensor.to(torch::kChar);
        });
    };
    const Changes flat = [](NamedTensors& all) {
        all = {{"_fsdp_wrapped_module._flat_param", torch::ones({100})},
               {"_fsdp_wrapped_module.model.layers.0._fsdp_wrapped_module._flat_param",
                torch::ones({90})}};
    };
    const std::vector<std::tuple<Changes, const char*, const char*>> cases = {
        {bytes, "bitsandbytes packed into 8 bits ('model.layers.0.", "model.dequantize()"},
        {halfBytes, "bitsandbytes packed into 4 bits", "model.dequantize()"},
        {packer(true), "weights that GPTQ packed", "the model that it was made from"},
        {packer(false), "weights that GPTQ or AWQ packed", "the model that it was made from"},
        {integers, "weights of whole numbers (I8, 'model.layers.0.", "save the model in float32"},
        {empty, "holds no values of 'lm_head.weight'", "zero_to_fp32.py"},
        {flat, "flattened parameters of FSDP", "full_state_dict=True"},
    };
    for (const auto& [change, what, wayOut] : cases)
        for (const bool configured : {false, true}) {
            const auto problem = problemOf(change, configured);
            EXPECT_NE(problem.find(what), std::string::npos) << problem;
            EXPECT_NE(problem.find(wayOut), std::string::npos) << problem;
        }
}

TEST(PackedWeights, OfEightBitFloatsAreNamed) {
    StoredTensor tensor;
    tensor.name = tensor.stored = "model.layers.0.q_proj.weight";
    tensor.shape = {4, 4};
    for (const char* type : {"F8_E4M3", "F8_E5M2"}) {
        tensor.dtype = type;
        const auto said = core::packedWeights({tensor});
        EXPECT_NE(said.find(std::string("8-bit floats (") + type), std::string::npos) << said;
        EXPECT_NE(said.find("bfloat16"), std::string::npos) << said;
    }
    tensor.dtype = "F32";
    EXPECT_EQ(core::packedWeights({tensor}), "");
}

TEST(PackedWeights, OfOtherModelsAreNone) {
    const GoldenCopy copy(kGolden);
    EXPECT_EQ(copy.problem(), "");
    EXPECT_EQ(core::packedWeights(core::readCheckpointInfo(copy.path()).tensors), "");
    // What is beside the model does not count: it is no part of it.
    copy.tensors([](NamedTensors& all) { all["optimizer.state"] = torch::empty({0}); });
    EXPECT_EQ(copy.problem(), "");
}

}  // namespace
}  // namespace relascope
