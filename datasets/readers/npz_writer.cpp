// Writing .npz: the members are made while libzip asks for them, so memory stays constant.
#include <zip.h>

#include <unistd.h>
#include <cstring>
#include <filesystem>

#include "datasets/readers/npz_images.h"
#include "files/atomic_file.h"
#include "files/npy.h"

namespace relascope {
namespace {

// One member: a header, then `count` records made one by one.
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

}  // namespace

void writeNpzImages(const std::string& path, const ImageDataset& data,
                    const ProgressCallback& progress) {
    const auto& info = data.info();
    MemberSource images, labels;
    images.header = makeNpyHeader("|u1", {info.size, info.height, info.width, info.channels});
    labels.header = makeNpyHeader("<i8", {info.size, 1});
    images.count = labels.count = info.size;
    images.recordBytes = data.pixelBytes();
    labels.recordBytes = 8;
    images.make = [&](std::int64_t i, std::uint8_t* out) {
        data.read(i, {out, images.recordBytes});
    };
    std::vector<std::uint8_t> scratch(data.pixelBytes());
    labels.make = [&](std::int64_t i, std::uint8_t* out) {
        const auto label = static_cast<std::uint64_t>(data.read(i, scratch));
        for (int byte = 0; byte < 8; ++byte)
            out[byte] = static_cast<std::uint8_t>(label >> (8 * byte));
    };

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
    for (auto& [name, source] :
         {std::pair{"images.npy", &images}, std::pair{"labels.npy", &labels}}) {
        zip_source_t* zipSource = zip_source_function(archive, serve, source);
        const auto index =
            zipSource ? zip_file_add(archive, name, zipSource, ZIP_FL_ENC_UTF_8) : -1;
        if (index < 0) {
            const std::string why = zip_strerror(archive);
            zip_discard(archive);
            fail(why);
        }
        zip_set_file_compression(archive, static_cast<zip_uint64_t>(index), ZIP_CM_DEFLATE, 4);
    }
    struct Watch {
        const ProgressCallback& progress;
        bool cancelled = false;
        double share = 0.0;
        void ask() {
            if (!cancelled && progress && !progress(share)) cancelled = true;
        }
    } watch{progress};
    zip_register_progress_callback_with_state(
        archive, 0.01,
        [](zip_t*, double share, void* state) {
            auto* w = static_cast<Watch*>(state);
            w->share = share;
            w->ask();
        },
        nullptr, &watch);
    zip_register_cancel_callback_with_state(
        archive,
        [](zip_t*, void* state) {  // Asked far more often than progress is told: a large file stops
                                   // at once.
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
    syncDirectory(std::filesystem::absolute(path).parent_path().string());
}

}  // namespace relascope
