// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/pages/host_check.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QVBoxLayout>
#include <utility>

#include "app/pages/data_source.h"
#include "options/builtin_resources.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/icons.h"
#include "widgets/theme/theme.h"
#include "wire/host_files.h"
#include "wire/host_install.h"

namespace relascope::app {
namespace {

/// A tick or a cross in the colours of the theme.
class StageMark : public QWidget {
public:
    StageMark(bool good, QWidget* parent) : QWidget(parent), m_good(good) { setFixedSize(16, 16); }

protected:
    void paintEvent(QPaintEvent*) override {
        const auto& t = widgets::Theme::current();
        QPainter painter(this);
        widgets::icon(m_good ? "check" : "error", m_good ? t.ok : t.error).paint(&painter, rect());
    }

private:
    bool m_good;
};

/// Text of another machine as one line of limited length.
QString farText(const std::string& text) {
    return QString::fromStdString(text).simplified().left(300);
}

struct Checked {
    QString problem;
    bool otherVersion = false;
    QStringList oldVersions = {};
};

/// Checks a machine; `said` gets a line for each stage.
Checked check(const wire::Host& host, const std::function<bool()>& wanted,
              const std::function<void(double fraction, const QString& line)>& said) {
    wire::Session session([&] {
        auto started = wire::startFar(host, {"session"}, {}, wanted);
        said(0.25, QStringLiteral("Connected"));
        return started;
    });
    session.takeEveryVersion();
    const auto goesOn = [&](double) { return wanted(); };
    const auto facts = wire::hostFacts(session, host.runs, goesOn);
    said(0.5,
         QStringLiteral("Relascope %1 on %2").arg(farText(facts.version), farText(facts.machine)));
    const std::string mine = core::builtin::version();
    if (facts.version != mine)
        return {QStringLiteral("%1 has Relascope %2, this is %3: its runs can only be watched "
                               "until %3 is installed beside it.")
                    .arg(farText(host.name), farText(facts.version), farText(mine)),
                true};
    const auto devices = wire::devices(session, "auto", false, goesOn);
    QStringList names = {QStringLiteral("CPU")};
    for (const auto& [name, title] : devices.choices)
        names << QStringLiteral("%1 (%2)").arg(farText(name), farText(title));
    said(0.75, (names.size() == 1 ? QStringLiteral("Device: ") : QStringLiteral("Devices: ")) +
                   names.join(QStringLiteral(", ")));
    const std::string folder = host.runs.empty() ? facts.runs : host.runs;
    const auto runs = wire::listRuns(session, folder, 0, {}, goesOn).runs.size();
    QString line = QStringLiteral("Folder of runs: %1, %2")
                       .arg(farText(folder), runs == 0   ? QStringLiteral("no runs yet")
                                             : runs == 1 ? QStringLiteral("1 run")
                                                         : QStringLiteral("%1 runs").arg(runs));
    if (facts.free > 0)
        line +=
            QStringLiteral(", %1 free").arg(widgets::byteSize(static_cast<quint64>(facts.free)));
    said(1.0, line);
    Checked checked;
    for (const auto& name : facts.others) checked.oldVersions << farText(name);
    return checked;
}

}  // namespace

HostCheck::HostCheck(QWidget* parent)
    : QWidget(parent),
      install(wire::installThere),
      m_lines(new QVBoxLayout),
      m_strip(new JobStrip(this)),
      m_offer(new QWidget(this)),
      m_install(new QPushButton(widgets::icon("upload"),
                                QStringLiteral("Install it there (150 MB)"), this)),
      m_how(new QPushButton(QStringLiteral("How"), this)),
      m_removeOld(new QPushButton(QStringLiteral("Remove old versions"), this)),
      m_jobs(std::make_unique<JobQueue>()) {
    m_lines->setSpacing(6);
    m_strip->setDelay(0);
    m_strip->follow(m_task);
    m_strip->layout()->setContentsMargins(0, 0, 0, 0);
    m_install->setToolTip(QStringLiteral(
        "Copies this version's command line into ~/.local/share/relascope there; no rights of "
        "root are needed, and other versions stay"));
    m_how->setToolTip(QStringLiteral("Shows the document about other machines"));
    auto* row = widgets::rowOf(m_offer, {24, 0, 0, 0}, 8);
    row->addWidget(m_install);
    row->addWidget(m_how);
    row->addWidget(m_removeOld);
    row->addStretch(1);
    m_offer->hide();
    auto* column = widgets::columnOf(this, {}, 8);
    column->addLayout(m_lines);
    column->addWidget(m_strip);
    column->addWidget(m_offer);
    column->addStretch(1);
    connect(&m_task, &LongTask::began, this, [this] { Q_EMIT busyChanged(true); });
    connect(&m_task, &LongTask::ended, this, [this] { Q_EMIT busyChanged(false); });
    connect(m_strip, &JobStrip::cancelled, this,
            [this] { add(false, QStringLiteral("Cancelled")); });
    connect(m_install, &QPushButton::clicked, this, &HostCheck::installThere);
    connect(m_removeOld, &QPushButton::clicked, this, &HostCheck::removeOld);
    connect(m_how, &QPushButton::clicked, this, &HostCheck::helpRequested);
}

HostCheck::~HostCheck() = default;

void HostCheck::clear() {
    m_task.abandon();
    while (auto* line = m_lines->takeAt(0)) {
        delete line->widget();
        delete line;
    }
    offer(false);
}

void HostCheck::begin(const wire::Host& host) {
    clear();
    m_host = host;
    const auto refused = [this](const QString& sentence) {
        add(false, sentence);
        offer(sentence == QStringLiteral("Relascope is not installed on %1.")
                              .arg(QString::fromStdString(m_host.name)) ||
              sentence.contains(QStringLiteral("has another protocol")));
    };
    m_task.run(
        *m_jobs, QStringLiteral("Asking %1").arg(QString::fromStdString(host.name)),
        [this, host](LongJob& job, std::stop_token stop) {
            const auto wanted = [&] {
                return !stop.stop_requested() && !job.stop.stop_requested();
            };
            return check(host, wanted, [&](double fraction, const QString& line) {
                job.fraction = fraction;
                // Called only while the task lives, which is a member of this object.
                job.report([this, line] { add(true, line); });
            });
        },
        [this](const Checked& checked) {
            offer(checked.otherVersion, checked.oldVersions);
            if (checked.problem.isEmpty()) return Q_EMIT succeeded();
            add(false, checked.problem);
        },
        refused);
}

void HostCheck::installThere() {
    offer(false);
    m_task.run(
        *m_jobs,
        QStringLiteral("Installing Relascope %1 on %2")
            .arg(QString::fromLatin1(core::builtin::version()),
                 QString::fromStdString(m_host.name)),
        [host = m_host, install = install](LongJob& job, std::stop_token stop) {
            install(host, job.callback(std::move(stop)));
            return true;
        },
        [this](bool) { begin(m_host); },
        [this](const QString& sentence) {
            add(false, sentence);
            offer(true);
        });
}

void HostCheck::removeOld() {
    const QStringList old = m_old;
    offer(false);
    m_task.run(
        *m_jobs,
        QStringLiteral("Removing old versions on %1").arg(QString::fromStdString(m_host.name)),
        [host = m_host, old](LongJob& job, std::stop_token stop) {
            const auto wanted = [&] {
                return !stop.stop_requested() && !job.stop.stop_requested();
            };
            std::vector<std::string> names;
            for (const auto& name : old) names.push_back(name.toStdString());
            wire::Session session(host, wanted);
            wire::removeVersions(session, names, [&](double) { return wanted(); });
            return true;
        },
        [this, old](bool) {
            add(true, QStringLiteral("Removed: %1").arg(old.join(QStringLiteral(", "))));
        },
        [this, old](const QString& sentence) {
            add(false, sentence);
            offer(false, old);
        });
}

void HostCheck::add(bool good, const QString& line) {
    auto* stage = new QWidget(this);
    auto* row = widgets::rowOf(stage, {}, 8);
    auto* text = new QLabel(line, stage);
    text->setFont(widgets::smallFont());
    text->setTextFormat(Qt::PlainText);
    text->setWordWrap(true);
    text->setTextInteractionFlags(Qt::TextSelectableByMouse);
    row->addWidget(new StageMark(good, stage), 0, Qt::AlignTop);
    row->addWidget(text, 1);
    m_lines->addWidget(stage);
}

void HostCheck::offer(bool installation, const QStringList& oldVersions) {
    m_old = oldVersions;
    m_install->setVisible(installation);
    m_how->setVisible(installation);
    m_removeOld->setVisible(!oldVersions.isEmpty());
    m_removeOld->setToolTip(QStringLiteral("Removes from ~/.local/share/relascope there: %1")
                                .arg(oldVersions.join(QStringLiteral(", "))));
    m_offer->setVisible(installation || !oldVersions.isEmpty());
}

QStringList HostCheck::lines() const {
    QStringList all;
    for (int i = 0; i < m_lines->count(); ++i)
        all << m_lines->itemAt(i)->widget()->findChild<QLabel*>()->text();
    return all;
}

}  // namespace relascope::app
