// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/controllers/run_input.h"

#include <QRandomGenerator>
#include <algorithm>
#include <utility>

#include "app/controllers/examples.h"
#include "app/controllers/job_queue.h"
#include "app/controllers/runs_controller.h"
#include "app/controllers/training_controller.h"
#include "app/controllers/typed_text.h"
#include "app/selection.h"
#include "model/recorded/recorded_options.h"
#include "question/question_fields.h"
#include "question/question_input.h"
#include "run/run_folder.h"
#include "text/tokenizer.h"
#include "types/data_kind.h"
#include "wire/host_link.h"

namespace relascope::app {

std::shared_ptr<const wire::OpenedData> openRunData(Engine& models, const std::string& run,
                                                    const DataOptions& options,
                                                    const Looker::Progress& progress) {
    const auto of = wire::farPathOf(run) ? run : std::string();
    return std::make_shared<const wire::OpenedData>(
        wire::openData(models.session, {options, false, -1, of}, progress));
}

RunInput::RunInput(RunsController& runs, TrainingController& training, Selection& selection,
                   Looker& looker, QObject* parent)
    : QObject(parent),
      m_runs(runs),
      m_training(training),
      m_selection(selection),
      m_looker(looker),
      m_feed(looker) {
    m_feed.setTrainer({[&training](const ProbeSample& sample, const EditList& edits, bool points) {
                           return training.probe(sample, edits, points);
                       },
                       [&training] { return training.running(); }});
    connect(&m_feed, &InspectorFeed::inputRead, this, [this] {
        m_search.abandon();
        ask();
    });
    connect(&m_feed, &InspectorFeed::textRead, this, &RunInput::emitText);
    connect(&m_feed, &InspectorFeed::capturesCounted, this, [this](qint64 samples) {
        if (std::exchange(m_capturedCount, samples) != samples) offerSplits();
    });
    connect(&m_feed, &InspectorFeed::refused, this, &RunInput::refuse);
    connect(&m_feed, &InspectorFeed::failed, this, &RunInput::failed);
    // A run that another program records is shown by its newest capture.
    const auto news = [this](const QString& path) {
        if (path == m_run && lacksData() && !m_selection.step()) ask();
    };
    connect(&runs.records(), &RunRecords::loaded, this, news);
    // Whether a step shows its captures or its kept weights is known once the run has been read.
    connect(&runs.records(), &RunRecords::loaded, this, [this](const QString& path) {
        if (path == m_run && m_selection.step() && m_feed.source() != source()) ask();
    });
    connect(&runs.records(), &RunRecords::capturesChanged, this, news);
    m_reading.setInterval(1000);
    connect(&m_reading, &QTimer::timeout, this, [this] {
        if (const auto& job = m_following.job(); job && !m_feed.shownStep())
            Q_EMIT cleared(
                QString("Reading the data of this run, %1 %").arg(qRound(100 * job->fraction)));
    });
    connect(&selection, &Selection::viewChanged, this,
            [this] { m_feed.setShownLayer(m_selection.view().layer); });
    connect(&selection, &Selection::currentChanged, this, &RunInput::follow);
    connect(&selection, &Selection::stepChanged, this, [this] {
        m_search.abandon();
        m_feed.drop();
        offerSplits();
        emitText();
        ask();
    });
    connect(&training, &TrainingController::runBegan, this, [this](const QString& path) {
        if (path == m_run) follow();
    });
    connect(&training, &TrainingController::runEnded, this, [this](const QString& path) {
        if (path != m_run) return;
        // The weights on disk are newer than the loaded ones.
        m_feed.dropWeights();
        m_feed.drop();
    });
    connect(&training, &TrainingController::finished, this, [this] {
        m_feed.dropLive();
        ask();
    });
    connect(&training, &TrainingController::progressed, &m_feed,
            [this](const Progress& progress) { m_feed.stepped(progress.step); });
    connect(&training, &TrainingController::probeAnswered, &m_feed, &InspectorFeed::answered);
}

RunInput::~RunInput() = default;

// The run
// ---------------------------------------------------------------------------------------------------

bool RunInput::recorded() const {
    return m_options && core::isRecorded(m_options->model);
}

bool RunInput::lacksData() const {
    return m_options && !findDataKind(m_options->data.kind)->trains;
}

bool RunInput::trains() const {
    return m_training.busy() && m_training.run() == m_run;
}

InspectorFeed::Source RunInput::source() const {
    using Source = InspectorFeed::Source;
    if (m_run.isEmpty()) return Source::Weights;
    if (recorded() || (lacksData() && !m_feed.own())) return Source::Captures;
    if (!m_selection.step()) return trains() ? Source::Training : Source::Weights;
    // A captured step without kept weights shows its captures.
    const auto& records = m_runs.records();
    const auto has = [&](const std::vector<qint64>& steps) {
        return std::binary_search(steps.begin(), steps.end(), *m_selection.step());
    };
    const auto& kept = records.kept(m_run);
    // Edits need weights: with them the nearest ones are shown.
    const bool capturedOnly = has(records.captures(m_run)) && !has(kept) && !m_edits.anyEnabled();
    return kept.empty() || capturedOnly ? Source::Captures : Source::Weights;
}

QString RunInput::whyNotEdited() const {
    if (!showsCapture()) return {};
    if (QString none = m_runs.whyNoModel(m_run); !none.isEmpty()) return none;
    return m_runs.records().kept(m_run).empty()
               ? QStringLiteral(
                     "Captures hold maps without weights, and this run kept no weights "
                     "along training; press Live to edit the model")
               : QString();
}

struct RunInput::Read {
    RunOptions options;
    std::shared_ptr<const wire::OpenedData> data;
    core::TokenizerPtr tokenizer;
    std::optional<ProbeSample> pinned;
    /// Why the data of a run on text cannot be read; texts can still be typed.
    std::string problem;
};

void RunInput::follow() {
    const QString before = std::exchange(m_run, m_selection.current());
    if (m_feed.chosen() && before != m_run)
        m_ownInputs[before] = m_feed.request();
    else if (before != m_run)
        m_ownInputs.erase(before);
    m_options.reset();
    Q_EMIT modelChanged();
    m_data.reset();
    m_pinned.reset();
    m_feed.forget();
    m_search.abandon();
    m_following.abandon();
    if (m_run.isEmpty()) {
        m_reading.stop();
        Q_EMIT cleared({});
        return;
    }
    std::optional<RunOptions> known;
    if (source() == InspectorFeed::Source::Training) known = m_training.options();
    m_reading.start();
    // Reading a large text takes long; it is cancelled when another run is chosen.
    const auto work = [path = m_run.toStdString(), known](Engine& models, LongJob&,
                                                          const Looker::Progress& wanted) {
        Read found{known ? *known : core::readRunOptions(path), nullptr, nullptr, {}, {}};
        const bool text = found.options.data.isText();
        if (text)
            wire::mirrorFile(models.session, path + "/tokenizer.json", [&] { return wanted(0.0); });
        if (core::isRecorded(found.options.model) || !findDataKind(found.options.data.kind)->trains)
            return found;  // its inputs are those of its captures
        const DataOptions options = core::runData(path, found.options.data);
        if (text && options.tokenizer != "characters")
            found.tokenizer = core::openTokenizer(options.tokenizer);
        try {
            found.data = openRunData(models, path, options, wanted);
        } catch (const Cancelled&) {
            throw;
        } catch (const std::exception& error) {
            if (!text) throw;
            found.problem = userMessage(error);
        }
        if (found.tokenizer && !options.pinned_text.empty()) {
            const auto& model = found.options.model;
            found.pinned = typedText(*found.tokenizer, options.pinned_text, model).sample;
            found.pinned->origin = "pinned sentence";
        }
        return found;
    };
    m_looker.run(
        m_following, {}, work, [this](Read found) { take(std::move(found)); },
        [this](const QString& sentence) {
            m_reading.stop();
            refuse(sentence);
        });
    if (m_selection.step()) ask();  // captures need no data
}

void RunInput::take(Read found) {
    m_reading.stop();
    m_options = std::move(found.options);
    Q_EMIT modelChanged();
    m_data = std::move(found.data);
    m_pinned = std::move(found.pinned);
    m_feed.setTokenNames(m_data ? m_data->tokenNames : std::vector<std::string>());
    // The pinned sentence is shown first: a short text, the same as in the captures.
    const bool first = m_selection.split() == QLatin1String("validation") &&
                       m_selection.sample() == 0 && !m_chosen;
    if (m_pinned && first) m_selection.setSample(kPinnedSplit, 0);
    if (!m_pinned && m_selection.split() == kPinnedSplit)
        m_selection.setSample(QStringLiteral("validation"), 0);
    offerSplits();
    if (!found.problem.empty()) Q_EMIT failed(QString::fromStdString(found.problem));
    m_feed.setModel(
        m_options->model, std::move(found.tokenizer),
        readsText() ? QStringLiteral("The tokenizer of this run is unknown; set data.tokenizer.")
                    : QStringLiteral("The input of this run is not text."));
    // What the user gave this run before another one was shown, or while it was read.
    const auto own = m_ownInputs.extract(m_run);
    if (own) choose(own.mapped());
    if (!own || core::hasOwnInput(own.mapped())) ask();
}

void RunInput::offerSplits() {
    if (showsCapture()) {
        Q_EMIT splitsChanged({QStringLiteral("captured")}, {std::max<qint64>(1, m_capturedCount)});
        Q_EMIT labelsChanged({});
        Q_EMIT sampleShown(QStringLiteral("captured"), m_captured);
        return;
    }
    if (!m_data && !m_pinned) return;
    QStringList names;
    std::vector<qint64> sizes;
    if (m_data)
        for (const auto& split : m_data->splits) {
            names << QString::fromStdString(split.name);
            sizes.push_back(split.info.size);
        }
    if (m_pinned) {
        names << kPinnedSplit;
        sizes.push_back(1);
    }
    Q_EMIT splitsChanged(names, sizes);
    QStringList labels;
    if (m_data)
        for (const auto& name : m_data->at("validation").labels())
            labels << QString::fromStdString(name);
    Q_EMIT labelsChanged(labels);
    Q_EMIT sampleShown(m_selection.split(), m_selection.sample());
}

std::optional<wire::Asked> RunInput::question() const {
    auto asked = weightsAt(m_run, m_selection.step(), m_edits);
    if (showsCapture()) {
        asked.set("sample", std::int64_t{m_captured});
        return asked;
    }
    if (m_pinned && (!m_data || m_selection.split() == kPinnedSplit)) {
        asked.sample = m_pinned;
        asked.set("text", m_options->data.pinned_text);
    } else if (m_data) {
        const auto& split = m_data->at(m_selection.split().toStdString());
        const auto last = std::max<std::int64_t>(0, split.info.size - 1);
        asked.set("sample", std::clamp<std::int64_t>(m_selection.sample(), 0, last));
        asked.set("split", split.name);
    } else if (!m_options || !m_feed.chosen()) {
        return std::nullopt;
    }
    if (m_data) {
        asked.data = m_data->data;
        asked.classNames = m_data->at("validation").info.classNames;
    }
    return asked;
}

void RunInput::ask() {
    if (m_run.isEmpty()) return;
    // Before its first capture there is nothing to ask for.
    if (recorded() && m_runs.records().captures(m_run).empty())
        return Q_EMIT cleared(QStringLiteral("Nothing has been captured yet."));
    if (auto asked = question()) m_feed.show(std::move(*asked), source());
}

void RunInput::setEdits(const EditList& edits) {
    if (edits == m_edits) return;
    m_edits = edits;
    // A newer list replaces one that is being computed.
    if (source() == InspectorFeed::Source::Weights) m_feed.drop();
    ask();
}

void RunInput::refuse(const QString& sentence) {
    Q_EMIT failed(sentence);
    if (!m_feed.shownStep()) Q_EMIT cleared(sentence);
}

// The input
// ---------------------------------------------------------------------------------------------------

void RunInput::choose(const Question& input) {
    if (!m_options) {
        m_ownInputs[m_run] = input;  // until the run has been read
        return;
    }
    if (input.option("image")) return chooseImage(QString::fromStdString(input.text("image")));
    if (m_pinned && input.option("text") && input.text("text") == m_options->data.pinned_text)
        return chooseSample(kPinnedSplit, 0);
    if (input.option("text")) return m_feed.offerText(QString::fromStdString(input.text("text")));
    if (core::hasOwnInput(input)) return m_feed.choose(input);
    chooseSample(QString::fromStdString(input.value<std::string>("split", "validation")),
                 input.value<std::int64_t>("sample"));
}

void RunInput::chooseSample(const QString& split, qint64 index) {
    m_search.abandon();
    m_ownInputs.erase(m_run);
    if (showsCapture()) {
        // Until they are counted any may be there; reading takes the last one for those beyond it.
        const qint64 last = m_capturedCount > 0 ? m_capturedCount - 1 : index;
        m_captured = std::clamp<qint64>(index, 0, std::max<qint64>(0, last));
        Q_EMIT sampleShown(QStringLiteral("captured"), m_captured);
    } else {
        m_feed.forgetInput();
        m_chosen = true;
        m_selection.setSample(split, index);
        Q_EMIT sampleShown(split, index);
    }
    ask();
}

void RunInput::chooseRandom(const QString& split, int label) {
    if (showsCapture()) {
        if (m_capturedCount > 1)  // another input than the one shown
            chooseSample(split, (m_captured + 1 +
                                 QRandomGenerator::global()->bounded(qint64{m_capturedCount - 1})) %
                                    m_capturedCount);
        return;
    }
    const auto* data = m_data ? m_data->find(split.toStdString()) : nullptr;
    if (!data) return split == kPinnedSplit ? chooseSample(split, 0) : void();
    const qint64 index = QRandomGenerator::global()->bounded(qint64{data->info.size});
    if (label < 0) return chooseSample(split, index);
    searchFrom(split, index, label, true);
}

void RunInput::chooseByLabel(const QString& split, int label, bool forward) {
    searchFrom(split, m_selection.sample(), label, forward);
}

void RunInput::searchFrom(const QString& split, qint64 from, int label, bool forward) {
    const auto* data = m_data && !showsCapture() ? m_data->find(split.toStdString()) : nullptr;
    if (!data || data->labels().empty()) return;
    const auto job = m_search.begin(QStringLiteral("Searching %1 for the label").arg(split));
    search(job, {m_data->data, split.toStdString(), from}, label, forward, 0);
}

/// Searches one part of the data; the next part follows the requests that the inspector made
/// meanwhile.
void RunInput::search(const std::shared_ptr<LongJob>& job, const wire::Example& from, int label,
                      bool forward, std::int64_t before) {
    m_looker.post(
        this,
        [from, label, forward, before, job](Engine& models, const Looker::Progress& progress) {
            return wire::findLabel(models.session, from, label, forward, before, [&](double done) {
                job->fraction = done;
                return progress(done) && !job->stop.stop_requested();
            });
        },
        [this, job, from, label, forward](wire::LabelSearch found) {
            if (job != m_search.job()) return;
            if (!found.index && !found.all)
                return search(job, from, label, forward, found.searched);
            m_search.finish();
            const QString split = QString::fromStdString(from.split);
            if (found.index) return chooseSample(split, *found.index);
            Q_EMIT failed(QString("No sample in %1 has this label; select \u201CAny label\u201D.")
                              .arg(split));
        },
        [this, job](const QString& sentence) {
            if (job != m_search.job()) return;
            m_search.finish();
            Q_EMIT failed(sentence);
        });
}

void RunInput::chooseImage(const QString& path) {
    if (!m_options && !m_run.isEmpty()) return choose(inputAs({{"image", path.toStdString()}}));
    if (!m_options || showsCapture()) {
        Q_EMIT failed(
            showsCapture()
                ? QStringLiteral(
                      "An image can be inspected with the newest weights only; press Live first.")
                : QStringLiteral(
                      "Start or open a run first, then drop an image onto its inspector."));
        return;
    }
    if (readsText()) return m_feed.chooseTextFile(path);
    if (m_options->model.input() != InputKind::Images) {
        Q_EMIT failed(QStringLiteral("The input of this run is %1, not images; choose one of them.")
                          .arg(exampleWord(m_options->data, true)));
        return;
    }
    m_feed.choose(inputAs({{"image", path.toStdString()}}));
}

void RunInput::emitText() {
    if (m_feed.text().isEmpty()) return;
    Q_EMIT textProblem(
        showsCapture()
            ? QStringLiteral(
                  "Captures contain the pinned sentence only; press Live to type your own text.")
            : m_feed.textNote());
}

}  // namespace relascope::app
