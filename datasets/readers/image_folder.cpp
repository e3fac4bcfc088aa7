// SPDX-License-Identifier: GPL-3.0-or-later
#include "datasets/readers/image_folder.h"

#include <algorithm>
#include <filesystem>

#include "datasets/readers/image_file.h"

namespace relascope::datasets {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kNamed = 5;  // of what was left out

struct ClassFolder {
    std::string name;
    std::vector<fs::path> files;
};

// Entries in the order of their names, without hidden ones.
std::vector<fs::path> entriesOf(const fs::path& folder, bool folders) {
    std::error_code error;
    std::vector<fs::path> paths;
    fs::directory_iterator entries(folder, error);
    for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
        const auto& path = entries->path();
        std::error_code ignored;
        if (path.filename().string().starts_with('.')) continue;
        if (folders ? fs::is_directory(path, ignored) : fs::is_regular_file(path, ignored))
            paths.push_back(path);
    }
    if (error) throw FileError(folder.string(), "cannot be read: " + error.message());
    std::sort(paths.begin(), paths.end());
    return paths;
}

std::vector<ClassFolder> classesOf(const fs::path& folder) {
    std::vector<ClassFolder> classes;
    for (const auto& path : entriesOf(folder, true)) {
        auto files = entriesOf(path, false);
        if (!files.empty()) classes.push_back({path.filename().string(), std::move(files)});
    }
    return classes;
}

class FolderReader {
public:
    FolderReader(std::string root, int side, const core::ProgressCallback& progress,
                 std::stop_token stop)
        : m_root(std::move(root)), m_side(side), m_progress(progress), m_stop(std::move(stop)) {}

    void expect(const std::vector<ClassFolder>& classes) {
        for (const auto& c : classes) m_files += c.files.size();
        requireMemory(m_root, m_files * imageBytes());
    }

    // The images of those classes, labelled by their index in `names`.
    core::ImageDatasetPtr read(const std::vector<ClassFolder>& classes,
                               const std::vector<std::string>& names, const char* split) {
        std::vector<std::uint8_t> pixels;
        std::vector<std::int32_t> labels;
        m_skipped = 0;
        m_note.clear();
        for (const auto& c : classes) {
            const auto label = std::find(names.begin(), names.end(), c.name) - names.begin();
            const std::size_t before = labels.size();
            for (const auto& file : c.files)
                if (add(file, pixels)) labels.push_back(static_cast<std::int32_t>(label));
            m_empty = m_empty || labels.size() == before;
        }
        DatasetInfo info;
        info.name = fs::path(m_root).filename().string() + ", " + split;
        info.task = "folder";
        info.origin = m_root;
        info.height = info.width = m_side;
        info.classNames = names;
        if (m_skipped > 0) {
            info.note = std::to_string(m_skipped) + (m_skipped == 1 ? " file was" : " files were") +
                        " skipped: " + m_note;
            if (m_skipped > kNamed)
                info.note += "; and " + std::to_string(m_skipped - kNamed) + " more";
        }
        return std::make_shared<LoadedImages>(std::move(info), std::move(pixels),
                                              std::move(labels));
    }
    /// Whether a class of the last split had no readable picture.
    bool hasEmptyClass() const { return m_empty; }
    const std::string& note() const { return m_note; }

private:
    std::uint64_t imageBytes() const { return 3ull * static_cast<std::uint64_t>(m_side * m_side); }

    bool add(const fs::path& file, std::vector<std::uint8_t>& pixels) {
        if (m_stop.stop_requested()) throw Cancelled();
        if (m_progress && m_done % 64 == 0 &&
            !m_progress(static_cast<double>(m_done) / static_cast<double>(m_files)))
            throw Cancelled();
        ++m_done;
        std::string reason;
        try {
            const Image image = readImageFile(file.string());
            if (image.width < 2 || image.height < 2)
                throw FileError(file.string(), "has " + std::to_string(image.width) + " x " +
                                                   std::to_string(image.height) + " pixels");
            const Image fitted = fitImage(image, m_side, m_side, 3);
            pixels.insert(pixels.end(), fitted.pixels.begin(), fitted.pixels.end());
            return true;
        } catch (const FileError& error) {
            reason = std::string(error.what()).substr(error.path().size() + 2);
        }
        if (m_skipped++ < kNamed)
            m_note += (m_note.empty() ? "" : "; ") +
                      (file.parent_path().filename() / file.filename()).string() + " " + reason;
        return false;
    }

    std::string m_root;
    int m_side;
    const core::ProgressCallback& m_progress;
    std::stop_token m_stop;
    std::size_t m_files = 0, m_done = 0, m_skipped = 0;
    std::string m_note;
    bool m_empty = false;
};

}  // namespace

ImageSplits readImageFolder(const std::string& folder, int side,
                            const core::ProgressCallback& progress, std::stop_token stop) {
    // "pictures/" has no name of its own.
    const fs::path given(folder), root = given.has_filename() ? given : given.parent_path();
    if (!fs::is_directory(root))
        throw FileError(folder,
                        "is not a folder; data.path must be a folder with one folder per class");
    const bool parted = fs::is_directory(root / "train") && fs::is_directory(root / "test");
    const auto train = classesOf(parted ? root / "train" : root);
    const auto test = parted ? classesOf(root / "test") : std::vector<ClassFolder>();
    std::vector<std::string> names;
    for (const auto& c : train) names.push_back(c.name);
    if (names.size() < 2)
        throw FileError((parted ? root / "train" : root).string(),
                        "has " + std::to_string(names.size()) +
                            (names.size() == 1 ? " folder" : " folders") +
                            " with files; folders for at least two classes are needed");
    for (const auto& c : test)
        if (std::find(names.begin(), names.end(), c.name) == names.end())
            throw FileError((root / "test" / c.name).string(),
                            "is a class that " + (root / "train").string() + " does not have");
    FolderReader reader(root.string(), side, progress, std::move(stop));
    reader.expect(train);
    reader.expect(test);
    ImageSplits splits;
    splits.train = reader.read(train, names, parted ? "train" : "all");
    if (reader.hasEmptyClass())
        throw FileError(root.string(), "has a class without a readable image: " + reader.note());
    if (parted) splits.test = reader.read(test, names, "test");
    if (parted && splits.test->size() == 0)
        throw FileError(
            (root / "test").string(),
            "has no readable image" + (reader.note().empty() ? "" : ": " + reader.note()));
    return splits;
}

}  // namespace relascope::datasets
