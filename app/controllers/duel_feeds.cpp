// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/controllers/duel_feeds.h"

#include <algorithm>
#include <utility>

#include "app/controllers/checkpoint_controller.h"
#include "app/controllers/hosts_controller.h"
#include "app/controllers/run_input.h"
#include "app/opener.h"
#include "question/question_input.h"
#include "run/run_folder.h"
#include "widgets/theme/theme.h"
#include "wire/host_files.h"

namespace relascope::app {

QString titleOf(const wire::Asked& weights) {
    QString name = checkpointTitles({placeOf(weights)}).front();
    if (const auto step = stepOf(weights))
        name += QStringLiteral(", step %1").arg(widgets::groupedNumber(*step));
    if (const auto& edits = weights.edits.at(0); edits.anyEnabled())
        name += QStringLiteral(", edited: ") + wordsOfList(edits);
    return name;
}

namespace {

QString letterOf(std::size_t side) {
    return side == 0 ? QStringLiteral("A") : QStringLiteral("B");
}

/// Whether the data are generated, so that every machine has them.
bool isGenerated(const DataOptions& data) {
    return data.path.empty() && !data.isText();
}

}  // namespace

DuelFeeds::DuelFeeds(QObject* parent) : QObject(parent) {
    for (std::size_t k = 0; k < 2; ++k) connectSide(k);
    connect(&m_task, &LongTask::failed, this, &DuelFeeds::refused);
}

void DuelFeeds::connectSide(std::size_t k) {
    auto& side = m_sides[k];
    auto* feed = &side.feed;
    feed->setProgressText(QStringLiteral("Computing the maps of %1").arg(letterOf(k)));
    const auto refuse = [this, k](const QString& sentence) {
        if (!sentence.isEmpty())
            Q_EMIT refused(QStringLiteral("%1: %2").arg(letterOf(k), sentence));
    };
    connect(feed, &InspectorFeed::inspected, this,
            [this, k](const widgets::Inspected& inspected) { take(k, inspected); });
    connect(feed, &InspectorFeed::loaded, this, [this, k, feed, refuse] {
        const bool first = k == 0 && m_dataRun.isEmpty() && !std::exchange(m_offered, true);
        if (first) {
            if (!m_customInput) m_customInput = firstInput(feed->offer());
            Q_EMIT dataRead();
        }
        if (!m_customInput || !complete()) return;
        if (m_customInput->option("text") && !feed->tokenizer())
            return refuse(
                QStringLiteral("its tokenizer is unknown; put a tokenizer.json beside its "
                               "weights"));
        // The other side may still be loading.
        first ? ask() : ask(k);
    });
    connect(feed, &InspectorFeed::inputRead, this, [this, k] {
        if (m_customInput) inspect(k);
    });
    connect(feed, &InspectorFeed::textRead, this, [this] {
        QStringList notes;
        for (std::size_t s = 0; s < 2; ++s)
            if (const auto& note = m_sides[s].feed.textNote(); !note.isEmpty())
                notes << QStringLiteral("%1: %2").arg(letterOf(s), note);
        Q_EMIT textProblem(notes.join(QStringLiteral("; ")));
    });
    connect(&side.opening, &LongTask::failed, this, &DuelFeeds::notOpened);
    connect(feed, &InspectorFeed::refused, this, refuse);
    connect(feed, &InspectorFeed::failed, this, refuse);
    connect(feed, &InspectorFeed::pointsFound, this,
            [this, k](const Points& points) { m_sides[k].points = points; });
    // The maps without edits follow, and are shown with the sentence.
    connect(feed, &InspectorFeed::editsRefused, this,
            [this, k](const QString& sentence) { m_sides[k].problem = sentence; });
}

void DuelFeeds::take(std::size_t side, const widgets::Inspected& inspected) {
    if (inspected.result->partial) return;
    m_sides[side].result = inspected.result;
    auto& other = m_sides[1 - side];
    const auto& given = other.feed.shown().sample;
    if (complete() && waitsForInput(1 - side) &&
        !(other.result && given == inspected.result->sample)) {
        forget(1 - side);  // its result is for another input
        ask(1 - side);
    }
    answer();
}

DuelFeeds::~DuelFeeds() = default;

QString DuelFeeds::dataRun() const {
    for (const auto& subject : m_subjects)
        if (subject && core::isRunFolder(subject->subjects[0].path)) return placeOf(*subject);
    return {};
}

QString DuelFeeds::host(std::size_t side) const {
    return HostsController::hostOf(placeOf(*m_subjects[side]));
}

namespace {

bool sameWeights(const std::optional<wire::Asked>& a, const std::optional<wire::Asked>& b) {
    return a && b ? a->subjects == b->subjects && a->edits == b->edits : !a && !b;
}

/// Whether the examples of a run are those of the data.
bool hasData(const std::string& run, const DataOptions& data) {
    try {
        return core::runData(run, core::readRunOptions(run).data) == data;
    } catch (const Error&) {  // no run, or one that is gone
        return false;
    }
}

}  // namespace

void DuelFeeds::nameExample(wire::Asked& asked) const {
    asked.set("sample", std::int64_t{m_example});
    asked.set("split", m_split);
}

std::optional<wire::Asked> DuelFeeds::shown(std::size_t side) const {
    if (!m_subjects[side] || !m_sides[side].result) return std::nullopt;
    auto asked = m_sides[side].feed.shown();
    auto& model = asked.subjects[0];
    // For a chosen step it shows the one whose weights are kept.
    if (!model.checkpoint.empty()) model.checkpoint = std::to_string(m_sides[side].result->step);
    if (!m_customInput) {
        if (!m_data || !hasData(model.path, m_data->data.options)) return std::nullopt;
        nameExample(asked);
    }
    return asked;
}

void DuelFeeds::setSubject(std::size_t side, std::optional<wire::Asked> subject) {
    m_sides[side].opening.abandon();
    const bool again = sameWeights(m_subjects[side], subject);
    // After a failure or a cancelled load choosing it again tries again.
    if (again && (!subject || m_sides[side].result || task(side).busy() || m_task.busy())) return;
    const bool otherA =
        side == 0 && (!subject || !m_subjects[0] || placeOf(*subject) != placeOf(*m_subjects[0]));
    m_subjects[side] = std::move(subject);
    forget(side);
    const auto dataBefore = std::exchange(m_dataRun, dataRun());
    const bool otherData = m_dataRun != dataBefore;
    if ((otherA || otherData) && m_customInput) {
        m_customInput.reset();
        forget(1 - side);  // the other side has read that input
    }
    if (otherData) m_data.reset();
    Q_EMIT subjectsChanged();
    if (otherData || (otherA && m_dataRun.isEmpty()) || (again && inputMissing()))
        readData();
    else
        ask();
}

void DuelFeeds::openFar(std::size_t side, const QString& path) {
    auto& own = m_sides[side];
    const auto work = [path = path.toStdString()](Engine& models, LongJob&,
                                                  const Looker::Progress& progress) {
        const auto opened = wire::openFarCheckpoint(models.session, path, progress);
        return opened.run == path ? path : opened.info.path;
    };
    own.looker.run(own.opening, QStringLiteral("Opening %1").arg(letterOf(side)), work,
                   [this, side](const std::string& opened) {
                       setSubject(side, weightsAt(QString::fromStdString(opened), std::nullopt));
                   });
}

void DuelFeeds::readAgain(std::size_t side) {
    forget(side);
    m_sides[side].feed.dropWeights();  // the weights on the disk may be newer
    again();
}

void DuelFeeds::again() {
    if (!inputMissing()) return ask();
    if (!m_task.busy() && !task(0).busy()) readData();
}

void DuelFeeds::readData() {
    m_task.abandon();
    forgetBoth();  // their results are for other data
    m_offered = false;
    if (m_dataRun.isEmpty()) {
        if (m_subjects[0]) m_sides[0].feed.load(*m_subjects[0], QStringLiteral("Loading A"));
        return;
    }
    const auto work = [path = m_dataRun.toStdString()](Engine& models, LongJob&,
                                                       const Looker::Progress& progress) {
        const auto options = core::runData(path, core::readRunOptions(path).data);
        return openRunData(models, path, options, progress);
    };
    auto& looker = m_sides[0].looker;
    if (m_subjects[0]) looker.use(m_subjects[0]->subjects[0]);
    looker.run(m_task, QStringLiteral("Opening the data"), work,
               [this](std::shared_ptr<const wire::OpenedData> data) {
                   m_data = std::move(data);
                   keepWithinData();
                   forgetBoth();
                   Q_EMIT dataRead();
                   ask();
               });
}

void DuelFeeds::forget(std::size_t side) {
    m_sides[side].feed.drop();
    m_sides[side].feed.forgetInput();
    m_sides[side].result.reset();
    m_sides[side].problem.clear();
}

void DuelFeeds::forgetBoth() {
    for (std::size_t k = 0; k < 2; ++k) forget(k);
}

QString DuelFeeds::problems() const {
    QStringList all;
    for (std::size_t k = 0; k < 2; ++k)
        if (const auto& problem = m_sides[k].problem; !problem.isEmpty())
            all << QStringLiteral("%1: %2").arg(letterOf(k), problem);
    return all.join(QStringLiteral("; "));
}

void DuelFeeds::choose(const Question& input) {
    if (!core::hasOwnInput(input))
        return chooseExample(input.value<std::string>("split", "validation"),
                             input.value<std::int64_t>("sample"));
    m_customInput = input;
    forgetBoth();
    ask();
}

void DuelFeeds::chooseExample(const std::string& split, qint64 example) {
    m_customInput.reset();
    m_split = split;
    m_example = example;
    if (!m_data) return;  // it is taken once they are read
    keepWithinData();
    forgetBoth();
    ask();
}

void DuelFeeds::keepWithinData() {
    const auto& split = m_data->at(m_split);
    m_split = split.name;
    m_example = std::clamp<qint64>(m_example, 0, std::max<qint64>(0, split.info.size - 1));
}

void DuelFeeds::chooseText(const QString& text) {
    if (text.isEmpty()) return;
    m_customInput = inputAs({{"text", text.toStdString()}});
    forgetBoth();
    if (!complete()) return;
    for (std::size_t k = 0; k < 2; ++k)
        if (auto& feed = m_sides[k].feed; feed.opened() == *m_subjects[k])
            feed.chooseText(text);  // tokenizes the text after the last key
        else
            ask(k);
}

std::optional<std::size_t> DuelFeeds::inputOwner() const {
    if (m_customInput)
        return m_customInput->option("reference") || m_customInput->option("random")
                   ? std::optional<std::size_t>(0)
                   : std::nullopt;
    if (host(0) == host(1)) return std::nullopt;
    return m_dataRun == placeOf(*m_subjects[0]) ? 0 : 1;
}

void DuelFeeds::ask() {
    if (!complete() || (!m_customInput && !m_data)) return;
    for (std::size_t k = 0; k < 2; ++k)
        if (!m_sides[k].result && !task(k).busy()) ask(k);
}

void DuelFeeds::ask(std::size_t side) {
    auto& feed = m_sides[side].feed;
    const auto& subject = *m_subjects[side];
    if (waitsForInput(side)) {
        if (!m_sides[1 - side].result) return forget(side);  // until the other side has its result
        return inspect(side);
    }
    if (!m_customInput) return inspect(side);
    if (feed.opened() == subject) return feed.choose(*m_customInput);
    feed.forgetInput();
    feed.load(subject, QStringLiteral("Loading %1").arg(letterOf(side)));
}

void DuelFeeds::inspect(std::size_t side) {
    if (!complete()) return;
    auto asked = *m_subjects[side];
    if (waitsForInput(side)) {
        const auto& made = m_sides[1 - side].result;
        if (!made) return;
        asked.sample = made->sample;
        asked.shortened = true;
        // Stored and random inputs are those of A.
        if (m_customInput && placeOf(asked) == placeOf(*m_subjects[0]))
            asked.options = m_customInput->options;
    }
    if (m_data) asked.classNames = m_data->at(m_split).info.classNames;
    const bool there = host(side) == HostsController::hostOf(m_dataRun);
    // The run of the data is on no other machine.
    if (m_data && (there || isGenerated(m_data->data.options))) {
        asked.data = there ? m_data->data : wire::Data{m_data->data.options};
        if (!m_customInput) nameExample(asked);
    }
    m_sides[side].feed.show(std::move(asked));
}

void DuelFeeds::answer() {
    const auto &first = m_sides[0].result, &second = m_sides[1].result;
    if (!first || !second || !complete()) return;
    widgets::Inspected both;
    both.result = second;
    auto a = *m_subjects[0];
    // The kept step nearest to the chosen one.
    if (auto& step = a.subjects[0].checkpoint; !step.empty()) step = std::to_string(first->step);
    both.pinned = {first, titleOf(a)};
    const auto &ours = first->sample.source, &theirs = second->sample.source;
    if (ours.text && theirs.text && ours.labels != theirs.labels)
        both.pinned.tokens =
            std::make_shared<const TextAlignment>(alignTexts(ours.labels, theirs.labels));
    Q_EMIT answered(both);
}

}  // namespace relascope::app
