// SPDX-License-Identifier: GPL-3.0-or-later
#include <zip.h>
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <limits>
#include <optional>
#include <sstream>

#include "datasets/readers/npz.h"
#include "files/foreign_file.h"
#include "files/memory.h"
#include "files/npy.h"
#include "files/npz.h"

namespace relascope::datasets {
namespace {

constexpr std::size_t kNpzPiece = 64 * 1024;

struct ZipCloser {
    void operator()(zip_t* archive) const { zip_discard(archive); }
    void operator()(zip_file_t* file) const { zip_fclose(file); }
};
using Archive = std::unique_ptr<zip_t, ZipCloser>;
using Member = std::unique_ptr<zip_file_t, ZipCloser>;

std::string zipErrorText(int code) {
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    std::string text = zip_error_strerror(&error);
    zip_error_fini(&error);
    return text;
}

// Throws FileError for a file that is no ZIP archive, with its kind by its first bytes.
[[noreturn]] void refuse(const std::string& path, const std::string& why, std::string_view start) {
    if (start.starts_with("\x93NUMPY"))
        throw FileError(path,
                        "is one array (.npy), not an .npz archive; np.savez(path, images=images, "
                        "labels=labels) writes one");
    for (const auto& what : {core::foreignContent(start), core::textInPlaceOf("archive", start)})
        if (!what.empty()) throw FileError(path, what);
    throw FileError(path, "cannot be opened as .npz: " + why);
}

// The way out for the usual other layouts of four sizes, as the end of a sentence; else empty.
std::string layoutText(const std::vector<std::int64_t>& shape) {
    if (shape.size() != 4) return "";
    if (shape[1] == 1 || shape[1] == 3)
        return "; images.transpose(0, 2, 3, 1) puts the channels last";
    if (shape[3] == 4) return "; images[..., :3] leaves transparency out";
    return "";
}

// The integer that `width` bytes at `at` stand for.
std::int64_t integerAt(const std::uint8_t* at, const core::NpyHeader& h) {
    std::uint64_t value = 0;
    for (int i = 0; i < h.itemBytes; ++i)
        value |= static_cast<std::uint64_t>(at[h.bigEndian ? h.itemBytes - 1 - i : i]) << (8 * i);
    if (h.kind == 'i' && h.itemBytes < 8 && (value >> (8 * h.itemBytes - 1) & 1))
        value |= ~std::uint64_t{0} << (8 * h.itemBytes);
    return static_cast<std::int64_t>(value);
}

// The number that the bytes at `at` stand for, in an array of floats.
double floatAt(const std::uint8_t* at, const core::NpyHeader& h) {
    const auto bits = static_cast<std::uint64_t>(integerAt(at, h));
    return h.itemBytes == 4
               ? static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)))
               : std::bit_cast<double>(bits);
}

/// Which values of floats are black and white.
struct FloatRange {
    double low = std::numeric_limits<double>::infinity(),
           high = -std::numeric_limits<double>::infinity();

    /// "floats from 0 to 16 were scaled to 0 to 255".
    std::string note() const {
        return "floats from " + formatted(low) + " to " + formatted(high) +
               " were scaled to 0 to 255";
    }
    /// Floats from 0 are those of 1 or 255 where they come near, and else of their largest.
    FloatRange ends() const {
        if (low < 0.0) return *this;
        return {0.0, high <= 1.0 ? 1.0 : high > 127.0 && high <= 255.0 ? 255.0 : high};
    }
    std::uint8_t byteOf(double value) const {
        const double part = high > low ? (value - low) / (high - low) : 0.0;
        return static_cast<std::uint8_t>(std::lround(255.0 * std::clamp(part, 0.0, 1.0)));
    }

private:
    static std::string formatted(double value) {
        std::ostringstream text;
        text << std::setprecision(4) << value;
        return text.str();
    }
};

}  // namespace

class NpzLoader {
public:
    NpzLoader(Archive archive, std::string name, core::ProgressCallback progress,
              std::stop_token stop)
        : m_archive(std::move(archive)),
          m_name(std::move(name)),
          m_progress(std::move(progress)),
          m_stop(std::move(stop)) {}

    NpzImages load(const std::string& words) {
        m_arrays = core::npzArrays(m_archive.get(), m_name);
        const auto names = core::imageArrays(m_arrays, words, m_name);
        NpzImages read;
        const bool tested = !names.testImages.empty();
        read.images = table(names.images, names.labels, tested ? 0.8 : 1.0);
        if (tested) read.test = table(names.testImages, names.testLabels, 1.0);
        return read;
    }

private:
    std::shared_ptr<const ImageTable> table(const std::string& images, const std::string& labels,
                                            double until) {
        m_table = std::make_shared<ImageTable>();
        const double from = m_done;
        readImages(images, from + 0.97 * (until - from));
        readLabels(labels, until);
        m_table->m_info.origin = m_name;
        m_table->m_info.name = std::filesystem::path(m_name).stem().string();
        return m_table;
    }

    // Streams an array's data after its header: consume(header, piece of whole elements), while
    // the progress goes to `until`.
    template <class Begin, class Consume>
    void stream(const std::string& array, double until, Begin begin, Consume consume) {
        const std::string member = array + ".npy";
        const double from = m_done;
        const std::string where = m_name + ": " + member;
        zip_stat_t status;
        if (zip_stat(m_archive.get(), member.c_str(), 0, &status) != 0)
            throw FileError(where, "is not in the archive");
        if (!(status.valid & ZIP_STAT_COMP_METHOD) ||
            (status.comp_method != ZIP_CM_STORE && status.comp_method != ZIP_CM_DEFLATE))
            throw FileError(
                where,
                "is compressed with an unknown method; NumPy uses stored or deflated members");
        Member file(zip_fopen(m_archive.get(), member.c_str(), 0));
        if (!file)
            throw FileError(where,
                            std::string("cannot be opened: ") + zip_strerror(m_archive.get()));

        std::vector<std::uint8_t> piece(kNpzPiece);
        std::size_t held = 0, offset = 0;
        core::NpyHeader header;
        bool known = false;
        std::uint64_t done = 0, total = 0;
        for (;;) {
            if (m_stop.stop_requested()) throw Cancelled();
            const auto got = zip_fread(file.get(), piece.data() + held, piece.size() - held);
            if (got < 0)
                throw FileError(where, std::string("is damaged: ") + zip_file_strerror(file.get()));
            held += static_cast<std::size_t>(got);
            if (!known) {
                const std::size_t length =
                    held >= 1 ? core::npyHeaderLength({piece.data(), held}, where) : 0;
                if (got == 0 && (length == 0 || held < length))
                    throw FileError(where, "is truncated within its npy header");
                if (length == 0 || held < length) {
                    if (held == piece.size())
                        piece.resize(piece.size() * 2);  // a header may be as long as a piece
                    continue;
                }
                header = core::parseNpyHeader({piece.data(), held}, where);
                total = header.dataBytes();
                if ((status.valid & ZIP_STAT_SIZE) && status.size != header.headerBytes + total)
                    throw FileError(where, "holds " + std::to_string(status.size) +
                                               " bytes, but its shape needs " +
                                               std::to_string(header.headerBytes + total));
                begin(header, where);
                offset = header.headerBytes;
                known = true;
            }
            const std::size_t item = static_cast<std::size_t>(header.itemBytes),
                              whole = (held - offset) / item * item;
            if (done + whole > total)
                throw FileError(where, "holds more data than its shape declares");
            consume(header, piece.data() + offset, whole, where);
            done += whole;
            std::memmove(piece.data(), piece.data() + offset + whole, held - offset - whole);
            held -= offset + whole;
            offset = 0;
            if (m_progress && total > 0 &&
                !m_progress(from + (until - from) * static_cast<double>(done) /
                                       static_cast<double>(total)))
                throw Cancelled();
            if (got == 0) break;
        }
        if (done != total || held != 0)
            throw FileError(where, "is truncated: " + std::to_string(done) + " of " +
                                       std::to_string(total) + " bytes");
        m_done = until;
    }

    // The range of the values of an array of floats; those of the test split have that of the
    // images before them.
    FloatRange rangeOf(const std::string& array, double until) {
        if (m_range) return *m_range;
        FloatRange range;
        stream(
            array, until, [](const core::NpyHeader&, const std::string&) {},
            [&](const core::NpyHeader& h, const std::uint8_t* data, std::size_t bytes,
                const std::string& where) {
                for (std::size_t at = 0; at < bytes; at += static_cast<std::size_t>(h.itemBytes)) {
                    const double value = floatAt(data + at, h);
                    if (!std::isfinite(value))
                        throw FileError(where,
                                        "has a value that is not finite; numpy.nan_to_num(images) "
                                        "replaces such values");
                    range.low = std::min(range.low, value);
                    range.high = std::max(range.high, value);
                }
            });
        m_range = range.ends();
        m_floats = range.note();
        return *m_range;
    }

    void readImages(const std::string& array, double until) {
        auto& info = m_table->m_info;
        FloatRange range;
        if (isOfFloats(array)) range = rangeOf(array, m_done + 0.4 * (until - m_done));
        std::size_t perBlock = 0;
        std::uint64_t used = 0;
        bool boolean = false;
        stream(
            array, until,
            [&](const core::NpyHeader& h, const std::string& where) {
                const std::size_t sizes = h.shape.size();
                if (sizes != 3 && (sizes != 4 || (h.shape[3] != 1 && h.shape[3] != 3)))
                    throw FileError(where,
                                    "needs the shape (N, height, width, 1 or 3), or "
                                    "(N, height, width) for grey" +
                                        layoutText(h.shape));
                if (h.shape[1] < 1 || h.shape[1] > 4096 || h.shape[2] < 1 || h.shape[2] > 4096)
                    throw FileError(where, "has images of an invalid size");
                if (h.shape[0] < 1 || h.shape[0] > 100'000'000)
                    throw FileError(where, "has " + std::to_string(h.shape[0]) +
                                               " images; 1 to 100000000 are supported");
                info.size = h.shape[0];
                info.height = static_cast<int>(h.shape[1]);
                info.width = static_cast<int>(h.shape[2]);
                info.channels = sizes == 4 ? static_cast<int>(h.shape[3]) : 1;
                const auto available = core::availableMemory();
                if (available > 0 && h.elements() > available)
                    throw FileError(where, "needs " + std::to_string(h.elements() >> 20) +
                                               " MiB of memory, " +
                                               std::to_string(available >> 20) + " MiB are free");
                perBlock = m_table->pixelBytes() * static_cast<std::size_t>(ImageTable::kBlock);
            },
            [&](const core::NpyHeader& h, const std::uint8_t* data, std::size_t bytes,
                const std::string& where) {
                const std::size_t item = static_cast<std::size_t>(h.itemBytes);
                for (std::size_t at = 0; at < bytes;) {
                    if (m_table->m_blocks.empty() || m_table->m_blocks.back().size() == perBlock)
                        m_table->m_blocks.emplace_back();
                    auto& block = m_table->m_blocks.back();
                    const std::size_t count =
                        std::min((bytes - at) / item, perBlock - block.size());
                    const std::size_t old = block.size();
                    block.resize(old + count);
                    std::uint64_t wide = 0;
                    at += count * item;
                    for (std::size_t i = 0; i < count && h.kind == 'f'; ++i)
                        block[old + i] = range.byteOf(floatAt(data + at - (count - i) * item, h));
                    if (h.kind == 'f') continue;
                    for (std::size_t i = 0; i < count; ++i) {
                        const auto value = static_cast<std::uint64_t>(
                            integerAt(data + at - (count - i) * item, h));
                        wide |= value;
                        // Yes and no are white and black.
                        block[old + i] =
                            static_cast<std::uint8_t>(h.kind == 'b' && value ? 255 : value);
                    }
                    if (wide > 255)
                        throw FileError(where,
                                        "has a value outside 0..255; of 16-bit pictures save the "
                                        "upper bytes, (images >> 8).astype('uint8')");
                    used |= wide;
                    boolean = h.kind == 'b';
                }
            });
        if (!m_floats.empty())
            info.note = m_floats;
        else if (used <= 1 && !boolean)
            info.note =
                "no value of the images is above 1, where white is 255: were they scaled "
                "to 0..1 before they were saved?";
    }

    bool isOfFloats(const std::string& array) const {
        const auto one = std::find_if(m_arrays.begin(), m_arrays.end(),
                                      [&](const auto& some) { return some.name == array; });
        if (one == m_arrays.end() || !one->ofNumbers || one->header.kind != 'f') return false;
        if (one->header.itemBytes == 2)
            throw FileError(m_name + ": " + array + ".npy",
                            "is of 16-bit floats; save images.astype('float32')");
        return true;
    }

    void readLabels(const std::string& array, double until) {
        int largest = 1;
        stream(
            array, until,
            [&](const core::NpyHeader& h, const std::string& where) {
                if (h.kind == 'f')
                    throw FileError(where,
                                    "is not of an integer type; save labels.astype('int64')");
                if (h.shape.empty() || h.shape.size() > 2 ||
                    (h.shape.size() == 2 && h.shape[1] != 1))
                    throw FileError(where,
                                    "needs the shape (N,) or (N, 1); of one bit for each class "
                                    "save labels.argmax(1)");
                if (h.shape[0] != m_table->m_info.size)
                    throw FileError(where, "has " + std::to_string(h.shape[0]) + " labels for " +
                                               std::to_string(m_table->m_info.size) + " images");
            },
            [&](const core::NpyHeader& h, const std::uint8_t* data, std::size_t bytes,
                const std::string& where) {
                for (std::size_t at = 0; at < bytes; at += static_cast<std::size_t>(h.itemBytes)) {
                    const auto label = integerAt(data + at, h);
                    if (label < 0 || label > 9999)
                        throw FileError(where, "label " + std::to_string(label) + " of image " +
                                                   std::to_string(m_table->m_labels.size()) +
                                                   " is outside 0..9999");
                    m_table->m_labels.push_back(static_cast<std::int32_t>(label));
                    largest = std::max(largest, static_cast<int>(label));
                }
            });
        for (int label = 0; label <= largest; ++label)
            m_table->m_info.classNames.push_back(std::to_string(label));
    }

    Archive m_archive;
    std::string m_name;
    core::ProgressCallback m_progress;
    std::stop_token m_stop;
    std::vector<core::NpzArray> m_arrays;
    std::shared_ptr<ImageTable> m_table;  ///< the table that is being read
    std::optional<FloatRange> m_range;    ///< range of arrays of floats
    std::string m_floats;                 ///< the note about it
    double m_done = 0.0;                  ///< fraction that is done
};

std::int64_t ImageTable::read(std::int64_t index, std::span<std::uint8_t> pixels) const {
    const auto& block = m_blocks.at(static_cast<std::size_t>(index / kBlock));
    const std::size_t bytes = pixelBytes();
    std::memcpy(pixels.data(), block.data() + static_cast<std::size_t>(index % kBlock) * bytes,
                bytes);
    return m_labels[static_cast<std::size_t>(index)];
}

bool ImageTable::isSortedByClass() const {
    return std::is_sorted(m_labels.begin(), m_labels.end()) && !m_labels.empty() &&
           m_labels.front() != m_labels.back();
}

NpzImages readNpz(const std::string& path, const std::string& arrays,
                  const core::ProgressCallback& progress, std::stop_token stop) {
    if (!std::filesystem::is_regular_file(path))
        throw FileError(path, "is not there or not a file");
    int code = 0;
    Archive archive(zip_open(path.c_str(), ZIP_RDONLY, &code));
    if (!archive) {
        char start[512] = {};
        std::ifstream file(path, std::ios::binary);
        file.read(start, sizeof(start));
        refuse(path, zipErrorText(code), {start, static_cast<std::size_t>(file.gcount())});
    }
    return NpzLoader(std::move(archive), path, progress, std::move(stop)).load(arrays);
}

std::shared_ptr<const ImageTable> readNpzImages(const std::string& path,
                                                const core::ProgressCallback& progress,
                                                std::stop_token stop) {
    return readNpz(path, {}, progress, std::move(stop)).images;
}
std::shared_ptr<const ImageTable> readNpzImages(std::span<const std::uint8_t> bytes,
                                                const std::string& name) {
    return readNpz(bytes, name).images;
}

NpzImages readNpz(std::span<const std::uint8_t> bytes, const std::string& name,
                  const std::string& arrays) {
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t* source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
    Archive archive(source ? zip_open_from_source(source, ZIP_RDONLY, &error) : nullptr);
    if (!archive) {
        const std::string text = zip_error_strerror(&error);
        if (source) zip_source_free(source);
        zip_error_fini(&error);
        refuse(name, text,
               {reinterpret_cast<const char*>(bytes.data()),
                std::min<std::size_t>(bytes.size(), 512)});
    }
    zip_error_fini(&error);
    return NpzLoader(std::move(archive), name, {}, {}).load(arrays);
}

namespace {

class Slice : public core::ImageDataset {
public:
    Slice(core::ImageDatasetPtr data, std::int64_t first, std::int64_t count,
          const std::string& name)
        : m_data(std::move(data)), m_first(first), m_info(m_data->info()) {
        m_info.size = count;
        m_info.name = name;
    }
    const DatasetInfo& info() const override { return m_info; }
    std::int64_t read(std::int64_t index, std::span<std::uint8_t> pixels) const override {
        return m_data->read(m_first + index, pixels);
    }

private:
    core::ImageDatasetPtr m_data;
    std::int64_t m_first;
    DatasetInfo m_info;
};

}  // namespace

core::DatasetPtr sliceOf(const core::DatasetPtr& data, std::int64_t first, std::int64_t count,
                         const std::string& name) {
    return std::make_shared<Slice>(core::asImages(data), first, count, name);
}

}  // namespace relascope::datasets
