// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/serve/given_head.h"

#include <filesystem>

#include "data/example_checksum.h"
#include "datasets/labelled_pictures.h"
#include "files/safetensors.h"
#include "model/public/public_options.h"
#include "readout/head_data.h"
#include "types/head_choice.h"

namespace relascope::serve {
namespace {

using HeadKind = HeadChoice::Kind;

/// The word of the head with what a folder stands for: means of its pictures.
HeadChoice choiceOf(const std::string& word) {
    try {
        return headChoice(word);
    } catch (const OptionError& error) {
        throw OptionError("--head", error.message());
    }
}

bool isFolder(const HeadChoice& choice) {
    return choice.isFile() && std::filesystem::is_directory(choice.file);
}

/// Whether a head is fitted on pictures, now or when it was kept: it is measured on others.
bool fits(const HeadChoice& choice) {
    if (!choice.isFile()) return choice.kind == HeadKind::Automatic || choice.isFitted();
    return isFolder(choice) || (choice.file.ends_with(".safetensors") &&
                                !core::SafetensorsFile(choice.file).find("features"));
}

std::uint32_t checksumOf(const core::DatasetPtr& data) {
    std::vector<std::int64_t> all(static_cast<std::size_t>(data->size()));
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int64_t>(i);
    return core::examplesChecksum(*data, all);
}

std::string keyOf(const wire::Data& data) {
    return wire::Json(data).dump();
}

std::string keyOf(const std::string& word, const std::string& pictures) {
    return word + "\n" + pictures + "\n";
}

[[noreturn]] void refuseSplit(const std::string& split) {
    throw OptionError("--split", split +
                                     " has the pictures that the head is fitted on, and it is "
                                     "measured on others; leave --split out, or give a head "
                                     "of texts with --head");
}

HeadPictures partsOf(const datasets::ImageSplits& splits, const std::string& split, bool fitted) {
    const bool parted = splits.test != nullptr;
    const bool all = split == "train" || split == "all";
    if (all && fitted) refuseSplit(split);
    HeadPictures pictures{{}, {}, split};
    if (split.empty()) pictures.split = parted || fitted ? "test" : "all";
    // All of them need no classes, by which they are parted.
    core::HeadData parts{splits.train, parted ? splits.test : splits.train};
    try {
        if (!parted && pictures.split != "all") parts = core::headData(splits.train);
    } catch (const OptionError& error) {
        throw OptionError("--data", error.message());
    }
    pictures.fitting = parts.fitting, pictures.measured = parts.measured;
    if (!all && pictures.split != "all" && split != "test" && split != "validation" &&
        !split.empty())
        throw OptionError("--split", "'" + split.substr(0, 60) +
                                         "' is not one of the pictures; give test, or for texts "
                                         "train or all");
    if (pictures.split == "train") pictures.measured = parts.fitting;
    if (pictures.split == "all") {
        if (parted)
            throw OptionError("--split", "all is for pictures without parts; give train or test");
        pictures.measured = splits.train;
    }
    return pictures;
}

}  // namespace

namespace {

/// Of data in memory, by the names of their splits.
HeadPictures partsInMemory(const wire::Data& data, const std::string& split, bool fitted,
                           OpenedDataSets& sets) {
    const auto& all = sets.splits(data);
    if (all.empty()) return {};
    const auto measured = sets.find(data, split);
    auto fitting = sets.find(data, "train");
    if (!fitting) fitting = all.front().second;
    if (fitting != measured || !fitted) return {fitting, measured, split};
    if (split == "train") refuseSplit(split);
    const auto parts = core::headData(fitting);
    return {parts.fitting, parts.measured, "test"};
}

}  // namespace

HeadPictures headPictures(const wire::Asked& a, const core::OpenedModel& model,
                          OpenedDataSets& sets) {
    const auto choice = choiceOf(a.subjects.front().head);
    const auto file = a.text("data"), split = a.text("split");
    HeadPictures pictures;
    if (a.data)
        pictures = partsInMemory(*a.data, split.empty() ? "validation" : split, fits(choice), sets);
    else if (!file.empty())
        pictures = partsOf(
            datasets::openLabelledPictures(file, model.options(), sets.progress(), sets.stop()),
            split, fits(choice));
    for (auto* part : {&pictures.fitting, &pictures.measured})
        *part = datasets::readyFor(model.options(), *part);
    if (pictures.fitting)
        pictures.key = a.data ? keyOf(*a.data) : std::to_string(checksumOf(pictures.fitting));
    return pictures;
}

void giveHead(core::OpenedModel& model, const std::string& word, const HeadPictures& given,
              OpenedDataSets& sets) {
    core::HeadToGive head{choiceOf(word)};
    if (core::takesHead(model.options())) {
        if (given.measured && head.choice.kind == HeadKind::None)
            throw OptionError("--head",
                              "none leaves features, of which classes of pictures "
                              "measure nothing; give means, ridge or texts");
        head.fitting = given.fitting;
        if (const auto& like = given.measured ? given.measured : given.fitting)
            head.classes = like->info().classNames;
        head.key = keyOf(word, given.key);
        for (const auto& name : head.classes) head.key += "\n" + name;
        if (head.key == model.headKey()) return;
        if (isFolder(head.choice)) {
            const auto splits = datasets::openLabelledPictures(head.choice.file, model.options(),
                                                               sets.progress(), sets.stop());
            // What is not fitted on is there to be measured.
            head.fitting = splits.test ? splits.train : core::headData(splits.train).fitting;
            head.choice = {HeadKind::Means};
        }
        if (head.choice.kind == HeadKind::Automatic)
            head.choice.kind = head.fitting ? HeadKind::Means : HeadKind::None;
        if (head.choice.kind == HeadKind::Texts && head.classes.empty())
            throw OptionError("--head",
                              "texts are the names of the classes of pictures, which are "
                              "not given; give a file of texts, a line each");
        if (head.choice.isFitted() && head.fitting) head.dataChecksum = checksumOf(head.fitting);
    }
    try {
        model.setHead(head, sets.stop(), sets.progress());
    } catch (const OptionError& error) {
        throw OptionError("--" + error.field(), error.message());
    }
}

void giveHead(core::OpenedModel& model, const wire::Asked& a, OpenedDataSets& sets) {
    const auto& word = a.subjects.front().head;
    const bool takes = core::takesHead(model.options());
    if (takes && a.data && model.headKey().starts_with(keyOf(word, keyOf(*a.data)))) return;
    auto input = a;  // which may be any picture
    std::erase_if(input.options, [](const Option& option) { return option.name == "split"; });
    const bool reads = takes && choiceOf(word).kind != HeadKind::None;
    try {
        auto pictures = reads ? headPictures(input, model, sets) : HeadPictures();
        pictures.measured.reset();
        giveHead(model, word, pictures, sets);
    } catch (const OptionError&) {
        if (!word.empty()) throw;
        // Maps need no classes, which nobody has asked for.
        giveHead(model, "none", {{}, {}, {}, a.data ? keyOf(*a.data) : std::string()}, sets);
    }
}

std::string headRemark(const core::OpenedModel& model) {
    const auto& head = model.head();
    const auto text = core::headText(head);
    if (text.empty()) return {};
    return "the answers are those of " + text + ", not of the model alone" +
           (head.note.empty() ? "" : "; " + head.note);
}

}  // namespace relascope::serve
