// SPDX-License-Identifier: GPL-3.0-or-later
// Frames of other processes, their messages and the maps in their blobs.
#include <cstdint>
#include <span>

#include "wire/frame.h"
#include "wire/types.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace relascope;
    try {
        wire::FrameReader reader;
        // In two pieces, as from a socket.
        const std::span<const std::uint8_t> bytes(data, size);
        reader.append(bytes.first(size / 2));
        reader.append(bytes.subspan(size / 2));
        while (const auto frame = reader.next()) {
            try {
                wire::answerFromFrame(*frame);
            } catch (const Error&) {
            }
            try {
                wire::valueOf<RunInfo>(frame->message, "info");
            } catch (const Error&) {
            }
        }
    } catch (const Error&) {
    }
    return 0;
}
