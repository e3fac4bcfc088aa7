// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/controllers/hub_models.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QDateTime>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLocale>
#include <QRegularExpression>
#include <algorithm>

#include "app/controllers/study_controller.h"
#include "checkpoint/checkpoint.h"
#include "hub/hub_cache.h"
#include "widgets/theme/theme.h"
#include "wire/child_process.h"
#include "wire/host.h"
#include "wire/socket.h"

namespace relascope::app {
namespace {

HubEntry entryOf(const core::CachedModel& model) {
    HubEntry entry;
    entry.name = QString::fromStdString(model.name);
    entry.path = QString::fromStdString(model.path);
    entry.about = QStringLiteral("fetched %1")
                      .arg(QLocale().toString(QDateTime::fromSecsSinceEpoch(model.time).date(),
                                              QLocale::ShortFormat));
    try {
        const auto info = core::readCheckpointInfo(model.path);
        entry.size = widgets::byteSize(info.bytes);
        if (!info.model) entry.problem = QStringLiteral("This program has no model of this kind");
        for (const auto& problem : info.problems)
            if (entry.problem.isEmpty() && problem.kind != ProblemKind::NotFinite)
                entry.problem = QString::fromStdString(problem.message);
    } catch (const Error& error) {
        entry.problem = QString::fromStdString(userMessage(error));
    }
    return entry;
}

QString progressText(const QJsonObject& said) {
    const double done = said.value(u"done").toDouble(), total = said.value(u"total").toDouble(),
                 rate = said.value(u"rate").toDouble();
    if (total <= 0) return QStringLiteral("Asking the hub");
    QString text = QStringLiteral("%1 of %2")
                       .arg(widgets::byteSize(static_cast<quint64>(done)),
                            widgets::byteSize(static_cast<quint64>(total)));
    if (rate > 0.0)
        text += QStringLiteral(", %1/s, about %2 left")
                    .arg(widgets::byteSize(static_cast<quint64>(rate)),
                         widgets::durationText((total - done) / rate));
    return text;
}

/// Runs the command; `said` gets each line of its output. Throws Error with its last error message,
/// or Cancelled.
QString runFetch(const std::string& program, const QString& name,
                 const std::function<bool()>& wanted,
                 const std::function<void(const QJsonObject&)>& said) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw Error("No model can be fetched: no pipe can be made");
    const wire::Descriptor reads(ends[0]);
    wire::Descriptor writes(ends[1]);
    const wire::Descriptor nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    const wire::Descriptor words(::memfd_create("fetch", MFD_CLOEXEC));
    const wire::ChildProcess process({program, "fetch", name.toStdString(), "--lines"},
                                     {{nothing.get(), 0}, {writes.get(), 1}, {words.get(), 2}});
    writes = wire::Descriptor();
    QByteArray lines;
    QString path;
    for (bool cancelled = false;;) {
        if (!cancelled && !wanted()) {
            cancelled = true;
            ::kill(process.id(), SIGTERM);
        }
        pollfd waiting{reads.get(), POLLIN, 0};
        if (::poll(&waiting, 1, 100) <= 0) continue;
        char bytes[4096];
        const auto got = ::read(reads.get(), bytes, sizeof bytes);
        if (got <= 0) {
            const auto status = process.status(std::chrono::seconds(30));
            if (cancelled) throw Cancelled();
            if (status && WIFEXITED(*status) && WEXITSTATUS(*status) == 0) return path;
            QString last = QString::fromStdString(wire::lastLineOf(words));
            last.remove(QRegularExpression(QStringLiteral("^relascope-cli: ")));
            throw Error(last.isEmpty()
                            ? "The process that fetched the model has ended without a word"
                            : last.toStdString());
        }
        lines.append(bytes, got);
        for (qsizetype end = 0; (end = lines.indexOf('\n')) >= 0; lines.remove(0, end + 1)) {
            const auto line = QJsonDocument::fromJson(lines.left(end)).object();
            if (line.contains(u"path"))
                path = line.value(u"path").toString();
            else
                said(line);
        }
    }
}

}  // namespace

HubModels::HubModels(QObject* parent) : QObject(parent) {
    connect(&m_task, &LongTask::failed, this, &HubModels::failed);
}

HubModels::~HubModels() = default;

const std::vector<HubEntry>& HubModels::published() {
    static const std::vector<HubEntry> all = [] {
        std::vector<HubEntry> entries;
        QFile file(QStringLiteral(":/hub_models.json"));
        if (!file.open(QIODevice::ReadOnly)) return entries;
        for (const auto& value : QJsonDocument::fromJson(file.readAll()).array()) {
            const auto model = value.toObject();
            entries.push_back(
                {model.value(u"model").toString(),
                 {},
                 model.value(u"parameters").toString() + QStringLiteral(" parameters"),
                 model.value(u"about").toString(),
                 model.value(u"licence").toString(),
                 {}});
        }
        return entries;
    }();
    return all;
}

void HubModels::refresh() {
    m_disk.clear();
    m_disk.post(
        this,
        [known = m_cached](std::stop_token stop) {
            std::vector<HubEntry> all;
            for (const auto& model : core::cachedModels()) {
                if (stop.stop_requested()) throw Cancelled();
                // A snapshot does not change.
                const auto same = std::find_if(known.begin(), known.end(), [&](const auto& entry) {
                    return entry.path.toStdString() == model.path && entry.problem.isEmpty();
                });
                all.push_back(same == known.end() ? entryOf(model) : *same);
            }
            return all;
        },
        [this](std::vector<HubEntry> all) {
            if (all == m_cached) return;
            m_cached = std::move(all);
            Q_EMIT changed();
        });
}

void HubModels::fetch(const QString& name) {
    m_task.run(
        m_fetching, QStringLiteral("Fetching %1").arg(name),
        [this, name, program = StudyController::program().toStdString()](LongJob& job,
                                                                         std::stop_token stop) {
            return runFetch(
                program, name, [&] { return !stop.stop_requested() && !job.stop.stop_requested(); },
                [&](const QJsonObject& said) {
                    const double total = said.value(u"total").toDouble();
                    if (total > 0) job.fraction = said.value(u"done").toDouble() / total;
                    // Called only while the task lives, which is a member of this object.
                    job.report([this, text = progressText(said)] { Q_EMIT progressed(text); });
                });
        },
        [this, name](const QString& path) {
            refresh();
            Q_EMIT fetched(name, path);
        });
}

}  // namespace relascope::app
