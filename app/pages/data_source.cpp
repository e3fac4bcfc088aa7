// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include <QEvent>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QProgressBar>
#include <QPushButton>

#include "app/controllers/examples.h"
#include "app/controllers/job_queue.h"
#include "app/pages/data_source.h"
#include "options/import_data.h"
#include "options/shown_data.h"
#include "question/question_fields.h"
#include "run/run_folder.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/icons.h"
#include "widgets/theme/theme.h"
#include "wire/host.h"

namespace relascope::app {

JobStrip::JobStrip(QWidget* parent)
    : QWidget(parent),
      m_text(new widgets::ElidedLabel({}, this)),
      m_bar(new QProgressBar(this)),
      m_cancel(new QPushButton(QStringLiteral("Cancel"), this)) {
    setAccessibleName(QStringLiteral("Progress"));
    m_text->setFont(widgets::smallFont());
    m_bar->setRange(0, 1000);
    m_bar->setTextVisible(false);
    m_bar->setFixedHeight(4);
    m_bar->setMinimumWidth(120);
    m_bar->setAccessibleName(QStringLiteral("Progress"));
    m_cancel->setProperty("compact", true);
    auto* row = widgets::rowOf(this, {16, 4, 16, 4}, 12);
    row->addWidget(m_text, 1);
    row->addWidget(m_bar, 1);
    row->addWidget(m_cancel);
    hide();
    m_delay.setSingleShot(true);
    m_delay.setInterval(1000);
    m_tick.setInterval(50);
    connect(&m_delay, &QTimer::timeout, this, [this] { show(); });
    connect(&m_tick, &QTimer::timeout, this, [this] {
        if (!m_job) return;
        m_bar->setValue(static_cast<int>(1000.0 * m_job->fraction));
        const auto waits = m_job->waits();
        m_bar->setVisible(waits.isEmpty());  // it would stand still, and takes room
        m_text->setText(waits.isEmpty() ? m_what : QStringLiteral("%1: %2").arg(m_what, waits));
    });
    connect(m_cancel, &QPushButton::clicked, this, [this] {
        if (!m_job) return;
        m_job->stop.request_stop();
        end();
        Q_EMIT cancelled();
    });
}

void JobStrip::follow(LongTask& task) {
    connect(&task, &LongTask::began, this, &JobStrip::begin);
    connect(&task, &LongTask::ended, this, &JobStrip::end);
    connect(this, &JobStrip::cancelled, &task, &LongTask::abandon);
}

void JobStrip::setInline() {
    m_text->hide();
    layout()->setContentsMargins({});
}

void JobStrip::begin(const QString& text, std::shared_ptr<LongJob> job) {
    m_job = std::move(job);
    m_what = text;
    m_bar->show();
    m_text->setText(text);
    m_bar->setValue(0);
    m_tick.start();
    if (!isVisible()) m_delay.start();
}

void JobStrip::end() {
    m_job.reset();
    m_tick.stop();
    m_delay.stop();
    hide();
}

ErrorStrip::ErrorStrip(QWidget* parent)
    : QWidget(parent), m_icon(new QLabel(this)), m_text(new QLabel(this)) {
    setAccessibleName(QStringLiteral("Error"));
    m_text->setFont(widgets::smallFont());
    // Messages contain file names, which may look like markup.
    m_text->setTextFormat(Qt::PlainText);
    m_text->setWordWrap(true);
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse);
    auto* away = widgets::iconButton("close", QStringLiteral("Dismiss"), this);
    auto* row = widgets::rowOf(this, {16, 4, 8, 4}, 8);
    row->addWidget(m_icon, 0, Qt::AlignTop);
    row->addWidget(m_text, 1);
    row->addWidget(away, 0, Qt::AlignTop);
    m_icon->setContentsMargins(0, 4, 0, 0);
    connect(away, &QToolButton::clicked, this, [this] { setSentence({}); });
    restyle();
    hide();
}

void ErrorStrip::setSentence(const QString& sentence) {
    m_text->setText(sentence);
    setAccessibleDescription(sentence);
    setVisible(!sentence.isEmpty());
}
QString ErrorStrip::sentence() const {
    return m_text->text();
}

QPushButton* ErrorStrip::addButton(const QString& text) {
    auto* button = new QPushButton(text, this);
    button->setProperty("compact", true);
    button->setFont(widgets::smallFont());
    button->hide();
    auto* row = static_cast<QHBoxLayout*>(layout());
    row->insertWidget(row->count() - 1, button, 0, Qt::AlignTop);
    return button;
}

void ErrorStrip::restyle() {
    const widgets::Theme& t = widgets::Theme::current();
    m_icon->setPixmap(widgets::iconPixmap("error", t.error, 16, devicePixelRatioF()));
    QPalette colors = m_text->palette();
    colors.setColor(QPalette::WindowText, t.error);
    m_text->setPalette(colors);
}
void ErrorStrip::paintEvent(QPaintEvent*) {
    QPainter(this).fillRect(rect(), widgets::Theme::current().errorFill);
}
void ErrorStrip::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && m_icon) restyle();
}

namespace {

widgets::ShownSample shownOf(DataExample example) {
    return {std::move(example.sample), QString::fromStdString(example.answer),
            std::move(example.order)};
}

}  // namespace

DataSource::DataSource(QObject* parent) : QObject(parent) {
    for (LongTask* task : {&m_task, &m_saving})
        connect(task, &LongTask::failed, this, &DataSource::failed);
}

DataSource::~DataSource() {
    ++*m_shown;
    ++*m_counted;
}

void DataSource::open(const DataChoice& choice) {
    struct Opened {
        std::shared_ptr<const wire::OpenedData> data;
        QString name;
    };
    const auto work = [session = m_session, choice](LongJob& job, std::stop_token stop) {
        wire::Data data{choice.options, choice.kind == DataChoice::Kind::File, -1};
        QString name = choice.name;
        if (choice.kind == DataChoice::Kind::Generated) data.epoch = choice.epoch;
        if (choice.kind == DataChoice::Kind::Run) {
            const std::string run = choice.path.toStdString();
            data.options = core::runData(run, core::readRunOptions(run).data);
            name = QString::fromStdString(core::readRunInfo(run).name);
            if (wire::farPathOf(run)) data.run = run;
        }
        return Opened{std::make_shared<const wire::OpenedData>(
                          wire::openData(*session, data, job.callback(stop))),
                      name};
    };
    m_task.run(m_work, QStringLiteral("Reading %1").arg(choice.name), work,
               [this, choice](const Opened& opened) {
                   m_choice = choice;
                   m_data = opened.data;
                   m_name = opened.name;
                   Q_EMIT this->opened();
                   show(splits().contains(m_split) ? m_split : splits().first());
               });
}

const wire::OpenedSplit* DataSource::shownSplit() const {
    return m_data ? m_data->find(m_split.toStdString()) : nullptr;
}

const DatasetInfo* DataSource::info() const {
    const auto* split = shownSplit();
    return split ? &split->info : nullptr;
}

OwnData DataSource::own() const {
    return m_data ? ownDataOf(*m_data) : OwnData();
}

const DataOptions& DataSource::options() const {
    return m_data ? m_data->data.options : m_choice.options;
}

std::optional<View> DataSource::question(const std::vector<Option>& shown) const {
    using Kind = DataChoice::Kind;
    const auto& options = m_choice.options;
    const bool generated = m_choice.kind == Kind::Generated;
    const auto path = m_choice.path.toStdString();
    if (!info() || (!generated && wire::farPathOf(path))) return std::nullopt;
    View view;
    view.command = core::kDataView;
    view.printed = true;
    view.subjects.push_back({generated ? options.kind : path, {}, {}, {}, {}});
    std::vector<std::string> settings;
    if (generated) {
        if (!options.path.empty())
            view.set("data", std::filesystem::absolute(options.path).string());
        settings = core::dataSettings(options);
    } else if (m_choice.kind == Kind::File) {
        const auto form = core::importIdOf(options);
        view.set("form", form);
        if (options.task != core::importOptions(form, {}, options.path).task)
            settings.push_back("data.task=" + options.task);
    }
    if (!settings.empty()) view.set("set", settings);
    if (generated && m_choice.epoch > 0 && (options.streaming || options.augment != "none"))
        view.set("epoch", std::int64_t{m_choice.epoch});
    view.set("split", m_split.toStdString());
    view.options.insert(view.options.end(), shown.begin(), shown.end());
    return view;
}

widgets::ShownSample DataSource::example() const {
    const auto* split = shownSplit();
    return split ? shownOf(split->first) : widgets::ShownSample();
}

QStringList DataSource::splits() const {
    QStringList names;
    if (m_data)
        for (const auto& split : m_data->splits) names += QString::fromStdString(split.name);
    return names;
}

QStringList DataSource::labels() const {
    QStringList names;
    if (const auto* split = shownSplit())
        for (const auto& name : split->labels()) names += QString::fromStdString(name);
    return names;
}

bool DataSource::savable() const {
    const auto* split = shownSplit();
    return split && !split->isText;
}

QStringList DataSource::classNames() const {
    QStringList names;
    if (const auto* known = info())
        for (const auto& name : known->classNames) names += QString::fromStdString(name);
    return names;
}

qint64 DataSource::count() const {
    if (!info()) return 0;
    return m_matches ? static_cast<qint64>(m_matches->size()) : info()->size;
}
qint64 DataSource::indexOf(qint64 shown) const {
    return m_matches ? m_matches->at(static_cast<std::size_t>(shown)) : shown;
}

void DataSource::setSplit(const QString& name) {
    if (name == m_split || !splits().contains(name)) return;
    m_task.abandon();
    show(name);
}

void DataSource::show(const QString& split) {
    m_split = split;
    m_label = -1;
    m_matches.reset();
    ++*m_shown;
    ++*m_counted;
    Q_EMIT shownChanged();
    askStatistics();
}

void DataSource::askStatistics() {
    const auto work = [session = m_session, data = m_data, split = m_split.toStdString(),
                       turn = m_counted, mine = m_counted->load()](std::stop_token stop) {
        return wire::statistics(*session, data->data, split, core::kCountedExamples,
                                [&](double) { return !stop.stop_requested() && *turn == mine; });
    };
    m_work.post(
        this, work,
        [this, mine = m_counted->load()](const DataStatistics& s) {
            if (*m_counted == mine) Q_EMIT statisticsReady(s);
        },
        [this](const QString& sentence) { Q_EMIT failed(sentence); });
}

void DataSource::setLabel(int label) {
    if (label == m_label || !m_data) return;
    if (label < 0) {
        m_task.abandon();
        m_label = -1;
        m_matches.reset();
        ++*m_shown;
        Q_EMIT shownChanged();
        return;
    }
    const auto work = [session = m_session, data = m_data, split = m_split.toStdString(), label](
                          LongJob& job, std::stop_token stop) {
        return std::make_shared<const std::vector<std::int64_t>>(wire::labelled(
            *session, data->data, split, label, core::kSearchedExamples, job.callback(stop)));
    };
    m_task.run(m_work, QStringLiteral("Looking for %1").arg(classNames().value(label)), work,
               [this, label](std::shared_ptr<const std::vector<std::int64_t>> matches) {
                   m_label = label;
                   m_matches = std::move(matches);
                   ++*m_shown;
                   Q_EMIT shownChanged();
               });
}

void DataSource::requestSamples(qint64 first, int count) {
    count = static_cast<int>(std::min<qint64>(count, this->count() - first));
    if (first < 0 || count < 1) return;
    std::vector<std::int64_t> indices;
    for (qint64 i = first; i < first + count; ++i) indices.push_back(indexOf(i));
    const auto work = [session = m_session, data = m_data, split = m_split.toStdString(), indices,
                       shown = m_shown, mine = m_shown->load()](std::stop_token stop) {
        const auto wanted = [&](double) { return !stop.stop_requested() && *shown == mine; };
        if (!wanted(0.0)) throw Cancelled();
        std::vector<widgets::ShownSample> samples;
        for (auto& example : wire::examples(*session, data->data, split, indices, wanted))
            samples.push_back(shownOf(std::move(example)));
        return samples;
    };
    m_work.post(
        this, work,
        [this, first, mine = m_shown->load()](std::vector<widgets::ShownSample> samples) {
            if (*m_shown == mine) Q_EMIT samplesReady(first, std::move(samples));
        },
        [this](const QString& sentence) { Q_EMIT failed(sentence); });
}

void DataSource::requestSample(qint64 shown) {
    if (shown < 0 || shown >= count()) return;
    const auto request = ++m_sampleRequest;
    const auto done = [this, shown, request](widgets::ShownSample sample) {
        if (request == m_sampleRequest) Q_EMIT sampleReady(shown, std::move(sample));
    };
    m_work.post(
        this,
        [session = m_session, data = m_data, split = m_split.toStdString(),
         index = indexOf(shown)](std::stop_token stop) {
            return shownOf(wire::examples(*session, data->data, split, {index}, [&](double) {
                               return !stop.stop_requested();
                           }).front());
        },
        done, [this](const QString& sentence) { Q_EMIT failed(sentence); });
}

void DataSource::requestPicture(const QString& path) {
    const auto request = ++m_sampleRequest;
    const auto done = [this, path, request](widgets::ShownSample sample) {
        if (request == m_sampleRequest) Q_EMIT pictureReady(path, std::move(sample));
    };
    m_work.post(
        this,
        [session = m_session, file = path.toStdString()](std::stop_token stop) {
            return widgets::ShownSample{wire::picture(
                *session, file, std::nullopt, [&](double) { return !stop.stop_requested(); })};
        },
        done, [this](const QString& sentence) { Q_EMIT failed(sentence); });
}

void DataSource::save(const QString& path, qint64 count) {
    if (m_saving.busy() || !m_data) return;
    if (!savable())
        return Q_EMIT failed(QStringLiteral("A text is already a file; copy it instead."));
    const auto work = [data = m_data, split = m_split.toStdString(), matches = m_matches,
                       count = std::clamp<qint64>(count, 0, this->count()),
                       file = path.toStdString()](LongJob& job, std::stop_token stop) {
        wire::Session session;
        return wire::saveExamples(session, data->data, split,
                                  matches ? std::optional(*matches) : std::nullopt, count, file,
                                  job.callback(stop));
    };
    m_saving.run(m_saves, QStringLiteral("Saving %1").arg(QFileInfo(path).fileName()), work,
                 [this, path](std::int64_t written) { Q_EMIT saved(path, written); });
}

bool isPicture(const QString& path) {
    const QString ending = QFileInfo(path).suffix().toLower();
    return ending == QLatin1String("png") || ending == QLatin1String("jpg") ||
           ending == QLatin1String("jpeg");
}

}  // namespace relascope::app
