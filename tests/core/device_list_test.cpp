// SPDX-License-Identifier: GPL-3.0-or-later
// train.device as a list of devices.
#include "options/device_list.h"

#include <gtest/gtest.h>

#include "support/rooms.h"
#include "types/error.h"
#include "types/train_options.h"

namespace relascope {
namespace {

using Names = std::vector<std::string>;

std::string problemOf(const std::string& text) {
    try {
        deviceList(text);
    } catch (const OptionError& error) {
        EXPECT_EQ(error.field(), "train.device");
        return error.message();
    }
    return "";
}

TEST(DeviceList, HasAnEntryForEachRank) {
    EXPECT_EQ(deviceList("cuda:0,cuda:1"), (Names{"cuda:0", "cuda:1"}));
    EXPECT_EQ(deviceList(" cuda:3 ,\tcuda:1,cuda:12 "), (Names{"cuda:3", "cuda:1", "cuda:12"}));
    EXPECT_EQ(deviceList("cpu,cpu,cpu"), (Names{"cpu", "cpu", "cpu"}));
    EXPECT_EQ(deviceList("cuda,cuda:1"), (Names{"cuda:0", "cuda:1"}));
}

TEST(DeviceList, ASingleNameIsAListOfOne) {
    for (const char* name : {"auto", "cpu", "cuda:0", "cuda:7"})
        EXPECT_EQ(deviceList(name), Names{name});
    EXPECT_EQ(deviceList("cuda"), Names{"cuda:0"});
    EXPECT_EQ(deviceList(""), Names{"auto"});
    EXPECT_EQ(deviceList("  "), Names{"auto"});
}

TEST(DeviceList, RefusesWhatIsNotOneDeviceForEachRank) {
    const std::pair<const char*, const char*> wrong[] = {
        {"cuda:0,", "empty entry"},
        {",", "empty entry"},
        {"cuda:0,,cuda:1", "empty entry"},
        {"auto,cuda:1", "auto in a list"},
        {"auto,auto", "auto in a list"},
        {"cuda:1,cuda:0,cuda:1", "names cuda:1 twice"},
        {"cuda,cuda:0", "names cuda:0 twice"},
        {"cpu,cuda:0", "mixes the CPU and CUDA devices"},
        {"cuda:0,cuda:1,cpu", "mixes the CPU and CUDA devices"},
        {"gpu", "unknown device 'gpu'"},
        {"cuda:0,cuda:x", "unknown device 'cuda:x'"},
        {"cuda:0,cuda:00", "unknown device 'cuda:00'"},
        {"cuda:", "unknown device 'cuda:'"},
        {"cuda:0 cuda:1", "unknown device 'cuda:0 cuda:1'"},
        {"cuda:-1", "unknown device 'cuda:-1'"}};
    for (const auto& [text, words] : wrong) {
        EXPECT_NE(problemOf(text).find(words), std::string::npos)
            << text << ": " << problemOf(text);
        EXPECT_EQ(deviceCount(text), 1) << text;
        TrainOptions options;
        options.device = text;
        ASSERT_EQ(options.problems().size(), 1u) << text;
        EXPECT_EQ(options.problems()[0], (FieldProblem{"device", problemOf(text)}));
    }
}

TEST(DeviceList, AreCountedAndSaidInWords) {
    EXPECT_EQ(deviceCount("auto"), 1);
    EXPECT_EQ(deviceCount("cuda:0, cuda:1"), 2);
    EXPECT_EQ(joinedDevices(deviceList("cuda:0, cuda:1")), "cuda:0,cuda:1");
    EXPECT_EQ(devicesText({}), "");
    EXPECT_EQ(devicesText({"cuda:1"}), "cuda:1");
    EXPECT_EQ(devicesText({"cuda:0", "cuda:1"}), "2 devices: cuda:0, cuda:1");
    EXPECT_EQ(devicesText({"cpu", "cpu", "cpu"}), "3 processes on the CPU");
}

}  // namespace
}  // namespace relascope
