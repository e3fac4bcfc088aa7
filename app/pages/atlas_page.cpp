// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/pages/atlas_page.h"

#include <QFileInfo>
#include <QSplitter>
#include <algorithm>

#include "analysis/atlas.h"
#include "app/controllers/controllers.h"
#include "app/controllers/inspection_session.h"
#include "app/pages/analysis_tab.h"
#include "interventions/map_edits.h"
#include "widgets/analysis/measure_frame.h"
#include "widgets/theme/theme.h"

namespace relascope::app {

AtlasPage::AtlasPage(Controllers& controllers)
    : MeasureWindow({&core::atlasAnalysis()}, controllers.history), m_controllers(controllers) {
    auto& c = m_controllers;
    const auto follow = [this](auto* sender, auto signal) {
        connect(sender, signal, this, &AtlasPage::refresh);
    };
    follow(&c.probe, &ProbeController::modelChanged);
    follow(&c.probe, &ProbeController::splitsChanged);
    follow(&c.selection, &Selection::stepChanged);
    follow(&c.runEdits, &InspectorEdits::changed);
    // Not with each step that a training keeps: that would end what is being measured.
    connect(&c.runs, &RunsController::rowsChanged, this, [this] {
        if (!controller().subject()) refresh();
    });
    // All of it is in the inspector of the Workbench, once that is seen.
    connect(this, &MeasureWindow::editsRequested, this,
            [this](std::vector<Edit> edits, const QString& what) {
                const auto& list = m_controllers.runEdits.list();
                std::erase_if(edits,
                              [&](const Edit& edit) { return core::indexOf(list, edit) >= 0; });
                if (!edits.empty()) m_controllers.runEdits.add(std::move(edits), what);
                Q_EMIT workbenchRequested();
            });
    const auto show = [this](const MapCell& cell, bool source) {
        auto view = m_controllers.selection.view();
        view.kind = cell.kind, view.layer = cell.layer, view.index = cell.index;
        if (source) view.source = cell.i, view.target = cell.j, view.reversed = false;
        m_controllers.selection.setView(view);
        Q_EMIT workbenchRequested();
    };
    connect(this, &MeasureWindow::mapRequested, this, [show](MapKind kind, int layer, int index) {
        show({kind, layer, index, 0, 0, 0}, false);
    });
    connect(this, &MeasureWindow::exampleRequested, this,
            [this, show](const QString& split, qint64 example, const MapCell& cell) {
                // Captures hold other examples.
                if (m_controllers.probe.showsCapture())
                    m_controllers.selection.setStep(std::nullopt);
                m_controllers.probe.chooseSample(split, example);
                show(cell, true);
            });
}

std::optional<MeasuredSubject> AtlasPage::subject() const {
    auto& c = m_controllers;
    MeasuredSubject subject;
    const QString run = c.probe.run();
    const RunInfo* info = c.runs.info(run);
    if (run.isEmpty() || !info) {
        const QString checkpoint = c.checkpoint.session().path();
        if (checkpoint.isEmpty()) return std::nullopt;
        subject.path = checkpoint.toStdString();
        subject.name = QFileInfo(checkpoint).fileName();
        return subject;
    }
    subject.path = run.toStdString();
    subject.data = c.probe.data();
    subject.edits = c.runEdits.list();
    const auto& kept = c.runs.records().kept(run);
    const bool live = c.training.busy() && c.training.run() == run;
    auto step = static_cast<qint64>(info->step);
    if (!kept.empty() && (live || c.selection.step())) {
        const auto wanted = c.selection.step().value_or(kept.back());
        step = *std::min_element(kept.begin(), kept.end(), [&](qint64 a, qint64 b) {
            return std::abs(a - wanted) < std::abs(b - wanted);
        });
        subject.checkpoint = std::to_string(step);
    }
    subject.name =
        QStringLiteral("%1, step %2").arg(c.runs.name(run), widgets::groupedNumber(step));
    return subject;
}

void AtlasPage::refresh() {
    if (isVisible()) setSubject(subject());
}

void AtlasPage::showEvent(QShowEvent* event) {
    refresh();
    MeasureWindow::showEvent(event);
}

QByteArray AtlasPage::panesState() const {
    return current()->view()->findChild<QSplitter*>()->saveState();
}
void AtlasPage::restorePanes(const QByteArray& state) {
    current()->view()->findChild<QSplitter*>()->restoreState(state);
}

}  // namespace relascope::app
