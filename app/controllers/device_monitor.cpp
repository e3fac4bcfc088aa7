// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/controllers/device_monitor.h"

#include <QStringList>
#include <algorithm>
#include <utility>

#include "app/controllers/runtime.h"
#include "app/controllers/training_controller.h"
#include "options/device_list.h"
#include "train/devices.h"
#include "types/error.h"

namespace relascope::app {
namespace {

/// Each once, in order: two processes on the CPU have one device.
QStringList factsOf(const std::vector<std::string>& names, bool busy) {
    QStringList lines, kernels;
    if (names.size() > 1) lines << QString::fromStdString(core::devicesText(names));
    std::vector<std::string> each;
    for (const auto& name : names)
        if (std::find(each.begin(), each.end(), name) == each.end()) each.push_back(name);
    for (const auto& name : each) {
        const auto* info = core::findDevice(name);
        if (!info) continue;
        // On a GPU that does nothing, the question itself would take memory.
        const auto memory = busy || name == "cpu" ? core::deviceMemory(name) : core::DeviceMemory{};
        QStringList facts;
        for (const auto& fact : core::deviceFacts(*info, memory))
            facts << QString::fromStdString(fact);
        if (each.size() > 1)
            lines << QString("%1: %2").arg(QString::fromStdString(name),
                                           facts.join(QStringLiteral(", ")));
        else
            lines << facts;
        for (const auto& text : {core::attentionText(*info), core::stepsText(*info)})
            if (const auto line = QString::fromStdString(text);
                !line.isEmpty() && !kernels.contains(line))
                kernels << line;
    }
    return lines + kernels;
}

QString shortText(const std::vector<std::string>& names) {
    if (names.size() == 1) return QString::fromStdString(names[0]);
    return QString(names[0] == "cpu" ? "%1 CPU processes" : "%1 GPUs").arg(names.size());
}

}  // namespace

DeviceMonitor::Shown DeviceMonitor::shownOf(const std::string& wanted, bool busy) {
    awaitRuntime();
    Shown shown;
    for (const auto& info : core::devices())
        if (info.usable && info.name != "cpu")
            shown.choices.emplace_back(QString::fromStdString(info.name),
                                       QString::fromStdString(info.title));
    if (shown.choices.size() < 2) shown.choices.clear();
    try {
        const auto names = core::resolveDevices(wanted);
        shown.device = shortText(names);
        shown.facts = factsOf(names, busy).join(QLatin1Char('\n'));
    } catch (const OptionError& error) {
        shown.device = QString::fromStdString(wanted);
        shown.facts = QString::fromStdString(error.message());
    }
    return shown;
}

DeviceMonitor::DeviceMonitor(TrainingController& training, QObject* parent)
    : QObject(parent), m_training(training) {
    m_timer.setInterval(2000);
    connect(&m_timer, &QTimer::timeout, this, &DeviceMonitor::ask);
    connect(&training, &TrainingController::stateChanged, this, &DeviceMonitor::watch);
    ask();
}

void DeviceMonitor::watch() {
    // The device of a run is known only after its data were prepared.
    std::string now = m_training.busy() ? m_training.info().device : "";
    if (const auto& list = m_training.options().train.device;
        !now.empty() && core::deviceCount(list) > 1)
        now = list;
    if (m_training.busy() == m_timer.isActive() && now == m_ofRun) return;
    m_ofRun = now;
    if (m_training.busy())
        m_timer.start();
    else
        m_timer.stop();
    ask();
}

void DeviceMonitor::setWanted(const std::string& device) {
    if (std::exchange(m_wanted, device) != device && m_ofRun.empty()) ask();
}

void DeviceMonitor::ask() {
    m_again = m_asking;
    if (std::exchange(m_asking, true)) return;  // a driver that does not answer is asked once
    const bool busy = !m_ofRun.empty();
    const auto done = [this](const Shown& shown) {
        m_asking = false;
        const bool same = shown == m_shown;
        m_shown = shown;
        if (!same) Q_EMIT changed();
        if (std::exchange(m_again, false)) ask();
    };
    m_queue.post(
        this,
        [wanted = busy ? m_ofRun : m_wanted, busy](std::stop_token) {
            return shownOf(wanted, busy);
        },
        done,
        [this, done](const QString& sentence) {
            done({QString(), sentence, m_shown.choices});
        });
}

}  // namespace relascope::app
