// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/pages/answer_tabs.h"

#include <QVBoxLayout>

#include "app/cli/answer_tables.h"
#include "app/pages/data_progress.h"
#include "app/pages/measure_controls.h"
#include "widgets/measure/attribution_view.h"
#include "widgets/measure/lens_view.h"
#include "widgets/theme/controls.h"

namespace relascope::app {
namespace {

using Kind = MeasureController::Kind;

const char* const kNoSample = "Choose a sample in the inspector.";

JobStrip* stripOf(MeasureController& controller, Kind kind, QWidget* parent) {
    auto* strip = new JobStrip(parent);
    strip->follow(controller.task(kind));
    return strip;
}

}  // namespace

LensTab::LensTab(MeasureController& controller, QWidget* parent)
    : QWidget(parent), m_c(controller), m_view(new widgets::LensView(this)) {
    m_view->csvOf = cli::lensCsv;
    auto* column = widgets::columnOf(this);
    column->addWidget(stripOf(m_c, Kind::Lens, this));
    column->addWidget(m_view, 1);
    connect(m_view, &widgets::LensView::columnChosen, this, [this](int at) {
        const auto& positions = m_view->result().positions;
        if (at >= 0 && at < static_cast<int>(positions.size()))
            Q_EMIT positionChosen(positions[static_cast<std::size_t>(at)]);
    });
    connect(&m_c, &MeasureController::lensRead, m_view, &widgets::LensView::setResult);
    connect(&m_c, &MeasureController::refused, this, [this](Kind kind, const QString& sentence) {
        if (kind == Kind::Lens) m_view->clear(sentence);
    });
    subjectChanged();
}

void LensTab::subjectChanged() {
    const auto& subject = m_c.subject();
    m_read = false;
    if (subject) m_view->setCaption(captionOf(*subject));
    if (!subject || !subject->sample) return m_view->clear(QLatin1String(kNoSample));
    if (isVisible()) activate();
}

void LensTab::activate() {
    const auto& subject = m_c.subject();
    if (!subject || !subject->sample || std::exchange(m_read, true)) return;
    m_c.readLens();
}

AttributionTab::AttributionTab(MeasureController& controller, QWidget* parent)
    : QWidget(parent), m_c(controller), m_view(new widgets::AttributionView(this)) {
    m_view->csvOf = cli::attributionCsv;
    auto* column = widgets::columnOf(this);
    column->addWidget(stripOf(m_c, Kind::Attribution, this));
    column->addWidget(m_view, 1);
    connect(m_view, &widgets::AttributionView::answerChosen, this, &AttributionTab::read);
    connect(m_view, &widgets::AttributionView::minusChosen, this, &AttributionTab::read);
    connect(m_view, &widgets::AttributionView::positionChosen, this, &AttributionTab::read);
    connect(&m_c, &MeasureController::attributed, this,
            [this](const Attribution& result, const AttributionOffer& offer) {
                m_view->setPositions(offer.positions);
                m_view->setAnswers(offer.answers);
                m_view->setResult(result);
            });
    connect(&m_c, &MeasureController::refused, this, [this](Kind kind, const QString& sentence) {
        if (kind != Kind::Attribution) return;
        // An answer that is none is said beside the choice; the last result stays.
        if (!m_view->isEmpty())
            m_view->setProblem(sentence);
        else
            m_view->clear(sentence);
    });
    subjectChanged();
}

void AttributionTab::subjectChanged() {
    const auto& subject = m_c.subject();
    m_read = false;
    if (subject) m_view->setCaption(captionOf(*subject));
    m_view->clear(subject && subject->sample ? QString() : QLatin1String(kNoSample));
    const std::string path = subject ? subject->path : std::string();
    if (path != std::exchange(m_path, path)) {
        m_view->resetAnswers();
        m_view->setPositions(0);
    }
    if (isVisible()) activate();
}

void AttributionTab::activate() {
    if (!m_read) read();
}

void AttributionTab::setPosition(std::int64_t position) {
    m_view->setPosition(static_cast<int>(position));
    m_read = false;
    if (isVisible()) activate();
}

void AttributionTab::read() {
    const auto& subject = m_c.subject();
    if (!subject || !subject->sample) return;
    m_read = true;
    m_c.attribute({m_view->answer(), m_view->minus(), m_view->position()});
}

}  // namespace relascope::app
