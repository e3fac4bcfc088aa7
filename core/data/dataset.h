// What training, evaluation and the Data page know of a data set: how many examples, and one by
// number. Reading is thread-safe and deterministic: the same index gives the same example.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "text/tokenizer.h"
#include "types/dataset_info.h"
#include "types/error.h"
#include "types/relation_map.h"

namespace relascope {

class Dataset {
public:
    virtual ~Dataset() = default;
    virtual const DatasetInfo& info() const = 0;
    /// An example as the screens show it.
    virtual ProbeSample sample(std::int64_t index) const = 0;

    std::int64_t size() const { return info().size; }
};
using DatasetPtr = std::shared_ptr<const Dataset>;

/// Labelled images.
class ImageDataset : public Dataset {
public:
    /// Writes the pixels of an example, [height, width, channels] bytes, and returns its label.
    virtual std::int64_t read(std::int64_t index, std::span<std::uint8_t> pixels) const = 0;

    std::size_t pixelBytes() const {
        const auto& i = info();
        return static_cast<std::size_t>(i.height) * static_cast<std::size_t>(i.width) *
               static_cast<std::size_t>(i.channels);
    }
    ProbeSample sample(std::int64_t index) const override {
        const auto& i = info();
        ProbeSample s;
        s.image = {i.width, i.height, i.channels, std::vector<std::uint8_t>(pixelBytes())};
        s.label = read(index, s.image.pixels);
        s.origin = i.name + " " + std::to_string(index);
        return s;
    }
};
using ImageDatasetPtr = std::shared_ptr<const ImageDataset>;
/// The same data as images. Throws OptionError when they are something else.
inline ImageDatasetPtr asImages(const DatasetPtr& data) {
    auto images = std::dynamic_pointer_cast<const ImageDataset>(data);
    if (!images) throw OptionError("data", data->info().name + " has no images");
    return images;
}

/// Windows of a text: `context` tokens to read and, for each, the one that follows.
class TokenDataset : public Dataset {
public:
    virtual std::int64_t context() const = 0;
    /// Writes context() + 1 consecutive tokens.
    virtual void read(std::int64_t index, std::span<std::int64_t> tokens) const = 0;
    /// What the ids mean; null for shards of unknown origin.
    virtual TokenizerPtr tokenizer() const = 0;
};

/// The parts of a task: what is trained on, what is watched, and what is tested on at the end.
struct DataSplits {
    DatasetPtr train, validation;
    std::vector<std::pair<std::string, DatasetPtr>> tests;  ///< "pentos", "hexos", "stripes"

    /// The training set of each pass over it, where passes differ; empty when it is fixed.
    std::function<DatasetPtr(std::int64_t pass)> trainPass;

    TokenizerPtr tokenizer;  ///< of text; null otherwise

    /// "train", "validation" or a test split by name; nullptr when there is none.
    DatasetPtr find(const std::string& name) const {
        if (name == "train") return train;
        if (name == "validation") return validation;
        for (const auto& [key, data] : tests)
            if (key == name) return data;
        return nullptr;
    }
    std::vector<std::string> names() const {
        std::vector<std::string> all = {"train", "validation"};
        for (const auto& [key, data] : tests) all.push_back(key);
        return all;
    }
};

/// Called with the share done, 0..1, some times a second; returns false to cancel.
using ProgressCallback = std::function<bool(double)>;

}  // namespace relascope
