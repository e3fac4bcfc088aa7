// SPDX-License-Identifier: GPL-3.0-or-later
#include <iostream>
#include <nlohmann/json.hpp>

#include "app/cli/build_facts.h"
#include "app/cli/cli.h"
#include "options/builtin_resources.h"

namespace relascope::cli {
namespace {

std::string compilerText() {
#if defined(__clang_version__)
    const std::string version = __clang_version__;
    return "Clang " + version.substr(0, version.find(' '));
#elif defined(__GNUC__)
    return "GCC " __VERSION__;
#else
    return "unknown";
#endif
}

}  // namespace

BuildFacts buildFacts(const std::string& qt) {
    BuildFacts facts;
    facts.version = core::builtin::version();
    facts.commit = kCommit.hash;
    facts.date = kCommit.date;
    facts.modified = kCommit.modified;
    facts.libtorch = RELASCOPE_TORCH_VERSION;
    facts.qt = qt;
    facts.compiler = compilerText();
    facts.build = RELASCOPE_BUILD_TYPE;
    return facts;
}

std::string commitText(const BuildFacts& facts) {
    return facts.commit + (facts.modified ? "+" : "") +
           (facts.date.empty() ? "" : " of " + facts.date);
}

std::string versionText(const BuildFacts& facts) {
    return "relascope " + facts.version + "\ncommit " + commitText(facts) + "\nLibTorch " +
           facts.libtorch + (facts.qt.empty() ? "" : "\nQt " + facts.qt) + "\ncompiler " +
           facts.compiler + "\nbuild " + facts.build + "\n";
}

std::string versionJson(const BuildFacts& facts) {
    nlohmann::ordered_json json = {{"version", facts.version},   {"commit", facts.commit},
                                   {"commit_date", facts.date},  {"modified", facts.modified},
                                   {"libtorch", facts.libtorch}, {"compiler", facts.compiler},
                                   {"build", facts.build}};
    if (!facts.qt.empty()) json["qt"] = facts.qt;
    return json.dump(2) + "\n";
}

int printVersion(int argc, char** argv, const std::string& qt) {
    const BuildFacts facts = buildFacts(qt);
    const bool json = argc == 3 && std::string(argv[2]) == "--json";
    if (argc > 2 && !json) {
        std::cerr << "relascope-cli: --version: '" << argv[2] << "' is not --json\n";
        return kExitUsage;
    }
    std::cout << (json ? versionJson(facts) : versionText(facts));
    return 0;
}

}  // namespace relascope::cli
