// SPDX-License-Identifier: GPL-3.0-or-later
// Labelled images (DAT 4.3): the descriptor.
#include "datasets/kinds/kind_parts.h"
#include "datasets/readers/loaded_images.h"

namespace relascope::datasets {
namespace {

bool ownFolder(const DataOptions& o) {
    return o.task == "folder";
}
bool installed(const DataOptions& o) {
    return o.task == "fashion-mnist";
}

std::vector<OwnField> imageFields() {
    using O = DataOptions;
    using namespace fields;
    return {{275, when<O>(ownFolder,
                          integer(&O::image_side, "image_side", "Image side",
                                  "Pixels of the squares that pictures are scaled to.", 4, 1024))},
            {280, choice(&O::augment, "augment", "Augmentation",
                         "Random crop with padding 4 and horizontal flip, optionally followed by "
                         "AutoAugment.",
                         {"none", "crop-flip", "autoaugment"})},
            {290, choice(&O::mix, "mix", "Mixing",
                         "CutMix pastes a rectangle of another image, MixUp interpolates between "
                         "two images; either chooses one of them at random for each batch.",
                         {"none", "cutmix", "mixup", "either"})}};
}

bool isPicture(const std::string& name) {
    const auto small = lowerCase(name);
    return small.ends_with(".png") || small.ends_with(".jpg") || small.ends_with(".jpeg");
}
bool isIdx(const std::string& name) {
    return name.find("ubyte") != std::string::npos;
}
std::optional<ImportMatch> found(std::string path, const std::string& what) {
    return ImportMatch{std::move(path), "", "found " + what};
}

ImportForm folders() {
    ImportForm form;
    form.id = form.task = "folder";
    form.title = "Images, one folder per class";
    form.help = "A folder with one folder of PNG or JPEG files for each class.";
    form.note = "images";
    form.order = 60;
    form.folder = [](const FolderNames& names) -> std::optional<ImportMatch> {
        const auto classesIn = [](const FolderNames& in) {
            return std::count_if(in.folders.begin(), in.folders.end(), [&](const std::string& f) {
                const auto inside = in.inside(f).files;
                return std::any_of(inside.begin(), inside.end(), isPicture);
            });
        };
        auto classes = classesIn(names);
        for (const auto& part : names.folders)
            if (const auto small = lowerCase(part);
                classes == 0 && (small == "train" || small == "training"))
                classes = classesIn(names.inside(part));
        if (classes == 0) return std::nullopt;
        return ImportMatch{names.path, "", std::to_string(classes) + " folders with images"};
    };
    return form;
}

ImportForm cifar10() {
    ImportForm form;
    form.id = form.task = form.note = "cifar10";
    form.title = "CIFAR-10 (binary files)";
    form.help = "The folder with data_batch_1.bin to 5 and test_batch.bin.";
    form.order = 30;
    form.folder = [](const FolderNames& names) -> std::optional<ImportMatch> {
        const std::string file = "data_batch_1.bin", folder = "cifar-10-batches-bin";
        if (names.hasFile(file)) return found(names.path, file);
        if (names.hasFolder(folder)) return found(names.inside(folder).path, folder);
        return std::nullopt;
    };
    form.file = [](const std::string& path) -> std::optional<ImportMatch> {
        const auto name = lowerCase(fileName(path));
        if (!name.starts_with("data_batch_") && name != "test_batch.bin") return std::nullopt;
        return ImportMatch{folderOf(path), "", ""};
    };
    return form;
}

ImportForm cifar100() {
    ImportForm form;
    form.id = form.task = form.note = "cifar100";
    form.title = "CIFAR-100 (binary files)";
    form.help = "The folder with train.bin and test.bin.";
    form.order = 40;
    form.folder = [](const FolderNames& names) -> std::optional<ImportMatch> {
        const std::string folder = "cifar-100-binary";
        if (names.hasFile("train.bin") &&
            (names.hasFile("test.bin") || names.hasFile("fine_label_names.txt")))
            return found(names.path, "train.bin and test.bin");
        if (names.hasFolder(folder)) return found(names.inside(folder).path, folder);
        return std::nullopt;
    };
    form.file = [](const std::string& path) -> std::optional<ImportMatch> {
        const auto name = lowerCase(fileName(path));
        if (name != "train.bin" && name != "test.bin") return std::nullopt;
        return ImportMatch{folderOf(path), "", ""};
    };
    return form;
}

ImportForm idx() {
    ImportForm form;
    form.id = form.task = form.note = "fashion-mnist";
    form.title = "MNIST or Fashion-MNIST (IDX files)";
    form.help = "The folder with train-images-idx3-ubyte and the three other IDX files.";
    form.order = 50;
    form.folder = [](const FolderNames& names) -> std::optional<ImportMatch> {
        for (const auto& at : {names, names.inside("raw"), names.inside("MNIST").inside("raw"),
                               names.inside("FashionMNIST").inside("raw")})
            if (const auto name = std::find_if(at.files.begin(), at.files.end(), isIdx);
                name != at.files.end())
                return found(at.path, *name);
        return std::nullopt;
    };
    form.file = [](const std::string& path) -> std::optional<ImportMatch> {
        if (!isIdx(lowerCase(fileName(path)))) return std::nullopt;
        return ImportMatch{folderOf(path), "", ""};
    };
    return form;
}

DataKind images() {
    DataKind k;
    k.name = "images";
    k.title = "Images";
    k.help = "Labelled images, read from files.";
    k.family = "Images";
    k.order = 70;
    k.input = InputKind::Images;
    k.unit = {"image", "images"};
    k.tasks = {{"cifar10", "CIFAR-10",
                "Small colour photographs in ten classes, read from the binary files.",
                cifarClassNames(10)},
               {"cifar100", "CIFAR-100",
                "Small colour photographs in 100 classes, read from the binary files.",
                cifarClassNames(100)},
               {"fashion-mnist", "Fashion-MNIST",
                "Greyscale images of clothing in ten classes, installed by the set-up.",
                fashionMnistClassNames()},
               {"folder", "Folder of images", "Your own images, in one folder per class."}};
    k.generated = false;
    k.common = {{"path"}, {"test_size"}};
    k.fields = imageFields;
    k.problems = [](const DataOptions& o, std::vector<FieldProblem>& found) {
        if (o.path.empty() && !installed(o))
            found.push_back(
                {"path", o.task + " is not included; give the folder that contains it"});
    };
    k.fit = [](const DataOptions& o, ModelOptions& m) {
        if (ownFolder(o)) return;
        auto* images = m.find<ImageInput>();
        if (!images) return;
        images->image_shape = installed(o) ? std::vector<std::int64_t>{1, 28, 28}
                                           : std::vector<std::int64_t>{3, 32, 32};
        images->num_classes = o.task == "cifar100" ? 100 : 10;
    };
    k.allExamples = [](const DataOptions& o) -> std::int64_t {
        if (ownFolder(o)) return 0;
        return std::max<std::int64_t>(1, (installed(o) ? 60000 : 50000) - o.validation_size);
    };
    k.sizesFromFiles = ownFolder;
    k.imports = {folders(), cifar10(), cifar100(), idx()};
    k.importOf = [](const DataOptions& o) { return o.task; };
    return k;
}

const DataKindRegistrar registered(images);

}  // namespace
}  // namespace relascope::datasets
