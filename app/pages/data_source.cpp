// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <filesystem>
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
#include "app/pages/sample_subset.h"
#include "datasets/readers/image_folder.h"
#include "datasets/readers/npz.h"
#include "datasets/registry.h"
#include "run/run_folder.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/icons.h"
#include "widgets/theme/theme.h"

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
        if (m_job) m_bar->setValue(static_cast<int>(1000.0 * m_job->fraction));
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

void JobStrip::begin(const QString& text, std::shared_ptr<LongJob> job) {
    m_job = std::move(job);
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
    m_text->setTextFormat(Qt::PlainText);  // sentences name files, and files have any name
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

constexpr int kLargestPicture = 256;  // dropped pictures are shown no larger than this

widgets::ShownSample readPicture(const std::string& path) {
    const Image image = datasets::readImageFile(path);
    widgets::ShownSample shown;
    ProbeSample& sample = shown.sample;
    sample.origin = QFileInfo(QString::fromStdString(path)).fileName().toStdString() + ", " +
                    std::to_string(image.width) + " x " + std::to_string(image.height);
    const int longer = std::max(image.width, image.height);
    sample.image = longer <= kLargestPicture
                       ? image
                       : datasets::fitImage(
                             image, std::max(1, image.width * kLargestPicture / longer),
                             std::max(1, image.height * kLargestPicture / longer), image.channels);
    return shown;
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

DataSource::Read DataSource::read(const DataChoice& choice, const core::ProgressCallback& progress,
                                  std::stop_token stop) {
    Read found;
    found.options = choice.options;
    std::vector<std::pair<std::string, core::DatasetPtr>> opened;
    if (choice.kind == DataChoice::Kind::File) {
        opened = datasets::openImported(choice.options, progress, stop);
    } else {
        if (choice.kind == DataChoice::Kind::Run) {
            const std::string run = choice.path.toStdString();
            found.options = core::runData(run, core::readRunOptions(run).data);
        }
        const core::DataSplits splits = datasets::openData(found.options, progress, stop);
        for (const auto& name : splits.names()) opened.emplace_back(name, splits.find(name));
        if (choice.kind == DataChoice::Kind::Generated && splits.trainEpoch)
            opened[0].second = splits.trainEpoch(choice.epoch);
    }
    for (auto& [name, data] : opened) {
        if (!data) continue;
        Split split{name, data, {}};
        if (data->size() > 0) split.example = shownSample(*data, 0);
        found.splits.push_back(std::move(split));
    }
    return found;
}

void DataSource::open(const DataChoice& choice) {
    const auto work = [choice](LongJob& job, std::stop_token stop) {
        return read(choice, job.callback(stop), job.stop.get_token());
    };
    m_task.run(m_work, QStringLiteral("Reading %1").arg(choice.name), work,
               [this, choice](Read found) {
                   m_choice = choice;
                   m_options = std::move(found.options);
                   m_splits = std::move(found.splits);
                   Q_EMIT opened();
                   show(this->splits().contains(m_split) ? m_split : this->splits().first());
               });
}

QStringList DataSource::splits() const {
    QStringList names;
    for (const Split& split : m_splits) names += QString::fromStdString(split.name);
    return names;
}

QStringList DataSource::labels() const {
    QStringList names;
    if (m_data)
        for (const auto& name : labelNames(*m_data)) names += QString::fromStdString(name);
    return names;
}

bool DataSource::savable() const {
    return m_data && !std::dynamic_pointer_cast<const core::TokenDataset>(m_data);
}

QStringList DataSource::classNames() const {
    QStringList names;
    if (m_data)
        for (const auto& name : m_data->info().classNames) names += QString::fromStdString(name);
    return names;
}

qint64 DataSource::count() const {
    if (!m_data) return 0;
    return m_matches ? static_cast<qint64>(m_matches->size()) : m_data->size();
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
    for (const Split& known : m_splits)
        if (known.name == split.toStdString()) {
            m_data = known.data;
            m_example = known.example;
        }
    m_split = split;
    m_label = -1;
    m_matches.reset();
    ++*m_shown;
    ++*m_counted;
    Q_EMIT shownChanged();
    count(m_data);
}

void DataSource::count(const core::DatasetPtr& data) {
    const auto work = [data, options = m_options, turn = m_counted,
                       mine = m_counted->load()](std::stop_token stop) {
        return countExamples(*data, options, kCounted,
                             [&] { return !stop.stop_requested() && *turn == mine; });
    };
    m_work.post(
        this, work,
        [this, mine = m_counted->load()](DataStatistics s) {
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
    const auto work = [data = m_data, label](LongJob& job, std::stop_token stop) {
        auto matches = std::make_shared<std::vector<std::int64_t>>();
        LabelReader labelOf(data);
        const auto reportProgress = job.callback(stop);
        const std::int64_t size = std::min(data->size(), kSearched);
        for (std::int64_t i = 0; i < size; ++i) {
            if (i % 256 == 0 && !reportProgress(static_cast<double>(i) / static_cast<double>(size)))
                throw Cancelled();
            if (labelOf(i) == label) matches->push_back(i);
        }
        return matches;
    };
    m_task.run(m_work, QStringLiteral("Looking for %1").arg(classNames().value(label)), work,
               [this, label](std::shared_ptr<std::vector<std::int64_t>> matches) {
                   m_label = label;
                   m_matches = std::move(matches);
                   ++*m_shown;
                   Q_EMIT shownChanged();
               });
}

void DataSource::requestSamples(qint64 first, int count) {
    count = static_cast<int>(std::min<qint64>(count, this->count() - first));
    if (first < 0 || count < 1) return;
    const auto work = [data = m_data, matches = m_matches, first, count, shown = m_shown,
                       mine = m_shown->load()](std::stop_token stop) {
        std::vector<widgets::ShownSample> samples;
        for (qint64 i = first; i < first + count; ++i) {
            if (stop.stop_requested() || *shown != mine) throw Cancelled();
            samples.push_back(
                shownSample(*data, matches ? (*matches)[static_cast<std::size_t>(i)] : i));
        }
        return samples;
    };
    m_reads.post(
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
    m_reads.post(
        this,
        [data = m_data, index = indexOf(shown)](std::stop_token) {
            return shownSample(*data, index);
        },
        done, [this](const QString& sentence) { Q_EMIT failed(sentence); });
}

void DataSource::requestPicture(const QString& path) {
    const auto request = ++m_sampleRequest;
    const auto done = [this, path, request](widgets::ShownSample sample) {
        if (request == m_sampleRequest) Q_EMIT pictureReady(path, std::move(sample));
    };
    m_reads.post(
        this, [file = path.toStdString()](std::stop_token) { return readPicture(file); }, done,
        [this](const QString& sentence) { Q_EMIT failed(sentence); });
}

void DataSource::save(const QString& path, qint64 count) {
    if (m_saving.busy() || !m_data) return;
    const auto picked = pickedOf(m_data, m_matches, std::clamp<qint64>(count, 0, this->count()));
    if (!picked) return Q_EMIT failed(QStringLiteral("A text is already a file; copy it instead."));
    const auto work = [picked, file = path.toStdString()](LongJob& job, std::stop_token stop) {
        datasets::writeNpz(file, *picked, job.callback(stop));
        return picked->size();
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
