// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/pages/compare_page.h"

#include <QHeaderView>
#include <QItemSelectionModel>
#include <QMenu>
#include <QPlainTextEdit>
#include <QSplitter>
#include <QStackedWidget>
#include <QTableView>
#include <QVBoxLayout>
#include <algorithm>

#include "app/compared_runs.h"
#include "app/controllers/runs_controller.h"
#include "app/curves_figure.h"
#include "app/selection.h"
#include "options/published.h"
#include "widgets/curves/curve_panel.h"
#include "widgets/export/export.h"
#include "widgets/tables/diff_table.h"
#include "widgets/tables/runs_table.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::app {
ComparePage::ComparePage(AppContext& context, QWidget* parent)
    : QWidget(parent),
      m_context(context),
      m_stack(new QStackedWidget(this)),
      m_empty(new widgets::EmptyState(
          QStringLiteral("No runs yet. Train an experiment on the Workbench."),
          QStringLiteral("Open the Workbench"), this)),
      m_table(new widgets::RunsTable(this)),
      m_curves(new widgets::CurvePanel(this)),
      m_differences(new widgets::DiffTable(this)),
      m_notesHead(new widgets::PanelHead(QStringLiteral("Notes"), this)),
      m_notes(new QPlainTextEdit(this)),
      m_comparisons(new QMenu(this)) {
    setAccessibleName(QStringLiteral("Compare"));
    layOut();
    m_tableMenu = exportInto(
        m_table->menu(), m_table, [] { return QStringLiteral("runs"); },
        [this] { return m_table->csv(); },
        [this](widgets::ViewMenu& menu) {
            menu.describe = [this] { return describeRunsTable(*m_table, m_context.runs); };
        });
    m_curvesMenu = exportInto(
        m_curves->controls()->menu(), m_curves, [this] { return m_curves->figureName(); },
        [this] { return m_curves->csv(); },
        [this](widgets::ViewMenu& menu) {
            m_curves->setFigure(menu);
            menu.describe = [this] {
                return describeCurves(*m_curves, m_context.runs, m_context.selection.runs(),
                                      reference());
            };
        });
    m_differencesMenu = exportInto(
        m_differences->menu(), m_differences, [] { return QStringLiteral("configuration"); },
        [this] { return m_differences->csv(); },
        [this](widgets::ViewMenu& menu) {
            menu.describe = [this] { return describeDifferences(*m_differences); };
        });
    wire();
    rowsChanged();
    overlay();
}

void ComparePage::layOut() {
    // Columns are wide enough for their titles.
    QHeaderView* heads = m_table->view()->horizontalHeader();
    for (int c = 0; c + 1 < heads->count(); ++c) {
        const QString title = heads->model()->headerData(c, Qt::Horizontal).toString();
        const int needed =
            title.isEmpty() ? 0 : QFontMetrics(widgets::bodyFont()).horizontalAdvance(title) + 18;
        if (needed > heads->sectionSize(c)) heads->resizeSection(c, needed);
    }
    m_curves->controls()->setCompareControls(true);
    m_curves->set(&widgets::CurveOptions::showTraining, false);
    m_curves->set(&widgets::CurveOptions::axis, widgets::CurveAxis::Epoch);

    auto* others = widgets::iconButton("note", QStringLiteral("Comparisons with notes"), this);
    others->setMenu(m_comparisons);
    m_notesHead->addControl(others);
    m_notes->setAccessibleName(QStringLiteral("Notes on the comparison"));
    m_notes->setFrameShape(QFrame::NoFrame);
    m_notes->setFont(widgets::smallFont());
    m_notes->setTabChangesFocus(true);
    m_notes->document()->setDocumentMargin(16);
    auto* notes = new QWidget(this);
    auto* notesColumn = widgets::columnOf(notes);
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

widgets::ViewMenu* ComparePage::exportInto(QMenu* menu, QWidget* view,
                                           std::function<QString()> name,
                                           std::function<QString()> csv,
                                           const std::function<void(widgets::ViewMenu&)>& prepare) {
    // The view has its own "..." button: the export menu belongs to a hidden button, and its
    // entries are added to the view's menu.
    auto* carrier = new QToolButton(this);
    carrier->hide();
    auto* exporter = new widgets::ViewMenu(carrier, view, std::move(name), std::move(csv));
    if (prepare) prepare(*exporter);
    exporter->addTo(menu);
    connect(exporter, &widgets::ViewMenu::failed, &m_context.messages, &Messages::error);
    connect(exporter, &widgets::ViewMenu::saved, &m_context.messages,
            [messages = &m_context.messages](const QString& path) {
                messages->ok(QStringLiteral("Saved %1").arg(path));
            });
    return exporter;
}

void ComparePage::wire() {
    RunsController& runs = m_context.runs;
    Selection& selection = m_context.selection;
    connect(m_empty, &widgets::EmptyState::activated, this, &ComparePage::workbenchRequested);
    connect(&runs, &RunsController::rowsChanged, this, &ComparePage::rowsChanged);
    connect(&runs.records(), &RunRecords::loaded, this, [this](const QString& path) {
        takePoints(path);
        showPublished();
    });
    connect(&runs.records(), &RunRecords::pointsAppended, this,
            [this](const QString& path, const std::vector<MetricPoint>& points) {
                m_curves->appendPoints(path, points);
            });
    connect(&runs.records(), &RunRecords::marksChanged, this, [this](const QString& path) {
        m_curves->setMarks(path, m_context.runs.records().marks(path));
    });

    connect(&selection, &Selection::runsChanged, this, &ComparePage::overlay);
    connect(&selection, &Selection::currentChanged, this, [this] {
        m_reference.clear();
        overlay();
    });
    connect(&selection, &Selection::stepChanged, this,
            [this] { m_curves->setCursorStep(m_context.selection.step()); });
    connect(m_curves, &widgets::CurvePanel::cursorMoved, this,
            [this](qint64 step) { m_context.selection.setStep(step); });

    connect(m_table, &widgets::RunsTable::overlayChanged, this,
            [this](const QStringList& paths) { m_context.selection.setRuns(paths); });
    connect(m_table, &widgets::RunsTable::runActivated, this, [this](const QString& path) {
        const QStringList chosen = m_table->selected();
        if (chosen.size() == 2 && chosen.contains(path))
            Q_EMIT duelRequested(chosen.first(), chosen.last());
        else
            openRun(path);
    });
    connect(m_table, &widgets::RunsTable::duelRequested, this, [this] {
        if (const QStringList two = m_table->pair(); !two.isEmpty())
            Q_EMIT duelRequested(two.first(), two.last());
    });
    connect(m_table, &widgets::RunsTable::csvRequested, this,
            [this] { m_tableMenu->save(QStringLiteral("csv")); });
    connect(m_table, &widgets::RunsTable::noteEdited, this,
            [this](const QString& path, const QString& note) { m_texts.setOfRun(path, note); });
    connect(m_table->view()->selectionModel(), &QItemSelectionModel::selectionChanged, this,
            [this] {
                const QStringList chosen = m_table->selected();
                if (chosen.size() != 1 || chosen.first() == m_reference) return;
                m_reference = chosen.first();
                overlay();
            });

    connect(m_notes, &QPlainTextEdit::textChanged, this, &ComparePage::noteTyped);
    connect(m_comparisons, &QMenu::aboutToShow, this, &ComparePage::fillComparisons);
    connect(&m_texts, &CompareNotes::failed, &m_context.messages, &Messages::error);
    connect(&m_texts, &CompareNotes::warned, &m_context.messages, &Messages::warning);
    connect(&m_texts, &CompareNotes::changed, this, [this] {
        m_comparison.reset();
        showNotes();
        if (isVisible()) fillTable();
    });
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
    m_texts.save();
}

void ComparePage::rowsChanged() {
    m_stack->setCurrentIndex(m_context.runs.rows().empty() ? 0 : 1);
    if (m_texts.folder() != m_context.runs.folder()) {
        m_texts.setFolder(m_context.runs.folder());
        m_comparison.reset();
        showNotes();
    }
    // Called several times a second during training; skipped while the page is hidden.
    if (!isVisible()) return;
    fillTable();
    showDifferences();
}

widgets::TableRow ComparePage::rowOf(const RunInfo& info, int colorIndex) {
    const QString path = QString::fromStdString(info.path);
    auto published = m_published.constFind(path);
    // A run that is being created has no options yet.
    if (published == m_published.constEnd() && !info.options.empty())
        published = m_published.insert(path, core::publishedResults(info));
    widgets::TableRow row{core::comparedRun(info, published == m_published.constEnd()
                                                      ? std::vector<core::PublishedResult>()
                                                      : *published),
                          colorIndex};
    row.note = m_texts.ofRun(path).toStdString();
    return row;
}

void ComparePage::fillTable() {
    std::vector<widgets::TableRow> rows;
    for (const widgets::RunRow& row : m_context.runs.rows())
        rows.push_back(rowOf(row.info, row.colorIndex));
    m_table->setRows(rows);
    m_table->setOverlaid(m_context.selection.runs());
}

void ComparePage::overlay() {
    const QStringList& chosen = m_context.selection.runs();
    m_context.runs.records().load(chosen);
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
    m_curves->appendPoints(path, m_context.runs.records().points(path));
    m_curves->setMarks(path, m_context.runs.records().marks(path));
}

void ComparePage::showPublished() {
    m_curves->setPublished(publishedOf(m_context.runs, m_context.selection.runs()));
}

void ComparePage::showDifferences() {
    std::vector<widgets::DiffRun> runs;
    const QString first = reference();
    for (const widgets::RunRow& row : m_context.runs.rows()) {
        const QString path = QString::fromStdString(row.info.path);
        if (!m_context.selection.runs().contains(path)) continue;
        runs.insert(path == first ? runs.begin() : runs.end(), {row.info, row.colorIndex});
    }
    // Only changes that the table shows are relevant, not new points of a run.
    decltype(m_compared) compared;
    for (const widgets::DiffRun& run : runs)
        compared.emplace_back(QString::fromStdString(run.info.path + '\n' + run.info.name + '\n' +
                                                     std::to_string(run.info.parameters)),
                              run.info.options);
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

void ComparePage::showNotes() {
    const qsizetype count = m_context.selection.runs().size();
    const QString runs =
        count == 1 ? QStringLiteral("this run") : QStringLiteral("these %1 runs").arg(count);
    m_notes->setEnabled(count > 0);
    m_notesHead->setSubText(count == 0 ? QString() : QStringLiteral("saved with %1").arg(runs));
    m_notes->setPlaceholderText(
        count == 0
            ? QStringLiteral("Check runs in the table to compare them.")
            : QStringLiteral("Notes on %1").arg(count == 1 ? QStringLiteral("the curves") : runs));
    m_notes->viewport()->update();  // Qt does not repaint it for the new text
    const QString comparison = m_texts.comparison(m_context.selection.runs());
    if (m_comparison == comparison) return;
    m_comparison = comparison;
    const QString text = m_texts.ofComparison(comparison);
    const QSignalBlocker quiet(m_notes);
    if (m_notes->toPlainText() != text) m_notes->setPlainText(text);
}

void ComparePage::noteTyped() {
    if (m_comparison && !m_comparison->isEmpty())
        m_texts.setOfComparison(*m_comparison, m_notes->toPlainText());
}

void ComparePage::fillComparisons() {
    m_comparisons->clear();
    const auto& all = m_texts.comparisons();
    for (auto it = all.begin(); it != all.end(); ++it) {
        if (it.value().trimmed().isEmpty()) continue;
        QStringList paths = m_texts.runsOf(it.key());
        const auto count = paths.size();
        paths.removeIf([this](const QString& path) { return !m_context.runs.info(path); });
        const QString line = it.value().trimmed().section(u'\n', 0, 0);
        QAction* action =
            m_comparisons->addAction(QStringLiteral("%1 runs: %2")
                                         .arg(count)
                                         .arg(fontMetrics().elidedText(line, Qt::ElideRight, 320)));
        action->setCheckable(true);
        action->setChecked(it.key() == m_comparison);
        action->setEnabled(!paths.isEmpty());
        connect(action, &QAction::triggered, this,
                [this, paths] { m_context.selection.setRuns(paths); });
    }
    if (m_comparisons->isEmpty())
        m_comparisons->addAction(QStringLiteral("No comparison has notes yet"))->setEnabled(false);
}

}  // namespace relascope::app
