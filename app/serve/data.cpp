// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/serve/data.h"

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "analysis/pairs/mask_facts.h"
#include "analysis/pairs/pair_objects.h"
#include "datasets/examples.h"
#include "datasets/readers/image_folder.h"
#include "datasets/readers/npz.h"
#include "datasets/registry.h"
#include "datasets/statistics.h"
#include "options/device_list.h"
#include "train/bfloat16_gain.h"
#include "train/devices.h"
#include "types/suggest.h"
#include "types/text_format.h"

namespace relascope::serve {
namespace {

using wire::Frame;
using wire::Json;

constexpr std::size_t kDataSetsKept = 3;
constexpr std::chrono::milliseconds kSearchPart(100);
constexpr int kLargestSide = 256;  // px, of a picture that is no input of a model

template <class T>
T valueIn(const Request& request, const char* key) {
    return wire::valueOf<T>(request.message(), key);
}

std::vector<std::int64_t> indicesOf(const Json& json, std::int64_t size) {
    if (!json.is_binary()) throw wire::FrameError("a request has no indices");
    auto indices = wire::unpacked<std::int64_t>(json);
    for (const auto index : indices)
        if (index < 0 || index >= size)
            throw Error("There is no example " + std::to_string(index) + ": the split has " +
                        std::to_string(size) + ".");
    return indices;
}

ProbeSample preview(const std::string& file) {
    const Image image = datasets::readImageFile(file);
    ProbeSample sample;
    sample.origin = std::filesystem::path(file).filename().string() + ", " +
                    std::to_string(image.width) + " x " + std::to_string(image.height);
    const int longer = std::max(image.width, image.height);
    sample.image =
        longer <= kLargestSide
            ? image
            : datasets::fitImage(image, std::max(1, image.width * kLargestSide / longer),
                                 std::max(1, image.height * kLargestSide / longer), image.channels);
    return sample;
}

/// Searches one part of the data for a label; other requests are answered between the parts.
wire::LabelSearch findFrom(const core::DatasetPtr& data, Request& request) {
    const auto from = valueIn<wire::Example>(request, "from").index;
    const auto label = valueIn<std::int64_t>(request, "label");
    const bool forward = valueIn<bool>(request, "forward");
    const auto before = valueIn<std::int64_t>(request, "before");
    datasets::LabelReader labelOf(data);
    const auto size = data->size();
    if (before < 0 || from < 0 || from >= size) throw wire::FrameError("a search begins nowhere");
    const auto end = std::chrono::steady_clock::now() + kSearchPart;
    wire::LabelSearch found{std::nullopt, before, false};
    for (; found.searched < size; ++found.searched) {
        if (std::chrono::steady_clock::now() >= end) return found;
        if (!request.progress(static_cast<double>(found.searched) / static_cast<double>(size)))
            throw Cancelled();
        const auto k = found.searched + 1;
        const auto index = ((from + (forward ? k : -k)) % size + size) % size;
        if (labelOf(index) == label) {
            found.index = index;
            return found;
        }
    }
    found.all = true;
    return found;
}

/// The facts of the devices, each device once and in order: two processes on the CPU use the same.
std::string factsOf(const std::vector<std::string>& names, bool memory) {
    std::vector<std::string> lines, kernels, each;
    if (names.size() > 1) lines.push_back(core::devicesText(names));
    for (const auto& name : names)
        if (std::find(each.begin(), each.end(), name) == each.end()) each.push_back(name);
    for (const auto& name : each) {
        const auto* info = core::findDevice(name);
        if (!info) continue;
        // On an idle GPU the query itself would take memory.
        const auto known =
            memory || name == "cpu" ? core::deviceMemory(name) : core::DeviceMemory{};
        const auto facts = core::deviceFacts(*info, known);
        if (each.size() > 1)
            lines.push_back(name + ": " + joined(facts, ", "));
        else
            lines.insert(lines.end(), facts.begin(), facts.end());
        for (const auto& text : {core::attentionText(*info), core::stepsText(*info)})
            if (!text.empty() && std::find(kernels.begin(), kernels.end(), text) == kernels.end())
                kernels.push_back(text);
    }
    lines.insert(lines.end(), kernels.begin(), kernels.end());
    return joined(lines, "\n");
}

}  // namespace

datasets::NamedSplits openSplits(const wire::Data& data, const core::ProgressCallback& progress,
                                 std::stop_token stop) {
    if (data.imported) return datasets::openImported(data.options, progress, stop);
    const auto opened = datasets::openData(data.options, progress, stop);
    datasets::NamedSplits splits;
    for (const auto& name : opened.names())
        if (auto found = opened.find(name)) splits.emplace_back(name, std::move(found));
    if (data.epoch >= 0 && opened.trainEpoch && !splits.empty())
        splits[0].second = opened.trainEpoch(data.epoch);
    return splits;
}

const OpenedDataSets::Splits& OpenedDataSets::splits(const wire::Data& data) {
    const auto found = std::find_if(m_opened.begin(), m_opened.end(),
                                    [&](const auto& kept) { return kept.first == data; });
    if (found != m_opened.end()) {
        m_opened.splice(m_opened.begin(), m_opened, found);
    } else {
        m_opened.emplace_front(data, openSplits(data, m_progress, m_stop));
        if (m_opened.size() > kDataSetsKept) m_opened.pop_back();
    }
    return m_opened.front().second;
}

core::DatasetPtr OpenedDataSets::find(const wire::Data& data, const std::string& split) {
    for (const auto& [name, set] : splits(data))
        if (name == split) return set;
    return nullptr;
}

core::DatasetPtr OpenedDataSets::at(const wire::Data& data, const std::string& split) {
    if (auto found = find(data, split)) return found;
    std::vector<std::string> names;
    for (const auto& [name, set] : splits(data))
        if (set) names.push_back(name);
    throw OptionError("--split", unknownName("split", split, names));
}

std::string OpenedDataSets::firstTest(const wire::Data& data) {
    for (const auto& [name, set] : splits(data))
        if (set && name != "train" && name != "validation") return name;
    return "validation";
}

core::DatasetPtr OpenedDataSets::asked(Request& request) {
    return at(valueIn<wire::Data>(request, "data"), valueIn<std::string>(request, "split"));
}

std::optional<Frame> OpenedDataSets::answer(const std::string& what, Request& request) {
    const auto answered = [](Json message) { return Frame{std::move(message), {}}; };
    const Json& message = request.message();
    if (what == "data") {
        wire::OpenedData opened{valueIn<wire::Data>(request, "data"), {}, {}};
        for (const auto& [name, set] : splits(opened.data)) {
            if (!set) continue;
            const bool text = std::dynamic_pointer_cast<const core::TokenDataset>(set) != nullptr;
            opened.splits.push_back({name,
                                     set->info(),
                                     text,
                                     {},
                                     core::hypothesisWordsOf(*set),
                                     core::maskFactNames(*set)});
            if (set->size() > 0) opened.splits.back().first = datasets::exampleOf(*set, 0);
            if (name == "validation") opened.tokenNames = datasets::tokenNames(*set);
        }
        return answered(opened);
    }
    if (what == "examples") {
        const auto set = asked(request);
        std::vector<DataExample> examples;
        for (const auto index : indicesOf(message.at("indices"), set->size())) {
            if (request.stop().stop_requested()) throw Cancelled();
            examples.push_back(datasets::exampleOf(*set, index));
        }
        return answered(examples);
    }
    if (what == "find") {
        const auto from = valueIn<wire::Example>(request, "from");
        return answered(findFrom(at(from.data, from.split), request));
    }
    if (what == "labelled") {
        const auto set = asked(request);
        return answered(wire::packed(datasets::labelledExamples(
            set, valueIn<std::int64_t>(request, "label"), valueIn<std::int64_t>(request, "most"),
            request.progress())));
    }
    if (what == "statistics") {
        const auto set = asked(request);
        return answered(datasets::countExamples(*set, valueIn<wire::Data>(request, "data").options,
                                                valueIn<std::int64_t>(request, "most"),
                                                [&] { return !request.stop().stop_requested(); }));
    }
    if (what == "save") {
        const auto set = asked(request);
        std::shared_ptr<const std::vector<std::int64_t>> indices;
        if (message.contains("indices"))
            indices = std::make_shared<const std::vector<std::int64_t>>(
                indicesOf(message["indices"], set->size()));
        const auto most = indices ? std::ssize(*indices) : set->size();
        const auto count = std::clamp<std::int64_t>(valueIn<std::int64_t>(request, "count"), 0,
                                                    static_cast<std::int64_t>(most));
        const auto picked = datasets::pickedOf(set, indices, count);
        if (!picked) throw Error("A text is already a file; copy it instead.");
        datasets::writeNpz(valueIn<std::string>(request, "file"), *picked, request.progress());
        return answered(picked->size());
    }
    if (what == "picture") {
        const auto file = valueIn<std::string>(request, "file");
        const auto model = valueIn<std::optional<ModelOptions>>(request, "model");
        if (model && model->input() != InputKind::Images)
            throw Error("The input of this model is not images.");
        return answered(model ? datasets::imageSample(file, *model) : preview(file));
    }
    return std::nullopt;
}

Frame answerDevices(Request& request) {
    wire::Devices found;
    for (const auto& info : core::devices())
        if (info.usable && info.name != "cpu") found.choices.emplace_back(info.name, info.title);
    try {
        const bool memory = valueIn<bool>(request, "memory");
        found.names = core::resolveDevices(valueIn<std::string>(request, "wanted"));
        found.facts = factsOf(found.names, memory);
        if (found.names == std::vector<std::string>{"cpu"}) found.precision = core::bfloat16Text();
        const bool free = memory || std::all_of(found.names.begin(), found.names.end(),
                                                [](const auto& name) { return name == "cpu"; });
        if (free) found.free = core::leastFreeMemory(found.names);
    } catch (const OptionError& error) {
        found.names.clear();
        found.facts = error.message();
    }
    return {found, {}};
}

}  // namespace relascope::serve
