// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/pages/data_page.h"

#include <QComboBox>
#include <QDragEnterEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QInputDialog>
#include <QLabel>
#include <QMimeData>
#include <QPushButton>
#include <QScrollArea>
#include <QSplitter>
#include <QVBoxLayout>
#include <algorithm>

#include "app/controllers/examples.h"
#include "app/controllers/job_queue.h"
#include "app/controllers/runs_controller.h"
#include "app/pages/data_chooser.h"
#include "app/pages/data_source.h"
#include "app/pages/import_dialog.h"
#include "app/selection.h"
#include "options/shown_data.h"
#include "types/data_kind.h"
#include "widgets/data/sample_grid.h"
#include "widgets/data/sample_view.h"
#include "widgets/data/statistics_view.h"
#include "widgets/export/export.h"
#include "widgets/form/options_form.h"
#include "widgets/text/text_flow.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/folding_layout.h"
#include "widgets/theme/icons.h"
#include "widgets/theme/theme.h"

namespace relascope::app {
namespace {

QString droppedFile(const QMimeData* mime) {
    const auto urls = mime->urls();
    return urls.size() == 1 && urls.first().isLocalFile() ? urls.first().toLocalFile() : QString();
}

}  // namespace

DataPage::DataPage(AppContext& context, QWidget* parent)
    : QWidget(parent),
      m_context(context),
      m_chooser(new DataChooser(this)),
      m_source(new DataSource(this)),
      m_grid(new widgets::SampleGrid(this)),
      m_sample(new widgets::SampleView(this)),
      m_statistics(new widgets::StatisticsView(this)),
      m_head(new widgets::PanelHead(QStringLiteral("Samples"), this)),
      m_sampleHead(new widgets::PanelHead(QStringLiteral("Sample"), this)),
      m_statisticsHead(new widgets::PanelHead(QStringLiteral("Statistics"), this)),
      m_split(new QComboBox(this)),
      m_label(new QComboBox(this)),
      m_save(new widgets::FoldingButton(QString::fromUtf8("Save .npz\u2026"), "download", this)),
      m_train(new widgets::FoldingButton(QStringLiteral("Set up training"), "play", this)),
      m_labelWord(widgets::mutedLabel(QStringLiteral("Label"), this)),
      m_reading(new JobStrip(this)),
      m_saving(new JobStrip(this)),
      m_error(new ErrorStrip(this)),
      m_jobs(std::make_unique<JobQueue>()) {
    setAccessibleName(QStringLiteral("Data"));
    setAcceptDrops(true);
    asking();
    layOut();
    wire();
    offerRun();
    m_save->setEnabled(false);
    m_train->setEnabled(false);
}

DataPage::~DataPage() = default;

void DataPage::asking() {
    askImport = [this](const QString& path) -> std::optional<DataOptions> {
        ImportDialog dialog(window());
        if (!path.isEmpty()) dialog.setPath(path);
        if (dialog.exec() != QDialog::Accepted) return std::nullopt;
        return dialog.options();
    };
    askSavePath = [this](const QString& suggested) {
        QString path = widgets::chooseSaveFile(window(), QStringLiteral("Save examples"), suggested,
                                               QStringLiteral("NumPy archives (*.npz)"));
        if (!path.isEmpty() && QFileInfo(path).suffix().isEmpty()) path += QStringLiteral(".npz");
        return path;
    };
    askCount = [this](qint64 most) -> qint64 {
        bool accepted = false;
        const int bound = static_cast<int>(std::min<qint64>(most, std::numeric_limits<int>::max()));
        const int count =
            QInputDialog::getInt(window(), QStringLiteral("Save examples"),
                                 QStringLiteral("Number of examples, counted from the first"),
                                 bound, 1, bound, 100, &accepted);
        return accepted ? count : 0;
    };
}

QWidget* DataPage::middle() {
    auto* panel = new QWidget(this);
    m_save->setIcon(widgets::icon("download"));
    m_train->setIcon(widgets::icon("play"));
    for (QPushButton* button : {m_save, m_train}) {
        button->setProperty("compact", true);
        m_head->addControl(button);
    }
    auto* more = widgets::iconButton("more", QStringLiteral("More for the samples"), this);
    m_head->addControl(more);
    auto* menu = new widgets::ViewMenu(more, m_grid, [] { return QStringLiteral("samples"); });
    menu->figure = [this] { return m_grid->figure(); };
    menu->caption = [this] { return subject(); };
    menu->describe = [this]() -> std::optional<View> {
        if (m_grid->countShown() == 0 || !m_grid->isFilled()) return std::nullopt;
        std::vector<Option> shown;
        if (const int label = m_source->label(); label >= 0)
            shown.push_back({"label", m_source->labels().value(label).toStdString()});
        shown.push_back({"grid", true});
        if (m_grid->firstShown() > 0)
            shown.push_back({"first", std::int64_t{m_grid->firstShown()}});
        shown.push_back({"count", std::int64_t{m_grid->countShown()}});
        return m_source->question(shown);
    };
    connect(menu, &widgets::ViewMenu::failed, this, &DataPage::fail);
    m_split->setAccessibleName(QStringLiteral("Split of the data"));
    m_label->setAccessibleName(QStringLiteral("Label to show"));
    auto* filters = new QWidget(panel);
    for (QWidget* strip : std::initializer_list<QWidget*>{filters, m_reading, m_saving}) {
        strip->setBackgroundRole(QPalette::Base);
        strip->setAutoFillBackground(true);
    }
    auto* row = widgets::rowOf(filters, {16, 5, 16, 5}, 8);
    row->addWidget(widgets::mutedLabel(QStringLiteral("Split"), filters));
    row->addWidget(m_split);
    row->addSpacing(8);
    row->addWidget(m_labelWord);
    row->addWidget(m_label);
    row->addStretch(1);
    // Names of labels may be long: they give way before they run into one another.
    m_split->setMinimumWidth(64);
    m_label->setMinimumWidth(64);
    auto* column = widgets::columnOf(panel);
    column->addWidget(m_head);
    column->addWidget(m_error);
    column->addWidget(m_reading);
    column->addWidget(m_saving);
    column->addWidget(filters);
    column->addWidget(widgets::horizontalLine(panel));
    column->addWidget(m_grid, 1);
    return panel;
}

QWidget* DataPage::right() {
    auto* panel = new QWidget(this);
    const auto withMenu = [this](widgets::PanelHead* head, QWidget* view, const QString& name,
                                 std::function<QString()> csv) {
        auto* more = widgets::iconButton("more", QStringLiteral("More for the %1").arg(name), this);
        head->addControl(more);
        auto* menu = new widgets::ViewMenu(
            more, view, [name] { return name; }, std::move(csv));
        connect(menu, &widgets::ViewMenu::failed, this, &DataPage::fail);
        return menu;
    };
    auto* sample = withMenu(m_sampleHead, m_sample, QStringLiteral("sample"),
                            [this] { return m_sample->csv(); });
    sample->figure = [this] { return m_sample->figure(); };
    sample->caption = [this] { return m_sampleCaption; };
    sample->describe = [this] { return m_sampleView; };
    auto* statistics = withMenu(m_statisticsHead, m_statistics, QStringLiteral("statistics"),
                                [this] { return m_statistics->csv(); });
    statistics->addPgfplots([this] { return m_statistics->pgfplots(m_statisticsCaption); });
    statistics->figure = [this] { return m_statistics->figure(); };
    statistics->caption = [this] { return m_statisticsCaption; };
    statistics->describe = [this] { return m_statisticsView; };
    auto* scroll = new QScrollArea(panel);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidgetResizable(true);
    scroll->setWidget(m_statistics);
    auto* column = widgets::columnOf(panel);
    column->addWidget(m_sampleHead);
    column->addWidget(m_sample, 5);
    column->addWidget(widgets::horizontalLine(panel));
    column->addWidget(m_statisticsHead);
    column->addWidget(scroll, 4);
    return panel;
}

void DataPage::layOut() {
    auto* split = new QSplitter(Qt::Horizontal, this);
    split->setHandleWidth(1);
    split->setChildrenCollapsible(false);
    split->addWidget(m_chooser);
    split->addWidget(middle());
    QWidget* side = right();
    side->setMinimumWidth(240);
    split->addWidget(side);
    for (int i = 0; i < 3; ++i) split->setStretchFactor(i, i == 1 ? 1 : 0);
    split->setSizes({280, 580, 300});
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(split);
}

void DataPage::wire() {
    connect(m_chooser, &DataChooser::chosen, this, &DataPage::open);
    connect(m_chooser, &DataChooser::importRequested, this, [this] { importWanted(); });
    connect(m_source, &DataSource::opened, this, &DataPage::opened);
    connect(m_source, &DataSource::shownChanged, this, &DataPage::shown);
    connect(m_source, &DataSource::failed, this, &DataPage::fail);
    connect(m_source, &DataSource::statisticsReady, this, &DataPage::count);
    connect(m_source, &DataSource::samplesReady, m_grid, &widgets::SampleGrid::setSamples);
    connect(
        m_source, &DataSource::sampleReady, this,
        [this](qint64 shown, const widgets::ShownSample& sample) {
            m_sample->setSample(sample, m_source->classNames());
            m_sampleCaption = subject();
            m_sampleView = m_source->question({{"sample", std::int64_t{m_source->indexOf(shown)}}});
            m_sampleHead->setSubText(widgets::groupedNumber(m_source->indexOf(shown)));
        });
    connect(m_source, &DataSource::pictureReady, this,
            [this](const QString& path, const widgets::ShownSample& sample) {
                m_error->setSentence({});
                m_grid->setCurrent(-1);
                m_sample->setSample(sample, {});
                m_sampleCaption = QFileInfo(path).fileName();
                m_sampleView.reset();  // it is of no data
                m_sampleHead->setSubText(QFileInfo(path).fileName());
            });
    m_reading->follow(m_source->task());
    m_saving->follow(m_source->saving());
    connect(&m_source->saving(), &LongTask::began, m_save, [this] { m_save->setEnabled(false); });
    connect(&m_source->saving(), &LongTask::ended, m_save,
            [this] { m_save->setEnabled(m_source->count() > 0 && m_source->savable()); });
    connect(m_source, &DataSource::saved, this, [this](const QString& path, qint64 count) {
        m_context.messages.ok(
            QStringLiteral("Saved %1 as %2").arg(exampleCount(m_source->options(), count), path));
    });
    connect(m_reading, &JobStrip::cancelled, this, [this] {
        m_imported.reset();
        m_chooser->setCurrent(m_source->choice());
        m_label->setCurrentIndex(m_source->label() + 1);
        m_context.messages.info(QStringLiteral("Cancelled; the data shown have not changed"));
    });
    connect(m_saving, &JobStrip::cancelled, this,
            [this] { m_context.messages.info(QStringLiteral("Cancelled; no file was written")); });
    connect(m_grid, &widgets::SampleGrid::samplesNeeded, m_source, &DataSource::requestSamples);
    connect(m_grid, &widgets::SampleGrid::indexChosen, this, &DataPage::chosen);
    connect(m_split, &QComboBox::textActivated, m_source, &DataSource::setSplit);
    connect(m_label, &QComboBox::activated, this, [this](int row) { m_source->setLabel(row - 1); });
    connect(m_save, &QPushButton::clicked, this, &DataPage::saveShown);
    connect(m_train, &QPushButton::clicked, this, &DataPage::trainOn);
    connect(&m_context.selection, &Selection::currentChanged, this, &DataPage::offerRun);
    connect(&m_context.runs, &RunsController::rowsChanged, this, &DataPage::offerRun);
}

void DataPage::offerRun() {
    const QString path = m_context.selection.current();
    m_chooser->setRun(path, path.isEmpty() ? QString() : m_context.runs.name(path));
}

void DataPage::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    if (m_source->info() || m_reading->busy()) return;
    // Opens the first data when the page is shown for the first time.
    DataChoice first;
    first.options = core::usualData(first.options.kind, first.options.task);
    first.name = taskTitle(first.options.kind, first.options.task);
    m_chooser->setCurrent(first);
    open(first);
}

void DataPage::open(const DataChoice& choice) {
    m_imported.reset();
    m_source->open(choice);
    if (choice.kind == DataChoice::Kind::File) m_imported = choice;
}

void DataPage::importData(const DataOptions& options) {
    DataChoice choice;
    choice.kind = DataChoice::Kind::File;
    choice.options = options;
    choice.path = QFileInfo(QString::fromStdString(options.path)).absoluteFilePath();
    choice.options.path = choice.path.toStdString();
    choice.name = QFileInfo(choice.path).fileName();
    open(choice);
}

void DataPage::importFile(const QString& path) {
    m_jobs->post(
        this, [file = path.toStdString()](std::stop_token) { return core::guessImport(file); },
        [this, path](const core::ImportGuess& guess) {
            if (guess.id.empty()) return importWanted(path);
            importData(core::importOptions(guess.id, guess.task, guess.path));
        });
}

void DataPage::importWanted(const QString& path) {
    if (const auto options = askImport(path)) importData(*options);
}

void DataPage::showPicture(const QString& path) {
    m_source->requestPicture(path);
}

void DataPage::opened() {
    m_error->setSentence({});
    m_context.messages.succeeded();
    const DataChoice& choice = m_source->choice();
    m_chooser->setCurrent(choice);
    if (m_imported) m_chooser->remember(*std::exchange(m_imported, std::nullopt));
    const bool run = choice.kind == DataChoice::Kind::Run;
    const bool measures = !run && !dataKind(m_source->options().kind).trains;
    m_train->setEnabled(!run && !measures);
    m_train->setToolTip(
        measures ? QStringLiteral(
                       "Models are measured on these data, not trained: Measure, Minimal pairs")
        : run
            ? QStringLiteral(
                  "A run was trained on these data; its options are on the right of the Workbench")
            : QStringLiteral("Fill in the options of a new run on these data; Start is then on the "
                             "Workbench"));
    m_split->clear();
    m_split->addItems(m_source->splits());
    // What was counted and shown of the data before.
    clearSample();
    m_sampleHead->setSubText({});
    m_statistics->setStatistics({});
    m_statistics->setNote({});
    m_statisticsView.reset();
    m_statisticsHead->setSubText({});
}

void DataPage::shown() {
    const DatasetInfo& info = *m_source->info();
    setProperty(widgets::kFigureSubject, subject());
    m_split->setCurrentText(m_source->split());
    const QStringList labels = m_source->labels();
    for (QWidget* w : {static_cast<QWidget*>(m_label), static_cast<QWidget*>(m_labelWord)})
        w->setVisible(!labels.isEmpty());
    if (m_source->label() < 0) {
        m_label->clear();
        m_label->addItem(QStringLiteral("any"));
        m_label->addItems(labels);
    }
    m_label->setCurrentIndex(m_source->label() + 1);
    const qint64 count = m_source->count(), current = m_grid->current();
    const QString text = exampleCount(m_source->options(), count);
    const bool partial = m_source->label() >= 0 && info.size > core::kSearchedExamples;
    m_head->setSubText(partial ? QStringLiteral("%1 among the first %2")
                                     .arg(text, widgets::groupedNumber(core::kSearchedExamples))
                               : text);
    m_grid->setData(count, m_source->example(), m_source->classNames());
    m_save->setEnabled(count > 0 && m_source->savable() && !m_saving->busy());
    m_save->setToolTip(m_source->savable()
                           ? QStringLiteral("Save the examples shown as a NumPy file")
                           : QStringLiteral("A text is already a file; copy it instead"));
    const qint64 next = count == 0 ? -1 : std::clamp<qint64>(current, 0, count - 1);
    m_grid->setCurrent(next);
    if (next >= 0)
        m_source->requestSample(next);
    else
        clearSample();
}

QString DataPage::subject() const {
    return m_source->name() + QStringLiteral(", ") + m_source->split();
}

void DataPage::clearSample() {
    m_sample->clear();
    m_sampleView.reset();
}

void DataPage::chosen(qint64 index) {
    m_source->requestSample(index);
    // A sample of the run is selected on the Workbench, too.
    const DataChoice& choice = m_source->choice();
    if (choice.kind == DataChoice::Kind::Run && choice.path == m_context.selection.current())
        m_context.selection.setSample(m_source->split(), m_source->indexOf(index));
}

void DataPage::count(const DataStatistics& counted) {
    const DatasetInfo& info = *m_source->info();
    const DataChoice& choice = m_source->choice();
    const bool generated = choice.kind == DataChoice::Kind::Generated;
    const bool streamed = choice.options.streaming && m_source->split() == QLatin1String("train");
    auto statistics = counted;
    core::addOrigin(statistics, info, m_source->name().toStdString(),
                    generated ? choice.options.seed : -1, streamed ? choice.epoch : -1);
    m_statistics->setStatistics(statistics);
    m_statistics->setNote(QString::fromStdString(info.note));
    m_statistics->setToolTip(widgets::plainTip(QString::fromStdString(info.origin)));
    m_statisticsHead->setSubText(
        counted.counted < info.size
            ? QStringLiteral("of the first %1").arg(widgets::groupedNumber(counted.counted))
            : QStringLiteral("of all %1").arg(widgets::groupedNumber(counted.counted)));
    m_statisticsCaption = subject();
    m_statisticsView = m_source->question({{"statistics", true}});
}

void DataPage::trainOn() {
    if (!m_source->info()) return;
    const DataChoice& choice = m_source->choice();
    if (choice.kind == DataChoice::Kind::File && isOwnData(choice.options)) {
        Q_EMIT setUpRequested(m_source->own());
        return;
    }
    std::vector<std::string> fields;
    if (choice.kind == DataChoice::Kind::Generated) fields = core::dataFields(choice.options);
    // Labelled images from a single file can belong to any task.
    const auto* form = importFormOf(choice.options);
    if (!form || !form->anyTask) fields.emplace_back("task");
    Q_EMIT trainOnRequested(choice.options, fields, *m_source->info());
}

void DataPage::saveShown() {
    const qint64 count = askCount(m_source->count());
    if (count < 1) return;
    QString name = m_source->choice().name.toLower().replace(u' ', u'_');
    if (name.endsWith(QLatin1String(".npz"))) name.chop(4);
    const QString path = askSavePath(QStringLiteral("%1_%2.npz").arg(name, m_source->split()));
    if (!path.isEmpty()) saveTo(path, count);
}

void DataPage::saveTo(const QString& path, qint64 count) {
    m_error->setSentence({});
    m_source->save(path, count);
}

void DataPage::fail(const QString& sentence) {
    m_error->setSentence(sentence);
    m_imported.reset();
    m_chooser->setCurrent(m_source->choice());
    m_label->setCurrentIndex(m_source->label() + 1);
    m_context.messages.note(sentence);
}
QString DataPage::errorSentence() const {
    return m_error->sentence();
}

void DataPage::dragEnterEvent(QDragEnterEvent* event) {
    const QString path = droppedFile(event->mimeData());
    if (!path.isEmpty() && QFileInfo::exists(path)) event->acceptProposedAction();
}
void DataPage::dropEvent(QDropEvent* event) {
    const QString path = droppedFile(event->mimeData());
    if (path.isEmpty()) return;
    event->acceptProposedAction();
    if (isPicture(path))
        showPicture(path);
    else
        importFile(path);
}

}  // namespace relascope::app
