// SPDX-License-Identifier: GPL-3.0-or-later
// A question: a command, the models that it asks and its options, as a person would type them. Its
// words and its JSON are made from one table of fields (question/question_fields.h).
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "types/field.h"

namespace relascope {

/// A model that is asked.
struct Model {
    std::string path;        ///< path of a run folder, checkpoint or study
    std::string hub;         ///< "ORG/NAME@COMMIT" for a checkpoint of the hub's cache
    std::string checkpoint;  ///< step of a run, or a word of --checkpoint; empty: the newest
    std::string weights;     ///< checksum of the weights (views/weights_checksum.h); empty: unknown
    std::vector<std::string> edits;  ///< edits as words, names of files, or "none"
    std::string device;              ///< value of --device; empty: auto
    /// Where classes come from, for a model of images whose answer are features: a word of
    /// headChoice() (types/head_choice.h).
    std::string head = {};
    std::string imageSize = {};  ///< pixels of its images, "448" or "448x336"; empty: its own
    bool operator==(const Model&) const = default;
};

/// An option of a command, named as on the command line without "--", with "_" for "-".
struct Option {
    std::string name;
    FieldValue value;
    bool operator==(const Option&) const = default;
};

struct Question {
    std::string command;          ///< "inspect", "lens"
    std::vector<Model> subjects;  ///< one, or two for an analysis of two models
    std::vector<Option> options;  ///< the given options, in the order of the command

    const FieldValue* option(const std::string& name) const {
        for (const auto& one : options)
            if (one.name == name) return &one.value;
        return nullptr;
    }
    /// The value of an option, or what stands for it where it was not given.
    template <class Value>
    Value value(const std::string& name, Value missing = {}) const {
        const auto* given = option(name);
        return given ? std::get<Value>(*given) : missing;
    }
    std::string text(const std::string& name) const { return value<std::string>(name); }
    /// Sets an option anew, or adds it.
    void set(const std::string& name, FieldValue value) {
        const auto at = std::find_if(options.begin(), options.end(),
                                     [&](const Option& one) { return one.name == name; });
        if (at == options.end())
            options.push_back({name, std::move(value)});
        else
            at->value = std::move(value);
    }
    bool operator==(const Question&) const = default;
};

}  // namespace relascope
