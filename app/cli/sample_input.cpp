// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/sample_input.h"

#include <CLI/CLI.hpp>

#include "analysis/open_model.h"
#include "datasets/readers/image_folder.h"
#include "datasets/registry.h"
#include "model/public/family.h"
#include "run/run_folder.h"
#include "types/suggest.h"

namespace relascope::cli {

bool hasOwnInput(const SampleArguments& a) {
    return !a.image.empty() || !a.text.empty() || a.reference > 0 || a.random >= 0 ||
           !a.tokens.empty();
}

ProbeSample readPicture(const std::string& file, const core::OpenedModel& opened,
                        const std::string& option) {
    if (!opened.options().find<ImageInput>())
        throw OptionError(
            option, "is for models of images; this is a " + core::modelTitle(opened.options()));
    return datasets::imageSample(file, opened.options());
}

SampleInput readSample(core::OpenedModel& opened, const std::string& path,
                       const SampleArguments& a) {
    SampleInput input;
    auto& sample = input.sample;
    if (!a.image.empty()) {
        sample = readPicture(a.image, opened, "--image");
    } else if (!a.text.empty()) {
        if (!a.tokenizer.empty()) opened.setTokenizer(a.tokenizer);
        sample = opened.textInput(a.text);
    } else if (a.reference > 0) {
        sample = opened.referenceInput(static_cast<int>(a.reference) - 1);
    } else if (a.random >= 0) {
        sample = opened.randomInput(static_cast<std::uint64_t>(a.random));
    } else if (!a.tokens.empty()) {
        sample.origin = "tokens";
        sample.source.tokens = a.tokens;
        sample.target.tokens = a.target;
    } else {
        if (!opened.isRun())
            throw OptionError("--image",
                              "a checkpoint has no data of its own; give --image, --text, "
                              "--tokens, --reference N or --random SEED");
        const auto splits = datasets::openData(core::runData(path, opened.run().data));
        const auto data = splits.find(a.split);
        if (!data) throw OptionError("--split", unknownName("split", a.split, splits.names()));
        const auto number = std::max<std::int64_t>(0, a.sample);
        if (number >= data->size())
            throw OptionError("--sample", std::to_string(number) + " is out of range: there are " +
                                              std::to_string(data->size()) + " examples of " +
                                              a.split);
        sample = data->sample(number);
        input.classNames = data->info().classNames;
    }
    return input;
}

std::vector<std::string> classNamesOf(const core::OpenedModel& opened, const std::string& path) {
    if (!opened.isRun()) return {};
    try {
        const auto splits = datasets::openData(core::runData(path, opened.run().data));
        return splits.train ? splits.train->info().classNames : std::vector<std::string>{};
    } catch (const Error&) {
        return {};  // the data no longer exist: classes are shown by their numbers
    }
}

void sampleOptions(CLI::App& command, SampleArguments& a) {
    command.add_option("--sample", a.sample, "example number")->check(CLI::NonNegativeNumber);
    command.add_option("--split", a.split, "split the example is from");
    command.add_option("--image", a.image, "a PNG or JPEG file instead of an example of the data");
    command.add_option("--text", a.text, "a text instead of an example of the data");
    command.add_option("--tokenizer", a.tokenizer,
                       "tokenizer for --text: gpt2, or a tokenizer file or folder");
    command.add_option("--tokens", a.tokens, "token ids of the input (source) sequence")
        ->delimiter(',');
    command.add_option("--target", a.target, "token ids of the target sequence")->delimiter(',');
    command
        .add_option("--reference", a.reference,
                    "reference input N stored with a checkpoint, from 1")
        ->check(CLI::Range(1, 100000));
    command.add_option("--random", a.random, "a random input drawn with that seed")
        ->check(CLI::NonNegativeNumber);
}

}  // namespace relascope::cli
