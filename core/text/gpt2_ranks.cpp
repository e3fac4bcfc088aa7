// SPDX-License-Identifier: GPL-3.0-or-later
#include "text/gpt2_ranks.h"

// The assembler includes the file, as compiling an array of numbers would take seconds.
asm(".pushsection .rodata, \"a\"\n"
    ".global relascope_gpt2_ranks\n"
    ".hidden relascope_gpt2_ranks\n"
    ".global relascope_gpt2_ranks_end\n"
    ".hidden relascope_gpt2_ranks_end\n"
    "relascope_gpt2_ranks:\n"
    ".incbin \"" RELASCOPE_GPT2_RANKS
    "\"\n"
    "relascope_gpt2_ranks_end:\n"
    ".popsection\n");

extern "C" {
extern const char relascope_gpt2_ranks[] __attribute__((visibility("hidden")));
extern const char relascope_gpt2_ranks_end[] __attribute__((visibility("hidden")));
}

namespace relascope::core {

std::string_view gpt2Ranks() {
    return {relascope_gpt2_ranks,
            static_cast<std::size_t>(relascope_gpt2_ranks_end - relascope_gpt2_ranks)};
}

}  // namespace relascope::core
