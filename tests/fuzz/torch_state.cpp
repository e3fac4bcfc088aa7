// SPDX-License-Identifier: GPL-3.0-or-later
// Any pickle in a well-formed archive with three records: what the ZIP's CRC would keep out.
#include <zlib.h>

#include "checkpoint/torch_archive.h"
#include "support/rooms.h"
#include "tests/support/bytes_of.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace relascope;
    using namespace testing_support;
    const std::string bytes =
        zipOf({{"a/data.pkl", std::string(reinterpret_cast<const char*>(data), size)},
               {"a/data/0", std::string(64, '\1')},
               {"a/data/1", std::string(64, '\2')},
               {"a/data/2", std::string(64, '\3')}});
    try {
        const TorchArchive archive(
            memoryBytes({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}, "f"));
        for (const auto& t : archive.tensors()) {
            std::vector<std::uint8_t> values(t.bytes);
            archive.readPart(t, 0, values);
        }
    } catch (const FileError&) {
    }
    return 0;
}
