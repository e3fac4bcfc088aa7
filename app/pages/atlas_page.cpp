// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/pages/atlas_page.h"

#include <QDir>
#include <QFileInfo>
#include <QSplitter>
#include <algorithm>
#include <utility>

#include "analysis/analysis.h"
#include "app/controllers/controllers.h"
#include "app/controllers/inspector_feed.h"
#include "app/pages/analysis_tab.h"
#include "interventions/map_edits.h"
#include "widgets/analysis/analysis_frame.h"
#include "widgets/analysis/atlas/atlas_view.h"
#include "widgets/theme/theme.h"

namespace relascope::app {

namespace {

/// The analyses of this page, the atlas first.
std::vector<const core::Analysis*> atlasTabs() {
    auto all = core::analysesOf(core::AnalysisPage::Atlas);
    std::stable_partition(all.begin(), all.end(),
                          [](const auto* one) { return one == &core::analysisNamed("atlas"); });
    return all;
}

}  // namespace

AtlasPage::AtlasPage(Controllers& controllers)
    : AnalysisWindow(atlasTabs(), controllers.history, controllers.measurements),
      m_controllers(controllers) {
    auto& c = m_controllers;
    m_atlas = static_cast<widgets::AtlasView*>(tab("atlas")->view());
    addOfMap(core::analysisNamed("contrast"),
             QStringLiteral("Contrast: what makes the difference"));
    addOfMap(core::analysisNamed("qk-components"), QStringLiteral("What a map compares"));
    connect(m_atlas, &widgets::AtlasView::relationChosen, this, &AtlasPage::showMap);
    const auto follow = [this](auto* sender, auto signal) {
        connect(sender, signal, this, &AtlasPage::refresh);
    };
    follow(this, &AnalysisWindow::shown);
    follow(&c.runInput, &RunInput::modelChanged);
    follow(&c.runInput, &RunInput::splitsChanged);
    follow(&c.selection, &Selection::stepChanged);
    follow(&c.runEdits, &InspectorEdits::changed);
    follow(&c.checkpointEdits, &InspectorEdits::changed);
    follow(&c.checkpoint, &CheckpointController::loadedChanged);
    follow(&c.checkpoint.feed(), &InspectorFeed::inspected);
    // Not updated at each step that a training keeps, as that would cancel the analysis.
    connect(&c.runs, &RunsController::rowsChanged, this, [this] {
        if (!about().subject) refresh();
    });
    connect(this, &AnalysisWindow::editsRequested, this,
            [this](const std::vector<Edit>& edits, const QString& what) {
                if (isOfCheckpoint()) {
                    m_controllers.checkpointEdits.addNew(edits, what);
                    return Q_EMIT checkpointRequested({});
                }
                m_controllers.runEdits.addNew(edits, what);
                Q_EMIT workbenchRequested();
            });
    connect(this, &AnalysisWindow::stepRequested, this,
            [this](qint64 step) { m_controllers.selection.setStep(step); });
    connect(this, &AnalysisWindow::mapRequested, this, [this](MapKind kind, int layer, int index) {
        if (isOfCheckpoint())
            return Q_EMIT checkpointRequested(MapCell{kind, layer, index, 0, -1, -1});
        auto view = m_controllers.selection.view();
        view.kind = kind, view.layer = layer, view.index = index;
        m_controllers.selection.setView(view);
        Q_EMIT workbenchRequested();
    });
    connect(this, &AnalysisWindow::exampleRequested, this, &AtlasPage::showExample);
    auto* scan = &tab("scan")->asking();
    connect(scan, &Asking::reported, this, [this](const Answer& answer, bool finished) {
        const auto& scanned = *about().subject;
        QString weights = scanned.name.section(QStringLiteral(", "), -1);
        if (scanned.edits().anyEnabled()) weights += QStringLiteral(", with the edits");
        Q_EMIT learned(placeOf(scanned.asked), answer, finished, weights);
    });
    connect(scan, &Asking::refused, this, [this](const QString& sentence) {
        Q_EMIT learnRefused(placeOf(about().subject->asked), sentence);
    });
    // The example that is shown until then may have fewer objects.
    connect(&c.selection, &Selection::sampleChanged, this, [this] { m_wanted.reset(); });
    connect(&c.runInput.feed(), &InspectorFeed::inspected, this,
            [this](const widgets::Inspected& inspected) {
                if (!m_wanted) return;
                const int objects = inspected.result->sample.source.size();
                if (objects == 0 || objects > std::max(m_wanted->source, m_wanted->target))
                    m_controllers.selection.setView(*std::exchange(m_wanted, std::nullopt));
            });
}

void AtlasPage::addOfMap(const core::Analysis& analysis, const QString& title) {
    auto* tab = makeTab(analysis);
    m_atlas->addPanel(title, tab);
    m_ofMap.push_back(tab);
}

/// What is beside the sheet is about the chosen map, and the attribute that it tells best.
void AtlasPage::showMap() {
    core::OptionValues map;
    if (const auto* relation = m_atlas->relation(); relation && relation->layerIndex >= 0) {
        const auto kind = widgets::kindOfMap(relation->name, relation->head);
        map = {{"layer", relation->layerIndex + 1},
               {"index", relation->index + 1},
               {"kind", std::string(mapKindName(kind))},
               // In the first layer there is little besides the embedding.
               {"by", std::string(relation->layerIndex == 0 ? "facts" : "parts")},
               {"attribute", m_atlas->attribute().toStdString()}};
    }
    if (map == m_map) return;
    m_map = map;
    for (auto* tab : m_ofMap) {
        tab->asking().letGo();
        tab->view()->clear({});
        auto values = tab->values();
        for (const auto& [name, value] : map)
            if (tab->analysis().field(name)) values[name] = value;
        tab->setValues(values);
        tab->recall();
    }
}

LongTask& AtlasPage::scanTask() {
    return tab("scan")->asking().task();
}

void AtlasPage::showExample(const QString& split, qint64 example, const MapCell& cell) {
    if (isOfCheckpoint()) {
        showExampleOfCheckpoint(split, example);
        return Q_EMIT checkpointRequested(cell);
    }
    // Captures hold other examples, but where they are all there is.
    if (m_controllers.runInput.showsCapture() && !m_controllers.runInput.recorded())
        m_controllers.selection.setStep(std::nullopt);
    m_controllers.runInput.chooseSample(split, example);
    m_wanted = m_controllers.selection.view();
    m_wanted->kind = cell.kind, m_wanted->layer = cell.layer, m_wanted->index = cell.index;
    m_wanted->source = cell.i, m_wanted->target = cell.j;
    m_wanted->reversed = false;
    Q_EMIT workbenchRequested();
}

void AtlasPage::showExampleOfCheckpoint(const QString& split, qint64 example) {
    auto& checkpoint = m_controllers.checkpoint;
    auto wanted = inputAs({{"sample", std::int64_t{example}}});
    if (checkpoint.isServed()) {
        wanted.set("split", split.toStdString());
    } else {
        const auto file = m_controllers.measurements.dataOf(checkpoint.feed().path().toStdString());
        // With a head each analysis numbers the pictures in its own way.
        if (file.isEmpty() || checkpoint.headDisabledReason().isEmpty()) return;
        wanted.set("data", file.toStdString());
    }
    checkpoint.show(wanted);
}

void AtlasPage::learn(Learn why) {
    if (isVisible() && isOfCheckpoint()) return;  // a run that ends meanwhile is not shown here
    setSubject(ofRun());
    auto& tab = *this->tab("scan");
    if (why == Learn::Kept) return tab.findKept();
    if (tab.asking().followed()) return;
    if (!tab.missing().isEmpty())
        return Q_EMIT learnRefused(m_controllers.runInput.run(), tab.missing());
    auto asked = tab.question();
    asked.set("seconds", kQuickScan);
    tab.run(std::move(asked));
}

bool AtlasPage::hasKeptScan(const QString& path) {
    return !path.isEmpty() && !QDir(path + QStringLiteral("/scan")).isEmpty(QDir::Files);
}

bool AtlasPage::isOfCheckpoint() const {
    return !m_controllers.runs.info(m_controllers.runInput.run()) ||
           (inspectsCheckpoint && inspectsCheckpoint());
}

std::optional<Subject> AtlasPage::subject() const {
    return isOfCheckpoint() ? ofCheckpoint() : ofRun();
}

std::optional<Subject> AtlasPage::ofCheckpoint() const {
    const auto& checkpoint = m_controllers.checkpoint;
    const QString path = checkpoint.feed().path();
    if (path.isEmpty()) return std::nullopt;
    Subject subject;
    subject.model().path = path.toStdString();
    subject.name = QFileInfo(path).fileName();
    subject.setData(checkpoint.data());
    subject.edits() = m_controllers.checkpointEdits.list();
    subject.model().checkpoint = checkpoint.shownCheckpoint();
    return subject;
}

std::optional<Subject> AtlasPage::ofRun() const {
    auto& c = m_controllers;
    const QString run = c.runInput.run();
    const RunInfo* info = c.runs.info(run);
    if (!info) return std::nullopt;
    Subject subject;
    subject.model().path = run.toStdString();
    subject.setData(c.runInput.data());
    subject.edits() = c.runEdits.list();
    subject.noModel = c.runs.whyNoModel(run);
    // What is measured of a run without a model are its captures.
    const auto& kept =
        subject.noModel.isEmpty() ? c.runs.records().kept(run) : c.runs.records().captures(run);
    const bool live = (c.training.busy() && c.training.run() == run) || c.runs.trains(run);
    auto step = static_cast<qint64>(info->kept.step >= 0 ? info->kept.step : info->step);
    if (!kept.empty() && (live || c.selection.step() || info->recorded)) {
        const auto wanted = c.selection.step().value_or(kept.back());
        step = *std::min_element(kept.begin(), kept.end(), [&](qint64 a, qint64 b) {
            return std::abs(a - wanted) < std::abs(b - wanted);
        });
        subject.model().checkpoint = std::to_string(step);
    }
    subject.name =
        QStringLiteral("%1, step %2").arg(c.runs.name(run), widgets::groupedNumber(step));
    return subject;
}

void AtlasPage::refresh() {
    if (!isVisible()) return;
    const bool unread = isOfCheckpoint() && m_controllers.checkpoint.info();
    setSubject(subject(),
               unread ? QStringLiteral("Press Inspect on the page Checkpoint") : QString());
}

QByteArray AtlasPage::panesState() const {
    return tab("atlas")->view()->findChild<QSplitter*>()->saveState();
}
void AtlasPage::restorePanes(const QByteArray& state) {
    tab("atlas")->view()->findChild<QSplitter*>()->restoreState(state);
}

}  // namespace relascope::app
