// Everything a run is made from: written into run.json, set by --set, edited in the form.
#pragma once

#include <string>
#include <vector>

#include "types/data_options.h"
#include "types/model_options.h"
#include "types/suggest.h"
#include "types/train_options.h"

namespace relascope {

struct RunOptions {
    std::string preset;   ///< "relational-games-between"
    std::string variant;  ///< the model's name within the preset: "dat"
    ModelOptions model;
    DataOptions data;
    TrainOptions train;

    bool operator==(const RunOptions&) const = default;

    /// All fields of the three groups, keys "model.d_model" and so on, in the order of the form.
    static const FieldTable<RunOptions>& fieldTable() {
        static const FieldTable<RunOptions> table = [] {
            FieldTable<RunOptions> all;
            const auto add = [&all](const char* group, auto RunOptions::*part, const auto& fields) {
                for (const auto& inner : fields) {
                    Field<RunOptions> field;
                    field.spec = inner.spec;
                    field.spec.name = std::string(group) + "." + inner.spec.name;
                    field.get = [inner, part](const RunOptions& o) { return inner.get(o.*part); };
                    field.set = [inner, part](RunOptions& o, const FieldValue& v) {
                        inner.set(o.*part, v);
                    };
                    field.applies = [inner, part](const RunOptions& o) {
                        return inner.applies(o.*part);
                    };
                    all.push_back(std::move(field));
                }
            };
            add("model", &RunOptions::model, ModelOptions::fieldTable());
            add("train", &RunOptions::train, TrainOptions::fieldTable());
            add("data", &RunOptions::data, DataOptions::fieldTable());
            return all;
        }();
        return table;
    }

    /// Every key that --set takes.
    static std::vector<std::string> keys() {
        std::vector<std::string> names;
        for (const auto& field : fieldTable()) names.push_back(field.spec.name);
        return names;
    }

    /// The field of that key; throws OptionError with the nearest keys when there is none.
    static const Field<RunOptions>& field(const std::string& key) {
        for (const auto& candidate : fieldTable())
            if (candidate.spec.name == key) return candidate;
        throw OptionError(key, unknownName("option", key, keys()));
    }

    /// Problems of all three structs, keyed "model.d_model".
    std::vector<FieldProblem> problems() const {
        std::vector<FieldProblem> all;
        for (const auto& p : model.problems()) all.push_back({"model." + p.field, p.message});
        for (const auto& p : data.problems()) all.push_back({"data." + p.field, p.message});
        for (const auto& p : train.problems()) all.push_back({"train." + p.field, p.message});
        return all;
    }
    /// Throws OptionError with the first problem.
    void check() const {
        model.check();
        data.check();
        train.check();
    }

    /// The fields as a form shows them, `preset` beside the present values.
    std::vector<FieldState> states(const RunOptions& presetValues) const {
        std::vector<FieldState> all;
        for (const auto& f : fieldTable())
            all.push_back(
                {f.spec.name, f.spec, f.get(*this), f.get(presetValues), f.applies(*this)});
        return all;
    }
};

}  // namespace relascope
