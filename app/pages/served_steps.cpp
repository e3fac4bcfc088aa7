// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/pages/served_steps.h"

#include <optional>
#include <utility>
#include <vector>

#include <QHBoxLayout>

#include "app/controllers/checkpoint_controller.h"
#include "widgets/curves/captures_track.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::app {
namespace {

constexpr int kTrackMargin = 50;  // px, for the name of the axis and half of a number

}  // namespace

ServedSteps::ServedSteps(CheckpointController& controller, QWidget* parent)
    : QWidget(parent), m_c(controller), m_track(new widgets::CapturesTrack(this)) {
    m_track->setAccessibleName(QStringLiteral("Kept steps"));
    m_track->setLiveTip(QStringLiteral("Follow the weights that the program has now"));
    auto* row = widgets::rowOf(this, {0, 0, 12, 0}, 0);
    row->addWidget(m_track, 1);
    row->addWidget(m_track->controls());
    widgets::paintOnPanelColour(this);
    for (const auto signal : {&CheckpointController::opened, &CheckpointController::stepsChanged})
        connect(&m_c, signal, this, &ServedSteps::refresh);
    connect(m_track, &widgets::CapturesTrack::stepChosen, &m_c, &CheckpointController::setStep);
    connect(m_track, &widgets::CapturesTrack::liveRequested, &m_c,
            [this] { m_c.setStep(std::nullopt); });
    refresh();
}

void ServedSteps::refresh() {
    const auto& steps = m_c.steps();
    setVisible(!steps.empty());
    m_track->setSteps({}, steps);
    m_track->setChosen(m_c.step());
    if (steps.empty()) return;
    const auto first = static_cast<double>(steps.front()), last = static_cast<double>(steps.back());
    m_track->setAxis(first, last, false, kTrackMargin, kTrackMargin);
    std::vector<std::pair<double, QString>> ticks = {
        {first, widgets::groupedNumber(steps.front())}};
    if (last > first) ticks.emplace_back(last, widgets::groupedNumber(steps.back()));
    m_track->setTicks(QStringLiteral("step"), std::move(ticks));
}

}  // namespace relascope::app
