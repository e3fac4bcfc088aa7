// SPDX-License-Identifier: GPL-3.0-or-later
#include "files/npz.h"

#include <zip.h>
#include <algorithm>
#include <memory>
#include <set>
#include <string_view>

#include "types/lower_case.h"
#include "types/text_format.h"

namespace relascope::core {
namespace {

constexpr std::string_view kNpyEnding = ".npy";
/// The usual names: what has them is read, and refused with the reason, whatever it is.
constexpr std::string_view kUsualImages = "images", kUsualLabels = "labels";

struct NpzCloser {
    void operator()(zip_t* archive) const { zip_discard(archive); }
    void operator()(zip_file_t* file) const { zip_fclose(file); }
};

std::string typeText(const NpyHeader& header) {
    if (header.kind == 'b') return "bool";
    const char* name = header.kind == 'f' ? "float" : header.kind == 'i' ? "int" : "uint";
    return name + std::to_string(8 * header.itemBytes);
}

/// Throws FileError for what is no array of numbers.
NpyHeader headerIn(zip_t* archive, zip_uint64_t index, const std::string& where) {
    const std::unique_ptr<zip_file_t, NpzCloser> file(zip_fopen_index(archive, index, 0));
    if (!file) throw FileError(where, "cannot be opened");
    std::vector<std::uint8_t> head(12);
    const auto fill = [&](std::size_t from) {
        while (from < head.size()) {
            const auto got = zip_fread(file.get(), head.data() + from, head.size() - from);
            if (got <= 0) throw FileError(where, "is truncated within its npy header");
            from += static_cast<std::size_t>(got);
        }
    };
    fill(0);
    const auto length = npyHeaderLength(head, where);
    if (length > head.size()) {
        head.resize(length);
        fill(12);
    }
    return parseNpyHeader(head, where);
}

std::vector<std::string> namesIn(const std::string& words) {
    std::vector<std::string> names;
    std::string rest = words + ",";
    for (std::size_t comma; (comma = rest.find(',')) != std::string::npos;
         rest.erase(0, comma + 1)) {
        const auto first = rest.find_first_not_of(' '),
                   last = rest.find_last_not_of(' ', comma - 1);
        names.push_back(first < comma ? rest.substr(first, last - first + 1) : std::string());
    }
    return names;
}

std::string listed(const std::vector<NpzArray>& arrays) {
    std::vector<std::string> texts;
    for (const auto& one : arrays)
        if (texts.size() < 8 && one.ofNumbers) texts.push_back(one.text());
    if (texts.empty()) return "it has no array of numbers";
    return "it has " + joined(texts, "; ") + (arrays.size() > 8 ? "; and more" : "");
}

bool has(const std::string& name, std::initializer_list<const char*> parts) {
    const auto small = lowerCase(name);
    return std::any_of(parts.begin(), parts.end(),
                       [&](const char* part) { return small.find(part) != std::string::npos; });
}
bool ofTest(const std::string& name) {
    return has(name, {"test", "val"});
}

/// The array with the highest rank of those for which it is not negative; null: none.
template <class Rank>
const NpzArray* best(const std::vector<NpzArray>& arrays, Rank rank) {
    const NpzArray* found = nullptr;
    int highest = -1;
    for (const auto& one : arrays)
        if (const int at = rank(one); at > highest) found = &one, highest = at;
    return found;
}

const NpzArray* imagesOf(const std::vector<NpzArray>& arrays, bool test) {
    return best(arrays, [&](const NpzArray& one) {
        if (one.name == kUsualImages && !test) return 3;
        if (!one.ofNumbers || !areImages(one.header) || ofTest(one.name) != test) return -1;
        return has(one.name, {"train", "test"})                    ? 2
               : has(one.name, {"image", "pixel", "picture", "x"}) ? 1
                                                                   : 0;
    });
}
const NpzArray* labelsOf(const std::vector<NpzArray>& arrays, const NpzArray& images, bool test) {
    return best(arrays, [&](const NpzArray& one) {
        if (one.name == kUsualLabels && !test) return 9;
        if (!one.ofNumbers || images.header.shape.empty() ||
            !areLabels(one.header, images.header.shape[0]) || ofTest(one.name) != test)
            return -1;
        const int named = has(one.name, {"label", "target", "class"}) ? 2
                          : lowerCase(one.name).starts_with("y")      ? 1
                                                                      : 0;
        return named + (one.header.kind == 'f' ? 0 : 4);
    });
}

}  // namespace

std::string NpzArray::text() const {
    std::string sizes;
    for (const auto n : header.shape) sizes += (sizes.empty() ? "" : " x ") + std::to_string(n);
    return name + ": " + (sizes.empty() ? "one number" : sizes) + ", " + typeText(header);
}

std::string ImageArrays::words() const {
    return images + "," + labels +
           (testImages.empty() ? std::string() : "," + testImages + "," + testLabels);
}

bool areImages(const NpyHeader& header) {
    const auto& shape = header.shape;
    return shape.size() == 3 || shape.size() == 4;
}
bool areLabels(const NpyHeader& header, std::int64_t count) {
    const auto& shape = header.shape;
    return !shape.empty() && shape[0] == count &&
           (shape.size() == 1 || (shape.size() == 2 && shape[1] == 1));
}

std::vector<NpzArray> npzArrays(zip* archive, const std::string& path) {
    const auto count = zip_get_num_entries(archive, 0);
    if (count > 1000)
        throw FileError(
            path, "has " + std::to_string(count) + " members; an archive of images has only a few");
    std::vector<NpzArray> arrays;
    std::set<std::string> names;
    for (zip_int64_t i = 0; i < count; ++i) {
        const char* raw = zip_get_name(archive, static_cast<zip_uint64_t>(i), ZIP_FL_ENC_RAW);
        const std::string member = raw ? raw : "";
        if (!names.insert(member).second)
            throw FileError(path, "has the member '" + member + "' twice");
        if (!member.ends_with(kNpyEnding)) continue;
        NpzArray one{member.substr(0, member.size() - kNpyEnding.size()), {}, false};
        try {
            one.header = headerIn(archive, static_cast<zip_uint64_t>(i), path);
            one.ofNumbers = true;
        } catch (const FileError&) {
            // It is refused when it is asked for by its name, and read.
        }
        arrays.push_back(std::move(one));
    }
    return arrays;
}

std::vector<NpzArray> npzArrays(const std::string& path) {
    int code = 0;
    const std::unique_ptr<zip_t, NpzCloser> archive(zip_open(path.c_str(), ZIP_RDONLY, &code));
    if (!archive) throw FileError(path, "cannot be opened as .npz");
    return npzArrays(archive.get(), path);
}

ImageArrays imageArrays(const std::vector<NpzArray>& arrays, const std::string& words,
                        const std::string& path) {
    if (!words.empty()) {
        const auto names = namesIn(words);
        const bool whole = std::none_of(names.begin(), names.end(),
                                        [](const std::string& name) { return name.empty(); });
        if (!whole || (names.size() != 2 && names.size() != 4))
            throw OptionError("data.arrays", "'" + words +
                                                 "' needs the names of two arrays or of four: "
                                                 "images,labels,test images,test labels");
        return {names[0], names[1], names.size() == 4 ? names[2] : "",
                names.size() == 4 ? names[3] : ""};
    }
    const std::string way =
        "; numpy.savez(FILE, images=, labels=) writes both, with images (N, height, width) or "
        "(N, height, width, 1 or 3)";
    const auto* images = imagesOf(arrays, false);
    if (!images) throw FileError(path, "has no array of images: " + listed(arrays) + way);
    const auto* labels = labelsOf(arrays, *images, false);
    if (!labels)
        throw FileError(path, "has no labels for '" + images->name +
                                  "' (labels, (N,)): " + listed(arrays) + way);
    ImageArrays found{images->name, labels->name, {}, {}};
    if (const auto* test = imagesOf(arrays, true))
        if (const auto* of = labelsOf(arrays, *test, true))
            found.testImages = test->name, found.testLabels = of->name;
    return found;
}

}  // namespace relascope::core
