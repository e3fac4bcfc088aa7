#include "train/open_model.h"

#include <filesystem>

#include "checkpoint/tensor_io.h"
#include "files/atomic_file.h"
#include "options/options_json.h"
#include "options/published_config.h"
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
    std::string weights;
    if (isRunFolder(path)) {
        p.isRun = true;
        p.run = readRunOptions(path);
        p.options = p.run.model;
        const bool restores = p.run.train.early_stopping.restore_best;
        weights =
            checkpointWeights(path, which.empty() ? (restores ? "best" : "last") : which, &p.step);
    } else if (fs::is_regular_file(fs::path(path) / "config.json")) {
        const std::string config = path + "/config.json";
        try {
            p.options = modelFromPublishedConfig(readTextFile(config, 1 << 20));
        } catch (const FileError&) {
            throw;
        } catch (const Error& error) {
            throw FileError(config, error.what());
        }
        p.run.model = p.options;
        weights = path + "/model.safetensors";
    } else {
        throw FileError(path, fs::exists(path)
                                  ? "is neither a run folder (run.json) nor a checkpoint folder "
                                    "(config.json and model.safetensors)"
                                  : "does not exist");
    }
    p.model = makeModel(p.options);
    p.warning = loadWeights(*p.model, weights).text();
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
