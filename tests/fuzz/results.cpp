// SPDX-License-Identifier: GPL-3.0-or-later
// Results of analyses as other processes and kept files give them: a byte for the analysis, then a
// frame. What is taken is written out in every way, as the window and commands do.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>

#include "analysis/analysis.h"
#include "wire/answer_frame.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace relascope;
    if (size == 0) return 0;
    const auto& all = core::analyses();
    const auto& analysis = *all[data[0] % all.size()];
    try {
        wire::FrameReader reader;
        reader.append(std::span(data, size).subspan(1));
        const auto frame = reader.next();
        if (!frame) return 0;
        const Answer result = wire::answerFromJson(frame->message, frame->blob);
        if (analysis.check) analysis.check(result);
        for (const auto* text :
             {&analysis.csv, &analysis.latex, &analysis.terminal, &analysis.remark})
            if (*text) (*text)(result);
        analysis.json(result);
        if (analysis.report) analysis.report(result, "name", "subject", {"scan"});
        wire::Bytes blob;
        wire::answerToJson(result, blob);
    } catch (const Error&) {
    }
    return 0;
}
