// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/cli.h"
#include "app/cli/last_words.h"

int main(int argc, char** argv) {
    relascope::cli::installLastWords("relascope-cli");
    return relascope::cli::runCommandLine(argc, argv);
}
