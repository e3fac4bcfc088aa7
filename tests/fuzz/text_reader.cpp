// SPDX-License-Identifier: GPL-3.0-or-later
// Any bytes are either documents and tokens within their bounds, or a FileError: as plain text, as
// JSON, as gzip of either, and as shards. The first byte chooses.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

#include "data/text_files.h"
#include "data/token_file.h"
#include "support/rooms.h"

namespace {

using namespace relascope;

void readShard(std::span<const std::uint8_t> bytes, const char* name) {
    const int file = ::memfd_create("shard", MFD_CLOEXEC);
    if (file < 0 || ::write(file, bytes.data(), bytes.size()) < 0) std::abort();
    const TokenSequence sequence({openShard(std::make_shared<MappedFile>(file, name))});
    if (sequence.size() <= 0 || sequence.size() > static_cast<std::int64_t>(bytes.size()))
        std::abort();
    std::vector<std::int64_t> ids(static_cast<std::size_t>(sequence.size()));
    sequence.read(0, ids);
    sequence.read(sequence.size() - 1, std::span(ids).first(1));
}

void readText(std::span<const std::uint8_t> bytes, TextForm form) {
    TextBytes text(memoryBytes(bytes, "fuzz.txt"));
    bool begun = false, empty = false;
    readDocuments(text, form, "",
                  {[&] {
                       if (empty) std::abort();
                       begun = empty = true;
                   },
                   [&](std::string_view piece) {
                       if (!begun || piece.empty()) std::abort();
                       empty = false;
                   }});
    if (empty) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::span bytes(data + 1, size - 1);
    try {
        switch (data[0] % 4) {
            case 0:
                readText(bytes, TextForm::Plain);
                break;
            case 1:
                readText(bytes, TextForm::Json);
                break;
            case 2:
                readShard(bytes, "fuzz.bin");
                break;
            default:
                readShard(bytes, "fuzz.npy");
        }
    } catch (const FileError&) {
    }
    return 0;
}
