// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/controllers/device_monitor.h"

#include <utility>

#include "app/controllers/training_controller.h"
#include "options/device_list.h"
#include "wire/host.h"

namespace relascope::app {
namespace {

QString shortText(const std::vector<std::string>& names) {
    if (names.size() == 1) return QString::fromStdString(names[0]);
    return QString(names[0] == "cpu" ? "%1 CPU processes" : "%1 GPUs").arg(names.size());
}

}  // namespace

DeviceMonitor::Shown DeviceMonitor::shownOf(const std::string& wanted, const wire::Devices& found) {
    Shown shown;
    if (found.choices.size() > 1)
        for (const auto& [name, title] : found.choices)
            shown.choices.emplace_back(QString::fromStdString(name), QString::fromStdString(title));
    shown.device = found.names.empty() ? QString::fromStdString(wanted) : shortText(found.names);
    shown.facts = QString::fromStdString(found.facts);
    shown.precision = QString::fromStdString(found.precision);
    return shown;
}

DeviceMonitor::DeviceMonitor(TrainingController& training, Looker& looker, QObject* parent)
    : QObject(parent), m_training(training), m_looker(looker) {
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

void DeviceMonitor::setWanted(const std::string& device, const std::string& host) {
    const bool same = m_wanted == device && m_wantedHost == host;
    m_wanted = device;
    m_wantedHost = host;
    if (!same && m_ofRun.empty()) ask();
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
    const auto far = wire::farPathOf(m_training.run().toStdString());
    const std::string host = !busy ? m_wantedHost : far ? far->host : std::string();
    m_looker.post(
        this,
        [wanted = busy ? m_ofRun : m_wanted, busy, host](Engine& models,
                                                         const Looker::Progress& progress) {
            auto shown =
                shownOf(wanted, wire::devices(models.session, wanted, busy, progress, host));
            if (!host.empty())
                shown.device =
                    QString::fromStdString(host) + QStringLiteral(" \u00b7 ") + shown.device;
            return shown;
        },
        done,
        [this, done, host](const QString& sentence) {
            done({QString::fromStdString(host), sentence, m_shown.choices});
        });
}

}  // namespace relascope::app
