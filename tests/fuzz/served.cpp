// SPDX-License-Identifier: GPL-3.0-or-later
// What a process that serves a model sends: messages with tensors, and its declaration.
#include <cstdint>
#include <span>

#include "model/served/served_declaration.h"
#include "wire/served_link.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace relascope;
    try {
        wire::ServedReader reader;
        const std::span<const std::uint8_t> bytes(data, size);
        reader.append(bytes.first(size / 2), {});
        reader.append(bytes.subspan(size / 2), {});
        while (const auto given = reader.next()) {
            try {
                const auto tensor = given->tensor(given->message.value("tensor", wire::Json()));
                std::uint64_t sum = 0;
                for (const auto byte : tensor.bytes) sum += byte;
                if (sum == 0x123456789abcdefULL) return 1;  // the bytes are read
            } catch (const wire::FrameError&) {
            } catch (const wire::Json::exception&) {
            }
            try {
                core::servedOptions(given->message);
            } catch (const Error&) {
            }
        }
    } catch (const Error&) {
    }
    return 0;
}
