// SPDX-License-Identifier: GPL-3.0-or-later
// How many examples a second every generator makes on one core, and augmentation. Run by hand, with
// the kinds of data to measure as arguments, or without for all.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>

#include "datasets/augment/augmented_images.h"
#include "datasets/registry.h"
#include "support/rooms.h"
#include "types/data_kind.h"

using namespace relascope;

namespace {

// Reads one example; the buffers are made once.
std::function<void(std::int64_t)> readerOf(const DatasetPtr& data) {
    if (const auto images = std::dynamic_pointer_cast<const ImageDataset>(data)) {
        const auto bytes = std::make_shared<std::vector<std::uint8_t>>(images->pixelBytes());
        return [=](std::int64_t i) { images->read(i, *bytes); };
    }
    if (const auto objects = std::dynamic_pointer_cast<const ObjectDataset>(data)) {
        const auto shape = objects->shape();
        const auto numbers = std::make_shared<std::vector<float>>(shape.objects * shape.width);
        const auto targets = std::make_shared<std::vector<float>>(shape.targets);
        return [=](std::int64_t i) { objects->read(i, *numbers, *targets); };
    }
    const auto sequences = std::dynamic_pointer_cast<const SequenceDataset>(data);
    if (!sequences) return {};
    const auto shape = sequences->shape();
    const auto vectors = std::make_shared<std::vector<float>>(shape.source * shape.width);
    const auto tokens =
        std::make_shared<std::vector<std::int64_t>>(shape.width > 0 ? 0 : shape.source);
    const auto answer = std::make_shared<std::vector<std::int64_t>>(shape.target);
    return [=](std::int64_t i) { sequences->read(i, *vectors, *tokens, *answer); };
}

void measure(const std::string& name, const DatasetPtr& data) {
    const auto read = readerOf(data);
    if (!read || data->size() == 0) return;
    // Of the processor's time, so that other work on the machine does not count.
    const auto now = [] { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; };
    double best = 0.0;
    for (int round = 0; round < 3; ++round) {
        const double start = now();
        std::int64_t count = 0;
        double seconds = 0.0;
        do {
            for (int i = 0; i < 32; ++i) read(count++ % data->size());
            seconds = now() - start;
        } while (seconds < 0.3);
        best = std::max(best, static_cast<double>(count) / seconds);
    }
    std::printf("%-48s %12.0f examples/s\n", name.c_str(), best);
    std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
    for (const auto& entry : listDatasets()) {
        if (argc > 1 && std::none_of(argv + 1, argv + argc,
                                     [&](const char* kind) { return entry.kind == kind; }))
            continue;
        DataOptions o;
        o.kind = entry.kind, o.task = entry.name;
        const auto& kind = dataKind(entry.kind);
        if (!kind.trains) continue;
        if (!kind.endless) o.train_size = o.validation_size = o.test_size = 0;
        const auto name = entry.kind + " " + entry.name;
        try {
            const auto start = std::chrono::steady_clock::now();
            const auto splits = openData(o);
            const double seconds =
                std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
            if (seconds > 0.01) std::printf("%-48s %12.2f s to open\n", name.c_str(), seconds);
            measure(name, splits.train);
            for (const auto& [part, data] : splits.tests)
                if (part == "interpolate") measure(name + ", " + part, data);
            const auto images = std::dynamic_pointer_cast<const ImageDataset>(splits.train);
            if (!images || kind.generated) continue;
            for (const auto& [how, words] : {std::pair{Augmentation::CropFlip, ", crop and flip"},
                                             {Augmentation::AutoAugment, ", AutoAugment"}})
                measure(name + words, std::make_shared<AugmentedImages>(images, how, 0, 0));
        } catch (const Error& error) {
            std::printf("%-48s %s\n", name.c_str(), error.what());
        }
    }
}
