// SPDX-License-Identifier: GPL-3.0-or-later
// Any bytes are either an archive whose tensors can be read, or a FileError.
#include "checkpoint/torch_archive.h"

#include <cstdlib>

#include "checkpoint/pickle.h"
#include "checkpoint/pickle_json.h"
#include "support/rooms.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace relascope;
    // The CRC keeps mutations of the pickle out of the archive: it is read by itself as well.
    try {
        const Pickle pickle({data, data + size}, "fuzz.pkl");
        plainJson(pickle, pickle.root(), "fuzz.pkl");
        pickle.describe(pickle.root());
    } catch (const FileError&) {
    }
    try {
        const TorchArchive archive(memoryBytes({data, size}, "fuzz.pt"));
        std::uint64_t total = 0;
        for (const auto& t : archive.tensors()) {
            if (t.sameAs == ArchiveTensor::kItself) total += t.bytes;
            std::vector<std::uint8_t> bytes(t.bytes);
            try {
                archive.readPart(t, 0, bytes);
            } catch (const FileError&) {
            }
        }
        if (total / 4 > size) std::abort();
    } catch (const FileError&) {
    }
    return 0;
}
