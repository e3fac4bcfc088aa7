// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/build_facts.h"
#include "app/cli/cli.h"
#include "app/crash/crash.h"

int main(int argc, char** argv) {
    using namespace relascope;
    crash::install({cli::programName("relascope-cli", argc, argv), versionText(cli::buildFacts())});
    return cli::runCommandLine(argc, argv);
}
