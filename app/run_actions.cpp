// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/run_actions.h"

#include <QDesktopServices>
#include <QFileInfo>
#include <QInputDialog>
#include <QMenu>
#include <QMessageBox>
#include <QUrl>
#include <algorithm>

#include "app/controllers/controllers.h"
#include "app/run_export.h"
#include "run/run_process.h"
#include "widgets/theme/icons.h"
#include "widgets/theme/theme.h"

namespace relascope::app {
namespace {

/// The length of a run: its steps if set, otherwise its epochs.
struct Length {
    bool steps = false;
    qint64 total = 0;
    QString unit() const { return steps ? QStringLiteral("steps") : QStringLiteral("epochs"); }
};

Length lengthOf(const RunInfo& info) {
    qint64 steps = 0, epochs = 0;
    for (const auto& [key, text] : info.options) {
        if (key == "train.steps") steps = QString::fromStdString(text).toLongLong();
        if (key == "train.epochs") epochs = QString::fromStdString(text).toLongLong();
    }
    return steps > 0 ? Length{true, steps} : Length{false, epochs};
}

QString tagText(const std::vector<std::string>& tags) {
    QStringList all;
    for (const auto& tag : tags) all << QString::fromStdString(tag);
    return all.join(QLatin1String(", "));
}

std::vector<std::string> tagsOf(const QString& text) {
    QStringList tags;
    for (QString tag : text.split(u',')) {
        tag = tag.simplified();
        while (tag.startsWith(u'#')) tag.remove(0, 1);
        if (!tag.isEmpty() && !tags.contains(tag)) tags << tag;
    }
    std::vector<std::string> all;
    for (const auto& tag : tags) all.push_back(tag.toStdString());
    return all;
}

}  // namespace

RunActions::RunActions(Controllers& controllers, QWidget* window)
    : QObject(window),
      m_c(controllers),
      m_window(window),
      m_export(new RunExport(controllers.messages, window)) {
    connect(m_export, &RunExport::fetched, &m_c.runs, &RunsController::refresh);
    askText = [this](const QString& title, const QString& label, const QString& text) {
        bool ok = false;
        const QString given =
            QInputDialog::getText(m_window, title, label, QLineEdit::Normal, text, &ok);
        return ok ? std::optional(given) : std::nullopt;
    };
    askNumber = [this](const QString& title, const QString& label, int value, int least) {
        bool ok = false;
        const int given =
            QInputDialog::getInt(m_window, title, label, value, least, 1000000000, 1, &ok);
        return ok ? std::optional(given) : std::nullopt;
    };
    askEnd = [this](const QString& sentence) {
        QMessageBox box(QMessageBox::Warning, QStringLiteral("End the process"), sentence,
                        QMessageBox::Cancel, m_window);
        auto* end = box.addButton(QStringLiteral("End its process"), QMessageBox::DestructiveRole);
        box.setDefaultButton(QMessageBox::Cancel);
        box.exec();
        return box.clickedButton() == end;
    };
    connect(&m_c.runs, &RunsController::ended, this, [this](const QString& path) {
        m_c.messages.info(QString("The process of %1 was ended").arg(m_c.runs.name(path)));
    });
    connect(&m_c.runs, &RunsController::branched, this, [this](const QString& path) {
        m_c.selection.setRuns({path});
        m_c.selection.setStep(std::nullopt);
        m_c.selection.setCurrent(path);
        m_c.experiment.showRun(path);
        const RunInfo* info = m_c.runs.info(path);
        m_c.messages.ok(
            QString("Created %1 from step %2; press Resume to train it")
                .arg(m_c.runs.name(path), widgets::groupedNumber(info ? info->step : 0)));
    });
    connect(&m_c.runs, &RunsController::reloaded, this, [this](int runs, int hidden) {
        const QString count = runs == 1 ? QStringLiteral("1 run")
                                        : QString("%1 runs").arg(widgets::groupedNumber(runs));
        m_c.messages.ok(hidden == 0 ? QString("Reloaded %1").arg(count)
                                    : QString("Reloaded %1; %2 hidden, shown dimmed")
                                          .arg(count, widgets::groupedNumber(hidden)));
    });
}

std::vector<RunActions::Entry> RunActions::entries(const QStringList& paths) {
    const QString none = paths.isEmpty() ? QStringLiteral("Choose a run first") : QString();
    const QString one = paths.size() > 1 ? QStringLiteral("Choose one run") : none;
    const QString many = paths.size() > 1 ? QString(" %1 runs").arg(paths.size()) : QString();
    const bool trains = m_c.training.busy() && paths.contains(m_c.training.run());
    const bool hidden =
        !paths.isEmpty() && std::all_of(paths.begin(), paths.end(), [this](const QString& path) {
            return m_c.runs.labels(path).hidden;
        });
    const QString writes = m_export->disabledReason();
    QString extend = one, duplicate = one, unit = QStringLiteral("epochs");
    if (one.isEmpty() && trains) duplicate = QStringLiteral("Wait until the run has ended");
    if (const RunInfo* info = one.isEmpty() ? m_c.runs.info(paths.first()) : nullptr) {
        unit = lengthOf(*info).unit();
        if (info->recorded)
            extend = duplicate = m_c.runs.whyNoModel(paths.first());
        else if (m_c.training.busy())
            extend = QStringLiteral("Wait until the run that trains has ended");
        else if (info->state != RunState::Done && info->state != RunState::Stopped &&
                 info->state != RunState::Interrupted)
            extend = QString("A run that is %1 cannot be extended")
                         .arg(QLatin1String(runStateName(info->state)));
    }
    const QString host = one.isEmpty() ? HostsController::hostOf(paths.first()) : QString();
    const auto ofHere = [&](const QString& otherwise) {
        return host.isEmpty() ? otherwise : QString("The run is on %1; fetch it first").arg(host);
    };
    const QString first = paths.value(0);
    return {
        {Kind::OpenFolder, "folder", QStringLiteral("Open run folder"),
         QStringLiteral("Show the files of the run"), ofHere(one),
         [this, first] {
             if (!QDesktopServices::openUrl(QUrl::fromLocalFile(first)))
                 m_c.messages.warning(
                     QString("No file manager could be opened; the run is in %1").arg(first));
         }},
        {Kind::Rename, "pencil", QStringLiteral("Rename..."),
         QStringLiteral("Give the run another name; its folder stays where it is"), one,
         [this, first] { rename(first); }},
        {Kind::Duplicate, "copy", QStringLiteral("Duplicate as a new run"),
         QStringLiteral("Put the options of the run into the form, for a new run"), duplicate,
         [this, first] { this->duplicate(first); }},
        {Kind::Extend, "plus", QString("Extend to more %1...").arg(unit),
         QString("Train the run on to a larger number of %1").arg(unit), extend,
         [this, first] { this->extend(first); }},
        {Kind::Tags, "note", QStringLiteral("Tags") + many + QStringLiteral("..."),
         QStringLiteral("Words to find the run by"), none, [this, paths] { editTags(paths); }},
        {Kind::ExportCsv, "export", QStringLiteral("Export points as CSV..."),
         QStringLiteral("A line for every measured point, a column for every value"),
         one.isEmpty() ? writes : one, [this, first] { m_export->toCsv(first); }},
        {Kind::ExportJson, "export", QStringLiteral("Export as JSON..."),
         QStringLiteral("Options, points and notes of the run in one file"),
         one.isEmpty() ? writes : one, [this, first] { m_export->toJson(first); }},
        {Kind::Fetch, "export", QStringLiteral("Fetch to this computer"),
         QStringLiteral(
             "Copy the run of another machine, with its checkpoints, to the folder of runs"),
         !one.isEmpty()    ? one
         : !host.isEmpty() ? writes
                           : QStringLiteral("The run is on this computer"),
         [this, first] { m_export->fetch(first, m_c.runs.placeOfCopy(first)); }},
        {Kind::Hide, "eye", (hidden ? QStringLiteral("Show") : QStringLiteral("Hide")) + many,
         hidden ? QStringLiteral("List the run again")
                : QStringLiteral("Leave the run out of the lists; Reload runs finds it"),
         none, [this, paths, hidden] { setHidden(paths, !hidden); }},
        {Kind::EndProcess, "stop", QStringLiteral("End its process..."),
         QStringLiteral("For a run that does not answer: what came after its last checkpoint is "
                        "lost"),
         one.isEmpty() && !isTrained(paths.first()) ? QStringLiteral("The run is not training")
                                                    : one,
         [this, first] {
             if (askEnd(endSentence(first))) m_c.runs.endProcess(first);
         }},
        {Kind::Delete, "close", QStringLiteral("Delete") + many,
         QStringLiteral("Move the run to the folder .trash beside it; Undo brings it back"),
         trains ? QStringLiteral("Stop the run before it is deleted") : none,
         [this, paths] { remove(paths); }},
    };
}

bool RunActions::isExport(Kind kind) {
    return kind == Kind::ExportCsv || kind == Kind::ExportJson;
}

bool RunActions::isTrained(const QString& path) const {
    const RunInfo* info = m_c.runs.info(path);
    return info && (info->state == RunState::Running || info->state == RunState::Paused ||
                    info->state == RunState::Queued);
}

QString RunActions::endSentence(const QString& path) const {
    const auto kept = core::lastWholeCheckpoint(path.toStdString());
    return QString("The process of %1 is ended at once. %2")
        .arg(m_c.runs.name(path),
             !HostsController::hostOf(path).isEmpty()
                 ? QStringLiteral("What it trained after its last checkpoint is lost.")
             : kept < 0 ? QStringLiteral("It has no checkpoint yet: all that it trained is lost.")
                        : QString("What it trained after step %1 is lost.")
                              .arg(widgets::groupedNumber(kept)));
}

void RunActions::perform(Kind kind, const QStringList& paths) {
    for (const auto& entry : entries(paths))
        if (entry.kind == kind && entry.reason.isEmpty())
            entry.perform();
        else if (entry.kind == kind)
            m_c.messages.warning(entry.reason);
}

std::unique_ptr<QMenu> RunActions::menu(const QStringList& paths) {
    auto menu = std::make_unique<QMenu>(m_window);
    menu->setToolTipsVisible(true);
    QMenu* exports = nullptr;
    for (const auto& entry : entries(paths)) {
        if (entry.kind == Kind::Hide || entry.kind == Kind::Rename) menu->addSeparator();
        if (isExport(entry.kind) && !exports) {
            exports = menu->addMenu(widgets::icon("export"), QStringLiteral("Export"));
            exports->setToolTipsVisible(true);
        }
        QAction* action = isExport(entry.kind)
                              ? exports->addAction(entry.text)
                              : menu->addAction(widgets::icon(entry.icon), entry.text);
        action->setEnabled(entry.reason.isEmpty());
        action->setToolTip(entry.reason.isEmpty() ? entry.help : entry.reason);
        connect(action, &QAction::triggered, this,
                [this, kind = entry.kind, paths] { perform(kind, paths); });
    }
    if (paths.size() == 1) {
        QMenu* back = nullptr;
        for (const auto& mark : m_c.runs.records().marks(paths.first())) {
            if (!mark.kept) continue;
            if (!back) {
                menu->addSeparator();
                back = menu->addMenu(widgets::icon("restart"), QStringLiteral("Go back to"));
            }
            const auto step = static_cast<qint64>(mark.step);
            connect(back->addAction(
                        QString("Step %1, before %2").arg(widgets::groupedNumber(step), mark.text)),
                    &QAction::triggered, this,
                    [this, path = paths.first(), step] { goBack(path, step); });
        }
    }
    menu->addSeparator();
    QAction* shown = menu->addAction(QStringLiteral("Show hidden runs"));
    shown->setCheckable(true);
    shown->setChecked(m_c.runs.showsHidden());
    shown->setEnabled(m_c.runs.hiddenRuns() > 0);
    connect(shown, &QAction::toggled, &m_c.runs, &RunsController::setShowHidden);
    return menu;
}

std::unique_ptr<QMenu> RunActions::markMenu(const QString& run, const widgets::CurveMark& mark) {
    auto menu = std::make_unique<QMenu>(m_window);
    menu->setToolTipsVisible(true);
    const auto step = static_cast<qint64>(mark.step);
    QAction* back = menu->addAction(widgets::icon("restart"), QStringLiteral("Go back to here"));
    back->setEnabled(mark.kept);
    back->setToolTip(
        mark.kept ? QString("A new run from the checkpoint of step %1, with the options before %2")
                        .arg(widgets::groupedNumber(step), mark.text)
                  : QStringLiteral("No checkpoint of this step was kept"));
    connect(back, &QAction::triggered, this, [this, run, step] { goBack(run, step); });
    return menu;
}

void RunActions::popUp(const QStringList& paths, const QPoint& at) {
    menu(paths)->exec(at);
}
void RunActions::popUpMark(const QString& run, const widgets::CurveMark& mark, const QPoint& at) {
    markMenu(run, mark)->exec(at);
}

QString RunActions::names(const QStringList& paths) const {
    return paths.size() == 1 ? m_c.runs.name(paths.first()) : QString("%1 runs").arg(paths.size());
}

void RunActions::label(const QString& what, const QStringList& paths,
                       const std::function<void(RunLabels&)>& change) {
    std::vector<std::pair<QString, RunLabels>> before, after;
    for (const auto& path : paths) {
        RunLabels labels = m_c.runs.labels(path);
        before.emplace_back(path, labels);
        change(labels);
        after.emplace_back(path, labels);
    }
    if (before == after) return;
    const auto set = [this](const std::vector<std::pair<QString, RunLabels>>& all) {
        for (const auto& [path, labels] : all) m_c.runs.setLabels(path, labels);
    };
    set(after);
    m_c.history.push(new Step(
        what, [set, before] { set(before); }, [set, after] { set(after); }));
}

void RunActions::rename(const QString& path) {
    const auto given =
        askText(QStringLiteral("Rename the run"),
                QStringLiteral("Name (empty: that of its folder)"), m_c.runs.name(path));
    if (!given) return;
    QString name = given->simplified();
    if (name == QFileInfo(path).fileName()) name.clear();
    label(QStringLiteral("Rename ") + names({path}), {path},
          [&](RunLabels& labels) { labels.name = name.toStdString(); });
}

void RunActions::duplicate(const QString& path) {
    m_c.experiment.duplicate(path);
    m_c.messages.info(
        QString("The form has the options of %1; press Start to train a new run with them")
            .arg(m_c.runs.name(path)));
}

void RunActions::extend(const QString& path) {
    const RunInfo* info = m_c.runs.info(path);
    if (!info) return;
    const Length length = lengthOf(*info);
    const bool whole = info->state == RunState::Done;
    const int least = static_cast<int>(length.total) + (whole ? 1 : 0);
    const auto total = askNumber(
        QStringLiteral("Extend the run"),
        QString("Total number of %2 of %1 (now %3)")
            .arg(m_c.runs.name(path), length.unit(), widgets::groupedNumber(length.total)),
        static_cast<int>(2 * length.total), least);
    if (total) m_c.experiment.extend(path, *total);
}

void RunActions::editTags(const QStringList& paths) {
    const auto given = askText(QStringLiteral("Tags"),
                               QString("Tags of %1, separated by commas").arg(names(paths)),
                               tagText(m_c.runs.labels(paths.first()).tags));
    if (!given) return;
    const auto tags = tagsOf(*given);
    label(QStringLiteral("Tags of ") + names(paths), paths,
          [&](RunLabels& labels) { labels.tags = tags; });
}

void RunActions::setHidden(const QStringList& paths, bool hidden) {
    label((hidden ? QStringLiteral("Hide ") : QStringLiteral("Show ")) + names(paths), paths,
          [&](RunLabels& labels) { labels.hidden = hidden; });
}

void RunActions::remove(const QStringList& paths) {
    QStringList rest = m_c.selection.runs();
    const QString what = names(paths);
    for (const auto& path : paths) rest.removeAll(path);
    m_c.selection.setRuns(rest);
    const auto moves = std::make_shared<std::vector<RunsController::Moved>>(m_c.runs.trash(paths));
    if (moves->empty()) return;
    m_c.messages.info(QString("Moved %1 to %2; Undo brings it back")
                          .arg(what, QFileInfo(moves->front().to).path()));
    m_c.history.push(new Step(
        QStringLiteral("Delete ") + what,
        [this, moves] {
            auto back = *moves;
            for (auto& move : back) std::swap(move.from, move.to);
            m_c.runs.move(back);
        },
        [this, moves] { m_c.runs.move(*moves); }));
}

void RunActions::goBack(const QString& path, qint64 step) {
    m_c.runs.branch(path, step);
}

}  // namespace relascope::app
