#include "app/controllers/probe_controller.h"

#include <algorithm>
#include <charconv>

#include "app/controllers/data_cache.h"
#include "app/controllers/examples.h"
#include "app/controllers/job_queue.h"
#include "app/controllers/runs_controller.h"
#include "app/controllers/runtime.h"
#include "app/controllers/text_input.h"
#include "app/controllers/training_controller.h"
#include "app/selection.h"
#include "run/captures.h"
#include "run/run_folder.h"
#include "train/open_model.h"

namespace relascope {
/// The finished run that is open; it belongs to the jobs' thread.
struct ProbeController::Opened {
    std::string path;
    std::int64_t step = -1;
    std::unique_ptr<OpenedModel> model;
};

ProbeController::ProbeController(RunsController& runs, TrainingController& training,
                                 Selection& selection, std::shared_ptr<DataCache> data,
                                 JobQueue& jobs, QObject* parent)
    : QObject(parent),
      m_runs(runs),
      m_training(training),
      m_selection(selection),
      m_data(std::move(data)),
      m_jobs(jobs),
      m_opened(std::make_shared<Opened>()) {
    m_pace.setSingleShot(true);
    m_pace.setInterval(kLiveInterval);
    connect(&m_pace, &QTimer::timeout, this, &ProbeController::ask);
    m_typing.setSingleShot(true);
    m_typing.setInterval(kTypingDelay);
    connect(&m_typing, &QTimer::timeout, this, &ProbeController::readText);
    m_reading.setInterval(1000);
    connect(&m_reading, &QTimer::timeout, this, [this] {
        if (m_shownStep < 0)
            Q_EMIT cleared(
                QString("Reading the data of this run, %1 %").arg(qRound(100 * *m_share)));
    });
    // A run may end between a question and its answer; then nobody answers.
    m_patience.setSingleShot(true);
    m_patience.setInterval(5000);
    connect(&m_patience, &QTimer::timeout, this, [this] {
        m_waiting = false;
        ask();
    });
    connect(&selection, &Selection::currentChanged, this, &ProbeController::follow);
    connect(&selection, &Selection::stepChanged, this, [this] {
        ++m_request;
        m_waiting = false;
        offerSplits();
        tellOfText();
        ask();
    });
    connect(&training, &TrainingController::runBegan, this, [this](const QString& path) {
        if (path == m_run) follow();
    });
    connect(&training, &TrainingController::runEnded, this, [this](const QString& path) {
        if (path != m_run) return;
        // Weights on disk are newer than those that were open.
        m_jobs.post(
            this, [opened = m_opened](std::stop_token) { return opened->model.reset(), 0; },
            [](int) {});
        ++m_request;
        m_waiting = false;
    });
    connect(&training, &TrainingController::finished, this, &ProbeController::ask);
    connect(&training, &TrainingController::progressed, this, [this](const Progress& progress) {
        // Paused: each single step is looked at. Running: the pace timer asks.
        if (mode() == Mode::Live && progress.step != m_shownStep && !m_pace.isActive()) ask();
    });
    connect(&training, &TrainingController::probeAnswered, this, [this](const ProbeAnswer& answer) {
        if (answer.request != m_liveRequest || mode() != Mode::Live) return;
        m_waiting = false;
        m_patience.stop();
        if (answer.error.empty())
            take(answer.result);
        else
            refuse(QString::fromStdString(answer.error));
        if (m_training.running()) m_pace.start();
        if (std::exchange(m_again, false)) ask();
    });
}

ProbeController::~ProbeController() = default;

void ProbeController::setActive(bool active) {
    if (std::exchange(m_active, active) == active) return;
    if (active)
        ask();
    else
        m_pace.stop();
}

ProbeController::Mode ProbeController::mode() const {
    if (m_run.isEmpty()) return Mode::Nothing;
    if (m_selection.step()) return Mode::Captured;
    return m_training.busy() && m_training.run() == m_run ? Mode::Live : Mode::Finished;
}

void ProbeController::follow() {
    m_run = m_selection.current();
    m_options.reset();
    m_splits.reset();
    m_own.reset();
    m_pinned.reset();
    m_tokenizer.reset();
    m_tokenNames.clear();
    m_text.clear();
    ++m_texts;
    m_shownStep = -1;
    m_waiting = m_again = false;
    ++m_request;
    // Not the request: that counts steps, too, and the data are the same at each of them.
    const quint64 following = ++*m_following;
    if (m_run.isEmpty()) {
        m_reading.stop();
        Q_EMIT cleared({});
        return;
    }
    struct Found {
        RunOptions options;
        std::shared_ptr<const DataSplits> splits;
        TokenizerPtr tokenizer;
        std::optional<ProbeSample> pinned;
        std::vector<std::string> tokenNames;
        std::string problem;  ///< why a text run's data are not there: one can still type
    };
    std::optional<RunOptions> known;
    if (mode() == Mode::Live) known = m_training.options();
    *m_share = 0.0;
    m_reading.start();
    const bool began = known && !m_training.resumed();  // its data are open
    const auto work = [path = m_run.toStdString(), known, began, data = m_data, following,
                       newest = m_following, share = m_share](std::stop_token stop) {
        // A large text takes its time; nobody waits for that of a run that was left.
        const auto wanted = [newest, following, stop, share](double done) {
            *share = done;
            return newest->load() == following && !stop.stop_requested();
        };
        if (!wanted(0.0)) throw Cancelled();
        Found found{known ? *known : readRunOptions(path), nullptr, nullptr, {}, {}, {}};
        const bool text = found.options.data.isText();
        const DataOptions options = began ? found.options.data : runData(path, found.options.data);
        try {
            found.splits = data->get(options, wanted, stop);
            found.tokenizer = found.splits->tokenizer;
            found.tokenNames = tokenNames(*found.splits->validation);
        } catch (const Cancelled&) {
            throw;
        } catch (const std::exception& error) {
            if (!text) throw;
            found.problem = userMessage(error);
            if (options.tokenizer != "characters")
                found.tokenizer = openTokenizer(options.tokenizer);
        }
        if (found.tokenizer && !options.pinned_text.empty()) {
            const auto& model = found.options.model;
            found.pinned = typedText(*found.tokenizer, options.pinned_text, model).sample;
            found.pinned->origin = "pinned sentence";
        }
        return found;
    };
    m_jobs.post(
        this, work,
        [this, following](Found found) {
            if (following != *m_following) return;
            m_reading.stop();
            m_options = std::move(found.options);
            m_splits = std::move(found.splits);
            m_tokenizer = std::move(found.tokenizer);
            m_tokenNames = std::move(found.tokenNames);
            m_pinned = std::move(found.pinned);
            // Short enough to be read at a glance, and what the captures show, too.
            const bool first = m_selection.split() == QLatin1String("validation") &&
                               m_selection.sample() == 0 && !m_chosen;
            if (m_pinned && first) m_selection.setSample(kPinnedSplit, 0);
            if (!m_pinned && m_selection.split() == kPinnedSplit)
                m_selection.setSample(QStringLiteral("validation"), 0);
            offerSplits();
            if (!found.problem.empty()) Q_EMIT failed(QString::fromStdString(found.problem));
            if (!m_text.isEmpty()) m_typing.start();
            ask();
        },
        [this, following](const QString& sentence) {
            if (following != *m_following) return;
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
    if (!m_splits && !m_pinned) return;
    QStringList names;
    std::vector<qint64> sizes;
    if (m_splits)
        for (const auto& name : m_splits->names()) {
            names << QString::fromStdString(name);
            sizes.push_back(m_splits->find(name)->size());
        }
    if (m_pinned) {
        names << kPinnedSplit;
        sizes.push_back(1);
    }
    Q_EMIT splitsChanged(names, sizes);
    QStringList labels;
    if (m_splits)
        for (const auto& name : labelNames(*m_splits->validation))
            labels << QString::fromStdString(name);
    Q_EMIT labelsChanged(labels);
    Q_EMIT sampleShown(m_selection.split(), m_selection.sample());
}

std::optional<ProbeSample> ProbeController::sample() {
    if (m_own) return m_own;
    if (m_pinned && (!m_splits || m_selection.split() == kPinnedSplit)) return m_pinned;
    if (!m_splits) return std::nullopt;
    auto data = m_splits->find(m_selection.split().toStdString());
    if (!data) data = m_splits->validation;
    auto found = data->sample(std::clamp<qint64>(m_selection.sample(), 0, data->size() - 1));
    if (readsText()) shorten(found, longestLook(m_options->model));
    return found;
}

void ProbeController::ask() {
    if (!m_active) return;
    if (m_waiting) {
        m_again = true;
        return;
    }
    switch (mode()) {
        case Mode::Nothing:
            return;
        case Mode::Live:
            return askLive();
        case Mode::Finished:
            return askFinished();
        case Mode::Captured:
            return askCaptured();
    }
}

void ProbeController::askLive() {
    auto looked = sample();
    if (!looked) return;
    m_liveRequest = m_training.probe(std::move(*looked));
    m_waiting = m_liveRequest != 0;
    if (m_waiting) m_patience.start();
}

void ProbeController::askFinished() {
    auto looked = sample();
    if (!looked || !m_options) return;
    m_waiting = true;
    m_patience.stop();
    const auto work = [opened = m_opened, path = m_run.toStdString(), looked = std::move(*looked),
                       names = m_splits ? m_splits->validation->info().classNames
                                        : std::vector<std::string>()](std::stop_token) {
        awaitRuntime();
        if (opened->path != path || !opened->model) {
            opened->model.reset();
            opened->path = path;
            opened->model = std::make_unique<OpenedModel>(path, "", "cpu");
        }
        return opened->model->probe(looked, names);
    };
    const quint64 request = m_request;
    const auto ready = [this, request](const auto& use) {
        if (!fits(request)) return;
        m_waiting = false;
        use();
        if (std::exchange(m_again, false)) ask();
    };
    m_jobs.post(
        this, work, [this, ready](ProbeResult result) { ready([&] { take(std::move(result)); }); },
        [this, ready](const QString& sentence) { ready([&] { refuse(sentence); }); });
}

void ProbeController::askCaptured() {
    m_waiting = true;
    const auto wanted = *m_selection.step();
    const auto work = [folder = m_run.toStdString() + "/captures", wanted,
                       sample = m_captured](std::stop_token) {
        const auto steps = captureSteps(folder);
        if (steps.empty())
            throw Error(
                "this run has no captures; set train.capture_samples to the number of inputs to "
                "capture");
        const auto after = std::lower_bound(steps.begin(), steps.end(), wanted);
        auto nearest = after == steps.end() ? steps.back() : *after;
        if (after != steps.begin() &&
            (after == steps.end() || wanted - *(after - 1) < *after - wanted))
            nearest = *(after - 1);
        const auto count = captureSamples(folder, nearest);
        return std::pair(
            loadCapture(folder, nearest,
                        std::clamp<std::int64_t>(sample, 0, std::max<std::int64_t>(0, count - 1))),
            count);
    };
    const quint64 request = m_request;
    m_jobs.post(
        this, work,
        [this, request](std::pair<ProbeResult, std::int64_t> found) {
            if (!fits(request)) return;
            m_waiting = false;
            if (std::exchange(m_capturedCount, found.second) != found.second) offerSplits();
            take(std::move(found.first));
            if (std::exchange(m_again, false)) ask();
        },
        [this, request](const QString& sentence) {
            if (!fits(request)) return;
            m_waiting = m_again = false;
            refuse(sentence);
        });
}

void ProbeController::take(ProbeResult result) {
    m_shownStep = result.step;
    // Models count the tokens of answers; their names stand in the data.
    for (auto& name : result.classNames) {
        if (m_tokenNames.empty()) break;
        std::size_t token = 0;
        const auto [end, problem] = std::from_chars(name.data(), name.data() + name.size(), token);
        const bool number = problem == std::errc() && end == name.data() + name.size();
        if (number && token < m_tokenNames.size()) name = m_tokenNames[token];
    }
    Q_EMIT resultReady(std::make_shared<const ProbeResult>(std::move(result)));
}

void ProbeController::refuse(const QString& sentence) {
    Q_EMIT failed(sentence);
    if (m_shownStep < 0) Q_EMIT cleared(sentence);
}

}  // namespace relascope
