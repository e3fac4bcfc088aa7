// SPDX-License-Identifier: GPL-3.0-or-later
// Runs a program of this build: arguments in, exit code, stdout and stderr out.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "support/rooms.h"

namespace relascope {

struct Outcome {
    int code = -1;
    std::string out, err;
};

inline std::string slurp(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

inline Outcome runProgram(const std::string& program, const std::string& arguments) {
    static int number = 0;
    const std::string base =
        (std::filesystem::temp_directory_path() /
         ("relascope-cli-" + std::to_string(getpid()) + "-" + std::to_string(number++)))
            .string();
    const int status = std::system((std::string(RELASCOPE_BIN) + "/" + program + " " + arguments +
                                    " >" + base + ".out 2>" + base + ".err </dev/null")
                                       .c_str());
    Outcome outcome{WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
                    slurp(base + ".out"), slurp(base + ".err")};
    std::filesystem::remove(base + ".out");
    std::filesystem::remove(base + ".err");
    return outcome;
}

inline Outcome runCli(const std::string& arguments) {
    return runProgram("relascope-cli", arguments);
}

inline nlohmann::json json(const Outcome& o) {
    return nlohmann::json::parse(o.out);
}

inline void expectRefused(const std::string& arguments, int code, const std::string& sentence) {
    const auto o = runCli(arguments);
    EXPECT_EQ(o.code, code) << arguments << "\n" << o.err;
    EXPECT_NE(o.err.find(sentence), std::string::npos) << arguments << " said: " << o.err;
    EXPECT_TRUE(o.out.empty()) << o.out;
}

}  // namespace relascope
