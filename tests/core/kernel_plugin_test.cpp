// SPDX-License-Identifier: GPL-3.0-or-later
// The library of CUDA kernels as a file: missing, damaged, foreign, of another version, and the
// real one without a GPU.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "model/kernels/plugin.h"
#include "support/rooms.h"
#include "support/temporary_folder.h"

namespace relascope {
namespace {

using namespace core::kernels;
using testing_support::TemporaryFolder;

std::string fakeKernels(const std::string& name) {
    return (std::filesystem::path(RELASCOPE_BIN) / "../tests/fake_kernels" / (name + ".so"))
        .string();
}

/// The problem names the file, says `words` and is one sentence of one line.
void expectRefused(const std::string& file, const std::string& words) {
    const auto plugin = openKernelPlugin(file);
    EXPECT_EQ(plugin.table, nullptr) << file;
    EXPECT_NE(plugin.problem.find("'" + file + "'"), std::string::npos) << plugin.problem;
    EXPECT_NE(plugin.problem.find(words), std::string::npos) << plugin.problem;
    EXPECT_NE(plugin.problem.find("; a build of Relascope with nvcc makes it"), std::string::npos);
    EXPECT_EQ(plugin.problem.find('\n'), std::string::npos) << plugin.problem;
    EXPECT_EQ(plugin.problemOn(0), plugin.problem);
}

TEST(KernelPlugin, RefusesFilesThatAreNotItsLibrary) {
    TemporaryFolder home("kernels");
    std::filesystem::create_directories(home.path());
    expectRefused(home / "missing.so", "are not there");
    expectRefused(home.path(), "are not there");
    std::ofstream(home / "empty.so").close();
    expectRefused(home / "empty.so", "file too short)");
    std::ofstream(home / "text.so") << std::string(100000, 'x');
    expectRefused(home / "text.so", "invalid ELF header)");
    expectRefused(fakeKernels("needs_symbol"), "notDefinedAnywhere");
    expectRefused(fakeKernels("no_symbol"), "it has no relascope_kernels");
    for (const auto* name : {"other_version", "other_table", "other_arguments"})
        expectRefused(fakeKernels(name), "were built for another version of Relascope");
}

TEST(KernelPlugin, SurvivesACutOffLibrary) {
    TemporaryFolder home("kernels-cut");
    std::filesystem::create_directories(home.path());
    int refused = 0;
    for (int sixteenth = 1; sixteenth < 16; ++sixteenth) {
        const std::string file = home / std::to_string(sixteenth) + ".so";
        std::filesystem::copy_file(fakeKernels("good"), file);
        std::filesystem::resize_file(file, std::filesystem::file_size(file) * sixteenth / 16);
        const auto plugin = openKernelPlugin(file);  // what follows the code is not needed
        if (plugin.table) continue;
        EXPECT_NE(plugin.problem.find("shorter than it says"), std::string::npos) << plugin.problem;
        ++refused;
    }
    EXPECT_GE(refused, 3);
}

TEST(KernelPlugin, ServesTheDevicesThatItCan) {
    const auto plugin = openKernelPlugin(fakeKernels("good"));
    ASSERT_NE(plugin.table, nullptr) << plugin.problem;
    EXPECT_EQ(plugin.problem, "");
    EXPECT_EQ(plugin.problemOn(0), "");
    EXPECT_NE(plugin.problemOn(1).find("NVIDIA GPU 1 has compute capability 7.2"),
              std::string::npos)
        << plugin.problemOn(1);
    EXPECT_NE(plugin.problemOn(1).find("need 7.5 or newer"), std::string::npos);
    EXPECT_NE(plugin.problemOn(2).find("NVIDIA GPU 2 does not tell its properties (device busy)"),
              std::string::npos)
        << plugin.problemOn(2);
    EXPECT_NE(plugin.problemOn(3).find("no CUDA device 3"), std::string::npos);
    EXPECT_NE(plugin.problemOn(-1).find("no CUDA device -1"), std::string::npos);
}

TEST(KernelPlugin, FileCanBeNamed) {
    unsetenv("RELASCOPE_CUDA_PLUGIN");
    EXPECT_EQ(kernelPluginFile(), RELASCOPE_BIN "/librelascope_cuda.so");
    setenv("RELASCOPE_CUDA_PLUGIN", "other.so", 1);
    EXPECT_EQ(kernelPluginFile(), "other.so");
    setenv("RELASCOPE_CUDA_PLUGIN", "off", 1);
    EXPECT_EQ(kernelPluginFile(), "");
    EXPECT_NE(openKernelPlugin("").problem.find("RELASCOPE_CUDA_PLUGIN is 'off'"),
              std::string::npos);
    unsetenv("RELASCOPE_CUDA_PLUGIN");
}

/// The functions that run on the CPU alone do what they say, with and without a GPU.
TEST(KernelPlugin, OfThisBuildOpens) {
    const std::string file = RELASCOPE_BIN "/librelascope_cuda.so";
    if (!std::filesystem::exists(file)) return expectRefused(file, "are not there");  // no nvcc
    const auto plugin = openKernelPlugin(file);
    ASSERT_NE(plugin.table, nullptr) << plugin.problem;
    EXPECT_EQ(plugin.deviceProblems.empty() ? plugin.problem.find("no CUDA device answers (") : 0u,
              0u)
        << plugin.problem;
    const auto& table = *plugin.table;
    RelArgs args;
    args.batch = 2, args.queries = args.keys = 10, args.heads = 8, args.keyHeads = 4;
    args.keyDim = args.valueDim = 64, args.relations = 64, args.relDim = 8;
    EXPECT_TRUE(table.tensorServes(args, 227 * 1024, 90));
    EXPECT_FALSE(table.tensorServes(args, 227 * 1024, 75));
    EXPECT_FALSE(table.tensorServes(args, 64 * 1024, 90));
    args.keyHeads = 8;
    EXPECT_FALSE(table.tensorServes(args, 227 * 1024, 90));
    DecodeArgs one;
    one.batch = 1, one.capacity = 10, one.heads = 4, one.keyHeads = 3;  // does not divide the heads
    one.keyDim = one.valueDim = 16, one.sharedLimit = 64 * 1024;
    EXPECT_EQ(table.decodeShared(one), 0u);
    EXPECT_STREQ(table.errorText(table.decode(&one, nullptr)), "invalid argument");
}

}  // namespace
}  // namespace relascope
