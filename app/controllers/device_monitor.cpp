// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/controllers/device_monitor.h"

#include <QStringList>
#include <utility>

#include "app/controllers/runtime.h"
#include "app/controllers/training_controller.h"
#include "train/devices.h"

namespace relascope::app {
namespace {

struct Answer {
    QString device, facts;
};

Answer answerOf(const std::string& wanted, bool busy) {
    awaitRuntime();
    const std::string name = core::resolveDevice(wanted);
    const auto* info = core::findDevice(name);
    if (!info) return {QString::fromStdString(name), {}};
    // On a GPU that does nothing, the question itself would take memory.
    const auto memory = busy || name == "cpu" ? core::deviceMemory(name) : core::DeviceMemory{};
    QStringList lines;
    for (const auto& fact : core::deviceFacts(*info, memory)) lines << QString::fromStdString(fact);
    for (const auto& text : {core::attentionText(*info), core::stepsText(*info)})
        if (!text.empty()) lines << QString::fromStdString(text);
    return {QString::fromStdString(name), lines.join(QLatin1Char('\n'))};
}

}  // namespace

DeviceMonitor::DeviceMonitor(TrainingController& training, QObject* parent)
    : QObject(parent), m_training(training) {
    m_timer.setInterval(2000);
    connect(&m_timer, &QTimer::timeout, this, &DeviceMonitor::ask);
    connect(&training, &TrainingController::stateChanged, this, &DeviceMonitor::watch);
    ask();
}

void DeviceMonitor::watch() {
    // The device of a run is known only after its data were prepared.
    const std::string now = m_training.busy() ? m_training.info().device : "";
    if (m_training.busy() == m_timer.isActive() && now == m_ofRun) return;
    m_ofRun = now;
    if (m_training.busy())
        m_timer.start();
    else
        m_timer.stop();
    ask();
}

void DeviceMonitor::ask() {
    m_again = m_asking;
    if (std::exchange(m_asking, true)) return;  // a driver that does not answer is asked once
    const bool busy = !m_ofRun.empty();
    const auto done = [this](const Answer& answer) {
        m_asking = false;
        const bool same = answer.device == m_device && answer.facts == m_facts;
        m_device = answer.device, m_facts = answer.facts;
        if (!same) Q_EMIT changed();
        if (std::exchange(m_again, false)) ask();
    };
    m_queue.post(
        this,
        [wanted = busy ? m_ofRun : std::string("auto"), busy](std::stop_token) {
            return answerOf(wanted, busy);
        },
        done,
        [done](const QString& sentence) {
            done({QString(), sentence});
        });
}

}  // namespace relascope::app
