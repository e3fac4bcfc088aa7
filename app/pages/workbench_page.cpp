// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/pages/workbench_page.h"
#include "app/pages/atlas_page.h"
#include "app/pages/checkpoint_details.h"

#include <QMenu>
#include <QPushButton>
#include <QSplitter>
#include <QStackedLayout>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "app/controllers/controllers.h"
#include "app/controllers/examples.h"
#include "app/controllers/inspector_feed.h"
#include "app/controllers/job_queue.h"
#include "app/controllers/typed_text.h"
#include "app/curves_figure.h"
#include "app/pages/away_strip.h"
#include "app/pages/data_source.h"
#include "app/pages/first_view.h"
#include "options/presets.h"
#include "types/data_kind.h"
#include "widgets/analysis/scan/findings_bar.h"
#include "widgets/curves/captures_track.h"
#include "widgets/curves/curve_panel.h"
#include "widgets/export/export.h"
#include "widgets/inspector/inspector_bar.h"
#include "widgets/inspector/map_pane.h"
#include "widgets/inspector/relation_inspector.h"
#include "widgets/inspector/sample_chooser.h"
#include "widgets/inspector/source_pane.h"
#include "widgets/maps/map_view.h"
#include "widgets/source/text_input.h"
#include "widgets/source/text_outcome.h"
#include "widgets/text/run_text.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::app {
namespace {

constexpr int kHead = 30;  ///< px of the line that names the run
constexpr char kLearnHelp[] =
    "Measures for 20 seconds which relations and heads the model needs, and what they tell";
constexpr char kOptionsHelp[] = "Shows the options of this run at the right";

/// The value of an option of a run.
QString optionOf(const RunInfo& info, const char* key) {
    for (const auto& [name, text] : info.options)
        if (name == key) return QString::fromStdString(text);
    return {};
}

qint64 nearest(const std::vector<qint64>& steps, qint64 step) {
    if (steps.empty()) return step;
    const auto after = std::lower_bound(steps.begin(), steps.end(), step);
    if (after == steps.begin()) return *after;
    if (after == steps.end()) return steps.back();
    return step - *(after - 1) < *after - step ? *(after - 1) : *after;
}

}  // namespace

WorkbenchPage::WorkbenchPage(Controllers& controllers, QWidget* parent)
    : QWidget(parent),
      m_c(controllers),
      m_stack(new QStackedLayout(this)),
      m_empty(new widgets::EmptyState(
          QStringLiteral("Choose an experiment on the left and press Start."),
          QStringLiteral("Train the quick start"), this)),
      m_splitter(new QSplitter(Qt::Vertical, this)),
      m_head(new widgets::PanelHead({}, this)),
      m_learn(new QPushButton(QStringLiteral("What did it learn?"), this)),
      m_runOptions(new QPushButton(QStringLiteral("Options of this run"), this)),
      m_resume(new QPushButton(QStringLiteral("Resume"), this)),
      m_findings(new widgets::FindingsBar(this)),
      m_scanning(new JobStrip(this)),
      m_curves(new widgets::CurvePanel(this)),
      m_track(new widgets::CapturesTrack(this)),
      m_inspector(new widgets::RelationInspector(this)) {
    setAccessibleName(QStringLiteral("Workbench"));
    widgets::paintOnPanelColour(m_empty);
    m_stack->addWidget(m_empty);
    auto* page = new QWidget(this);
    widgets::paintOnPanelColour(page);
    m_stack->addWidget(page);
    auto* column = widgets::columnOf(page);
    m_head->setFixedHeight(kHead);
    for (auto* button : {m_resume, m_learn, m_runOptions}) {
        button->setProperty("compact", true);
        m_head->addControl(button);
    }
    m_runOptions->setCheckable(true);
    m_resume->setToolTip(QStringLiteral("Continues this run from its last checkpoint"));
    connect(m_resume, &QPushButton::clicked, this,
            [this] { m_c.experiment.resume(m_c.selection.current()); });
    connect(m_learn, &QPushButton::clicked, this, [this] {
        if (m_findings->current() >= 0 && !m_findings->allowed()) {
            m_findings->next();
            return showSubject();
        }
        m_asked = true;
        m_findings->setSentence(QStringLiteral("Reading the weights and the data."));
        Q_EMIT learnRequested(AtlasPage::Learn::Asked);
    });
    connect(m_runOptions, &QPushButton::clicked, this, &WorkbenchPage::runOptionsRequested);
    connect(&m_c.experiment, &ExperimentController::changed, this, [this] {
        showSubject();
        showEmptyOrNot();
    });
    column->addWidget(m_head);
    column->addWidget(m_findings);
    // In the line of the run, where it costs the map no height.
    m_scanning->setInline();
    m_head->addControl(m_scanning);
    connect(m_scanning, &JobStrip::cancelled, m_findings, &widgets::FindingsBar::clear);
    auto* searching = new JobStrip(page);
    searching->setObjectName(QStringLiteral("search"));
    searching->follow(m_c.runInput.search());
    column->addWidget(searching);
    m_away = new AwayStrip(m_c.hosts, m_inspector, page);
    column->addWidget(m_away);
    auto* strip = m_strip = new QWidget(m_splitter);
    auto* below = widgets::columnOf(strip);
    below->addWidget(widgets::horizontalLine(strip));
    below->addWidget(m_curves, 1);
    below->addWidget(m_track);
    m_curves->setStrip(m_track->controls());
    m_inspector->setMapFirst();
    m_splitter->addWidget(m_inspector);
    m_splitter->addWidget(strip);
    m_splitter->setChildrenCollapsible(false);
    m_splitter->setStretchFactor(0, 1);
    m_splitter->setStretchFactor(1, 0);
    connect(m_splitter, &QSplitter::splitterMoved, this, [this] { m_ownSplit = true; });
    column->addWidget(m_splitter, 1);

    connectCurves();
    connectInspector();
    const auto toggle = [this](Fill what) { fill(m_fill == what ? Fill::Nothing : what); };
    connect(m_inspector->mapPane()->map(), &widgets::MapView::fillRequested, this,
            [toggle] { toggle(Fill::Map); });
    connect(m_curves, &widgets::CurvePanel::fillRequested, this,
            [toggle] { toggle(Fill::Curves); });
    connect(m_empty, &widgets::EmptyState::activated, this, [this] {
        m_c.experiment.choosePreset(QStringLiteral("quick"));
        m_c.selection.setPreset(QStringLiteral("quick"));
        m_c.experiment.start();
    });
    connect(&m_c.training, &TrainingController::stateChanged, this, &WorkbenchPage::showEmptyOrNot);
    connect(&m_c.hosts, &HostsController::changed, this, &WorkbenchPage::showAway);
    connect(&m_c.selection, &Selection::currentChanged, this, &WorkbenchPage::showAway);
    showRuns();
}

void WorkbenchPage::connectCurves() {
    auto& c = m_c;
    connect(&c.selection, &Selection::runsChanged, this, &WorkbenchPage::showRuns);
    connect(&c.runs, &RunsController::rowsChanged, this, &WorkbenchPage::showRuns);
    connect(&c.selection, &Selection::currentChanged, this, [this] {
        m_findings->clear();
        m_asked = false;
        showRuns();
        showCaptures();
        showHead();
        m_recalled = false;
        recallScan();
    });
    connect(&c.runInput, &RunInput::splitsChanged, this, [this] {
        recallScan();
        scanAtEnd();
    });
    connect(&c.runs.records(), &RunRecords::loaded, this, [this](const QString& path) {
        m_curves->clearPoints(path);
        showPoints(path);
        showMarks(path);
        showCaptures();
        showHead();
        showOutcome();
    });
    connect(&c.runs.records(), &RunRecords::pointsAppended, m_curves,
            &widgets::CurvePanel::appendPoints);
    connect(&c.runs.records(), &RunRecords::marksChanged, this, &WorkbenchPage::showMarks);
    connect(&c.runs.records(), &RunRecords::capturesChanged, this, [this](const QString& path) {
        if (path == m_c.selection.current()) showCaptures();
    });
    connect(&c.selection, &Selection::stepChanged, this, &WorkbenchPage::showCursor);
    connect(&c.selection, &Selection::stepChanged, this, &WorkbenchPage::showOutcome);
    connect(&c.runs.records(), &RunRecords::samplesChanged, this, [this](const QString& path) {
        if (path == m_c.selection.current()) showOutcome();
    });
    connect(m_curves, &widgets::CurvePanel::cursorMoved, this,
            [this](qint64 step) { m_c.selection.setStep(step); });
    connect(m_track, &widgets::CapturesTrack::stepChosen, this,
            [this](qint64 step) { m_c.selection.setStep(step); });
    m_track->setContextMenuPolicy(Qt::CustomContextMenu);
    connect(m_track, &QWidget::customContextMenuRequested, this, [this](const QPoint& at) {
        QMenu menu(m_track);
        auto* pin = menu.addAction(m_inspector->pinned() ? QStringLiteral("Unpin A")
                                                         : QStringLiteral("Pin as A"));
        pin->setEnabled(m_inspector->result() != nullptr);
        if (menu.exec(m_track->mapToGlobal(at)) == pin) Q_EMIT pinRequested();
    });
    connect(m_track, &widgets::CapturesTrack::liveRequested, this,
            [this] { m_c.selection.setStep(std::nullopt); });
    connect(m_curves, &widgets::CurvePanel::axisChanged, this,
            [this](double low, double high, bool logarithmic, int left, int right) {
                m_track->setAxis(low, high, logarithmic, left, right);
                m_track->setTicks(widgets::axisTitle(m_curves->axis()), m_curves->ticks());
                m_track->setKeys(widgets::keysOnAxis(
                    m_track->steps(), m_c.runs.records().points(m_c.selection.current()),
                    m_curves->axis()));
            });

    // The panel has its own menu; the export entries come from a hidden button.
    auto* hidden = new QToolButton(m_curves);
    hidden->hide();
    auto* save = new widgets::ViewMenu(
        hidden, m_curves, [this] { return m_curves->figureName(); },
        [this] { return m_curves->csv(); });
    m_curves->setFigure(*save);
    save->describe = [this]() -> std::optional<View> {
        // An edit of the inspector has a mark that no run has.
        if (m_inspector->edited()) return std::nullopt;
        const QStringList& chosen = m_c.selection.runs();
        return describeCurves(*m_curves, m_c.runs, chosen,
                              chosen.size() > 1 ? m_c.selection.current() : QString());
    };
    save->addTo(m_curves->controls()->menu());
}

void WorkbenchPage::connectInspector() {
    auto& c = m_c;
    auto* more = widgets::iconButton("more", QStringLiteral("Inspector: copy, save"), m_inspector);
    m_inspector->bar()->addControl(more);
    auto* save = new widgets::ViewMenu(
        more, m_inspector,
        [this] {
            return m_inspector->choice().figureName(widgets::FigurePart::Source |
                                                    widgets::FigurePart::Map);
        },
        [this] { return m_inspector->choice().csv(); });
    m_inspector->choice().setFigure(*save, widgets::FigurePart::Source | widgets::FigurePart::Map);
    m_inspector->setBackground(backgroundOn(*new JobQueue(this)));
    m_inspector->setAccessibleName(QStringLiteral("Relation inspector"));

    connect(&c.runInput.feed(), &InspectorFeed::inspected, this,
            [this](const widgets::Inspected& inspected) {
                const auto& result = inspected.result;
                // A picture of the user is named; a sample is already shown in the chooser.
                const bool text = isOneText(result->sample);
                const bool own = text ? result->sample.origin == kTyped
                                      : !result->sample.image.empty() && result->sample.label < 0;
                const bool sample = !own;
                m_inspector->setSubText(
                    sample ? QString()
                           : QString("step %1 · %2")
                                 .arg(widgets::groupedNumber(result->step),
                                      QString::fromStdString(result->sample.origin)));
                // The first view of objects depends on the maps, which may follow.
                const bool viewable = !result->partial || text || result->grid.tokens() > 0;
                if (viewable && m_c.selection.view() == widgets::InspectorView()) {
                    m_c.selection.setView(firstView(*result));
                } else if (text && !m_text) {
                    // The position of a patch has no meaning for a text.
                    widgets::InspectorView view = m_c.selection.view();
                    showTextMap(result->sample.source, &view);
                    m_c.selection.setView(view);
                }
                m_text = text;
                showSubject();
                const bool marked = m_inspector->edited();
                m_inspector->setInspected(inspected);
                if (marked || inspected.edited()) showMarks(m_c.selection.current());
                showOutcome();
            });
    connect(m_inspector->sourcePane()->textInput(), &widgets::TextInput::textTyped,
            &c.runInput.feed(), &InspectorFeed::chooseText);
    connect(&c.runInput, &RunInput::textProblem, m_inspector->sourcePane()->textInput(),
            &widgets::TextInput::setProblem);
    connect(&c.runInput.feed(), &InspectorFeed::textOffered, this, [this](const QString& text) {
        auto* input = m_inspector->sourcePane()->textInput();
        input->setOpen(true);
        input->setText(text);
    });
    // Another run is inspected: the typed text belongs to the previous one.
    connect(&c.selection, &Selection::currentChanged, this,
            [this] { m_inspector->sourcePane()->textInput()->setOpen(false); });
    connect(&c.runInput, &RunInput::cleared, this, [this](const QString& sentence) {
        m_inspector->setEmptyState(
            sentence.isEmpty() ? QStringLiteral("Select a run on the left to inspect its model.")
                               : sentence,
            {});
        m_inspector->setResult(nullptr);
    });
    connect(&c.runInput, &RunInput::splitsChanged, m_inspector->sourcePane()->samples(),
            &widgets::SampleChooser::setSplits);
    connect(&c.runInput, &RunInput::labelsChanged, m_inspector->sourcePane()->samples(),
            &widgets::SampleChooser::setLabels);
    connect(&c.runInput, &RunInput::sampleShown, m_inspector->sourcePane()->samples(),
            &widgets::SampleChooser::setSample);
    connect(m_inspector->sourcePane()->samples(), &widgets::SampleChooser::sampleRequested,
            &c.runInput, &RunInput::chooseSample);
    connect(m_inspector->sourcePane()->samples(), &widgets::SampleChooser::randomSampleRequested,
            &c.runInput, [this](const QString& split) {
                m_c.runInput.chooseRandom(split,
                                          m_inspector->sourcePane()->samples()->labelFilter());
            });
    connect(m_inspector->sourcePane()->samples(), &widgets::SampleChooser::labelRequested,
            &c.runInput, &RunInput::chooseByLabel);
    connect(m_inspector, &widgets::RelationInspector::imageDropped, &c.runInput,
            &RunInput::chooseImage);
    connect(m_inspector, &widgets::RelationInspector::viewChanged, &c.selection,
            &Selection::setView);
    connect(&c.selection, &Selection::viewChanged, this,
            [this] { m_inspector->setView(m_c.selection.view()); });
}

void WorkbenchPage::showRuns() {
    const QStringList chosen = m_c.selection.runs();
    auto fresh =
        m_c.runs.curveRuns(chosen, chosen.size() > 1 ? m_c.selection.current() : QString());
    if (m_shown != fresh) {
        QStringList before;
        for (const auto& run : m_shown) before << run.id;
        m_shown = fresh;
        m_curves->setRuns(std::move(fresh));
        for (const auto& path : chosen) {
            if (before.contains(path)) continue;
            showPoints(path);
            showMarks(path);
        }
    }
    showHead();
    showEmptyOrNot();
    scanAtEnd();
}

/// Opens the scan that is kept with the run, once its data are known.
void WorkbenchPage::recallScan() {
    const QString path = m_c.selection.current();
    if (m_recalled || m_c.runInput.run() != path || !m_c.runInput.data()) return;
    m_recalled = true;
    if (AtlasPage::hasKeptScan(path)) Q_EMIT learnRequested(AtlasPage::Learn::Kept);
}

/// When the run that is shown is done, its first question is what it learned.
void WorkbenchPage::scanAtEnd() {
    const QString path = m_c.selection.current();
    const RunInfo* info = m_c.runs.info(path);
    if (!info) return;
    if (info->state == RunState::Running || info->state == RunState::Paused) {
        m_training = path;
    } else if (m_training == path && !(m_c.training.busy() && m_c.training.run() == path)) {
        // The data of one that was not shown when it ended are read first.
        if (m_c.runInput.run() != path || !m_c.runInput.options()) return;
        m_training.clear();
        if (m_scansAtEnd && info->state == RunState::Done && !m_c.training.busy())
            Q_EMIT learnRequested(AtlasPage::Learn::AtEnd);
    }
}

// While the machine of the run is not connected, maps and curves stay as they were, and controls
// that need it are disabled.
void WorkbenchPage::showAway() {
    const bool away = m_away->follow(HostsController::hostOf(m_c.selection.current()));
    m_inspector->sourcePane()->samples()->setEnabled(!away);
    // A text is nothing without a model that reads it.
    const QString none = m_c.runs.whyNoModel(m_c.selection.current());
    auto* typed = m_inspector->sourcePane()->textInput();
    typed->setEnabled(!away && none.isEmpty());
    typed->setToolTip(none);
}

void WorkbenchPage::showEmptyOrNot() {
    const bool isSetUp = m_c.experiment.isSetUp();
    m_empty->setSentence(
        isSetUp ? QStringLiteral("Press Start to train on %1.").arg(m_c.experiment.title())
                : QStringLiteral("Choose an experiment on the left and press Start."));
    m_empty->setButtonText(isSetUp ? QString() : QStringLiteral("Train the quick start"));
    // A view with data has maps without a run.
    const bool any =
        !m_c.selection.runs().isEmpty() || m_c.training.busy() || m_inspector->result();
    m_stack->setCurrentIndex(any || m_alwaysPanes ? 1 : 0);
}

void WorkbenchPage::showPanes(bool always) {
    m_alwaysPanes = always;
    showEmptyOrNot();
}

void WorkbenchPage::showPoints(const QString& path) {
    m_curves->appendPoints(path, m_c.runs.records().points(path));
}
void WorkbenchPage::showMarks(const QString& path) {
    auto marks = m_c.runs.records().marks(path);
    // Edits of the inspector do not change training: they get a hollow mark at the inspected step.
    const auto& shown = m_inspector->choice().inspected();
    if (path == m_c.selection.current() && shown.edited())
        marks.push_back({static_cast<double>(shown.result->step),
                         QStringLiteral("inspector: ") + shown.words, false, false});
    m_curves->setMarks(path, marks);
}

void WorkbenchPage::showCaptures() {
    m_track->setSteps(m_c.runs.records().captures(m_c.selection.current()),
                      m_c.runs.records().kept(m_c.selection.current()));
    m_curves->setEnd(m_track->steps().empty() ? std::nullopt
                                              : std::optional(m_track->steps().back()));
    m_track->setKeys(widgets::keysOnAxis(
        m_track->steps(), m_c.runs.records().points(m_c.selection.current()), m_curves->axis()));
    showCursor();
}

void WorkbenchPage::showCursor() {
    const auto step = m_c.selection.step();
    m_curves->setCursorStep(step);
    m_track->setChosen(step ? std::optional(nearest(m_track->steps(), *step)) : std::nullopt);
}

void WorkbenchPage::showHead() {
    const QString path = m_c.selection.current();
    auto published = m_c.selection.runs().size() == 1 ? m_c.runs.published(path)
                                                      : std::vector<widgets::PublishedValue>();
    if (published != m_published) m_curves->setPublished(m_published = std::move(published));
    const RunInfo* info = m_c.runs.info(path);
    // Without a run the maps of a view file may be shown, which has the name.
    if (info) m_inspector->setFigureRun(QString::fromStdString(info->name));
    showSubject();
    if (!info) return m_curves->setTitle(QStringLiteral("Curves"));
    QString title = QString::fromStdString(info->recorded ? info->model : info->preset);
    for (const auto& preset : core::presets())
        if (preset.name == info->preset) title = QString::fromStdString(preset.title);
    DataOptions data;
    data.kind = optionOf(*info, "data.kind").toStdString();
    data.task = optionOf(*info, "data.task").toStdString();
    const auto* kind = findDataKind(data.kind);
    if (kind && kind->input == InputKind::Tokens)
        title += QString(", context %1").arg(optionOf(*info, "data.context"));
    else if (const auto size = optionOf(*info, "data.train_size").toLongLong(); size > 0)
        title += QStringLiteral(", ") + exampleCount(data, size);
    m_curves->setTitle(title);
}

void WorkbenchPage::showFindings(const QString& path, const Answer& scan, bool finished,
                                 const QString& weights) {
    if (path != m_c.selection.current()) return;
    m_findings->setScan(scan, finished, weights);
    showSubject();
    if (finished && std::exchange(m_asked, false)) m_findings->showEvidence();
}

void WorkbenchPage::followScan(LongTask& scan) {
    m_scanning->follow(scan);
    // After the strip, which is asked whether it is busy.
    connect(&scan, &LongTask::ended, this, &WorkbenchPage::showSubject);
    connect(&scan, &LongTask::began, this, &WorkbenchPage::showSubject);
}

void WorkbenchPage::showNoFindings(const QString& path, const QString& sentence) {
    if (path != m_c.selection.current()) return;
    m_findings->setSentence(sentence);
    showSubject();
}

/// Names the run and the weights that are shown, once for all of the page.
void WorkbenchPage::showSubject() {
    const RunInfo* info = m_c.runs.info(m_c.selection.current());
    const bool computes = info && !info->recorded;
    m_learn->setEnabled(computes && !m_scanning->busy());
    m_runOptions->setEnabled(computes);
    const QString none = m_c.runs.whyNoModel(m_c.selection.current());
    m_learn->setToolTip(none.isEmpty() ? QLatin1String(kLearnHelp) : none);
    m_runOptions->setToolTip(none.isEmpty() ? QLatin1String(kOptionsHelp) : none);
    m_runOptions->setChecked(info && m_c.experiment.run() == m_c.selection.current());
    m_resume->setVisible(computes && !m_c.training.busy() &&
                         (info->state == RunState::Stopped ||
                          info->state == RunState::Interrupted || info->state == RunState::Failed));
    if (!info) {
        m_head->setTitle(QStringLiteral("No run is shown"));
        return m_head->setSubText({});
    }
    m_head->setTitle(QString::fromStdString(info->name));
    // On a low page the finding stands here, and the button goes to the next one.
    const bool here = m_findings->current() >= 0 && !m_findings->allowed();
    m_learn->setText(here ? QStringLiteral("Next finding") : QStringLiteral("What did it learn?"));
    QString weights = widgets::weightsText(*info, m_c.runInput.feed().shownStep());
    // Checkpoints of another program: how many, and what it costs to look at one.
    if (info->state == RunState::Done && info->evaluations == 0 && !info->message.empty())
        weights += QStringLiteral(" \u00B7 ") + QString::fromStdString(info->message);
    m_head->setSubText(here ? m_findings->text() : weights);
}

void WorkbenchPage::showOutcome() {
    const ProbeResult* result = m_inspector->choice().inspected().result.get();
    auto* outcome = m_inspector->sourcePane()->outcome();
    if (!result || !isOneText(result->sample)) return;
    const QString path = m_c.selection.current();
    const auto& samples = m_c.runs.records().samples(path);
    const auto step = m_c.selection.step();
    auto newest = step ? samples.upper_bound(*step) : samples.end();
    // The likeliest next tokens are shown below a typed text.
    const bool edited = m_inspector->edited();
    if (newest == samples.begin() || result->sample.origin == kTyped || edited) {
        return app::showNextTokens(*outcome, *result,
                                   m_inspector->choice().inspected().before.get());
    }
    --newest;
    QString prompt, written = newest->second;
    if (const RunInfo* info = m_c.runs.info(path)) prompt = optionOf(*info, "data.prompt");
    if (written.startsWith(prompt))
        written.remove(0, prompt.size());
    else
        prompt.clear();
    outcome->setContinuation(
        QStringLiteral("Sample at step %1").arg(widgets::groupedNumber(newest->first)), prompt,
        written);
}

bool WorkbenchPage::arrowKey(int key) {
    if (!m_inspector->result()) return false;
    switch (key) {
        case Qt::Key_Left:
            m_inspector->stepRelation(-1);
            return true;
        case Qt::Key_Right:
            m_inspector->stepRelation(1);
            return true;
        case Qt::Key_Up:
            m_inspector->stepLayer(1);
            return true;
        case Qt::Key_Down:
            m_inspector->stepLayer(-1);
            return true;
        default:
            return false;
    }
}

QByteArray WorkbenchPage::stripState() const {
    return m_ownSplit ? m_splitter->saveState() : QByteArray();
}

void WorkbenchPage::restoreStrip(const QByteArray& state) {
    m_ownSplit = m_splitter->restoreState(state);
}

void WorkbenchPage::fill(Fill what) {
    m_fill = what;
    m_inspector->setVisible(what != Fill::Curves);
    m_strip->setVisible(what != Fill::Map);
    m_inspector->setFilled(what == Fill::Map);
    arrange();
}

/// The strip of curves is as low as it may be, so that the map gets the height of the page.
void WorkbenchPage::arrange() {
    constexpr int highPage = 640, lowPage = 520;  // px
    constexpr int leastStrip = 74, mostStrip = 340;
    const int high = height();
    m_findings->setLow(high < highPage);
    m_findings->setAllowed(high >= lowPage && m_fill == Fill::Nothing);
    showSubject();
    if (m_ownSplit || m_fill != Fill::Nothing) return;
    const int strip = qBound(leastStrip, high * 16 / 100, mostStrip);
    m_splitter->setSizes({m_splitter->height() - strip, strip});
}

void WorkbenchPage::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    arrange();
}

void WorkbenchPage::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    m_c.runInput.feed().setWatched(this, true);
}
void WorkbenchPage::hideEvent(QHideEvent* event) {
    QWidget::hideEvent(event);
    m_c.runInput.feed().setWatched(this, false);
}

}  // namespace relascope::app
