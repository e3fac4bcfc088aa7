// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/pages/workbench_page.h"
#include "app/pages/checkpoint_details.h"

#include <QEvent>
#include <QMenu>
#include <QPainter>
#include <QPushButton>
#include <QSplitter>
#include <QStackedLayout>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "app/controllers/controllers.h"
#include "app/controllers/examples.h"
#include "app/controllers/inspection.h"
#include "app/controllers/job_queue.h"
#include "app/pages/data_source.h"
#include "options/presets.h"
#include "types/data_kind.h"
#include "widgets/curves/captures_track.h"
#include "widgets/curves/curve_panel.h"
#include "widgets/export/export.h"
#include "widgets/inspector/inspector_bar.h"
#include "widgets/inspector/map_pane.h"
#include "widgets/inspector/relation_inspector.h"
#include "widgets/inspector/sample_chooser.h"
#include "widgets/inspector/source_pane.h"
#include "widgets/source/patch_view.h"
#include "widgets/source/text_input.h"
#include "widgets/source/text_outcome.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::app {
namespace {

/// Dims the widget that it lies on, which can be used as before.
class Veil : public QWidget {
public:
    explicit Veil(QWidget* below) : QWidget(below) {
        setAttribute(Qt::WA_TransparentForMouseEvents);
        below->installEventFilter(this);
        hide();
    }

protected:
    bool eventFilter(QObject*, QEvent* event) override {
        if (event->type() == QEvent::Resize) setGeometry(parentWidget()->rect());
        return false;
    }
    void paintEvent(QPaintEvent*) override {
        QColor colour = widgets::Theme::current().panel;
        colour.setAlpha(128);
        QPainter(this).fillRect(rect(), colour);
    }
};

/// Converts steps to another axis of the curves, by interpolation between the measured points.
std::vector<double> keysOnAxis(const std::vector<qint64>& steps,
                               const std::vector<MetricPoint>& points, widgets::CurveAxis axis) {
    std::vector<double> keys;
    if (axis == widgets::CurveAxis::Step || points.empty()) return keys;
    const auto value = [axis](const MetricPoint& p) {
        if (axis == widgets::CurveAxis::Tokens) return p.value("tokens");
        return axis == widgets::CurveAxis::Epoch ? p.epoch : p.seconds;
    };
    for (const qint64 step : steps) {
        const auto after =
            std::lower_bound(points.begin(), points.end(), step,
                             [](const MetricPoint& p, qint64 s) { return p.step < s; });
        if (after == points.end() || after == points.begin()) {
            keys.push_back(value(after == points.end() ? points.back() : points.front()));
            continue;
        }
        const auto& before = *(after - 1);
        const double fraction = after->step == before.step
                                    ? 0.0
                                    : static_cast<double>(step - before.step) /
                                          static_cast<double>(after->step - before.step);
        keys.push_back(value(before) + fraction * (value(*after) - value(before)));
    }
    return keys;
}

/// The value of an option of a run.
QString optionOf(const RunInfo& info, const char* key) {
    for (const auto& [name, text] : info.options)
        if (name == key) return QString::fromStdString(text);
    return {};
}

/// Chooses the cell (i, j) of a text: i is the last token, blank ones aside, whose text occurs
/// before it, and j the last such occurrence. If no text is repeated, the last two tokens.
void showTextMap(const ProbeSequence& text, widgets::InspectorView* view) {
    const auto& pieces = text.labels;
    view->source = std::max(0, text.size() - 1);
    view->target = std::max(0, text.size() - 2);
    for (auto i = std::ssize(pieces) - 1; i > 0; --i) {
        const auto& piece = pieces[static_cast<std::size_t>(i)];
        if (piece.find_first_not_of(" \n\t") == std::string::npos) continue;
        for (auto j = i - 1; j >= 0; --j) {
            if (pieces[static_cast<std::size_t>(j)] != piece) continue;
            view->source = static_cast<int>(i);
            view->target = static_cast<int>(j);
            return;
        }
    }
}

/// The view that is shown first: for a text as showTextMap() chooses it, for an image the first two
/// patches with content, otherwise the first two objects.
widgets::InspectorView firstView(const ProbeResult& result) {
    widgets::InspectorView view;
    if (result.grid.tokens() == 0 && !isOneText(result.sample)) {
        const auto relation =
            std::find_if(result.maps.begin(), result.maps.end(),
                         [](const RelationMap& map) { return map.kind == MapKind::Relation; });
        if (relation != result.maps.end()) view.layer = relation->layer;
        view.target = 1;
        return view;
    }
    if (isOneText(result.sample)) {
        showTextMap(result.sample.source, &view);
        return view;
    }
    const Image& image = result.sample.image;
    const PatchGrid& grid = result.grid;
    std::vector<int> tokens;
    for (int patch = 0; patch < grid.rows * grid.columns && tokens.size() < 2 && !image.empty();
         ++patch) {
        const QRect box = widgets::patchRect(grid, patch, {image.width, image.height});
        const auto first = image.pixels[image.index(box.top(), box.left(), 0)];
        bool varied = false;
        for (int y = box.top(); y <= box.bottom() && !varied; ++y)
            for (int x = box.left(); x <= box.right() && !varied; ++x)
                varied = image.pixels[image.index(y, x, 0)] != first;
        if (varied) tokens.push_back(widgets::tokenOfPatch(grid, patch));
    }
    view.source = tokens.empty() ? grid.firstTokens() : tokens.front();
    view.target = tokens.size() < 2 ? view.source : tokens.back();
    return view;
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
      m_curves(new widgets::CurvePanel(this)),
      m_track(new widgets::CapturesTrack(this)),
      m_inspector(new widgets::RelationInspector(this)) {
    setAccessibleName(QStringLiteral("Workbench"));
    widgets::paintOnPanelColour(m_empty);
    m_stack->addWidget(m_empty);
    m_stack->addWidget(m_splitter);

    auto* above = new QWidget(m_splitter);
    widgets::paintOnPanelColour(above);
    auto* column = widgets::columnOf(above);
    column->addWidget(m_curves, 1);
    column->addWidget(widgets::horizontalLine(above));
    column->addWidget(m_track);
    auto* searching = new JobStrip(above);
    searching->follow(m_c.probe.search());
    column->addWidget(searching);
    auto* away = new widgets::Box(&widgets::Theme::warningFill, true, above);
    m_away = away;
    auto* line = widgets::rowOf(away, {12, 4, 8, 4}, 8);
    m_awayText = new widgets::ElidedLabel({}, away);
    m_awayText->setFont(widgets::smallFont());
    line->addWidget(m_awayText, 1);
    auto* now = new QPushButton(QStringLiteral("Now"), away);
    now->setToolTip(QStringLiteral("Try to connect at once"));
    now->setFont(widgets::smallFont());
    line->addWidget(now);
    connect(now, &QPushButton::clicked, this,
            [this] { m_c.hosts.refresh(HostsController::hostOf(m_c.selection.current())); });
    column->addWidget(away);
    m_splitter->addWidget(above);
    m_splitter->addWidget(m_inspector);
    m_splitter->setChildrenCollapsible(false);
    m_splitter->setStretchFactor(0, 40);
    m_splitter->setStretchFactor(1, 60);
    m_splitter->setSizes({300, 440});
    m_curves->setMinimumHeight(150);

    connectCurves();
    connectInspector();
    connect(m_empty, &widgets::EmptyState::activated, this, [this] {
        m_c.experiment.choosePreset(QStringLiteral("quick"));
        m_c.selection.setPreset(QStringLiteral("quick"));
        m_c.experiment.start();
    });
    connect(&m_c.training, &TrainingController::stateChanged, this, &WorkbenchPage::showEmptyOrNot);
    connect(&m_c.hosts, &HostsController::changed, this, &WorkbenchPage::showAway);
    connect(&m_c.selection, &Selection::currentChanged, this, &WorkbenchPage::showAway);
    m_away->hide();
    m_veil = new Veil(m_inspector);
    m_veil->setObjectName(QStringLiteral("away"));
    showRuns();
}

void WorkbenchPage::connectCurves() {
    auto& c = m_c;
    connect(&c.selection, &Selection::runsChanged, this, &WorkbenchPage::showRuns);
    connect(&c.runs, &RunsController::rowsChanged, this, &WorkbenchPage::showRuns);
    connect(&c.selection, &Selection::currentChanged, this, [this] {
        showRuns();
        showCaptures();
        showHead();
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
                m_track->setKeys(keysOnAxis(m_track->steps(),
                                            m_c.runs.records().points(m_c.selection.current()),
                                            m_curves->axis()));
            });

    // The panel has its own menu; the export entries come from a hidden button.
    auto* hidden = new QToolButton(m_curves);
    hidden->hide();
    auto* save = new widgets::ViewMenu(
        hidden, m_curves, [this] { return m_curves->figureName(); },
        [this] { return m_curves->csv(); });
    m_curves->setFigure(*save);
    m_curves->controls()->menu()->addActions(save->menu()->actions());
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

    connect(
        &c.probe, &ProbeController::resultReady, this, [this](const widgets::Inspected& inspected) {
            const auto& result = inspected.result;
            // A picture of the user is named; a sample is already shown in the chooser.
            const bool text = isOneText(result->sample);
            const bool own = text ? result->sample.origin == kTyped
                                  : !result->sample.image.empty() && result->sample.label < 0;
            const bool sample = !own;
            m_inspector->setSubText(sample
                                        ? QString()
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
            const bool marked = m_inspector->edited();
            m_inspector->setInspected(inspected);
            if (marked || inspected.edited()) showMarks(m_c.selection.current());
            showOutcome();
        });
    connect(m_inspector->sourcePane()->textInput(), &widgets::TextInput::textTyped,
            &c.probe.session(), &Inspection::chooseText);
    connect(&c.probe, &ProbeController::textProblem, m_inspector->sourcePane()->textInput(),
            &widgets::TextInput::setProblem);
    connect(&c.probe.session(), &Inspection::textOffered, this, [this](const QString& text) {
        auto* input = m_inspector->sourcePane()->textInput();
        input->setOpen(true);
        input->setText(text);
    });
    // Another run is inspected: the typed text belongs to the previous one.
    connect(&c.selection, &Selection::currentChanged, this,
            [this] { m_inspector->sourcePane()->textInput()->setOpen(false); });
    connect(&c.probe, &ProbeController::cleared, this, [this](const QString& sentence) {
        m_inspector->setEmptyState(
            sentence.isEmpty() ? QStringLiteral("Select a run on the left to inspect its model.")
                               : sentence,
            {});
        m_inspector->setResult(nullptr);
    });
    connect(&c.probe, &ProbeController::splitsChanged, m_inspector->sourcePane()->samples(),
            &widgets::SampleChooser::setSplits);
    connect(&c.probe, &ProbeController::labelsChanged, m_inspector->sourcePane()->samples(),
            &widgets::SampleChooser::setLabels);
    connect(&c.probe, &ProbeController::sampleShown, m_inspector->sourcePane()->samples(),
            &widgets::SampleChooser::setSample);
    connect(m_inspector->sourcePane()->samples(), &widgets::SampleChooser::sampleRequested,
            &c.probe, &ProbeController::chooseSample);
    connect(m_inspector->sourcePane()->samples(), &widgets::SampleChooser::randomSampleRequested,
            &c.probe, [this](const QString& split) {
                m_c.probe.chooseRandom(split, m_inspector->sourcePane()->samples()->labelFilter());
            });
    connect(m_inspector->sourcePane()->samples(), &widgets::SampleChooser::labelRequested, &c.probe,
            &ProbeController::chooseByLabel);
    connect(m_inspector, &widgets::RelationInspector::imageDropped, &c.probe,
            &ProbeController::chooseImage);
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
}

// Shows whether the machine of the run is connected. If not, maps and curves stay as they were, and
// controls that need the machine are disabled.
void WorkbenchPage::showAway() {
    const QString host = HostsController::hostOf(m_c.selection.current());
    const auto status = m_c.hosts.status(host);
    const bool away =
        !host.isEmpty() && (!status || status->state != wire::HostLink::State::Connected);
    m_away->setVisible(away);
    m_awayText->setText(!status ? QString("%1 is not among the machines any more").arg(host)
                        : status->state == wire::HostLink::State::Connecting
                            ? QString("%1: connecting").arg(host)
                            : m_c.hosts.statusText(host));
    for (QWidget* asks : std::initializer_list<QWidget*>{m_inspector->sourcePane()->samples(),
                                                         m_inspector->sourcePane()->textInput()})
        asks->setEnabled(!away);
    m_veil->raise();
    m_veil->setVisible(away);
}

void WorkbenchPage::showEmptyOrNot() {
    const bool any = !m_c.selection.runs().isEmpty() || m_c.training.busy();
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
    m_track->setKeys(keysOnAxis(
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
    m_inspector->setFigureRun(info ? QString::fromStdString(info->name) : QString());
    if (!info) return m_curves->setTitle(QStringLiteral("Curves"));
    QString title = QString::fromStdString(info->preset);
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

void WorkbenchPage::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    m_c.probe.setActive(true);
}
void WorkbenchPage::hideEvent(QHideEvent* event) {
    QWidget::hideEvent(event);
    m_c.probe.setActive(false);
}

}  // namespace relascope::app
