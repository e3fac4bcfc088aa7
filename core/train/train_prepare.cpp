// SPDX-License-Identifier: GPL-3.0-or-later
// Preparation before the first step: checks that data and model fit together, and takes weights,
// optimizer and position from the checkpoint or from the pretraining stage.
#include <ATen/Context.h>
#include <torch/utils.h>

#include <cmath>
#include <filesystem>

#include "data/text.h"
#include "model/architecture.h"
#include "model/attention/relational_attention.h"
#include "options/builtin_resources.h"
#include "options/estimates.h"
#include "options/field_text.h"
#include "options/metrics.h"
#include "run/captures.h"
#include "train/continue_text.h"
#include "train/init_from.h"
#include "train/requirements.h"
#include "train/trainer.h"
#include "types/data_kind.h"

namespace relascope::core {

void Trainer::requireData() {
    for (const auto& [name, data] :
         {std::pair{"train", m_data.train}, {"validation", m_data.validation}})
        if (data->info().size < 1)
            throw OptionError("data", std::string("the ") + name + " set is empty");
    if (text()) fitVocabulary();
    fitImages();
    requireReadable(m_options.model, *m_data.train);
    requireReadable(m_options.model, *m_data.validation);
}

// The size of images and the number of classes of a folder of images follow from its files.
void Trainer::fitImages() {
    const auto& kind = dataKind(m_options.data.kind);
    if (!kind.sizesFromFiles || !kind.sizesFromFiles(m_options.data) ||
        !checkpointSteps(m_folder.checkpointsPath()).empty())
        return;
    const auto& info = m_data.train->info();
    auto& images = m_options.model.get<ImageInput>();
    images.image_shape = {info.channels, info.width, info.height};
    images.num_classes = static_cast<std::int64_t>(info.classNames.size());
    m_options.model.check();
    m_folder.setOptions(m_options);
}

// A new model takes the size of its vocabulary from the tokenizer; a model that already has weights
// must match. The tokenizer is stored with the run, so that the text may change later.
void Trainer::fitVocabulary() {
    const auto& tokenizer = m_data.tokenizer;
    const bool fresh = checkpointSteps(m_folder.checkpointsPath()).empty();
    auto& vocabulary = m_options.model.get<TokenInput>().vocab_size;
    if (tokenizer && fresh &&
        (m_options.data.tokenizer == "characters" || vocabulary < tokenizer->size())) {
        vocabulary = tokenizer->size();
        m_folder.setOptions(m_options);
    }
    if (tokenizer) requireVocabulary(*tokenizer, vocabulary);
    requireTokensWithin(m_data, vocabulary, {}, m_stop);
    const std::string file = m_folder.path() + "/tokenizer.json";
    if (tokenizer && m_options.data.tokenizer != "gpt2" && !std::filesystem::exists(file))
        writeTokenizer(*tokenizer, file);
}

void Trainer::prepare() {
    m_options.check();
    requireData();
    const auto& model = m_options.model;
    if (m_options.train.precision == "bfloat16" && !m_device.is_cuda())
        note(Note::Level::Warning,
             "bfloat16 autocast needs a CUDA device; the run uses float32 on the CPU");
    requireMemory(m_options, m_device.str());

    at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/true);
    at::globalContext().setFloat32MatmulPrecision("highest");
    const auto seed = static_cast<std::uint64_t>(m_folder.info().seed);
    torch::manual_seed(seed);
    m_model = makeModel(model);
    if (m_options.train.init == "may-2024") initRelationsAsMay2024(*m_model);
    if (m_options.pretraining() && checkpointSteps(m_folder.checkpointsPath()).empty())
        initFrom(m_folder.path() + "/before", m_options.initFrom(), *m_model);
    m_model->to(m_device);
    m_model->checkpointsActivations = m_options.train.activation_checkpointing;
    m_optimizer = std::make_unique<Optimizer>(*m_model, m_options.train);
    m_state.baseRate = m_options.train.learning_rate;
    m_state.evaluateEvery = m_options.train.evaluate_every;
    m_state.captureEvery = m_options.train.capture_every;
    m_totalSteps = trainableParameters(*m_model).empty() ? 0
                   : m_options.train.steps > 0           ? m_options.train.steps
                                                         : m_options.train.epochs * epochSteps();
    m_recordEvery = std::max<std::int64_t>(1, m_totalSteps / 20000);

    auto& info = m_folder.info();
    std::vector<std::string> problems;
    const std::string newest = newestCheckpoint(m_folder.checkpointsPath(), &problems);
    for (const auto& problem : problems)
        note(Note::Level::Warning, "checkpoint " + problem + "; an older checkpoint is used");
    if (!newest.empty()) {
        m_state = loadCheckpoint(newest, *m_model, m_optimizer.get());
        takeLiveOptions();
        if (m_state.device != m_device.str() || m_state.threads != threadCount())
            note(Note::Level::Warning, "resumed with " + m_device.str() + " and " +
                                           std::to_string(threadCount()) + " threads instead of " +
                                           m_state.device + " and " +
                                           std::to_string(m_state.threads) +
                                           ": losses will not be bit-for-bit identical");
        note(Note::Level::Info, "resumed from step " + std::to_string(m_state.step));
    }
    const auto& stopping = m_options.train.early_stopping;
    m_stoppedEarly = stopping.enabled() && m_state.badEvaluations >= stopping.patience;
    // At step 0 the first evaluation is repeated as well.
    m_folder.rewindMetrics(m_state.step > 0 ? m_state.step : -1);
    for (const auto& point : readMetrics(m_folder.path())) {
        if (point.split != Split::Validation || point.step != m_state.step) continue;
        m_lastEvaluated = point.step;  // a finished run that is resumed is not evaluated twice
        m_lastValidation = point;
    }
    info.device = m_device.str();
    info.totalSteps = m_totalSteps;
    info.metric = shownMetric(m_options);
    info.options = optionTexts(m_options);
    info.parameters = parameterCount(model);
    m_folder.setFact("version", builtin::version());
    m_folder.setFact("torch", torchVersion());
    m_folder.setFact("threads", std::to_string(threadCount()));
    m_state.device = m_device.str();
    m_state.threads = threadCount();
    chooseProbes();
}

// Captures stay within their budget: fewer inputs if the maps are large.
void Trainer::chooseProbes() {
    const auto& model = m_options.model;
    const double tokens = static_cast<double>(model.tokens());
    const auto work = model.info().work(model);
    const std::int64_t symbols = model.info().dual ? 4 : 0;
    const double perSample = 4.0 * tokens * tokens *
                             static_cast<double>(std::max<std::int64_t>(
                                 1, work.layers * (work.heads + work.relations + symbols)));
    const double fits = static_cast<double>(kCaptureBudget) /
                        (perSample * static_cast<double>(captureCount(
                                         m_totalSteps, m_options.train.capture_every)));
    const auto samples =
        std::min<std::int64_t>({m_options.train.capture_samples, static_cast<std::int64_t>(fits),
                                m_data.validation->size()});
    if (text()) {
        // One sentence, usually much shorter than the context, cut to the budget.
        const auto longest = static_cast<std::int64_t>(tokens * std::sqrt(fits));
        if (m_data.tokenizer && m_options.train.capture_samples > 0 && longest > 0 &&
            !m_options.data.pinned_text.empty())
            m_probes.push_back(textSample(*m_data.tokenizer, m_options.data.pinned_text,
                                          std::min(longest, model.tokens()), "pinned sentence"));
        return;
    }
    for (std::int64_t i = 0; i < samples; ++i) {
        auto sample = m_data.validation->sample(i);
        // All maps of a capture have the same shape: only sequences as long as the first one are
        // used.
        if (i > 0 && (sample.source.size() != m_probes[0].source.size() ||
                      sample.target.size() != m_probes[0].target.size()))
            continue;
        if (i > 0 && sample.source.text) break;  // one text at a time
        m_probes.push_back(std::move(sample));
    }
}

}  // namespace relascope::core
