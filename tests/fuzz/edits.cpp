// SPDX-License-Identifier: GPL-3.0-or-later
// Files and words of edits: refused with a sentence, or read; what is read is written and read
// again as the same, and its words give it again.
#include <cstdlib>

#include "interventions/check_edits.h"
#include "interventions/edit_json.h"
#include "interventions/edit_words.h"
#include "support/rooms.h"
#include "types/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace relascope;
    static const std::vector<PointInfo> points = {
        {"hook_embed", {"batch", "position", "dim"}, {1, 9, 8}, false},
        {"blocks.0.sym.hook_symbols", {"batch", "position", "dim"}, {1, 9, 8}, false},
        {"blocks.0.attn.hook_attn_scores", {"batch", "head", "i", "j"}, {1, 2, 9, 9}, true},
        {"blocks.0.attn.hook_z", {"batch", "position", "head", "dim"}, {1, 9, 2, 4}, false},
        {"blocks.0.rel.hook_r", {"batch", "i", "j", "relation"}, {1, 9, 9, 4}, true}};
    const std::string text(reinterpret_cast<const char*>(data), size);
    try {
        const auto list = editsFromJson(text, "fuzz.json");
        if (editsFromJson(editsToJson(list), "again.json") != list) std::abort();
        for (const auto use : {EditUse::Inspect, EditUse::Generate, EditUse::Train}) try {
                checkEdits(list, points, use);
            } catch (const Error&) {
            }
        for (const auto& edit : list.edits) wordsOf(edit);
    } catch (const Error&) {
    }
    try {
        wordsOf(editFromWords(text, points));
    } catch (const Error&) {
    }
    return 0;
}
