#include "train/open_model.h"

#include <filesystem>

#include "checkpoint/tensor_io.h"
#include "options/options_json.h"
#include "probe/probe.h"
#include "run/run_folder.h"
#include "train/checkpoints.h"
#include "train/devices.h"
#include "train/evaluate.h"

namespace relascope {

struct OpenedModel::Parts {
    ModelPtr model;
    ModelOptions options;
    RunOptions run;
    bool isRun = false;
    std::int64_t step = 0;
    std::string warning;
};

OpenedModel::OpenedModel(const std::string& path, const std::string& which,
                         const std::string& device)
    : m_parts(std::make_unique<Parts>()) {
    namespace fs = std::filesystem;
    auto& p = *m_parts;
    if (isRunFolder(path)) {
        p.isRun = true;
        p.run = readRunOptions(path);
        p.options = p.run.model;
        const bool restores = p.run.train.early_stopping.restore_best;
        const auto weights =
            checkpointWeights(path, which.empty() ? (restores ? "best" : "last") : which, &p.step);
        p.model = makeModel(p.options);
        p.warning = loadWeights(*p.model, weights).text();
    } else {
        if (!fs::exists(path)) throw FileError(path, "does not exist");
        const auto source = CheckpointSource::open(path);
        if (source->config().empty())
            throw FileError(path, "has no configuration (config.json); put it beside the weights");
        try {
            p.options = modelFromPublishedConfig(source->config());
        } catch (const FileError&) {
            throw;
        } catch (const Error& error) {
            throw FileError(source->configFrom() == "config.json" ? path + "/config.json" : path,
                            error.what());
        }
        p.run.model = p.options;
        p.model = makeModel(p.options);
        p.warning = loadWeights(*p.model, *source).text();
    }
    p.model->to(torch::Device(resolveDevice(device)));
    p.model->eval();
}

OpenedModel::~OpenedModel() = default;
OpenedModel::OpenedModel(OpenedModel&&) noexcept = default;
OpenedModel& OpenedModel::operator=(OpenedModel&&) noexcept = default;

const ModelOptions& OpenedModel::options() const {
    return m_parts->options;
}
const RunOptions& OpenedModel::run() const {
    return m_parts->run;
}
bool OpenedModel::isRun() const {
    return m_parts->isRun;
}
std::int64_t OpenedModel::step() const {
    return m_parts->step;
}
const std::string& OpenedModel::warning() const {
    return m_parts->warning;
}

ProbeResult OpenedModel::probe(const ProbeSample& sample,
                               const std::vector<std::string>& classNames) {
    return probeModel(*m_parts->model, m_parts->options, sample, m_parts->step, classNames);
}

Evaluation OpenedModel::evaluate(const DatasetPtr& data, std::int64_t batchSize,
                                 std::stop_token stop, const ProgressCallback& progress) {
    return evaluateModel(*m_parts->model, data, batchSize, m_parts->options.num_classes, false,
                         std::move(stop), progress);
}

}  // namespace relascope
