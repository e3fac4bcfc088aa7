// SPDX-License-Identifier: GPL-3.0-or-later
// Writing .npz archives (readers/npz.h).
#include <zip.h>
#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "datasets/readers/npz.h"
#include "files/atomic_file.h"
#include "files/npy.h"

namespace relascope::datasets {
namespace {

// Writing .npz: members are generated while libzip reads them, so memory stays constant.

// One member: a header, then `count` records, generated one by one.
struct MemberSource {
    std::string header;
    std::int64_t count = 0;
    std::size_t recordBytes = 0;
    std::function<void(std::int64_t, std::uint8_t*)> make;

    std::int64_t next = -1;  // -1: the header comes first
    std::vector<std::uint8_t> pending;
    std::size_t used = 0;
    zip_error_t error{};

    void rewind() {
        next = -1;
        pending.assign(header.begin(), header.end());
        used = 0;
    }
    zip_int64_t read(std::uint8_t* out, std::uint64_t room) {
        std::uint64_t done = 0;
        while (done < room) {
            if (used == pending.size()) {
                if (++next >= count) break;
                pending.resize(recordBytes);
                make(next, pending.data());
                used = 0;
            }
            const std::uint64_t part = std::min<std::uint64_t>(room - done, pending.size() - used);
            std::memcpy(out + done, pending.data() + used, part);
            done += part, used += part;
        }
        return static_cast<zip_int64_t>(done);
    }
};

zip_int64_t serve(void* state, void* data, zip_uint64_t length, zip_source_cmd_t command) {
    auto* source = static_cast<MemberSource*>(state);
    switch (command) {
        case ZIP_SOURCE_OPEN:
            source->rewind();
            return 0;
        case ZIP_SOURCE_READ:
            return source->read(static_cast<std::uint8_t*>(data), length);
        case ZIP_SOURCE_CLOSE:
            return 0;
        case ZIP_SOURCE_STAT: {
            auto* status = static_cast<zip_stat_t*>(data);
            zip_stat_init(status);
            status->size = source->header.size() +
                           static_cast<std::uint64_t>(source->count) * source->recordBytes;
            status->valid = ZIP_STAT_SIZE;
            return sizeof(zip_stat_t);
        }
        case ZIP_SOURCE_ERROR:
            return zip_error_to_data(&source->error, data, length);
        case ZIP_SOURCE_FREE:
            return 0;
        case ZIP_SOURCE_SUPPORTS:
            return zip_source_make_command_bitmap(ZIP_SOURCE_OPEN, ZIP_SOURCE_READ,
                                                  ZIP_SOURCE_CLOSE, ZIP_SOURCE_STAT,
                                                  ZIP_SOURCE_ERROR, ZIP_SOURCE_FREE, -1);
        default:
            return -1;
    }
}

using Members = std::vector<std::pair<std::string, MemberSource>>;

template <class T>
std::span<T> numbersAt(std::vector<T>& numbers) {
    return {numbers.data(), numbers.size()};
}

// Writes a member of float or 64-bit numbers; `fill` gives the numbers of one example.
template <class T, class Fill>
MemberSource numbersMember(std::vector<std::int64_t> shape, Fill fill) {
    static_assert(std::endian::native == std::endian::little);
    MemberSource member;
    member.header = core::makeNpyHeader(std::is_same_v<T, float> ? "<f4" : "<i8", shape);
    member.count = shape[0];
    std::size_t each = 1;
    for (std::size_t i = 1; i < shape.size(); ++i) each *= static_cast<std::size_t>(shape[i]);
    member.recordBytes = each * sizeof(T);
    member.make = [fill, scratch = std::vector<T>(each)](std::int64_t i,
                                                         std::uint8_t* out) mutable {
        fill(i, numbersAt(scratch));
        std::memcpy(out, scratch.data(), scratch.size() * sizeof(T));
    };
    return member;
}

Members membersOf(const core::ImageDataset& data) {
    const auto& info = data.info();
    MemberSource images;
    images.header = core::makeNpyHeader("|u1", {info.size, info.height, info.width, info.channels});
    images.count = info.size;
    images.recordBytes = data.pixelBytes();
    images.make = [&data](std::int64_t i, std::uint8_t* out) {
        data.read(i, {out, data.pixelBytes()});
    };
    auto labels = numbersMember<std::int64_t>(
        {info.size, 1}, [&data, pixels = std::vector<std::uint8_t>(data.pixelBytes())](
                            std::int64_t i, std::span<std::int64_t> out) mutable {
            out[0] = data.read(i, pixels);
        });
    return {{"images.npy", std::move(images)}, {"labels.npy", std::move(labels)}};
}

Members membersOf(const core::ObjectDataset& data) {
    const auto s = data.shape();
    const auto n = data.size();
    const auto values = static_cast<std::size_t>(s.objects * s.width),
               answers = static_cast<std::size_t>(s.targets);
    return {{"objects.npy", numbersMember<float>({n, s.objects, s.width},
                                                 [&data, rest = std::vector<float>(answers)](
                                                     std::int64_t i, std::span<float> out) mutable {
                                                     data.read(i, out, rest);
                                                 })},
            {"targets.npy", numbersMember<float>({n, s.targets},
                                                 [&data, rest = std::vector<float>(values)](
                                                     std::int64_t i, std::span<float> out) mutable {
                                                     data.read(i, rest, out);
                                                 })}};
}

Members membersOf(const core::SequenceDataset& data) {
    const auto s = data.shape();
    const auto n = data.size();
    const bool tokens = s.width == 0;
    const auto sources = static_cast<std::size_t>(s.source * std::max<std::int64_t>(1, s.width)),
               answers = static_cast<std::size_t>(s.target);
    MemberSource source =
        tokens
            ? numbersMember<std::int64_t>({n, s.source},
                                          [&data, rest = std::vector<std::int64_t>(answers)](
                                              std::int64_t i, std::span<std::int64_t> out) mutable {
                                              data.read(i, {}, out, rest);
                                          })
            : numbersMember<float>({n, s.source, s.width},
                                   [&data, rest = std::vector<std::int64_t>(answers)](
                                       std::int64_t i, std::span<float> out) mutable {
                                       data.read(i, out, {}, rest);
                                   });
    auto answer = numbersMember<std::int64_t>(
        {n, s.target}, [&data, tokens, words = std::vector<std::int64_t>(tokens ? sources : 0),
                        vectors = std::vector<float>(tokens ? 0 : sources)](
                           std::int64_t i, std::span<std::int64_t> out) mutable {
            data.read(i, vectors, words, out);
        });
    return {{"source.npy", std::move(source)}, {"answers.npy", std::move(answer)}};
}

Members membersOf(const std::string& path, const core::Dataset& data) {
    if (const auto* images = dynamic_cast<const core::ImageDataset*>(&data))
        return membersOf(*images);
    if (const auto* objects = dynamic_cast<const core::ObjectDataset*>(&data))
        return membersOf(*objects);
    if (const auto* pairs = dynamic_cast<const core::SequenceDataset*>(&data))
        return membersOf(*pairs);
    throw FileError(path, "supports images, sets of objects and sequences; " + data.info().name +
                              " is a text, which is already a file");
}

}  // namespace

void writeNpz(const std::string& path, const core::Dataset& data,
              const core::ProgressCallback& progress) {
    auto members = membersOf(path, data);
    const std::string temporary = path + ".tmp-" + std::to_string(::getpid());
    const auto fail = [&](const std::string& why) {
        std::filesystem::remove(temporary);
        throw FileError(path, "cannot be written: " + why);
    };
    int code = 0;
    zip_t* archive = zip_open(temporary.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code);
    if (!archive) {
        zip_error_t error;
        zip_error_init_with_code(&error, code);
        fail(zip_error_strerror(&error));
    }
    for (auto& [name, source] : members) {
        zip_source_t* zipSource = zip_source_function(archive, serve, &source);
        const auto index =
            zipSource ? zip_file_add(archive, name.c_str(), zipSource, ZIP_FL_ENC_UTF_8) : -1;
        if (index < 0) {
            const std::string why = zip_strerror(archive);
            zip_discard(archive);
            fail(why);
        }
        zip_set_file_compression(archive, static_cast<zip_uint64_t>(index), ZIP_CM_DEFLATE, 4);
    }
    struct Watch {
        const core::ProgressCallback& progress;
        bool cancelled = false;
        double fraction = 0.0;
        void ask() {
            if (!cancelled && progress && !progress(fraction)) cancelled = true;
        }
    } watch{progress};
    zip_register_progress_callback_with_state(
        archive, 0.01,
        [](zip_t*, double fraction, void* state) {
            auto* w = static_cast<Watch*>(state);
            w->fraction = fraction;
            w->ask();
        },
        nullptr, &watch);
    zip_register_cancel_callback_with_state(
        archive,
        [](zip_t*, void* state) {  // Called more often than the progress callback: a large file
                                   // stops at once.
            auto* w = static_cast<Watch*>(state);
            w->ask();
            return w->cancelled ? 1 : 0;
        },
        nullptr, &watch);
    if (zip_close(archive) != 0) {
        const std::string why = zip_strerror(archive);
        zip_discard(archive);
        if (watch.cancelled) {
            std::filesystem::remove(temporary);
            throw Cancelled();
        }
        fail(why);
    }
    std::error_code error;
    std::filesystem::rename(temporary, path, error);
    if (error) fail(error.message());
    core::syncDirectory(std::filesystem::absolute(path).parent_path().string());
}

}  // namespace relascope::datasets
