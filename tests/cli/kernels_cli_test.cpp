// SPDX-License-Identifier: GPL-3.0-or-later
// What `relascope-cli devices` says of the CUDA kernels. A library that only has the name of
// LibTorch's stands for it, so that the kernels are looked for on every machine.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "cli/command_line.h"
#include "files/processor.h"
#include "support/rooms.h"

namespace relascope {
namespace {

const std::string kFakes = std::string(RELASCOPE_BIN) + "/../tests/fake_kernels/";

/// The entry of CUDA, with the kernels of a file.
nlohmann::json cudaDevice(const std::string& plugin) {
    setenv("RELASCOPE_TORCH", (kFakes + "torch").c_str(), 1);
    setenv("RELASCOPE_CUDA_PLUGIN", plugin.c_str(), 1);
    const auto list = json(runCli("devices --json"));
    const auto text = runCli("devices");
    unsetenv("RELASCOPE_TORCH");
    unsetenv("RELASCOPE_CUDA_PLUGIN");
    EXPECT_EQ(list.size(), 2u);
    EXPECT_FALSE(list[0].contains("kernels")) << list;
    const auto device = list.back();
    const std::string reason = device["kernels_reason"], file = device["kernels"];
    EXPECT_EQ(file.empty(), !reason.empty()) << device;
    EXPECT_EQ(text.code, 0);
    const auto expected =
        "; attention by LibTorch: " +
        (reason.empty() ? "Relascope's kernels for it need compute capability 8.0 or newer"
                        : reason) +
        "\n";
    EXPECT_NE(text.out.find(expected), std::string::npos) << text.out;
    EXPECT_TRUE(device["kernel_types"].empty()) << device;
    EXPECT_FALSE(device.contains("kernel_problems")) << device;
    return device;
}

TEST(Kernels, AreListedWithTheDevices) {
    EXPECT_EQ(cudaDevice(kFakes + "good.so")["kernels"], kFakes + "good.so");
    const auto says = [](const std::string& plugin) {
        return cudaDevice(plugin)["kernels_reason"].get<std::string>();
    };
    EXPECT_NE(says(kFakes + "missing.so").find("are not there"), std::string::npos);
    EXPECT_NE(says(kFakes + "no_symbol.so").find("has no relascope_kernels"), std::string::npos);
    EXPECT_NE(says(kFakes + "other_version.so").find("another version"), std::string::npos);
    EXPECT_NE(says(std::string(RELASCOPE_BIN) + "/relascope-cli").find("cannot be loaded"),
              std::string::npos);
    EXPECT_NE(says("off").find("RELASCOPE_CUDA_PLUGIN is 'off'"), std::string::npos);
}

TEST(Devices, AreOneLineEachWithTheirMemoryBeforeTheLibraries) {
    const auto list = json(runCli("devices --json"));
    ASSERT_GE(list.size(), 2u);
    const auto& cpu = list[0];
    EXPECT_GT(cpu["memory_free"].get<std::uint64_t>(), 1u << 20);
    EXPECT_GT(cpu["memory_total"].get<std::uint64_t>(), cpu["memory_free"].get<std::uint64_t>());
    EXPECT_FALSE(cpu.contains("compute_capability")) << "what is not known is left out";
    const auto text = runCli("devices");
    EXPECT_EQ(static_cast<std::size_t>(std::count(text.out.begin(), text.out.end(), '\n')),
              list.size() + 2 + (list[1].contains("library") ? 1 : 0))
        << text.out;
    EXPECT_NE(text.out.find("\nLibTorch: /"), std::string::npos) << text.out;
    EXPECT_NE(text.out.find("/libtorch_cpu.so\n"), std::string::npos) << text.out;
    EXPECT_NE(text.out.find("\nQt: "), std::string::npos) << text.out;
    EXPECT_EQ(text.out.rfind("cpu      CPU, ", 0), 0u) << text.out;
    EXPECT_NE(text.out.find("iB free"), std::string::npos) << text.out;
    EXPECT_EQ(text.out.find("bfloat16 products, about") != std::string::npos,
              core::hasBFloat16Products())
        << text.out;
    if (list[1]["usable"].get<bool>()) return;
    EXPECT_FALSE(list[1].contains("memory_free")) << list[1];
    EXPECT_NE(text.out.find("not usable: " + list[1]["reason"].get<std::string>()),
              std::string::npos)
        << text.out;
}

TEST(Devices, WithoutTheFlagsBFloat16IsRefused) {
    setenv("RELASCOPE_BFLOAT16", "off", 1);
    const auto devices = runCli("devices"),
               bench = runProgram("relascope-bench", "relgames_dat --bf16");
    unsetenv("RELASCOPE_BFLOAT16");
    EXPECT_EQ(devices.out.find("bfloat16 products, about"), std::string::npos) << devices.out;
    EXPECT_NE(bench.code, 0);
    EXPECT_NE(bench.err.find("needs a processor with avx512_bf16 or amx_bf16"), std::string::npos)
        << bench.err;
}

TEST(Kernels, OfThisBuildAreOpenedWithoutCuda) {
    const auto device = cudaDevice("");
    EXPECT_FALSE(device["usable"].get<bool>()) << device;
    const std::string reason = device["kernels_reason"];
    if (!std::filesystem::exists(RELASCOPE_BIN "/librelascope_cuda.so")) {  // no nvcc
        EXPECT_NE(reason.find("are not there"), std::string::npos) << reason;
        return;
    }
    EXPECT_EQ(reason.empty() ? 0u : reason.find("no CUDA device answers ("), 0u) << reason;
}

TEST(Kernels, AreLookedForOnlyWithLibTorchsCuda) {
    const auto list = json(runCli("devices --json"));
    const std::string reason = list.back()["reason"];
    const bool loaded = reason.find("LibTorch") == std::string::npos;
    EXPECT_EQ(list.back()["kernels_reason"] == "LibTorch's CUDA library is not loaded", !loaded);
}

}  // namespace
}  // namespace relascope
