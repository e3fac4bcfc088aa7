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

#include "app/controllers/runs_controller.h"
#include "app/pages/data_chooser.h"
#include "app/pages/data_progress.h"
#include "app/pages/data_source.h"
#include "app/selection.h"
#include "widgets/data/samples.h"
#include "widgets/export/export.h"
#include "widgets/form/options_form.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/icons.h"
#include "widgets/theme/theme.h"

namespace relascope {
namespace {

enum class Dropped { Nothing, Archive, Picture };

Dropped kindOf(const QString& path) {
    const QString ending = QFileInfo(path).suffix().toLower();
    if (ending == QLatin1String("npz")) return Dropped::Archive;
    const bool picture = ending == QLatin1String("png") || ending == QLatin1String("jpg") ||
                         ending == QLatin1String("jpeg");
    return picture ? Dropped::Picture : Dropped::Nothing;
}

QString droppedFile(const QMimeData* mime) {
    const auto urls = mime->urls();
    return urls.size() == 1 && urls.first().isLocalFile() ? urls.first().toLocalFile() : QString();
}

QString sizeWords(const DatasetInfo& info) {
    return QString::fromUtf8("%1 \u00d7 %2, %3")
        .arg(info.width)
        .arg(info.height)
        .arg(info.channels == 1 ? QStringLiteral("grey") : QStringLiteral("RGB"));
}

QString meanWords(const std::vector<double>& mean) {
    QStringList values;
    for (const double value : mean) values += QString::number(value, 'f', 1);
    return values.join(QStringLiteral(", "));
}

}  // namespace

DataPage::DataPage(AppContext& context, QWidget* parent)
    : QWidget(parent),
      m_context(context),
      m_chooser(new DataChooser(this)),
      m_source(new DataSource(this)),
      m_grid(new SampleGrid(this)),
      m_sample(new SampleView(this)),
      m_statistics(new StatisticsView(this)),
      m_head(new PanelHead(QStringLiteral("Samples"), this)),
      m_sampleHead(new PanelHead(QStringLiteral("Sample"), this)),
      m_statisticsHead(new PanelHead(QStringLiteral("Statistics"), this)),
      m_part(new QComboBox(this)),
      m_label(new QComboBox(this)),
      m_save(new QPushButton(icon("download"), QString::fromUtf8("Save .npz\u2026"), this)),
      m_train(new QPushButton(icon("play"), QStringLiteral("Train on this"), this)),
      m_reading(new JobStrip(this)),
      m_saving(new JobStrip(this)),
      m_error(new ErrorStrip(this)) {
    setAccessibleName(QStringLiteral("Data"));
    setAcceptDrops(true);
    asking();
    layOut();
    wire();
    offerRun();
    m_save->setEnabled(false);
    m_train->setEnabled(false);
}

void DataPage::asking() {
    askImportPath = [this] {
        return QFileDialog::getOpenFileName(
            window(), QStringLiteral("Import labelled images"), {},
            QStringLiteral("NumPy archives (*.npz);;All files (*)"));
    };
    askSavePath = [this](const QString& suggested) {
        QString path =
            QFileDialog::getSaveFileName(window(), QStringLiteral("Save images"), suggested,
                                         QStringLiteral("NumPy archives (*.npz)"));
        if (!path.isEmpty() && QFileInfo(path).suffix().isEmpty()) path += QStringLiteral(".npz");
        return path;
    };
    askCount = [this](qint64 most) -> qint64 {
        bool accepted = false;
        const int bound = static_cast<int>(std::min<qint64>(most, std::numeric_limits<int>::max()));
        const int count = QInputDialog::getInt(window(), QStringLiteral("Save images"),
                                               QStringLiteral("How many, from the first on"), bound,
                                               1, bound, 100, &accepted);
        return accepted ? count : 0;
    };
}

QWidget* DataPage::middle() {
    auto* panel = new QWidget(this);
    for (QPushButton* button : {m_save, m_train}) {
        button->setProperty("compact", true);
        m_head->addControl(button);
    }
    auto* more = iconButton("more", QStringLiteral("More for the samples"), this);
    m_head->addControl(more);
    auto* menu = new ViewMenu(more, m_grid, [] { return QStringLiteral("samples"); });
    connect(menu, &ViewMenu::failed, this, &DataPage::fail);
    m_part->setAccessibleName(QStringLiteral("Part of the data"));
    m_label->setAccessibleName(QStringLiteral("Label to show"));
    auto* filters = new QWidget(panel);
    for (QWidget* strip : std::initializer_list<QWidget*>{filters, m_reading, m_saving}) {
        strip->setBackgroundRole(QPalette::Base);
        strip->setAutoFillBackground(true);
    }
    auto* row = new QHBoxLayout(filters);
    row->setContentsMargins(16, 5, 16, 5);
    row->setSpacing(8);
    row->addWidget(mutedLabel(QStringLiteral("Part"), filters));
    row->addWidget(m_part);
    row->addSpacing(8);
    row->addWidget(mutedLabel(QStringLiteral("Label"), filters));
    row->addWidget(m_label);
    row->addStretch(1);
    m_part->setMinimumWidth(120);
    m_label->setMinimumWidth(120);
    auto* column = new QVBoxLayout(panel);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_head);
    column->addWidget(m_error);
    column->addWidget(m_reading);
    column->addWidget(m_saving);
    column->addWidget(filters);
    column->addWidget(horizontalLine(panel));
    column->addWidget(m_grid, 1);
    return panel;
}

QWidget* DataPage::right() {
    auto* panel = new QWidget(this);
    const auto withMenu = [this](PanelHead* head, QWidget* view, const QString& name,
                                 std::function<QString()> csv) {
        auto* more = iconButton("more", QStringLiteral("More for the %1").arg(name), this);
        head->addControl(more);
        auto* menu = new ViewMenu(
            more, view, [name] { return name; }, std::move(csv));
        connect(menu, &ViewMenu::failed, this, &DataPage::fail);
    };
    withMenu(m_sampleHead, m_sample, QStringLiteral("sample"), {});
    withMenu(m_statisticsHead, m_statistics, QStringLiteral("statistics"),
             [this] { return m_statistics->csv(); });
    auto* scroll = new QScrollArea(panel);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidgetResizable(true);
    scroll->setWidget(m_statistics);
    auto* column = new QVBoxLayout(panel);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_sampleHead);
    column->addWidget(m_sample, 5);
    column->addWidget(horizontalLine(panel));
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
    connect(m_chooser, &DataChooser::importRequested, this, [this] {
        const QString path = askImportPath();
        if (!path.isEmpty()) importFile(path);
    });
    connect(m_source, &DataSource::opened, this, &DataPage::opened);
    connect(m_source, &DataSource::shownChanged, this, &DataPage::shown);
    connect(m_source, &DataSource::failed, this, &DataPage::fail);
    connect(m_source, &DataSource::statisticsReady, this, &DataPage::count);
    connect(m_source, &DataSource::samplesReady, m_grid, &SampleGrid::setSamples);
    connect(m_source, &DataSource::sampleReady, this,
            [this](qint64 shown, const ProbeSample& sample) {
                m_sample->setSample(sample, m_source->classNames());
                m_sampleHead->setSubText(groupedNumber(m_source->indexOf(shown)));
            });
    connect(m_source, &DataSource::pictureReady, this,
            [this](const QString& path, const ProbeSample& sample) {
                m_error->setSentence({});
                m_grid->setCurrent(-1);
                m_sample->setSample(sample, {});
                m_sampleHead->setSubText(QFileInfo(path).fileName());
            });
    connect(m_source, &DataSource::began, m_reading, &JobStrip::begin);
    connect(m_source, &DataSource::ended, m_reading, &JobStrip::end);
    connect(m_source, &DataSource::saveBegan, m_saving, &JobStrip::begin);
    connect(m_source, &DataSource::saveBegan, m_save, [this] { m_save->setEnabled(false); });
    connect(m_source, &DataSource::saveEnded, m_saving, &JobStrip::end);
    connect(m_source, &DataSource::saveEnded, m_save,
            [this] { m_save->setEnabled(m_source->count() > 0); });
    connect(m_source, &DataSource::saved, this, [this](const QString& path, qint64 count) {
        m_context.messages.ok(
            QStringLiteral("Saved %1 images as %2").arg(groupedNumber(count), path));
    });
    connect(m_reading, &JobStrip::cancelled, this, [this] {
        m_source->abandon();
        m_imported.clear();
        m_chooser->setCurrent(m_source->choice());
        m_label->setCurrentIndex(m_source->label() + 1);
        m_context.messages.info(QStringLiteral("Cancelled; the data shown are as before"));
    });
    connect(m_saving, &JobStrip::cancelled, this, [this] {
        m_source->abandonSave();
        m_context.messages.info(QStringLiteral("Cancelled; no file was written"));
    });
    connect(m_grid, &SampleGrid::samplesNeeded, m_source, &DataSource::requestSamples);
    connect(m_grid, &SampleGrid::indexChosen, this, &DataPage::chosen);
    connect(m_part, &QComboBox::textActivated, m_source, &DataSource::setPart);
    connect(m_label, &QComboBox::activated, this, [this](int row) { m_source->setLabel(row - 1); });
    connect(m_save, &QPushButton::clicked, this, &DataPage::saveShown);
    connect(m_train, &QPushButton::clicked, this,
            [this] { Q_EMIT trainOnRequested(m_source->choice().path); });
    connect(&m_context.selection, &Selection::currentChanged, this, &DataPage::offerRun);
    connect(&m_context.runs, &RunsController::rowsChanged, this, &DataPage::offerRun);
}

void DataPage::offerRun() {
    QString path = m_context.selection.current();
    // This page shows images; the texts of a run stand in its inspector.
    if (const RunInfo* info = m_context.runs.info(path); info && info->metric == "perplexity")
        path.clear();
    m_chooser->setRun(path, path.isEmpty() ? QString() : m_context.runs.name(path));
}

void DataPage::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    if (m_source->data() || m_reading->busy()) return;
    // Something to look at from the first moment, but only once somebody looks.
    DataChoice first;
    first.name = QStringLiteral("Between");
    m_chooser->setCurrent(first);
    open(first);
}

void DataPage::open(const DataChoice& choice) {
    m_imported.clear();
    m_source->open(choice);
}

void DataPage::importFile(const QString& path) {
    DataChoice choice;
    choice.kind = DataChoice::Kind::File;
    choice.path = QFileInfo(path).absoluteFilePath();
    choice.name = QFileInfo(path).fileName();
    open(choice);
    m_imported = choice.path;
}

void DataPage::showPicture(const QString& path) {
    m_source->requestPicture(path);
}

void DataPage::opened() {
    m_error->setSentence({});
    const DataChoice& choice = m_source->choice();
    m_chooser->setCurrent(choice);
    if (!m_imported.isEmpty()) m_chooser->remember(std::exchange(m_imported, {}));
    const bool file = choice.kind == DataChoice::Kind::File;
    m_train->setEnabled(file);
    m_train->setToolTip(
        file ? QStringLiteral("The next run reads its images from this file")
             : QStringLiteral("For imported files; a preset generates these images itself"));
    m_part->clear();
    m_part->addItems(m_source->parts());
}

void DataPage::shown() {
    const DatasetInfo& info = m_source->data()->info();
    m_part->setCurrentText(m_source->part());
    if (m_source->label() < 0) {
        m_label->clear();
        m_label->addItem(QStringLiteral("any"));
        m_label->addItems(m_source->classNames());
    }
    m_label->setCurrentIndex(m_source->label() + 1);
    const qint64 count = m_source->count(), current = m_grid->current();
    const QString words = QStringLiteral("%1 images").arg(groupedNumber(count));
    const bool partial = m_source->label() >= 0 && info.size > DataSource::kSearched;
    m_head->setSubText(partial ? QStringLiteral("%1 among the first %2")
                                     .arg(words, groupedNumber(DataSource::kSearched))
                               : words);
    m_grid->setClassNames(m_source->classNames());
    m_grid->setImageSize(info.width, info.height);
    m_grid->setCount(count);
    m_save->setEnabled(count > 0 && !m_saving->busy());
    const qint64 next = count == 0 ? -1 : std::clamp<qint64>(current, 0, count - 1);
    m_grid->setCurrent(next);
    if (next >= 0)
        m_source->requestSample(next);
    else
        m_sample->clear();
}

void DataPage::chosen(qint64 index) {
    m_source->requestSample(index);
    // A run's own sample is what the Workbench looks at, too.
    const DataChoice& choice = m_source->choice();
    if (choice.kind == DataChoice::Kind::Run && choice.path == m_context.selection.current())
        m_context.selection.setSample(m_source->part(), m_source->indexOf(index));
}

void DataPage::count(const DataStatistics& s) {
    const DatasetInfo& info = m_source->data()->info();
    std::vector<std::pair<QString, qint64>> classes;
    for (std::size_t i = 0; i < s.classes.size(); ++i)
        classes.emplace_back(
            m_source->classNames().value(static_cast<qsizetype>(i), QString::number(i)),
            s.classes[i]);
    m_statistics->setClasses(std::move(classes));
    m_statisticsHead->setSubText(
        s.counted < info.size ? QStringLiteral("of the first %1").arg(groupedNumber(s.counted))
                              : QStringLiteral("of all %1").arg(groupedNumber(s.counted)));
    const QFontMetrics metrics(numberFont(12));
    // The seed is the one in the form; the generator makes another of it for each part.
    const DataChoice& choice = m_source->choice();
    QString origin = choice.name;
    if (choice.kind == DataChoice::Kind::Generated) {
        origin = QStringLiteral("generated, seed %1").arg(choice.options.seed);
        if (choice.options.streaming && m_source->part() == QLatin1String("train"))
            origin += QStringLiteral(", pass %1").arg(choice.pass);
    }
    m_statistics->setToolTip(QString::fromStdString(info.origin));
    m_statistics->setRows(
        {{QStringLiteral("Images"), groupedNumber(info.size)},
         {QStringLiteral("Size"), sizeWords(info)},
         {info.channels == 1 ? QStringLiteral("Mean pixel") : QStringLiteral("Mean R, G, B"),
          meanWords(s.mean)},
         {QStringLiteral("Origin"), metrics.elidedText(origin, Qt::ElideMiddle, 190)}});
}

void DataPage::saveShown() {
    const qint64 count = askCount(m_source->count());
    if (count < 1) return;
    QString name = m_source->choice().name.toLower().replace(u' ', u'_');
    if (name.endsWith(QLatin1String(".npz"))) name.chop(4);
    const QString path = askSavePath(QStringLiteral("%1_%2.npz").arg(name, m_source->part()));
    if (!path.isEmpty()) saveTo(path, count);
}

void DataPage::saveTo(const QString& path, qint64 count) {
    m_error->setSentence({});
    m_source->save(path, count);
}

void DataPage::fail(const QString& sentence) {
    m_error->setSentence(sentence);
    m_imported.clear();
    m_chooser->setCurrent(m_source->choice());
    m_label->setCurrentIndex(m_source->label() + 1);
    m_context.messages.error(sentence);
}
QString DataPage::errorSentence() const {
    return m_error->sentence();
}

void DataPage::dragEnterEvent(QDragEnterEvent* event) {
    if (kindOf(droppedFile(event->mimeData())) != Dropped::Nothing) event->acceptProposedAction();
}
void DataPage::dropEvent(QDropEvent* event) {
    const QString path = droppedFile(event->mimeData());
    const Dropped kind = kindOf(path);
    if (kind == Dropped::Nothing) return;
    event->acceptProposedAction();
    if (kind == Dropped::Archive)
        importFile(path);
    else
        showPicture(path);
}

}  // namespace relascope
