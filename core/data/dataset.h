// SPDX-License-Identifier: GPL-3.0-or-later
// The interface of data sets for training, evaluation and the Data page: their size, and examples
// by index. Reading is thread-safe and deterministic: the same index gives the same example.
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
#include "types/object_facts.h"
#include "types/relation_map.h"

namespace relascope::core {

class Dataset {
public:
    virtual ~Dataset() = default;
    virtual const DatasetInfo& info() const = 0;
    /// An example for display.
    virtual ProbeSample sample(std::int64_t index) const = 0;

    /// The facts about the objects of each example; null without any.
    virtual const ObjectFacts* objectFacts() const { return nullptr; }
    /// Writes the facts of an example, [objects, facts] by objectFacts(); the facts of an empty
    /// place are kEmptyPlace.
    virtual void readFacts(std::int64_t index, std::span<std::int32_t> facts) const;

    /// The names of the numbers that each object has in its source; those among the facts, too.
    virtual std::vector<std::string> objectNumbers() const { return {}; }
    /// Writes these of an example, [objects, numbers], in the units of the source; those of an
    /// empty place are NaN.
    virtual void readObjectNumbers(std::int64_t index, std::span<double> numbers) const;

    /// What the numbers of an object say, as the file of the data calls them: "colour = red",
    /// "size"; empty where they have no names.
    virtual std::vector<std::string> featureNames() const { return {}; }

    std::int64_t size() const { return info().size; }
};
inline void Dataset::readObjectNumbers(std::int64_t, std::span<double>) const {
    throw Error("The data " + info().name + " have no numbers of objects.");
}
inline void Dataset::readFacts(std::int64_t, std::span<std::int32_t>) const {
    throw Error("The data " + info().name + " know nothing of the objects of their examples.");
}
using DatasetPtr = std::shared_ptr<const Dataset>;

/// Labelled images.
class ImageDataset : public Dataset {
public:
    /// Writes the pixels of an example, [height, width, channels] bytes, and returns its label.
    virtual std::int64_t read(std::int64_t index, std::span<std::uint8_t> pixels) const = 0;

    /// What the masks of the objects say of them; null without masks.
    virtual const MaskFacts* maskFacts() const { return nullptr; }
    /// The mask of an example, of the size of its pixels. Throws Error without masks.
    virtual ObjectMask mask(std::int64_t index) const;
    /// Where an example comes from: a film, a document; those of one are split together. Empty: it
    /// stands alone.
    virtual std::string sourceOf(std::int64_t /*index*/) const { return {}; }

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
inline ObjectMask ImageDataset::mask(std::int64_t) const {
    throw Error("The images " + info().name + " have no masks of objects.");
}
using ImageDatasetPtr = std::shared_ptr<const ImageDataset>;
/// The data cast to images. Throws OptionError when they are something else.
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
    /// The tokenizer of the ids; null for shards of unknown origin.
    virtual TokenizerPtr tokenizer() const = 0;
};

/// Sets of objects, each a vector, with a class, bits or numbers as targets.
class ObjectDataset : public Dataset {
public:
    struct Shape {
        std::int64_t objects = 0;  ///< how many a set has
        std::int64_t width = 0;    ///< numbers of one object
        std::int64_t targets = 1;  ///< numbers to predict; 1 for a class
        bool operator==(const Shape&) const = default;
    };
    virtual Shape shape() const = 0;
    /// Writes [objects, width] numbers and [targets] answers: a class by its number, bits as 0 or
    /// 1, numbers as they are (info().targets says which).
    virtual void read(std::int64_t index, std::span<float> objects,
                      std::span<float> targets) const = 0;
};

/// Pairs of sequences: a source, of tokens or of vectors, and the tokens to answer with.
class SequenceDataset : public Dataset {
public:
    struct Shape {
        std::int64_t source = 0;            ///< elements, after padding
        std::int64_t width = 0;             ///< numbers of one source vector; 0: tokens
        std::int64_t sourceVocabulary = 0;  ///< number of source token ids
        std::int64_t target = 0;            ///< tokens, after padding
        std::int64_t targetVocabulary = 0;
        std::int64_t start = 0;  ///< the token that the decoder reads first
        std::int64_t end = -1;  ///< the token after an answer; -1: all answers have the same length
        std::int64_t padding = -1;  ///< padding after the end, not scored; -1: none
        bool operator==(const Shape&) const = default;
    };
    virtual Shape shape() const = 0;
    /// Writes the source, into `vectors` [source, width] or into `tokens` [source] (the other is
    /// empty), and the answer [target].
    virtual void read(std::int64_t index, std::span<float> vectors, std::span<std::int64_t> tokens,
                      std::span<std::int64_t> answer) const = 0;
};

/// The splits of a task: training, validation, and the test splits that are evaluated at the end.
struct DataSplits {
    DatasetPtr train, validation;
    std::vector<std::pair<std::string, DatasetPtr>> tests;  ///< "pentos", "hexos", "stripes"

    /// The training set of each epoch, where epochs differ; empty when it is fixed.
    std::function<DatasetPtr(std::int64_t epoch)> trainEpoch;

    TokenizerPtr tokenizer;  ///< for text; null otherwise

    std::string mix = "none";  ///< how images of a batch are mixed (data_options.h)

    /// The data of the pretraining stage, if the run has one (RunOptions::pretraining); null
    /// otherwise.
    std::shared_ptr<const DataSplits> pretraining;

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

/// Called with the fraction done, 0..1, several times a second; returns false to cancel.
using ProgressCallback = std::function<bool(double)>;

}  // namespace relascope::core
