#include "app/pages/import_guess.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

namespace relascope {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostNames = 20000;  // of a folder that are looked at
constexpr const char* kFamilies[] = {"pentos", "hexos", "stripes"};

std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}
bool endsWith(const std::string& text, const std::string& tail) {
    return text.size() >= tail.size() &&
           text.compare(text.size() - tail.size(), tail.size(), tail) == 0;
}
bool isPicture(const std::string& name) {
    return endsWith(name, ".png") || endsWith(name, ".jpg") || endsWith(name, ".jpeg");
}
bool isText(const std::string& name) {
    for (const char* ending : {".txt", ".md", ".json", ".jsonl", ".txt.gz", ".jsonl.gz"})
        if (endsWith(name, ending)) return true;
    return false;
}
bool isIdx(const std::string& name) {
    return name.find("ubyte") != std::string::npos;
}
QString text(const std::string& s) {
    return QString::fromStdString(s);
}

struct Listing {
    std::vector<std::string> files, folders;  // names in small letters, as they are
    bool has(const std::string& name) const {
        return std::find(files.begin(), files.end(), name) != files.end();
    }
    bool hasFolder(const std::string& name) const {
        return std::find(folders.begin(), folders.end(), name) != folders.end();
    }
};

Listing listing(const fs::path& folder) {
    Listing found;
    std::error_code error;
    std::size_t count = 0;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
        if (++count > kMostNames) break;
        const auto name = it->path().filename().string();
        (it->is_directory(error) ? found.folders : found.files).push_back(name);
    }
    std::sort(found.files.begin(), found.files.end());
    std::sort(found.folders.begin(), found.folders.end());
    return found;
}

// "1task_between_hexos.npz" -> "between"; empty for other names.
std::string gameOf(const std::string& name) {
    for (const char* family : kFamilies)
        for (const auto& task : relationalGamesTasks()) {
            const std::string printed = task == "between"         ? "1task_between"
                                        : task == "match_pattern" ? "1task_match_patt"
                                                                  : task;
            if (name == printed + "_" + family + ".npz") return task;
        }
    return {};
}

// A module of mathematics whose files are in the folder.
std::string moduleIn(const fs::path& folder) {
    const auto names = listing(folder).files;
    for (const auto& task : tasksOf("math"))
        if (std::find(names.begin(), names.end(), task + ".txt") != names.end()) return task;
    return {};
}

ImportGuess ofFolder(const fs::path& folder) {
    const auto there = listing(folder);
    const auto found = [&](const char* id, const std::string& task, const QString& words,
                           const fs::path& at) {
        return ImportGuess{id, task, at.string(), words};
    };
    if (there.has("data_batch_1.bin"))
        return found("cifar10", "", QStringLiteral("found data_batch_1.bin"), folder);
    if (there.hasFolder("cifar-10-batches-bin"))
        return found("cifar10", "", QStringLiteral("found cifar-10-batches-bin"),
                     folder / "cifar-10-batches-bin");
    if (there.has("train.bin") && (there.has("test.bin") || there.has("fine_label_names.txt")))
        return found("cifar100", "", QStringLiteral("found train.bin and test.bin"), folder);
    if (there.hasFolder("cifar-100-binary"))
        return found("cifar100", "", QStringLiteral("found cifar-100-binary"),
                     folder / "cifar-100-binary");
    for (const auto& name : there.files)
        if (isIdx(name))
            return found("fashion-mnist", "", QStringLiteral("found ") + text(name), folder);
    for (const char* part : {"train-easy", "train", "interpolate"})
        if (there.hasFolder(part))
            if (const auto task = moduleIn(folder / part); !task.empty())
                return found("math", task,
                             QStringLiteral("found %1/%2.txt").arg(text(part), text(task)), folder);
    for (const auto& name : there.files)
        if (const auto task = gameOf(name); !task.empty())
            return found("games", task, QStringLiteral("found ") + text(name), folder);
    int classes = 0;
    for (const auto& name : there.folders) {
        const auto inside = listing(folder / name).files;
        classes += std::any_of(inside.begin(), inside.end(),
                               [](const std::string& n) { return isPicture(lower(n)); });
    }
    if (classes > 0)
        return found("folder", "", QStringLiteral("%1 folders with images").arg(classes), folder);
    const auto texts = std::count_if(there.files.begin(), there.files.end(),
                                     [](const std::string& n) { return isText(lower(n)); });
    if (texts > 0) return found("text", "", QStringLiteral("%1 text files").arg(texts), folder);
    return {"", "", folder.string(), QStringLiteral("the format was not recognised; choose it")};
}

ImportGuess ofFile(const fs::path& file) {
    const std::string name = file.filename().string(), small = lower(name);
    const auto found = [&](const char* id, const fs::path& at, const std::string& task = {}) {
        return ImportGuess{id, task, at.string(), {}};
    };
    if (endsWith(small, ".npz")) return found("npz", file);
    if (isIdx(small)) return found("fashion-mnist", file.parent_path());
    if (small.rfind("data_batch_", 0) == 0 || small == "test_batch.bin")
        return found("cifar10", file.parent_path());
    if (small == "train.bin" || small == "test.bin") return found("cifar100", file.parent_path());
    const auto& modules = tasksOf("math");
    if (const auto stem = file.stem().string();
        endsWith(small, ".txt") && std::find(modules.begin(), modules.end(), stem) != modules.end())
        return found("math", file, stem);
    if (endsWith(small, ".tar.gz") || endsWith(small, ".tgz") || endsWith(small, ".zip"))
        return {"", "", file.string(),
                QStringLiteral("is an archive; unpack it first, then import the folder")};
    if (isText(small)) return found("text", file);
    return {"", "", file.string(), QStringLiteral("the format was not recognised; choose it")};
}

}  // namespace

const std::vector<ImportKind>& importKinds() {
    static const std::vector<ImportKind> kinds = {
        {"npz", QStringLiteral("Labelled images (.npz)"),
         QStringLiteral("A NumPy archive with images and labels.")},
        {"games", QStringLiteral("Relational Games (folder of .npz)"),
         QStringLiteral("A folder with <task>_<family>.npz, as published."),
         relationalGamesTasks()},
        {"folder", QStringLiteral("Images, one folder per class"),
         QStringLiteral("A folder with one folder of PNG or JPEG files for each class.")},
        {"cifar10", QStringLiteral("CIFAR-10 (binary files)"),
         QStringLiteral("The folder with data_batch_1.bin to 5 and test_batch.bin.")},
        {"cifar100", QStringLiteral("CIFAR-100 (binary files)"),
         QStringLiteral("The folder with train.bin and test.bin.")},
        {"fashion-mnist", QStringLiteral("MNIST or Fashion-MNIST (IDX files)"),
         QStringLiteral("The folder with train-images-idx3-ubyte and the three other IDX files.")},
        {"math", QStringLiteral("Questions and answers"),
         QStringLiteral("A text file with alternating question and answer lines, or the folder "
                        "that contains train-easy, interpolate and so on."),
         tasksOf("math")},
        {"text", QStringLiteral("Text"),
         QStringLiteral("A text file, a folder of them, or JSON lines.")}};
    return kinds;
}

const ImportKind& importKind(const std::string& id) {
    for (const auto& kind : importKinds())
        if (kind.id == id) return kind;
    return importKinds().front();
}

ImportGuess guessImport(const std::string& path) {
    try {
        std::error_code error;
        if (!fs::exists(path, error)) return {"", "", path, QStringLiteral("was not found")};
        return fs::is_directory(path, error) ? ofFolder(path) : ofFile(path);
    } catch (const std::exception&) {  // a name that cannot be read
        return {"", "", path, QStringLiteral("cannot be read")};
    }
}

DataOptions importOptions(const std::string& id, const std::string& task, const std::string& path) {
    DataOptions o;
    o.path = path;
    o.train_size = o.validation_size = o.test_size = 0;  // all there are
    if (id == "npz" || id == "games") {
        o.kind = "relational-games";
        if (!task.empty()) o.task = task;
    } else if (id == "math" || id == "text") {
        o.kind = id;
        o.task = task.empty() && id == "math" ? tasksOf(id).front() : task;
    } else {
        o.kind = "images";
        o.task = id;
    }
    return o;
}

std::string importIdOf(const DataOptions& o) {
    if (!o.is("relational-games")) return o.is("images") ? o.task : o.kind;
    return endsWith(lower(o.path), ".npz") ? "npz" : "games";
}

}  // namespace relascope
