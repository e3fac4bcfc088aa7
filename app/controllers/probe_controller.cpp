// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/controllers/probe_controller.h"

#include <QRandomGenerator>
#include <algorithm>
#include <charconv>
#include <limits>

#include "app/controllers/examples.h"
#include "app/controllers/inspection.h"
#include "app/controllers/job_queue.h"
#include "app/controllers/runs_controller.h"
#include "app/controllers/training_controller.h"
#include "app/selection.h"
#include "model/recorded/recorded_options.h"
#include "probe/probe_memory.h"
#include "question/question_fields.h"
#include "run/run_folder.h"
#include "text/tokenizer.h"
#include "types/data_kind.h"
#include "wire/host_link.h"

namespace relascope::app {
ProbeController::ProbeController(RunsController& runs, TrainingController& training,
                                 Selection& selection, Looker& looker, QObject* parent)
    : QObject(parent),
      m_runs(runs),
      m_training(training),
      m_selection(selection),
      m_looker(looker),
      m_session(looker) {
    m_pace.setSingleShot(true);
    connect(&m_pace, &QTimer::timeout, this, &ProbeController::ask);
    connect(&m_session, &Inspection::inputRead, this, [this] {
        m_search.abandon();
        ask();
    });
    connect(&m_session, &Inspection::textRead, this, &ProbeController::emitText);
    connect(&m_session, &Inspection::capturesCounted, this, [this](qint64 samples) {
        if (std::exchange(m_capturedCount, samples) != samples) offerSplits();
    });
    connect(&m_session, &Inspection::partlyInspected, this,
            [this](const std::shared_ptr<const ProbeResult>& result) {
                show({result, {}, {}, {}, {}});
            });
    connect(&m_session, &Inspection::inspected, this, &ProbeController::answered);
    // Of a run that another program records the newest capture is what is shown of it now.
    const auto news = [this](const QString& path) {
        if (path == m_run && lacksData() && !m_selection.step()) ask();
    };
    connect(&runs.records(), &RunRecords::loaded, this, news);
    connect(&runs.records(), &RunRecords::capturesChanged, this, news);
    connect(&m_session, &Inspection::pointsFound, this, [this](const Points& points) {
        m_points = points;
        Q_EMIT pointsFound(points);
    });
    connect(&m_session, &Inspection::editsRefused, this, &ProbeController::editsRefused);
    connect(&m_session, &Inspection::meansFound, this, &ProbeController::meansFound);
    connect(&m_session, &Inspection::refused, this, [this](const QString& sentence) {
        m_waiting = false;
        // A missing capture is not requested again.
        if (mode() == Mode::Captured) m_again = false;
        refuse(sentence);
        if (std::exchange(m_again, false)) ask();
    });
    connect(&m_session, &Inspection::failed, this, &ProbeController::failed);
    m_reading.setInterval(1000);
    connect(&m_reading, &QTimer::timeout, this, [this] {
        if (const auto& job = m_following.job(); job && m_shownStep < 0)
            Q_EMIT cleared(
                QString("Reading the data of this run, %1 %").arg(qRound(100 * job->fraction)));
    });
    connect(&selection, &Selection::viewChanged, this,
            [this] { m_session.setShownLayer(m_selection.view().layer); });
    connect(&selection, &Selection::currentChanged, this, &ProbeController::follow);
    connect(&selection, &Selection::stepChanged, this, [this] {
        m_search.abandon();
        drop();
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
        m_session.dropWeights();
        drop();
    });
    // A request that came after the last step has no answer.
    connect(&training, &TrainingController::finished, this, [this] {
        if (std::exchange(m_liveRequest, 0) != 0) m_waiting = false;
        ask();
    });
    connect(&training, &TrainingController::progressed, this, [this](const Progress& progress) {
        // Paused: each single step is inspected. Running: the timer sends requests.
        const bool asked = m_pace.isActive() || (m_waiting && m_training.running());
        if (mode() == Mode::Live && progress.step != m_shownStep && !asked) ask();
    });
    connect(&training, &TrainingController::probeAnswered, this, [this](const ProbeAnswer& answer) {
        if (answer.request != m_liveRequest || mode() != Mode::Live) return;
        m_liveRequest = 0;
        if (m_training.running())
            m_pace.start(std::max(kLiveInterval, static_cast<int>(1000 * answer.seconds)));
        if (answer.error.empty()) {
            if (!answer.points.empty()) {
                m_points = std::make_shared<const std::vector<PointInfo>>(answer.points);
                Q_EMIT pointsFound(m_points);
            }
            Q_EMIT editsRefused({});
            Q_EMIT meansFound(m_liveEdits, answer.means);
            return answered(inspectedOf(std::make_shared<const ProbeResult>(answer.result),
                                        answer.base, m_liveEdits,
                                        m_points ? *m_points : std::vector<PointInfo>()));
        }
        if (m_liveEdits.anyEnabled()) Q_EMIT editsRefused(QString::fromStdString(answer.error));
        m_waiting = false;
        refuse(QString::fromStdString(answer.error));
        if (std::exchange(m_again, false)) ask();
    });
}

ProbeController::~ProbeController() = default;

void ProbeController::setWatched(const QObject* by, bool watched) {
    const bool before = !m_watching || !m_watching->empty();
    if (!m_watching) m_watching.emplace();
    if (watched)
        m_watching->insert(by);
    else
        m_watching->erase(by);
    if (before == !m_watching->empty()) return;
    if (!before)
        ask();
    else
        m_pace.stop();
}

bool ProbeController::recorded() const {
    return m_options && core::isRecorded(m_options->model);
}

bool ProbeController::lacksData() const {
    return m_options && !findDataKind(m_options->data.kind)->trains;
}

ProbeController::Mode ProbeController::mode() const {
    if (m_run.isEmpty()) return Mode::Nothing;
    if (recorded() || (lacksData() && !m_session.own())) return Mode::Captured;
    if (m_selection.step()) {
        // A captured step without kept weights shows its captures.
        const auto& records = m_runs.records();
        const auto has = [&](const std::vector<qint64>& steps) {
            return std::binary_search(steps.begin(), steps.end(), *m_selection.step());
        };
        const auto& kept = records.kept(m_run);
        // Edits need weights: with them the nearest ones are shown.
        const bool capturedOnly =
            has(records.captures(m_run)) && !has(kept) && !m_edits.anyEnabled();
        return kept.empty() || capturedOnly ? Mode::Captured : Mode::Kept;
    }
    return m_training.busy() && m_training.run() == m_run ? Mode::Live : Mode::Finished;
}

QString ProbeController::whyNotEdited() const {
    if (!showsCapture() || m_run.isEmpty()) return {};
    if (const QString none = m_runs.whyNoModel(m_run); !none.isEmpty()) return none;
    return m_runs.records().kept(m_run).empty()
               ? QStringLiteral(
                     "Captures hold maps without weights, and this run kept no weights "
                     "along training; press Live to edit the model")
               : QString();
}

void ProbeController::follow() {
    const QString before = std::exchange(m_run, m_selection.current());
    if (m_session.chosen() && before != m_run)
        m_ownInputs[before] = m_session.request();
    else if (before != m_run)
        m_ownInputs.erase(before);
    m_options.reset();
    Q_EMIT modelChanged();
    m_points.reset();
    m_data.reset();
    m_example.reset();
    m_pinned.reset();
    m_session.setModel(std::nullopt, nullptr);
    m_session.forgetInput();
    m_shownStep = -1;
    m_again = false;
    m_search.abandon();
    drop();
    m_following.abandon();
    if (m_run.isEmpty()) {
        m_reading.stop();
        Q_EMIT cleared({});
        return;
    }
    struct LoadedRunData {
        RunOptions options;
        std::shared_ptr<const wire::OpenedData> data;
        core::TokenizerPtr tokenizer;
        std::optional<ProbeSample> pinned;
        /// Why the data of a run on text cannot be read; texts can still be typed.
        std::string problem;
    };
    std::optional<RunOptions> known;
    if (mode() == Mode::Live) known = m_training.options();
    m_reading.start();
    // Reading a large text takes long; it is cancelled when another run is chosen.
    const auto work = [path = m_run.toStdString(), known](Engine& models, LongJob&,
                                                          const Looker::Progress& wanted) {
        LoadedRunData found{known ? *known : core::readRunOptions(path), nullptr, nullptr, {}, {}};
        const bool text = found.options.data.isText(), far = wire::farPathOf(path).has_value();
        if (text)
            wire::mirrorFile(models.session, path + "/tokenizer.json", [&] { return wanted(0.0); });
        if (core::isRecorded(found.options.model) || !findDataKind(found.options.data.kind)->trains)
            return found;  // its inputs are those of its captures
        const DataOptions options = core::runData(path, found.options.data);
        if (text && options.tokenizer != "characters")
            found.tokenizer = core::openTokenizer(options.tokenizer);
        try {
            found.data = std::make_shared<const wire::OpenedData>(wire::openData(
                models.session, {options, false, -1, far ? path : std::string()}, wanted));
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
        m_following, {}, work,
        [this](LoadedRunData found) {
            m_reading.stop();
            m_options = std::move(found.options);
            Q_EMIT modelChanged();
            m_data = std::move(found.data);
            m_pinned = std::move(found.pinned);
            // The pinned sentence is shown first: a short text, the same as in the captures.
            const bool first = m_selection.split() == QLatin1String("validation") &&
                               m_selection.sample() == 0 && !m_chosen;
            if (m_pinned && first) m_selection.setSample(kPinnedSplit, 0);
            if (!m_pinned && m_selection.split() == kPinnedSplit)
                m_selection.setSample(QStringLiteral("validation"), 0);
            offerSplits();
            if (!found.problem.empty()) Q_EMIT failed(QString::fromStdString(found.problem));
            m_session.setModel(
                m_options->model, std::move(found.tokenizer),
                readsText()
                    ? QStringLiteral("The tokenizer of this run is unknown; set data.tokenizer.")
                    : QStringLiteral("The input of this run is not text."));
            // What the user gave this run before another one was shown.
            if (const auto own = m_ownInputs.find(m_run); own != m_ownInputs.end()) {
                own->second.option("text")
                    ? m_session.offerText(QString::fromStdString(own->second.text("text")))
                    : m_session.choose(own->second);
            }
            ask();
        },
        [this](const QString& sentence) {
            m_reading.stop();
            refuse(sentence);
        });
    if (m_selection.step()) ask();  // captures need no data
}

void ProbeController::offerSplits() {
    if (mode() == Mode::Captured) {
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

std::optional<wire::Asked> ProbeController::input() const {
    wire::Asked asked;
    asked.command = core::kInspectView;
    if (mode() == Mode::Captured) {
        asked.set("sample", std::int64_t{m_captured});
        return asked;
    }
    if (m_session.chosen()) {
        asked = m_session.input();
    } else if (m_pinned && (!m_data || m_selection.split() == kPinnedSplit)) {
        asked.sample = m_pinned;
        asked.set("text", m_options->data.pinned_text);
    } else if (m_data) {
        const auto& split = m_data->at(m_selection.split().toStdString());
        const auto last = std::max<std::int64_t>(0, split.info.size - 1);
        asked.set("sample", std::clamp<std::int64_t>(m_selection.sample(), 0, last));
        asked.set("split", split.name);
    } else {
        return std::nullopt;
    }
    if (m_data) {
        asked.data = m_data->data;
        asked.classNames = m_data->at("validation").info.classNames;
    }
    return asked;
}

void ProbeController::ask() {
    if (m_watching && m_watching->empty()) return;
    if (m_waiting) {
        m_again = true;
        return;
    }
    switch (mode()) {
        case Mode::Nothing:
            return;
        case Mode::Live:
            return askLive();
        case Mode::Captured:
            // Before its first capture there is nothing to ask for.
            if (recorded() && m_runs.records().captures(m_run).empty())
                return Q_EMIT cleared(QStringLiteral("Nothing has been captured yet."));
            m_waiting = true;
            return m_session.inspectCapture(
                m_run, m_selection.step().value_or(std::numeric_limits<qint64>::max()), m_captured);
        case Mode::Finished:
        case Mode::Kept:
            break;
    }
    auto chosen = input();
    if (!chosen || !m_options) return;
    m_waiting = true;
    m_session.setEdits(m_edits);
    m_session.inspectRun(m_run, mode() == Mode::Kept ? m_selection.step() : std::nullopt,
                         std::move(*chosen));
}

void ProbeController::askLive() {
    auto chosen = input();
    if (!chosen) return;
    if (!chosen->sample && !chosen->option("sample"))
        return refuse(
            QStringLiteral("A training reads texts, pictures and examples: choose one of these"));
    if (!chosen->sample) {
        const wire::Example example{m_data->data, chosen->text("split"),
                                    chosen->value<std::int64_t>("sample")};
        if (!m_example || m_exampleName != std::pair(example.split, example.index))
            return readExample(example);
        chosen->sample = m_example;
    }
    m_liveEdits = m_edits;
    m_liveRequest = m_training.probe(*chosen->sample, m_edits, !m_points);
    m_waiting = m_liveRequest != 0;
}

/// Reads an example, to be sent to a training: the split and index may mean another example in the
/// data of the training.
void ProbeController::readExample(const wire::Example& example) {
    m_waiting = true;
    const auto longest = readsText() ? longestLook(m_options->model) : 0;
    m_looker.run(
        m_exampleReading, {},
        [example, longest](Engine& models, LongJob&, const Looker::Progress& progress) {
            auto found = wire::examples(models.session, example.data, example.split,
                                        {example.index}, progress);
            if (longest > 0) core::shorten(found.front().sample, longest);
            return std::move(found.front().sample);
        },
        [this, example](ProbeSample sample) {
            m_waiting = false;
            m_example = std::move(sample);
            m_exampleName = {example.split, example.index};
            ask();
        },
        [this](const QString& sentence) {
            m_waiting = false;
            refuse(sentence);
        });
}

void ProbeController::drop() {
    m_session.task().abandon();
    m_liveRequest = 0;
    m_exampleReading.abandon();
    m_waiting = false;
}

void ProbeController::setEdits(const EditList& edits) {
    if (edits == m_edits) return;
    m_edits = edits;
    // A newer list replaces one that is being computed.
    if (mode() == Mode::Finished || mode() == Mode::Kept) drop();
    ask();
}

void ProbeController::answered(const widgets::Inspected& result) {
    m_waiting = false;
    show(result);
    if (std::exchange(m_again, false)) ask();
}

void ProbeController::show(widgets::Inspected result) {
    m_shownStep = result.result->step;
    result.result = named(result.result);
    if (result.before) result.before = named(result.before);
    Q_EMIT resultReady(result);
}

/// The result with the names of answer tokens, which only the data know, in place of their ids.
std::shared_ptr<const ProbeResult> ProbeController::named(
    const std::shared_ptr<const ProbeResult>& result) const {
    if (!m_data || m_data->tokenNames.empty()) return result;
    const auto& names = m_data->tokenNames;
    auto copy = std::make_shared<ProbeResult>(*result);
    for (auto& name : copy->classNames) {
        std::size_t token = 0;
        const auto [end, problem] = std::from_chars(name.data(), name.data() + name.size(), token);
        const bool number = problem == std::errc() && end == name.data() + name.size();
        if (number && token < names.size()) name = names[token];
    }
    return copy;
}

void ProbeController::refuse(const QString& sentence) {
    Q_EMIT failed(sentence);
    if (m_shownStep < 0) Q_EMIT cleared(sentence);
}

// The input
// ---------------------------------------------------------------------------------------------------

void ProbeController::chooseSample(const QString& split, qint64 index) {
    m_search.abandon();
    if (mode() == Mode::Captured) {
        // Until they are counted any may be there; reading takes the last one for those beyond it.
        const qint64 last = m_capturedCount > 0 ? m_capturedCount - 1 : index;
        m_captured = std::clamp<qint64>(index, 0, std::max<qint64>(0, last));
        Q_EMIT sampleShown(QStringLiteral("captured"), m_captured);
    } else {
        m_session.forgetInput();
        m_chosen = true;
        m_selection.setSample(split, index);
        Q_EMIT sampleShown(split, index);
    }
    ask();
}

void ProbeController::chooseRandom(const QString& split, int label) {
    if (mode() == Mode::Captured) {
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

void ProbeController::chooseByLabel(const QString& split, int label, bool forward) {
    searchFrom(split, m_selection.sample(), label, forward);
}

void ProbeController::searchFrom(const QString& split, qint64 from, int label, bool forward) {
    const auto* data =
        m_data && mode() != Mode::Captured ? m_data->find(split.toStdString()) : nullptr;
    if (!data || data->labels().empty()) return;
    const auto job = m_search.begin(QStringLiteral("Searching %1 for the label").arg(split));
    search(job, {m_data->data, split.toStdString(), from}, label, forward, 0);
}

/// Searches one part of the data; the next part follows the requests that the inspector made
/// meanwhile.
void ProbeController::search(const std::shared_ptr<LongJob>& job, const wire::Example& from,
                             int label, bool forward, std::int64_t before) {
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

void ProbeController::chooseImage(const QString& path) {
    if (!m_options || mode() == Mode::Captured) {
        Q_EMIT failed(
            mode() == Mode::Captured
                ? QStringLiteral(
                      "An image can be inspected with the newest weights only; press Live first.")
                : QStringLiteral(
                      "Start or open a run first, then drop an image onto its inspector."));
        return;
    }
    if (readsText()) return m_session.chooseTextFile(path);
    if (m_options->model.input() != InputKind::Images) {
        Q_EMIT failed(QStringLiteral("The input of this run is %1, not images; choose one of them.")
                          .arg(exampleWord(m_options->data, true)));
        return;
    }
    m_session.choose(inputAs({{"image", path.toStdString()}}));
}

void ProbeController::emitText() {
    if (m_session.text().isEmpty()) return;
    Q_EMIT textProblem(
        mode() == Mode::Captured
            ? QStringLiteral(
                  "Captures contain the pinned sentence only; press Live to type your own text.")
            : m_session.textNote());
}

}  // namespace relascope::app
