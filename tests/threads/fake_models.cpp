// SPDX-License-Identifier: GPL-3.0-or-later
// What the inspection session calls of core, without LibTorch.
#include "threads/fake_models.h"

#include <thread>

#include "app/controllers/edited_probe.h"
#include "app/controllers/inspection_session.h"
#include "app/controllers/runtime.h"
#include "datasets/readers/image_folder.h"
#include "types/error.h"

namespace relascope::testing_support {

FakeModels& fakeModels() {
    static FakeModels models;
    return models;
}

}  // namespace relascope::testing_support

namespace relascope::core {

using testing_support::fakeModels;

struct OpenedModel::Parts {
    ModelOptions options{"TransformerLM"};
    std::string warning;
    std::thread::id maker = std::this_thread::get_id();
    Parts() { ++fakeModels().alive; }
    ~Parts() {
        if (std::this_thread::get_id() != maker) fakeModels().destroyedElsewhere = true;
        --fakeModels().alive;
    }
    Parts(const Parts&) = delete;
    Parts& operator=(const Parts&) = delete;
};

OpenedModel::OpenedModel(const std::string& path, const std::string&, const std::string&,
                         std::stop_token stop, const ProgressCallback& progress) {
    if (path == "damaged") throw FileError(path, "is damaged");
    const auto wanted = [&] { return !stop.stop_requested() && (!progress || progress(0.5)); };
    if (!fakeModels().loading.pass(wanted)) throw Cancelled();
    m_parts = std::make_unique<Parts>();
}
OpenedModel::~OpenedModel() = default;
const ModelOptions& OpenedModel::options() const {
    return m_parts->options;
}
const std::string& OpenedModel::warning() const {
    return m_parts->warning;
}
int OpenedModel::referenceInputs() const {
    return 0;
}
ProbeSample OpenedModel::referenceInput(int) const {
    return {};
}
ProbeSample OpenedModel::randomInput(std::uint64_t seed) const {
    ProbeSample sample;
    sample.origin = "random " + std::to_string(seed);
    return sample;
}
TokenizerPtr OpenedModel::tokenizer() const {
    return nullptr;
}
void OpenedModel::setTokenizer(const std::string&) {}
void OpenedModel::narrow() {}
StepToOpen stepToOpen(const std::string&, std::int64_t step) {
    return {std::to_string(step), {}};
}

}  // namespace relascope::core

namespace relascope::app {

using testing_support::fakeModels;

void awaitRuntime() {}

EditedProbe probeEdited(OpenedWeights& weights, const ProbeSample& sample,
                        const std::vector<std::string>&, core::Interventions interventions,
                        core::ProbeWatch watch) {
    const auto made = [&](bool partial) {
        ProbeResult result;
        result.sample = sample;
        result.partial = partial;
        return result;
    };
    watch.partial(made(true));
    if (!fakeModels().probing.pass([&] { return watch.progress(0.5); })) throw Cancelled();
    if (sample.origin == "random 13") throw Error("13 is refused");
    weights.base = std::make_shared<const ProbeResult>(made(false));
    EditedProbe probe;
    probe.inspected.result = weights.base;
    if (interventions.edits.anyEnabled()) probe.inspected.before = weights.base;
    return probe;
}

QStringList effectsAlone(OpenedWeights&, const core::Interventions&,
                         const std::shared_ptr<const ProbeResult>& edited,
                         const std::function<bool()>& wanted) {
    if (!fakeModels().effects.pass(wanted)) throw Cancelled();
    return {QString::fromStdString(edited->sample.origin)};
}

}  // namespace relascope::app

namespace relascope::datasets {

Image readImageFile(const std::string& path) {
    testing_support::fakeModels().picture.pass({});
    if (path == "damaged") throw FileError(path, "is no picture");
    return {1, 1, 1, {0}};
}
Image fitImage(const Image& image, int, int, int) {
    return image;
}

}  // namespace relascope::datasets
