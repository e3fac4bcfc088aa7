// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/screenshot.h"

#include <QFileInfo>
#include <QPushButton>
#include <QSaveFile>
#include <cstdio>

#include "app/controllers/controllers.h"
#include "app/main_window.h"
#include "app/opener.h"
#include "app/pages/analysis_tab.h"
#include "app/pages/duel_page.h"
#include "app/pages/study_page.h"
#include "app/pages/workbench_page.h"
#include "widgets/analysis/answer_view.h"
#include "widgets/curves/curve_panel.h"
#include "widgets/generate/generate_panel.h"
#include "widgets/inspector/relation_inspector.h"

namespace relascope::app {
namespace {

/// Time limit for the training that the picture needs.
constexpr qint64 kLongestMs = 15 * 60 * 1000;
constexpr qint64 kSettleMs = 700;  ///< time for tables, thumbnails and curves after the last event

}  // namespace

Screenshot::Screenshot(MainWindow& window, const Launch& launch, QObject* parent)
    : QObject(parent), m_window(window), m_launch(launch) {
    m_timer.setInterval(20);
    connect(&m_timer, &QTimer::timeout, this, &Screenshot::check);
    connect(&m_window.controllers().training, &TrainingController::failed, this,
            [this](const QString& sentence) { end(sentence); });
}

void Screenshot::begin() {
    auto& c = m_window.controllers();
    m_clock.start();
    m_window.resize(m_launch.size);
    m_window.show();
    if (!m_launch.duel.isEmpty()) {
        m_window.showDuel(m_launch.duel);
        auto* page = m_window.duelPage();
        connect(&page->feeds(), &DuelFeeds::refused, this,
                [this](const QString& sentence) { end(sentence); });
        connect(&page->feeds(), &DuelFeeds::dataRead, page->tab()->runButton(), &QPushButton::click,
                Qt::QueuedConnection);
    } else if (!m_launch.checkpoint.isEmpty()) {
        showCheckpoint();
    } else if (!m_launch.study.isEmpty()) {
        connect(&c.study, &StudyController::failed, this,
                [this](const QString& sentence) { end(sentence); });
        m_window.opener().openStudy(m_launch.study);
    } else if (!m_launch.run.isEmpty()) {
        connect(&m_window.opener(), &Opener::runOpened, this, &Screenshot::showPage);
        connect(&c.runInput, &RunInput::failed, this, [this] { m_noMaps = true; });
        connect(&m_window.opener(), &Opener::runRefused, this,
                [this] { end(QString("%1: not a run folder").arg(m_launch.run)); });
        m_window.opener().openRun(m_launch.run);
    } else if (m_launch.options) {
        // The run is deleted after the picture was taken.
        c.training.setEndsWithWindow(true);
        c.runs.setFolder(m_folder.path());
        c.selection.setPreset(m_launch.train);
        c.experiment.begin(*m_launch.options);
    }
    if (!m_launch.page.isEmpty() && !pageNamed(m_launch.page))
        return end(QString("--page: there is no page '%1'").arg(m_launch.page));
    showPage();
    m_timer.start();
}

void Screenshot::showPage() {
    if (const auto page = pageNamed(m_launch.page)) m_window.showPage(*page);
}

/// Shows the checkpoint and, if possible, loads its weights.
void Screenshot::showCheckpoint() {
    auto* c = &m_window.controllers().checkpoint;
    connect(c, &CheckpointController::opened, this, [c] { c->load(); });
    // A language model is shown generating text.
    connect(&c->feed(), &InspectorFeed::inspected, this, [this, c] {
        if (m_writes || !c->generateDisabledReason().isEmpty()) return;
        m_writes = true;
        GenerateOptions options;
        options.tokens = m_launch.afterSteps > Launch().afterSteps ? m_launch.afterSteps : 120;
        auto* panel = m_window.findChild<widgets::GeneratePanel*>();
        panel->setOptions(options);
        c->generator().start(panel->prompt(), options);
    });
    connect(&c->generator(), &TextGenerator::inspected, this,
            [this, c] { m_wrote = !c->generator().running(); });
    connect(&c->generator(), &TextGenerator::failed, this,
            [this](const QString& sentence) { end(sentence); });
    connect(c, &CheckpointController::failed, this, [this, c](const QString& sentence) {
        if (!c->info()) end(sentence);
    });
    m_window.opener().openCheckpoint(m_launch.checkpoint);
}

/// Whether the study, if any, has been read.
bool Screenshot::studyReady() const {
    const auto& study = m_window.controllers().study;
    return m_launch.study.isEmpty() ? study.path().isEmpty() || study.reading()
                                    : study.reading() != nullptr;
}

bool Screenshot::ready() const {
    auto& c = m_window.controllers();
    if (!m_launch.duel.isEmpty()) {
        const auto* view = m_window.duelPage()->tab()->view();
        const auto* duel = qobject_cast<const widgets::AnswerView*>(view);
        return m_window.activeInspector()->result() && !duel->isEmpty() && duel->answer().complete;
    }
    if (!m_launch.study.isEmpty() ||
        (m_launch.run.isEmpty() && !m_launch.options && m_launch.checkpoint.isEmpty()))
        return studyReady();
    if (!m_launch.checkpoint.isEmpty())
        return c.checkpoint.info() && c.checkpoint.numbers().complete() &&
               (!c.checkpoint.isLanguage() || !c.checkpoint.generateDisabledReason().isEmpty() ||
                m_wrote) &&
               (!c.checkpoint.loadDisabledReason().isEmpty() ||
                (m_window.activeInspector() && m_window.activeInspector()->result()));
    const QString run = c.selection.current();
    const RunInfo* info = c.runs.info(run);
    if (!info) return false;
    const bool training = m_launch.run.isEmpty();
    const bool ended = !c.training.busy();
    if (training && !ended && c.training.info().step < m_launch.afterSteps) return false;
    if (!training && info->step > 0 && c.runs.records().points(run).empty()) return false;
    // The inspector computes maps only while it is visible.
    if (!m_window.workbench()->isVisible()) return true;
    const auto* result = m_window.workbench()->inspector()->result();
    // A run that ended before its first checkpoint has none to show.
    if (!result) return m_noMaps;
    return !training || ended || result->step >= m_launch.afterSteps;
}

void Screenshot::check() {
    if (m_ended) return;
    if (m_clock.elapsed() > kLongestMs)
        return end(QStringLiteral("the screenshot timed out after 15 minutes; use fewer steps"));
    if (!ready()) return;
    auto& training = m_window.controllers().training;
    if (!m_still.isValid()) {
        // The picture shows the requested step of a running training.
        m_still.start();
        return;
    }
    if (m_still.elapsed() < (training.busy() ? 150 : kSettleMs)) return;
    m_window.workbench()->curves()->flush();
    QSaveFile file(m_launch.screenshot);
    const QPixmap picture = m_window.grab();
    if (!file.open(QIODevice::WriteOnly) || !picture.save(&file, "PNG") || !file.commit())
        return end(
            QString("%1: could not be written (%2)").arg(m_launch.screenshot, file.errorString()));
    end({});
}

void Screenshot::end(const QString& problem) {
    if (std::exchange(m_ended, true)) return;
    m_timer.stop();
    m_exit = problem.isEmpty() ? 0 : 1;
    if (!problem.isEmpty()) std::fprintf(stderr, "relascope: %s\n", qPrintable(problem));
    auto& training = m_window.controllers().training;
    if (!training.busy()) {
        QMetaObject::invokeMethod(this, &Screenshot::done, Qt::QueuedConnection);
        return;
    }
    connect(&training, &TrainingController::finished, this, &Screenshot::done);
    training.cancel();
}

}  // namespace relascope::app
