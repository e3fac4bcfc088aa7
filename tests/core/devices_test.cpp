// SPDX-License-Identifier: GPL-3.0-or-later
// What is said of the devices, from a made-up library of kernels.
#include "train/devices.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "files/atomic_file.h"
#include "model/kernels/plugin.h"
#include "support/rooms.h"
#include "support/temporary_folder.h"
#include "train/find_cuda.h"
#include "types/error.h"

namespace relascope {
namespace {

using namespace core::kernels;

KernelPlugin fakePlugin() {
    return openKernelPlugin(RELASCOPE_BIN "/../tests/fake_kernels/good.so");
}

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

TEST(DeviceFacts, ComeFromTheLibraryOfKernels) {
    const auto plugin = fakePlugin();
    ASSERT_NE(plugin.table, nullptr) << plugin.problem;
    const auto first = cudaDevice(plugin, 0);
    EXPECT_EQ(first.title, "NVIDIA Made Up");
    EXPECT_EQ(first.memory, 16 * kGiB);
    EXPECT_EQ(first.capability, "7.5");
    EXPECT_EQ(first.multiprocessors, 40);
    EXPECT_EQ(first.driver, "13.2");
    EXPECT_EQ(first.runtime, "13.0");
    EXPECT_EQ(deviceFacts(first, {5 * kGiB / 2, 16 * kGiB}),
              (std::vector<std::string>{"NVIDIA Made Up", "2.5 of 16.0 GiB free",
                                        "compute capability 7.5", "driver for CUDA 13.2"}));
    EXPECT_EQ(attentionText(first),
              "attention by LibTorch: Relascope's kernels for it need compute capability 8.0 or "
              "newer");

    const auto old = cudaDevice(plugin, 1);
    EXPECT_EQ(old.capability, "7.2") << "a device that the kernels do not serve is known as well";
    EXPECT_EQ(attentionText(old).rfind("attention by LibTorch: NVIDIA GPU 1 has compute", 0), 0u);
}

TEST(DeviceFacts, AreLeftOutWhereTheyAreNotKnown) {
    for (const auto& info : {cudaDevice(openKernelPlugin("missing.so"), 2),
                             cudaDevice(fakePlugin(), 2)}) {  // which answers with errors
        EXPECT_EQ(info.name, "cuda:2");
        EXPECT_EQ(info.title, "NVIDIA GPU 2");
        EXPECT_EQ(info.memory, 0u);
        EXPECT_EQ(info.capability, "");
        EXPECT_FALSE(info.kernelsProblem.empty());
    }
    const auto missing = cudaDevice(openKernelPlugin("missing.so"), 0);
    EXPECT_EQ(deviceFacts(missing, {}), std::vector<std::string>{"NVIDIA GPU 0"});
    EXPECT_EQ(deviceFacts(missing, {kGiB / 2, 0})[1], "512 MiB free");
    EXPECT_EQ(deviceFacts(missing, {0, kGiB})[1], "1.0 GiB");
    EXPECT_EQ(deviceFacts(missing, {kGiB / 2, 8 * kGiB})[1], "512 MiB of 8.0 GiB free");
    EXPECT_EQ(attentionText(missing).rfind("attention by LibTorch: Relascope's CUDA kernels", 0),
              0u);
    EXPECT_EQ(attentionText(devices()[0]), "");
}

TEST(DeviceFacts, SayWhatTheCheckOfTheKernelsFound) {
    const core::DeviceInfo gpu{.name = "cuda:0", .title = "NVIDIA H100", .capability = "9.0"};
    const std::string own = "attention by Relascope's kernels for 16 bits at some published sizes";
    EXPECT_EQ(attentionText(gpu), own) << "not checked yet";
    EXPECT_EQ(attentionText(gpu, {"no", ""}), own + "; no");
    EXPECT_EQ(attentionText(gpu, {"", "no"}), "attention by LibTorch: no");
    EXPECT_EQ(attentionText(gpu, {"one", "two"}), "attention by LibTorch: one; two");
    EXPECT_EQ(kernelTypes(gpu, {"no", ""}), (std::vector<std::string>{"bfloat16", "float16"}));
    EXPECT_TRUE(kernelTypes(gpu, {"", "no"}).empty());
    EXPECT_TRUE(kernelTypes(devices()[0], {}).empty());
    checkKernels(devices()[0]);  // nothing to check
    EXPECT_EQ(kernelProblems(devices()[0]).decoding, "");
}

TEST(DeviceFacts, OfTheCpuAreThoseOfTheMachine) {
    const auto memory = deviceMemory("cpu");
    EXPECT_GT(memory.free, 0u);
    EXPECT_LT(memory.free, memory.total);
    EXPECT_EQ(memory.total, devices()[0].memory);
}

TEST(TorchBuild, OfOtherLibrariesIsComparedWithTheProgram) {
    testing_support::TemporaryFolder home("torch-build");
    std::filesystem::create_directories(home.path());
    EXPECT_EQ(torchBuildProblem(RELASCOPE_BIN "/../tests/fake_kernels/torch"), "");
    EXPECT_EQ(torchBuildProblem(home.path()), "") << "nothing tells";
    core::writeTextFile(home / "version.py",
                        "__version__ = '2.11.0+cu128'\ncuda: Optional[str] = '12.8'\n"
                        "git_version = '0123'\n");
    const auto problem = torchBuildProblem(home.path());
    EXPECT_EQ(problem.rfind("'" + home.path() +
                                "' is another build of LibTorch (2.11.0+cu128 12.8 "
                                "0123) than the program's (2.11.0",
                            0),
              0u)
        << problem;
}

TEST(DeviceFacts, CanBeMadeUpForTests) {
    {
        const FakeDevicesScope fake(
            {{.name = "cpu", .title = "CPU"}, {.name = "cuda:0", .title = "Made up"}},
            [](const std::string& name) {
                return name == "cpu" ? DeviceMemory{1, 2} : DeviceMemory{3, 4};
            });
        EXPECT_EQ(resolveDevice("auto"), "cuda:0");
        EXPECT_EQ(findDevice("cuda:0")->title, "Made up");
        EXPECT_EQ(freeMemory("cuda:0"), 3u);
        EXPECT_EQ(deviceMemory("cpu").total, 2u);
    }
    EXPECT_EQ(devices()[0].title.rfind("CPU, ", 0), 0u);
    EXPECT_EQ(findDevice("nothing"), nullptr);
}

}  // namespace
}  // namespace relascope
