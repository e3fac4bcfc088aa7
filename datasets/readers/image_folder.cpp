// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <opencv2/imgproc.hpp>
#include <set>

#include "datasets/readers/image_folder.h"
#include "datasets/readers/prepared_images.h"
#include "model/public/public_options.h"
#include "options/image_processor.h"
#include "text/text_normalizer.h"
#include "types/lower_case.h"
#include "types/text_format.h"
#include "types/text_piece.h"

namespace relascope::datasets {
namespace {

// The name of a file or folder for results and sentences, which are UTF-8.
std::string shownName(const std::filesystem::path& path) {
    return plainName(validUtf8(path.filename().string()));
}

}  // namespace

Image fitImage(const Image& image, int width, int height, int channels) {
    cv::Mat mat(image.height, image.width, image.channels == 3 ? CV_8UC3 : CV_8UC1,
                const_cast<std::uint8_t*>(image.pixels.data()));
    cv::Mat scaled;
    if (image.width != width || image.height != height)
        cv::resize(mat, scaled, {width, height}, 0, 0,
                   image.width > width ? cv::INTER_AREA : cv::INTER_LINEAR);
    else
        scaled = mat.clone();
    if (scaled.channels() != channels)
        cv::cvtColor(scaled, scaled, channels == 1 ? cv::COLOR_RGB2GRAY : cv::COLOR_GRAY2RGB);
    Image result{width, height, channels, {}};
    result.pixels.assign(scaled.data,
                         scaled.data + scaled.total() * static_cast<std::size_t>(channels));
    return result;
}

ProbeSample imageSample(const std::string& path, const ModelOptions& model) {
    const auto& shape = model.get<ImageInput>().image_shape;  // channels, width, height
    ProbeSample sample;
    const auto* family = model.find<core::PublicImageOptions>();
    if (family && !family->preprocessor.empty()) {
        const auto image = readImageFile(path);
        try {
            sample.image = core::prepared(image, core::imageProcessorFrom(family->preprocessor));
        } catch (const Error& error) {
            throw FileError(path, error.what());
        }
    } else
        sample.image = fitImage(readImageFile(path), static_cast<int>(shape[1]),
                                static_cast<int>(shape[2]), static_cast<int>(shape[0]));
    sample.origin = shownName(path);
    return sample;
}

namespace {

namespace fs = std::filesystem;

// The files of a folder that are not read, counted by reason.
class SkippedFiles {
public:
    /// `why` as in errors: "is a damaged PNG: not enough data"; the part before ':' or ';' is the
    /// reason.
    void add(const fs::path& file, std::string why) {
        for (const char* word : {"is a ", "is an ", "is ", "has "})
            if (why.starts_with(word)) {
                why.erase(0, std::string_view(word).size());
                break;
            }
        const auto end = std::min(why.find(": "), why.find("; "));
        auto& reason = m_reasons[why.substr(0, end)];
        if (reason.count++ == 0) {
            reason.first = shownName(file.parent_path()) + "/" + shownName(file);
            if (end != std::string::npos && why[end] == ':') reason.first += why.substr(end);
        }
        ++m_count;
    }
    void addEmpty(const fs::path& folder) { m_empty.push_back(shownName(folder)); }
    void leaveOut(const fs::path& folder) { m_leftOut.push_back(shownName(folder)); }

    /// The sentence on skipped files for a folder of `files` files; empty if all were read.
    std::string note(std::size_t files) const {
        std::vector<std::string> sentences;
        if (m_count > 0) {
            std::vector<std::string> reasons;
            for (const auto& [name, reason] : m_reasons)
                reasons.push_back(std::to_string(reason.count) + " " + name + " (" + reason.first +
                                  (reason.count > 1
                                       ? " and " + std::to_string(reason.count - 1) + " more)"
                                       : ")"));
            sentences.push_back(std::to_string(m_count) + " of " + std::to_string(m_count + files) +
                                " files were skipped: " + joined(reasons) +
                                "; PNG and JPEG are read");
        }
        if (!m_empty.empty())
            sentences.push_back("folders without files are no classes: " + joined(m_empty));
        if (!m_leftOut.empty())
            sentences.push_back("folders beside those that are read were left out: " +
                                joined(m_leftOut));
        return joined(sentences, "; ");
    }

private:
    struct Reason {
        std::size_t count = 0;
        std::string first;
    };
    std::map<std::string, Reason> m_reasons;
    std::size_t m_count = 0;
    std::vector<std::string> m_empty, m_leftOut;
};

struct ClassFolder {
    std::string name;
    std::vector<fs::path> files;
};

// The folders of the classes, and other files beside and in them.
struct ClassFolders {
    std::vector<ClassFolder> classes;
    SkippedFiles skipped;

    /// Names that differ only in how their letters are composed are one class.
    void add(const std::string& name, std::vector<fs::path> files) {
        const auto same = std::find_if(classes.begin(), classes.end(),
                                       [&](const auto& one) { return one.name == name; });
        if (same == classes.end())
            classes.push_back({name, std::move(files)});
        else
            same->files.insert(same->files.end(), files.begin(), files.end());
    }
};

bool isHidden(const fs::path& path) {
    return path.filename().string().starts_with('.');
}

std::vector<fs::path> entriesOf(const fs::path& folder) {
    std::error_code error;
    std::vector<fs::path> paths;
    fs::directory_iterator entries(folder, error);
    for (; !error && entries != fs::directory_iterator(); entries.increment(error))
        paths.push_back(entries->path());
    if (error) throw FileError(folder.string(), "cannot be read: " + error.message());
    std::sort(paths.begin(), paths.end());
    return paths;
}

// The files of a class and of its sub-folders, each folder once, however links lead there.
void addFiles(const fs::path& folder, std::vector<fs::path>& files, std::set<fs::path>& seen,
              SkippedFiles& skipped) {
    if (!seen.insert(fs::canonical(folder)).second) return;
    for (const auto& path : entriesOf(folder)) {
        std::error_code ignored;
        if (isHidden(path))
            skipped.add(path, "is hidden");
        else if (path.filename().string().ends_with(".mask.png"))
            skipped.add(path, "is a mask of objects");
        else if (fs::is_directory(path, ignored))
            addFiles(path, files, seen, skipped);
        else if (fs::is_regular_file(path, ignored))
            files.push_back(path);
        else
            skipped.add(path, "is a link to nothing, or no file");
    }
}

ClassFolders classesOf(const fs::path& folder) {
    ClassFolders found;
    for (const auto& path : entriesOf(folder)) {
        std::error_code ignored;
        const bool isFolder = fs::is_directory(path, ignored);
        if (isHidden(path)) {
            found.skipped.add(path, "is hidden");
        } else if (!isFolder) {
            found.skipped.add(path, "is in the folder of no class");
        } else {
            std::vector<fs::path> files;
            std::set<fs::path> seen;
            addFiles(path, files, seen, found.skipped);
            if (files.empty())
                found.skipped.addEmpty(path);
            else
                found.add(core::composedName(shownName(path)), std::move(files));
        }
    }
    // Decomposed letters would be in another place of the order, which labels follow.
    std::sort(found.classes.begin(), found.classes.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
    return found;
}

class FolderReader {
public:
    FolderReader(std::string root, int side, const std::string& preprocessor,
                 const core::ProgressCallback& progress, std::stop_token stop)
        : m_root(std::move(root)),
          m_processor(core::imageProcessorFrom(preprocessor)),
          m_size(core::preparedSize(m_processor)),
          m_prepares(!preprocessor.empty()),
          m_progress(progress),
          m_stop(std::move(stop)) {
        if (!m_prepares) m_size = {side, side};
    }

    void expect(const std::vector<ClassFolder>& classes) {
        for (const auto& c : classes) {
            m_files += c.files.size();
            for (const auto& file : c.files)
                if (m_size.width == 0) takeSizeOf(file);
        }
        requireMemory(m_root, m_files * imageBytes());
    }

    // The images of the classes `names`, labelled by their index in it.
    core::ImageDatasetPtr read(ClassFolders part, const std::vector<std::string>& names,
                               const char* split) {
        std::vector<std::uint8_t> pixels;
        std::vector<std::int32_t> labels;
        for (const auto& c : part.classes) {
            const auto label = std::find(names.begin(), names.end(), c.name) - names.begin();
            const std::size_t before = labels.size();
            for (const auto& file : c.files)
                if (add(file, pixels, part.skipped))
                    labels.push_back(static_cast<std::int32_t>(label));
            m_empty = m_empty || labels.size() == before;
        }
        DatasetInfo info;
        info.name = shownName(m_root) + ", " + split;
        info.task = "folder";
        info.origin = m_root;
        info.height = m_size.height, info.width = m_size.width;
        info.classNames = names;
        m_note = part.skipped.note(labels.size());
        const auto scaled = m_stretched > 0 ? stretchedNote() : scaledNote();
        m_stretched = 0;
        info.note = scaled + (scaled.empty() || m_note.empty() ? "" : "; ") + m_note;
        return std::make_shared<LoadedImages>(std::move(info), std::move(pixels),
                                              std::move(labels));
    }
    /// Whether a class of the last split had no readable picture.
    bool hasEmptyClass() const { return m_empty; }
    const std::string& note() const { return m_note; }

private:
    static std::string text(int width, int height) {
        return std::to_string(width) + " x " + std::to_string(height);
    }
    std::string stretchedNote() const {
        return std::to_string(m_stretched) +
               (m_stretched == 1 ? " picture of other proportions was scaled to "
                                 : " pictures of other proportions were scaled to ") +
               text(m_size.width, m_size.height) + " pixels, the size of the first";
    }
    /// Says so where pictures of one size are scaled to another.
    std::string scaledNote() const {
        if (m_prepares || m_sizes.size() != 1 || m_sizes.contains({m_size.width, m_size.height}))
            return {};
        const auto& [width, height] = *m_sizes.begin();
        return "pictures of " + text(width, height) + " pixels were scaled to " +
               text(m_size.width, m_size.height) +
               (width == height ? "; data.image_side " + std::to_string(width) + " leaves them"
                                : "");
    }
    std::uint64_t imageBytes() const {
        return 3ull * static_cast<std::uint64_t>(m_size.width) *
               static_cast<std::uint64_t>(m_size.height);
    }

    bool add(const fs::path& file, std::vector<std::uint8_t>& pixels, SkippedFiles& skipped) {
        if (m_stop.stop_requested()) throw Cancelled();
        if (m_progress && m_done % 64 == 0 &&
            !m_progress(static_cast<double>(m_done) / static_cast<double>(m_files)))
            throw Cancelled();
        ++m_done;
        try {
            const Image image = readImageFile(file.string());
            const auto size = text(image.width, image.height);
            if (image.width < 2 || image.height < 2)
                throw FileError(file.string(), "is smaller than 2 x 2 pixels: " + size);
            if (!m_processor.scales &&
                (image.width != m_size.width || image.height != m_size.height))
                throw FileError(file.string(),
                                "is not the " + text(m_size.width, m_size.height) +
                                    " pixels of the model, whose images are not scaled: " + size);
            m_sizes.emplace(image.width, image.height);
            const Image ready = fitted(image);
            pixels.insert(pixels.end(), ready.pixels.begin(), ready.pixels.end());
            return true;
        } catch (const FileError& error) {
            skipped.add(file, std::string(error.what()).substr(plainName(error.path()).size() + 2));
        } catch (const Error& error) {
            skipped.add(file, error.what());
        }
        return false;
    }

    // Where the processor makes pictures of several sizes, those of a folder get that of the first:
    // a batch has one size.
    void takeSizeOf(const fs::path& file) {
        try {
            const Image image = readImageFile(file.string());
            if (image.width < 2 || image.height < 2) return;
            m_size = core::preparedSize(m_processor, image.width, image.height);
        } catch (const Error&) {  // counted where it is read
        }
    }
    Image fitted(const Image& image) {
        if (!m_prepares) return fitImage(image, m_size.width, m_size.height, 3);
        if (core::preparedSize(m_processor, image.width, image.height) == m_size)
            return core::prepared(image, m_processor);
        ++m_stretched;
        auto exact = m_processor;
        exact.fit = core::ImageProcessor::Fit::Exact;
        exact.width = m_size.width, exact.height = m_size.height;
        exact.cropWidth = exact.cropHeight = 0;
        return core::prepared(image, exact);
    }

    std::string m_root;
    core::ImageProcessor m_processor;
    core::PreparedSize m_size;
    bool m_prepares;
    const core::ProgressCallback& m_progress;
    std::stop_token m_stop;
    std::size_t m_files = 0, m_done = 0, m_stretched = 0;
    std::set<std::pair<int, int>> m_sizes;  ///< width and height of the pictures that were read
    std::string m_note;
    bool m_empty = false;
};

// The folders of a set that is parted already, by the names that people give them.
struct Parts {
    fs::path train, test;  ///< empty: not parted
    std::vector<fs::path> others;
};

Parts partsOf(const fs::path& root) {
    std::map<std::string, fs::path> folders;  // by their names in small letters
    for (const auto& path : entriesOf(root))
        if (std::error_code ignored; !isHidden(path) && fs::is_directory(path, ignored))
            folders.emplace(lowerCase(path.filename().string()), path);
    const auto take = [&](std::initializer_list<const char*> names) {
        for (const char* name : names)
            if (const auto found = folders.find(name); found != folders.end()) {
                const auto path = found->second;
                folders.erase(found);
                return path;
            }
        return fs::path();
    };
    Parts parts{
        take({"train", "training"}), take({"test", "testing", "val", "valid", "validation"}), {}};
    if (parts.train.empty() || parts.test.empty()) return {};
    for (const auto& [name, path] : folders) parts.others.push_back(path);
    return parts;
}

}  // namespace

ImageSplits readImageFolder(const std::string& folder, int side,
                            const core::ProgressCallback& progress, std::stop_token stop,
                            const std::string& preprocessor) {
    // "pictures/" has no name of its own.
    const fs::path given(folder), root = given.has_filename() ? given : given.parent_path();
    if (!fs::is_directory(root))
        throw FileError(folder,
                        "is not a folder; data.path must be a folder with one folder per class");
    const auto parts = partsOf(root);
    const bool parted = !parts.train.empty();
    const auto trainFolder = parted ? parts.train : root;
    auto train = classesOf(trainFolder);
    auto test = parted ? classesOf(parts.test) : ClassFolders();
    for (const auto& path : parts.others) train.skipped.leaveOut(path);
    std::vector<std::string> names;
    for (const auto& c : train.classes) names.push_back(c.name);
    if (names.size() < 2)
        throw FileError(trainFolder.string(),
                        "has " + std::to_string(names.size()) +
                            (names.size() == 1 ? " folder" : " folders") +
                            " with files; folders for at least two classes are needed");
    for (const auto& c : test.classes) {
        if (std::find(names.begin(), names.end(), c.name) != names.end()) continue;
        const auto other = std::find_if(names.begin(), names.end(), [&](const auto& name) {
            return lowerCase(name) == lowerCase(c.name);
        });
        throw FileError((parts.test / c.name).string(),
                        "is a class that " + trainFolder.string() + " does not have" +
                            (other == names.end()
                                 ? ""
                                 : "; '" + *other +
                                       "' there differs from it in capital letters alone: rename "
                                       "one of them"));
    }
    FolderReader reader(root.string(), side, preprocessor, progress, std::move(stop));
    reader.expect(train.classes);
    reader.expect(test.classes);
    ImageSplits splits;
    splits.train = reader.read(std::move(train), names, parted ? "train" : "all");
    if (reader.hasEmptyClass())
        throw FileError(root.string(), "has a class without a readable image: " + reader.note());
    if (!parted) return splits;
    splits.test = reader.read(std::move(test), names, "test");
    if (splits.test->size() == 0)
        throw FileError(
            parts.test.string(),
            "has no readable image" + (reader.note().empty() ? "" : ": " + reader.note()));
    return splits;
}

}  // namespace relascope::datasets
