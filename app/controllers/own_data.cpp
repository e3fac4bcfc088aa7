// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/controllers/own_data.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "options/estimates.h"
#include "options/presets.h"
#include "options/run_settings.h"
#include "types/data_kind.h"

namespace relascope::app {
namespace {

constexpr double kTwoCores = 1e10;  ///< floating-point operations per second, a cautious guess
constexpr double kSeconds = 120.0, kMostSteps = 1500.0;
constexpr std::int64_t kMostPatches = 8, kMostEpochs = 200;  ///< patches of a side

/// The smallest divisor of a side that leaves few enough patches.
std::int64_t patchOf(std::int64_t side) {
    for (std::int64_t patch = 1; patch < side; ++patch)
        if (side % patch == 0 && side / patch <= kMostPatches) return patch;
    return side;
}

std::string nameOf(const std::string& path) {
    const std::filesystem::path p = path;
    return (p.has_filename() ? p : p.parent_path()).stem().string();
}

class SetUp {
public:
    SetUp(RunOptions base, const OwnData& own)
        : m_own(own), m_run{std::move(base), {}}, m_kind(dataKind(own.data.kind)) {
        const std::filesystem::path path = own.data.path;
        m_from = "From the " + m_kind.unitOf(own.data.task).several + " of " +
                 (path.has_filename() ? path : path.parent_path()).filename().string() + ": ";
    }

    OwnRun run(double flopsPerSecond) {
        auto& o = m_run.options;
        o.data.kind = m_own.data.kind;
        o.data.path = m_own.data.path;
        o.data.arrays = m_own.data.arrays;
        o.data.image_side = m_own.data.image_side;
        if (!m_own.data.task.empty() && m_kind.findTask(m_own.data.task) && !anyTask())
            o.data.task = m_own.data.task;
        set("data.name", nameOf(m_own.data.path), "The name of the file or folder.");
        if (m_own.context > 0)
            fitText();
        else
            fitSizes();
        if (o.train.init_from.empty() && o.model.input() == InputKind::Images) fitImages();
        if (o.train.init_from.empty() && m_own.width > 0 && o.model.find<ObjectInput>()) fitSets();
        core::fitToData(o);
        if (m_own.context == 0) fitLength(flopsPerSecond > 0.0 ? flopsPerSecond : kTwoCores);
        return std::move(m_run);
    }

private:
    bool anyTask() const {
        const auto* form = importFormOf(m_own.data);
        return form && form->anyTask;
    }
    void set(const std::string& key, const FieldValue& value, const std::string& reason) {
        RunOptions::field(key).set(m_run.options, value);
        m_run.reasons[key] = reason;
    }
    const DatasetInfo& info() const { return m_own.splits.at(0).second; }

    void fitSizes() {
        const std::int64_t all = info().size;
        const bool undivided = m_own.splits.size() == 1;
        std::int64_t validation = std::max<std::int64_t>(2, all * 15 / 100), test = 0;
        if (undivided)
            test = all >= 6 ? validation : 0;
        else
            validation = std::max<std::int64_t>(1, all * 3 / 16),
            test = m_own.splits.back().second.size;
        const std::int64_t train = all - validation - (undivided ? test : 0);
        if (train < (undivided ? 2 : 1))
            throw OptionError("data.path", "has " + std::to_string(all) + " " +
                                               m_kind.unitOf(m_own.data.task).several +
                                               "; at least 4 are needed to train and to validate");
        set("data.train_size", train,
            m_from + std::to_string(train) + " of " + std::to_string(undivided ? all : all + test) +
                " to train on.");
        set("data.validation_size", validation, m_from + std::to_string(validation) + " held out.");
        set("data.test_size", std::max<std::int64_t>(1, test),
            test == 0   ? "There are too few for a test split."
            : undivided ? m_from + std::to_string(test) + " to test on, which training never sees."
                        : m_from + std::to_string(test) + " in the test split.");
    }

    void fitText() {
        auto& o = m_run.options;
        const std::int64_t context = std::min(m_own.context, o.data.context);
        if (context < o.data.context)
            set("data.context", context, "The text is short: more windows of fewer tokens.");
    }

    void fitImages() {
        auto& images = m_run.options.model.get<ImageInput>();
        const std::vector<std::int64_t> shape = {info().channels, info().width, info().height};
        const auto classes = static_cast<std::int64_t>(info().classNames.size());
        // Patches that fit the images of the preset were chosen for them.
        if (shape != images.image_shape)
            set("model.patch_size", std::vector{patchOf(shape[1]), patchOf(shape[2])},
                m_from + "at most 8 patches in a row.");
        set("model.image_shape", shape, m_from + "channels, width and height.");
        set("model.num_classes", std::max<std::int64_t>(2, classes),
            m_from + (classes == 1 ? "only one class, which every model answers."
                                   : std::to_string(classes) + " classes."));
        auto& model = m_run.options.model;
        // Normalisation and augmentation of the preset are those of other pictures.
        if (model.has("image_norm")) model.set("image_norm", std::string("none"));
        if (model.has("max_rel_pos")) model.set("max_rel_pos", std::int64_t{0});
        m_run.options.data.augment = m_run.options.data.mix = "none";
    }

    void fitSets() {
        const auto classes = static_cast<std::int64_t>(info().classNames.size());
        set("model.n_objects", m_own.objects, m_from + "the largest has so many objects.");
        set("model.object_dim", m_own.width,
            m_from + "numbers of an object, one for each different word.");
        set("model.out_dim", ObjectInput::outputsFor(classes),
            m_from + std::to_string(classes) + (classes == 1 ? " class." : " classes."));
    }

    void fitLength(double flopsPerSecond) {
        auto& train = m_run.options.train;
        const std::int64_t size = m_run.options.data.train_size;
        std::int64_t batch = 1;
        while (batch * 2 <= std::min(train.batch_size, std::max<std::int64_t>(4, size / 8)) &&
               batch * 2 <= size)
            batch *= 2;
        set("train.batch_size", batch, m_from + "about eight batches or more an epoch.");
        train.steps = 0;
        const double step = core::trainingFlops(m_run.options);
        const double steps =
            std::clamp(kSeconds * flopsPerSecond / std::max(1.0, step), 100.0, kMostSteps);
        const auto perEpoch = static_cast<double>(core::stepsPerEpoch(m_run.options));
        set("train.epochs",
            std::clamp<std::int64_t>(static_cast<std::int64_t>(std::llround(steps / perEpoch)), 1,
                                     kMostEpochs),
            "A few minutes on two cores.");
        if (train.warmup_steps > 0) train.warmup_steps = core::totalSteps(m_run.options) / 20;
        if (train.evaluate_every > 0) train.evaluate_every = 0;
    }

    const OwnData& m_own;
    OwnRun m_run;
    const DataKind& m_kind;
    std::string m_from;  ///< the beginning of a reason
};

}  // namespace

bool isOwnData(const DataOptions& data) {
    if (data.path.empty()) return false;
    const auto& kind = dataKind(data.kind);
    const auto* form = importFormOf(data);
    return form && kind.trains &&
           (form->anyTask || kind.input == InputKind::Tokens ||
            (kind.sizesFromFiles && kind.sizesFromFiles(data)));
}

std::string smallestPreset(const std::string& kind) {
    const auto& wanted = dataKind(kind);
    std::string name;
    double least = 0.0;
    // A plain Transformer would have no relations to look at.
    for (const auto& [same, relational] :
         {std::pair(true, true), {true, false}, {false, true}, {false, false}}) {
        if (!name.empty()) return name;
        for (const auto& preset : core::presets()) {
            const auto options = core::presetOptions(preset.name);
            if (relational && !options.model.has("n_heads_ra")) continue;
            const auto& of = dataKind(options.data.kind);
            if (same ? &of != &wanted : of.input != wanted.input || of.metric != wanted.metric)
                continue;
            const double work =
                core::trainingFlops(options) * static_cast<double>(core::totalSteps(options));
            if (name.empty() || work < least) name = preset.name, least = work;
        }
    }
    return name;
}

OwnRun ownRun(RunOptions base, const OwnData& own, double flopsPerSecond) {
    return SetUp(std::move(base), own).run(flopsPerSecond);
}

}  // namespace relascope::app
