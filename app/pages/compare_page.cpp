#include "app/pages/compare_page.h"

#include <QDir>
#include <QFile>
#include <QHeaderView>
#include <QItemSelectionModel>
#include <QJsonDocument>
#include <QJsonObject>
#include <QMenu>
#include <QPlainTextEdit>
#include <QSaveFile>
#include <QSplitter>
#include <QStackedWidget>
#include <QTableView>
#include <QTableWidget>
#include <QVBoxLayout>
#include <algorithm>

#include "app/controllers/job_queue.h"
#include "app/controllers/runs_controller.h"
#include "app/selection.h"
#include "options/field_text.h"
#include "options/presets.h"
#include "options/published.h"
#include "widgets/curves/curve_panel.h"
#include "widgets/export/export.h"
#include "widgets/tables/diff_table.h"
#include "widgets/tables/runs_table.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope {
namespace {

constexpr char kRunsKey[] = "runs", kComparisonsKey[] = "comparisons";

QMap<QString, QString> textsOf(const QJsonObject& object) {
    QMap<QString, QString> texts;
    for (auto it = object.begin(); it != object.end(); ++it)
        texts.insert(it.key(), it.value().toString());
    return texts;
}

QJsonObject objectOf(const QMap<QString, QString>& texts) {
    QJsonObject object;
    for (auto it = texts.begin(); it != texts.end(); ++it)
        if (!it.value().trimmed().isEmpty()) object.insert(it.key(), it.value());
    return object;
}

/// Whole or not at all, and on the disk when it returns.
void writeNotes(const QString& folder, const QByteArray& bytes) {
    QSaveFile file(folder + QStringLiteral("/notes.json"));
    if (QDir().mkpath(folder) && file.open(QIODevice::WriteOnly) &&
        file.write(bytes) == bytes.size() && file.commit())
        return;
    throw FileError(file.fileName().toStdString(),
                    "the notes could not be saved (" + file.errorString().toStdString() + ")");
}

QString runCount(qsizetype count) {
    return count == 1 ? QStringLiteral("this run") : QStringLiteral("these %1 runs").arg(count);
}

}  // namespace

ComparePage::ComparePage(AppContext& context, QWidget* parent)
    : QWidget(parent),
      m_context(context),
      m_stack(new QStackedWidget(this)),
      m_empty(new EmptyState(QStringLiteral("No runs yet. Train an experiment on the Workbench."),
                             QStringLiteral("Open the Workbench"), this)),
      m_table(new RunsTable(this)),
      m_curves(new CurvePanel(this)),
      m_differences(new DiffTable(this)),
      m_notesHead(new PanelHead(QStringLiteral("Notes"), this)),
      m_notes(new QPlainTextEdit(this)),
      m_comparisons(new QMenu(this)),
      m_disk(std::make_unique<JobQueue>()) {
    setAccessibleName(QStringLiteral("Compare"));
    layOut();
    m_tableMenu = exportInto(m_table->menu(), m_table, QStringLiteral("runs"),
                             [this] { return m_table->csv(); });
    m_curvesMenu = exportInto(m_curves->menu(), m_curves, QStringLiteral("curves"),
                              [this] { return m_curves->csv(); });
    m_curvesMenu->paintVector = [this](QPainter& painter) {
        m_curves->paintVector(painter, m_curves->rect());
    };
    m_differencesMenu =
        exportInto(m_differences->menu(), m_differences, QStringLiteral("configuration"),
                   [this] { return m_differences->csv(); });
    // Typing is written half a second after the last key, not at each of them.
    m_saveSoon.setSingleShot(true);
    m_saveSoon.setInterval(500);
    wire();
    rowsChanged();
    overlay();
}

ComparePage::~ComparePage() {
    // What is being written ends first; what waits or was dropped is written here.
    m_disk.reset();
    if ((!m_notesChanged && !m_notesWriting) || !m_notesReadable) return;
    try {
        writeNotes(m_notesFolder, notesText());
    } catch (const Error& error) {
        m_context.messages.error(QString::fromStdString(error.what()));
    }
}

void ComparePage::layOut() {
    // No head of a column is cut.
    QHeaderView* heads = m_table->view()->horizontalHeader();
    for (int c = 0; c + 1 < heads->count(); ++c) {
        const QString words = heads->model()->headerData(c, Qt::Horizontal).toString();
        const int needed =
            words.isEmpty() ? 0 : QFontMetrics(bodyFont()).horizontalAdvance(words) + 18;
        if (needed > heads->sectionSize(c)) heads->resizeSection(c, needed);
    }
    m_curves->setCompareControls(true);
    m_curves->setShowTraining(false);
    m_curves->setAxis(CurveAxis::Epoch);

    auto* others = iconButton("note", QStringLiteral("Comparisons with notes"), this);
    others->setMenu(m_comparisons);
    others->setPopupMode(QToolButton::InstantPopup);
    m_notesHead->addControl(others);
    m_notes->setAccessibleName(QStringLiteral("Notes on the comparison"));
    m_notes->setFrameShape(QFrame::NoFrame);
    m_notes->setFont(smallFont());
    m_notes->setTabChangesFocus(true);
    m_notes->document()->setDocumentMargin(16);
    auto* notes = new QWidget(this);
    auto* notesColumn = new QVBoxLayout(notes);
    notesColumn->setContentsMargins(0, 0, 0, 0);
    notesColumn->setSpacing(0);
    notesColumn->addWidget(m_notesHead);
    notesColumn->addWidget(m_notes, 1);

    auto* below = new QSplitter(Qt::Horizontal, this);
    below->setHandleWidth(1);
    below->setChildrenCollapsible(false);
    below->addWidget(m_differences);
    below->addWidget(notes);
    below->setStretchFactor(0, 7);
    below->setStretchFactor(1, 3);
    below->setSizes({790, 340});

    auto* all = new QSplitter(Qt::Vertical, this);
    all->setHandleWidth(1);
    all->setChildrenCollapsible(false);
    all->addWidget(m_table);
    all->addWidget(m_curves);
    all->addWidget(below);
    m_table->setMinimumHeight(120);
    m_curves->setMinimumHeight(180);
    m_differences->setMinimumHeight(110);
    for (int i = 0; i < 3; ++i) all->setStretchFactor(i, i == 1 ? 2 : 1);
    all->setSizes({240, 290, 230});

    m_stack->addWidget(m_empty);
    m_stack->addWidget(all);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(m_stack);
}

ViewMenu* ComparePage::exportInto(QMenu* menu, QWidget* view, const QString& name,
                                  std::function<QString()> csv) {
    // The view has its own "..." button: the export menu hangs on one that is never shown, and its
    // entries are listed in the view's menu.
    auto* carrier = new QToolButton(this);
    carrier->hide();
    auto* exporter = new ViewMenu(
        carrier, view, [name] { return name; }, std::move(csv));
    menu->addActions(exporter->menu()->actions());
    connect(exporter, &ViewMenu::failed, &m_context.messages, &Messages::error);
    connect(exporter, &ViewMenu::saved, &m_context.messages,
            [messages = &m_context.messages](const QString& path) {
                messages->ok(QStringLiteral("Saved %1").arg(path));
            });
    return exporter;
}

void ComparePage::wire() {
    RunsController& runs = m_context.runs;
    Selection& selection = m_context.selection;
    connect(m_empty, &EmptyState::activated, this, &ComparePage::workbenchRequested);
    connect(&runs, &RunsController::rowsChanged, this, &ComparePage::rowsChanged);
    connect(&runs, &RunsController::loaded, this, [this](const QString& path) {
        takePoints(path);
        showPublished();
    });
    connect(&runs, &RunsController::pointsAppended, this,
            [this](const QString& path, const std::vector<MetricPoint>& points) {
                m_curves->appendPoints(path, points);
            });
    connect(&runs, &RunsController::marksChanged, this,
            [this](const QString& path) { m_curves->setMarks(path, m_context.runs.marks(path)); });

    connect(&selection, &Selection::runsChanged, this, &ComparePage::overlay);
    connect(&selection, &Selection::currentChanged, this, [this] {
        m_reference.clear();
        overlay();
    });
    connect(&selection, &Selection::stepChanged, this,
            [this] { m_curves->setCursorStep(m_context.selection.step()); });
    connect(m_curves, &CurvePanel::cursorMoved, this,
            [this](qint64 step) { m_context.selection.setStep(step); });

    connect(m_table, &RunsTable::overlayChanged, this,
            [this](const QStringList& paths) { m_context.selection.setRuns(paths); });
    connect(m_table, &RunsTable::runActivated, this, &ComparePage::openRun);
    connect(m_table, &RunsTable::csvRequested, this,
            [this] { m_tableMenu->save(QStringLiteral("csv")); });
    connect(m_table, &RunsTable::noteEdited, this,
            [this](const QString& path, const QString& note) {
                m_runNotes[noteKey(path)] = note;
                m_notesChanged = true;
                m_saveSoon.start();
            });
    connect(m_table->view()->selectionModel(), &QItemSelectionModel::selectionChanged, this,
            [this] {
                const QStringList chosen = m_table->selected();
                if (chosen.size() != 1 || chosen.first() == m_reference) return;
                m_reference = chosen.first();
                overlay();
            });

    connect(m_notes, &QPlainTextEdit::textChanged, this, &ComparePage::noteTyped);
    connect(m_comparisons, &QMenu::aboutToShow, this, &ComparePage::fillComparisons);
    connect(&m_saveSoon, &QTimer::timeout, this, &ComparePage::saveNotes);
}

QString ComparePage::reference() const {
    const QStringList& runs = m_context.selection.runs();
    if (runs.contains(m_reference)) return m_reference;
    if (runs.contains(m_context.selection.current())) return m_context.selection.current();
    return runs.isEmpty() ? QString() : runs.first();
}

void ComparePage::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    rowsChanged();
}
void ComparePage::hideEvent(QHideEvent* event) {
    QWidget::hideEvent(event);
    saveNotes();
}

void ComparePage::rowsChanged() {
    m_stack->setCurrentIndex(m_context.runs.rows().empty() ? 0 : 1);
    if (m_notesFolder != m_context.runs.folder()) {
        saveNotes();
        readNotes();
        m_notesKey = QStringLiteral("\n");  // no comparison's: the text is taken anew
        showNotes();
    }
    // While a run goes on this comes some times a second; out of sight nobody reads it.
    if (!isVisible()) return;
    fillTable();
    showDifferences();
}

double ComparePage::published(const RunInfo& info) {
    const QString path = QString::fromStdString(info.path);
    const auto known = m_published.constFind(path);
    if (known != m_published.constEnd()) return *known;
    double accuracy = std::numeric_limits<double>::quiet_NaN();
    RunOptions options;
    options.preset = info.preset;
    options.variant = info.variant;
    try {
        for (const auto& [key, text] : info.options)
            if (key.rfind("data.", 0) == 0) setOption(options, key, text);
        for (const auto& result : publishedResults(options))
            if (result.split == options.data.family) accuracy = result.accuracy;
    } catch (const Error&) {
        // A run of another version: no number stands beside it.
    }
    // A run that is just being made has no options in its row yet.
    if (!info.options.empty()) m_published.insert(path, accuracy);
    return accuracy;
}

void ComparePage::fillTable() {
    std::vector<TableRow> rows;
    for (const RunRow& row : m_context.runs.rows()) {
        const QString path = QString::fromStdString(row.info.path);
        rows.push_back(
            {row.info, row.colorIndex, published(row.info), m_runNotes.value(noteKey(path))});
    }
    m_table->setRows(rows);
    m_table->setOverlaid(m_context.selection.runs());
}

void ComparePage::overlay() {
    const QStringList& chosen = m_context.selection.runs();
    m_context.runs.load(chosen);
    m_curves->setRuns(m_context.runs.curveRuns(chosen, reference()));
    for (const QString& path : chosen)
        if (!m_drawn.contains(path)) takePoints(path);
    m_drawn = chosen;
    m_curves->setCursorStep(m_context.selection.step());
    m_table->setOverlaid(chosen);
    showPublished();
    showDifferences();
    showNotes();
}

void ComparePage::takePoints(const QString& path) {
    m_curves->clearPoints(path);
    m_curves->appendPoints(path, m_context.runs.points(path));
    m_curves->setMarks(path, m_context.runs.marks(path));
}

void ComparePage::showPublished() {
    std::vector<PublishedValue> values;
    for (const QString& path : m_context.selection.runs())
        for (const PublishedValue& value : m_context.runs.published(path))
            // Seeds of one model share their colour and their published number.
            if (std::find(values.begin(), values.end(), value) == values.end())
                values.push_back(value);
    m_curves->setPublished(std::move(values));
}

void ComparePage::showDifferences() {
    std::vector<DiffRun> runs;
    const QString first = reference();
    for (const RunRow& row : m_context.runs.rows()) {
        const QString path = QString::fromStdString(row.info.path);
        if (!m_context.selection.runs().contains(path)) continue;
        DiffRun run{row.info, row.colorIndex};
        if (row.info.parameters > 0)
            run.info.options.emplace_back("parameters",
                                          groupedNumber(row.info.parameters).toStdString());
        runs.insert(path == first ? runs.begin() : runs.end(), std::move(run));
    }
    // Only what the table shows counts: a new point of a run is no news here.
    decltype(m_compared) compared;
    for (const DiffRun& run : runs)
        compared.emplace_back(QString::fromStdString(run.info.path), run.info.options);
    if (compared == m_compared) return;
    m_compared = std::move(compared);
    m_differences->setRuns(std::move(runs));
}

void ComparePage::openRun(const QString& path) {
    Selection& selection = m_context.selection;
    if (!selection.runs().contains(path)) selection.setRuns(QStringList{path} + selection.runs());
    selection.setCurrent(path);
    Q_EMIT workbenchRequested();
}

// Notes
// ---------------------------------------------------------------------------------------------------

QString ComparePage::noteKey(const QString& path) const {
    // Relative to the folder, so that notes follow it when it moves; runs from elsewhere keep their
    // path.
    const QString inside = QDir(m_notesFolder).relativeFilePath(path);
    return inside.startsWith(QLatin1String("..")) ? path : inside;
}

QString ComparePage::comparisonKey() const {
    QStringList keys;
    for (const QString& path : m_context.selection.runs()) keys += noteKey(path);
    keys.sort();
    return keys.join(u'\n');
}

void ComparePage::readNotes() {
    m_notesFolder = m_context.runs.folder();
    m_runNotes.clear();
    m_comparisonNotes.clear();
    m_notesReadable = true;
    QFile file(m_notesFolder + QStringLiteral("/notes.json"));
    if (!file.exists()) return;
    QJsonParseError problem;
    QJsonDocument document;
    if (file.open(QIODevice::ReadOnly))
        document = QJsonDocument::fromJson(file.readAll(), &problem);
    if (!document.isObject()) {
        // Somebody's words are in it: what cannot be read is not overwritten either.
        m_notesReadable = false;
        m_context.messages.warning(
            QStringLiteral("%1 holds no notes that can be read; notes are not saved until it is "
                           "repaired or moved away")
                .arg(file.fileName()));
        return;
    }
    m_runNotes = textsOf(document[QLatin1String(kRunsKey)].toObject());
    m_comparisonNotes = textsOf(document[QLatin1String(kComparisonsKey)].toObject());
}

QByteArray ComparePage::notesText() const {
    return QJsonDocument(QJsonObject{{QLatin1String(kRunsKey), objectOf(m_runNotes)},
                                     {QLatin1String(kComparisonsKey), objectOf(m_comparisonNotes)}})
        .toJson();
}

void ComparePage::saveNotes() {
    m_saveSoon.stop();
    if (!m_notesChanged || !m_notesReadable) return;
    m_notesChanged = false;
    m_notesWriting = true;
    const auto work = [folder = m_notesFolder, bytes = notesText()](std::stop_token) {
        writeNotes(folder, bytes);
        return true;
    };
    m_disk->post(
        this, work, [this](bool) { m_notesWriting = false; },
        [this](const QString& sentence) {
            m_notesWriting = false;
            m_notesChanged = true;
            m_context.messages.error(sentence);
        });
}

void ComparePage::showNotes() {
    const QString key = comparisonKey();
    const qsizetype count = m_context.selection.runs().size();
    m_notes->setEnabled(count > 0);
    m_notesHead->setSubText(count == 0 ? QString()
                                       : QStringLiteral("saved with %1").arg(runCount(count)));
    m_notes->setPlaceholderText(
        count == 0 ? QStringLiteral("Check runs in the table to compare them.")
                   : QStringLiteral("What do %1 show?")
                         .arg(count == 1 ? QStringLiteral("the curves") : runCount(count)));
    if (key == m_notesKey) return;
    m_notesKey = key;
    const QSignalBlocker quiet(m_notes);
    m_notes->setPlainText(m_comparisonNotes.value(key));
}

void ComparePage::noteTyped() {
    if (m_notesKey.isEmpty()) return;
    m_comparisonNotes[m_notesKey] = m_notes->toPlainText();
    m_notesChanged = true;
    m_saveSoon.start();
}

void ComparePage::fillComparisons() {
    m_comparisons->clear();
    for (auto it = m_comparisonNotes.begin(); it != m_comparisonNotes.end(); ++it) {
        if (it.value().trimmed().isEmpty()) continue;
        QStringList paths;
        for (const QString& key : it.key().split(u'\n')) {
            const QString path = QDir::cleanPath(QDir(m_notesFolder).absoluteFilePath(key));
            if (m_context.runs.info(path)) paths += path;
        }
        const QString line = it.value().trimmed().section(u'\n', 0, 0);
        QAction* action =
            m_comparisons->addAction(QStringLiteral("%1 runs: %2")
                                         .arg(it.key().count(u'\n') + 1)
                                         .arg(fontMetrics().elidedText(line, Qt::ElideRight, 320)));
        action->setCheckable(true);
        action->setChecked(it.key() == m_notesKey);
        action->setEnabled(!paths.isEmpty());
        connect(action, &QAction::triggered, this,
                [this, paths] { m_context.selection.setRuns(paths); });
    }
    if (m_comparisons->isEmpty())
        m_comparisons->addAction(QStringLiteral("No comparison has notes yet"))->setEnabled(false);
}

}  // namespace relascope
