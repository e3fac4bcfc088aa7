// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view_files.h"

#include <QFileInfo>
#include <QTimer>
#include <algorithm>
#include <filesystem>
#include <limits>
#include <utility>

#include "analysis/analysis.h"
#include "app/controllers/controllers.h"
#include "app/controllers/typed_text.h"
#include "app/curves_figure.h"
#include "app/edits_tab.h"
#include "app/main_window.h"
#include "app/opener.h"
#include "app/pages/analysis_tab.h"
#include "app/pages/atlas_page.h"
#include "app/pages/checkpoint_page.h"
#include "app/pages/compare_page.h"
#include "app/pages/duel_page.h"
#include "app/pages/measure_page.h"
#include "app/pages/study_page.h"
#include "app/pages/study_runs.h"
#include "app/pages/workbench_page.h"
#include "files/atomic_file.h"
#include "files/command_line.h"
#include "files/sha256.h"
#include "interventions/edit_words.h"
#include "question/question_fields.h"
#include "question/question_input.h"
#include "question/question_words.h"
#include "run/run_folder.h"
#include "run/run_lines.h"
#include "views/curve_look.h"
#include "views/look.h"
#include "views/view_file.h"
#include "widgets/curves/curve_panel.h"
#include "widgets/export/export.h"
#include "widgets/inspector/relation_inspector.h"
#include "widgets/inspector/view_options.h"
#include "widgets/theme/theme.h"

namespace relascope::app {
namespace {

QString shortName(const QString& path) {
    return QFileInfo(path).fileName();
}

/// Which subject of a view is A (0) or B (1) of the page Duel; one is both.
std::size_t subjectOnSide(const View& view, std::size_t side) {
    const auto which = view.command == core::kInspectView ? 1 - side : side;
    return std::min(which, view.subjects.size() - 1);
}

EditList editsOf(const std::vector<std::string>& words, const Points& points) {
    if (!points) throw Error("the model has no hook points for edits");
    EditList list;
    for (const auto& one : words)
        if (one != "none") list.edits.push_back(core::editFromWords(one, *points));
    return list;
}

bool isOfInspector(const View& view) {
    return view.command == "inspect" || view.command == "along";
}

/// The input that a view names, without the tokenizer of a text.
Question chosenInput(const View& view) {
    auto input = core::inputOf(view);
    std::erase_if(input.options, [](const Option& option) { return option.name == "tokenizer"; });
    return input;
}
/// Whether it is about an input. Of the others any is shown.
bool namesInput(const View& view) {
    using core::AnalysisInput;
    const auto* analysis = core::analysisOfCommand(view.command);
    return !analysis ||
           (analysis->input != AnalysisInput::Data && analysis->input != AnalysisInput::Sentences &&
            analysis->input != AnalysisInput::OwnPrompts);
}
/// The example of the data that it is, where it is one.
std::pair<std::string, std::int64_t> exampleOf(const Question& input) {
    return {input.value<std::string>("split", "validation"), input.value<std::int64_t>("sample")};
}

/// Why the window would show something else than the view names; empty: it would not.
std::string unshown(const View& view) {
    if (auto why = core::unreadByWindow(view); !why.empty()) return why;
    const auto& first = view.subjects[0];
    if (!core::isRunFolder(first.path) && chosenInput(view).option("sample"))
        return first.path + " is a checkpoint, which has no examples of its own";
    for (const auto& subject : view.subjects)
        if (std::find(subject.edits.begin(), subject.edits.end(), "none") != subject.edits.end() &&
            core::isRunFolder(subject.path) &&
            core::editsAfterStep(subject.path, std::numeric_limits<std::int64_t>::max())
                .anyEnabled())
            return "the window always shows " + subject.path + " with the edits of its training";
    return {};
}

}  // namespace

ViewFiles::ViewFiles(MainWindow& window) : QObject(&window), m_window(window) {
    connect(&m_task, &LongTask::failed, this, &ViewFiles::refuse);
    auto& c = window.controllers();
    for (auto* feed : {&c.runInput.feed(), &c.checkpoint.feed()})
        connect(
            feed, &InspectorFeed::inspected, this,
            [this, feed] {
                if (m_wanted && m_wanted->feed == feed) shown();
            },
            Qt::QueuedConnection);
    connect(&c.runs.records(), &RunRecords::loaded, this, &ViewFiles::shown, Qt::QueuedConnection);
    // The message stands already; what was to follow does not.
    const auto forget = [this](const InspectorFeed& feed) {
        if (m_wanted && m_wanted->asked && m_wanted->feed == &feed) m_wanted.reset();
    };
    connect(&c.runInput, &RunInput::failed, this, [&c, forget] { forget(c.runInput.feed()); });
    connect(&c.checkpoint, &CheckpointController::failed, this,
            [&c, forget] { forget(c.checkpoint.feed()); });
    connect(&m_task, &LongTask::began, &c.messages, &Messages::info);
}

ViewFiles::~ViewFiles() = default;

// Saving
// -------------------------------------------------------------------------------------------------

void ViewFiles::save(widgets::ViewMenu* menu, const View& view, const QString& path,
                     bool withData) {
    m_task.run(
        m_queue, QStringLiteral("Saving %1").arg(shortName(path)),
        [view, to = path.toStdString(), withData](LongJob&, const std::stop_token&) {
            auto saved = view;
            core::identify(saved);
            if (withData) {
                const auto name = std::filesystem::path(to).filename().string();
                const auto bytes =
                    wire::figureBytes(wire::figureOf(saved), {core::commandOf(saved), name});
                const std::string_view text(reinterpret_cast<const char*>(bytes.data()),
                                            bytes.size());
                core::writeTextFile(core::viewDataName(to), text);
                saved.data = core::viewDataName(name);
                saved.dataChecksum = "sha256:" + core::sha256Of(text);
            }
            core::writeViewFile(to, saved);
            return true;
        },
        [this, menu = QPointer<widgets::ViewMenu>(menu), path, withData](bool) {
            if (menu) menu->setViewFile(path);
            m_window.controllers().messages.ok(
                withData ? QStringLiteral("Saved %1, and %1.data beside it").arg(path)
                         : QStringLiteral("Saved %1").arg(path));
            Q_EMIT saved(path);
        });
}

// Opening
// -------------------------------------------------------------------------------------------------

ViewFiles::Read ViewFiles::read(const std::string& path) {
    Read found{core::readViewFile(path), {}, {}};
    if (!found.view.data.empty()) {
        const auto bytes = core::readViewData(found.view, path);
        wire::FrameReader reader;
        reader.append({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
        const auto frame = reader.next();
        if (!frame) throw FileError(path, "the file beside it is cut; ask for both files again");
        found.figure = wire::figureFromFrame(*frame);
    }
    try {
        core::findSubjects(found.view);
        for (auto& subject : found.view.subjects)
            if (const auto step = core::namedStep(subject.path, subject.checkpoint); step >= 0)
                subject.checkpoint = std::to_string(step);
    } catch (const Error& error) {
        if (!found.figure) throw;
        found.missing = error.what();
    }
    return found;
}

void ViewFiles::open(const QString& path) {
    m_wanted.reset();
    m_task.run(
        m_queue, QStringLiteral("Opening %1").arg(shortName(path)),
        [from = path.toStdString()](LongJob&, const std::stop_token&) {
            return std::make_shared<Read>(read(from));
        },
        [this, path](const std::shared_ptr<Read>& found) { show(path, std::move(*found)); });
}

/// Gives the menus within `shown` the resolution of a view, and those that show it its name.
static void markMenus(const QWidget& shown, const View& view, const QString& path) {
    widgets::paperAction()->setChecked(view.paper);
    widgets::figureStyle().light = !view.dark;
    for (auto* menu : shown.findChildren<widgets::ViewMenu*>()) {
        if (view.dpi > 0) menu->setDpi(view.dpi);
        const auto now = menu->described();
        if (now && core::commandOf(*now) == core::commandOf(view)) menu->setViewFile(path);
    }
}

void ViewFiles::show(const QString& path, Read found) {
    if (const auto why = found.missing.empty() ? unshown(found.view) : std::string();
        !why.empty()) {
        found.missing = why + "; draw it with: " +
                        core::commandLine({"draw", path.toStdString(), "--out", "view.png"});
        if (!found.figure)
            return refuse(
                QStringLiteral("%1: %2").arg(path, QString::fromStdString(found.missing)));
    }
    if (!found.missing.empty()) return showData(path, found);
    show(path, std::move(found.view));
}

void ViewFiles::open(const Measurement& one) {
    m_task.abandon();
    if (auto view = viewOf(one.asked)) return show(QString(), std::move(*view));
    refuse(
        QStringLiteral("The input of this measurement has no name by which it could be chosen "
                       "again; its result stays with its run"));
}

void ViewFiles::show(const QString& path, View view) {
    const auto command = view.command;
    const bool run = core::isRunFolder(view.subjects[0].path);
    m_wanted = Wanted{std::move(view), path};
    if (command == core::kStudyView) return openStudy();
    if (command == core::kCurvesView) return openCurves();
    const auto* analysis = core::findAnalysis(command);
    if ((analysis && analysis->twoModels) || m_wanted->view.subjects.size() > 1) return openDuel();
    run ? openRun() : openCheckpoint();
}

void ViewFiles::refuse(const QString& sentence) {
    auto& messages = m_window.controllers().messages;
    if (m_wanted && !m_wanted->path.isEmpty())
        messages.info(QStringLiteral("%1 was not opened").arg(shortName(m_wanted->path)));
    m_wanted.reset();
    messages.error(sentence);
    Q_EMIT refused(sentence);
}

void ViewFiles::done() {
    const auto path = std::exchange(m_wanted, std::nullopt)->path;
    if (!path.isEmpty())
        m_window.controllers().messages.ok(QStringLiteral("Opened %1").arg(shortName(path)));
    Q_EMIT opened(path);
}

/// What was saved with the view, where its weights are not on this machine or are others.
void ViewFiles::showData(const QString& path, const Read& found) {
    auto& c = m_window.controllers();
    const QString from = QStringLiteral("from the view file %1").arg(shortName(path));
    if (const auto* map = std::get_if<wire::MapFigure>(&*found.figure)) {
        m_window.showPage(PageId::Workbench);
        c.selection.setRuns({});
        c.selection.setCurrent({});
        auto* inspector = m_window.workbench()->inspector();
        auto result = std::make_shared<ProbeResult>(map->result);
        inspector->setFigureRun(QString::fromStdString(map->run), map->steps);
        inspector->setResult(result);
        c.selection.setView(widgets::inspectorViewOf(found.view)
                                .with(&widgets::InspectorView::shown, widgets::Shown::After));
        inspector->setView(c.selection.view());
        inspector->setSubText(map->difference ? QStringLiteral("difference, ") + from : from);
        m_window.workbench()->showPanes(false);  // instead of what an empty page says
    } else if (const auto* answer = std::get_if<wire::AnalysisFigure>(&*found.figure)) {
        auto* tab = showAnalysis(answer->analysis);
        if (!tab)
            return refuse(QStringLiteral("%1: the analysis '%2' has no tab in this version")
                              .arg(path, QString::fromStdString(answer->analysis)));
        tab->showSaved(answer->result,
                       QString::fromStdString(answer->caption) + QStringLiteral(", ") + from);
    } else {
        return refuse(
            QStringLiteral("%1: its data file contains neither a map nor a result").arg(path));
    }
    c.messages.warning(
        QStringLiteral("What is shown is %1: %2").arg(from, QString::fromStdString(found.missing)));
    Q_EMIT opened(path);
}

void ViewFiles::openStudy() {
    const auto& view = m_wanted->view;
    auto& study = m_window.controllers().study;
    m_window.opener().openStudy(placeOf(view));
    if (view.option("metric")) study.setMeasure({view.text("metric"), view.text("split")});
    m_window.studyPage()->curves()->setLook(core::lookOf(view, core::studyLookFields()));
    done();
}

void ViewFiles::openCurves() {
    QStringList runs;
    for (const auto& subject : m_wanted->view.subjects)
        runs << QString::fromStdString(subject.path);
    connect(
        &m_window.opener(), &Opener::runOpened, this,
        [this] {
            if (!m_wanted || m_wanted->view.command != core::kCurvesView) return;
            const auto& view = m_wanted->view;
            const auto look = core::lookOf(view, core::curveLookFields());
            auto& c = m_window.controllers();
            const auto at = look.highlight - 1;
            if (at >= 0 && at < c.selection.runs().size())
                c.selection.setCurrent(c.selection.runs()[at]);
            // For several runs only Compare shows published numbers.
            const bool compared = view.subjects.size() > 1 && !look.no_published &&
                                  !publishedOf(c.runs, c.selection.runs()).empty();
            if (compared) m_window.showPage(PageId::Compare);
            auto* curves =
                compared ? qobject_cast<ComparePage*>(m_window.page(PageId::Compare))->curves()
                         : m_window.workbench()->curves();
            showLook(*curves, look);
            markMenus(*curves, view, m_wanted->path);
            done();
        },
        Qt::SingleShotConnection);
    m_window.opener().openAll(runs);
}

/// Whether the maps of a question are those that a view names of its `which`th model.
static bool isShown(const wire::Asked& shown, const View& view, std::size_t which) {
    if (placeOf(shown) != placeOf(view, which)) return false;
    if (core::isRunFolder(view.subjects[which].path) && stepOf(shown) != stepOf(view, which))
        return false;
    if (!namesInput(view)) return true;
    const auto input = chosenInput(view), now = core::inputOf(shown);
    if (input.option("text")) return now.text("text") == input.text("text");
    if (!core::hasOwnInput(input)) {
        // Captured inputs belong to no split.
        return !now.option("sample") ||
               (exampleOf(now).second == exampleOf(input).second &&
                (!now.option("split") || exampleOf(now) == exampleOf(input)));
    }
    return std::all_of(input.options.begin(), input.options.end(), [&](const Option& option) {
        const auto* value = now.option(option.name);
        return value && *value == option.value;
    });
}

/// A duel, or a map minus the same map of another model, which is B minus A.
void ViewFiles::openDuel() {
    const auto view = m_wanted->view;
    m_window.showPage(PageId::Duel);
    auto* page = m_window.duelPage();
    connect(&page->feeds(), &DuelFeeds::answered, this, &ViewFiles::duelAnswered,
            static_cast<Qt::ConnectionType>(Qt::QueuedConnection | Qt::UniqueConnection));
    for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
        const auto which = subjectOnSide(view, side);
        page->setSubject(side, weightsAt(placeOf(view, which), stepOf(view, which)));
    }
    if (view.command == core::kInspectView) return page->feeds().choose(chosenInput(view));
    QTimer::singleShot(0, this, &ViewFiles::duelAnswered);  // both may be shown already
}

/// Both maps are there: the edits come next, then the map or the measurement.
void ViewFiles::duelAnswered() {
    if (!m_wanted || m_wanted->feed) return;
    const auto view = m_wanted->view;
    auto* page = m_window.duelPage();
    auto& feeds = page->feeds();
    if (!feeds.answer(0) || !feeds.answer(1)) return;  // answers of the requests before
    const bool maps = view.command == core::kInspectView;
    for (const std::size_t side : {std::size_t{0}, std::size_t{1}})
        if (maps && placeOf(feeds.asked(side)) != placeOf(view, subjectOnSide(view, side))) return;
    if (!std::exchange(m_wanted->edited, true)) {
        bool any = false;
        for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
            auto subject = *feeds.subject(side);
            const auto& words = view.subjects[subjectOnSide(view, side)].edits;
            if (words.empty()) continue;
            try {
                subject.edits = {editsOf(words, feeds.points(side))};
            } catch (const Error& error) {
                return refuseEdits(error);
            }
            any = any || subject.edits[0].anyEnabled();
            page->setSubject(side, std::move(subject));
        }
        if (any) return;
    }
    const auto path = m_wanted->path;
    if (maps) {
        page->inspector()->chooseView(widgets::inspectorViewOf(view));
        markMenus(*page->inspector(), view, path);
    } else if (const auto why = page->tab()->openView(view, path); !why.isEmpty()) {
        return refuse(QStringLiteral("%1: %2").arg(path, why));
    }
    done();
}

void ViewFiles::openRun() {
    auto& c = m_window.controllers();
    m_wanted->feed = &c.runInput.feed();
    m_wanted->edits = &c.runEdits;
    m_wanted->inspector = m_window.workbench()->inspector();
    connect(
        &m_window.opener(), &Opener::runOpened, this,
        [this, &c](const QString& run) {
            if (!m_wanted) return;
            const auto view = m_wanted->view;
            if (run != placeOf(view)) return m_wanted.reset();  // another one
            if (isOfInspector(view)) c.selection.setView(widgets::inspectorViewOf(view));
            removeEdits();
            c.selection.setStep(stepOf(view));
            m_wanted->asked = true;
            if (namesInput(view)) return c.runInput.choose(chosenInput(view));
            QTimer::singleShot(0, this, &ViewFiles::shown);  // it may be shown already
        },
        Qt::SingleShotConnection);
    m_window.opener().openRun(placeOf(m_wanted->view));
}

void ViewFiles::openCheckpoint() {
    auto& c = m_window.controllers();
    m_wanted->feed = &c.checkpoint.feed();
    m_wanted->edits = &c.checkpointEdits;
    m_wanted->inspector =
        qobject_cast<CheckpointPage*>(m_window.page(PageId::Checkpoint))->inspector();
    connect(
        &c.checkpoint, &CheckpointController::opened, this,
        [this, &c] {
            if (!m_wanted || m_wanted->feed != &c.checkpoint.feed()) return;
            if (const QString why = c.checkpoint.loadDisabledReason(); !why.isEmpty())
                return refuse(QStringLiteral("%1: %2").arg(m_wanted->path, why));
            removeEdits();
            m_wanted->asked = true;
            c.checkpoint.setStep(stepOf(m_wanted->view));
            c.checkpoint.show(m_wanted->view);
        },
        Qt::SingleShotConnection);
    m_window.opener().openCheckpoint(placeOf(m_wanted->view));
}

void ViewFiles::removeEdits() {
    auto& edits = *m_wanted->edits;
    if (!edits.list().edits.empty()) edits.change({}, QStringLiteral("Open a view"));
}

/// Whether other maps follow.
bool ViewFiles::applyEdits(InspectorEdits& edits) {
    m_wanted->edited = true;
    const auto& words = m_wanted->view.subjects[0].edits;
    if (words.empty()) return false;
    edits.change(editsOf(words, edits.points()), QStringLiteral("Open a view"));
    return edits.any();
}

void ViewFiles::refuseEdits(const Error& error) {
    refuse(QStringLiteral("%1: the edits do not fit this model: %2")
               .arg(m_wanted->path, QString::fromUtf8(error.what())));
}

/// Maps have arrived: the edits come next, then the map and the analysis. Those of requests before
/// may come first.
void ViewFiles::shown() {
    if (!m_wanted || !m_wanted->asked || !m_wanted->feed->settled()) return;
    const auto& c = m_window.controllers();
    const auto* result = m_wanted->inspector->result();
    if (!result || result->partial) return;
    // Whether a step shows its captures is known once the run has been read.
    if (m_wanted->feed == &c.runInput.feed() &&
        !(c.runInput.options() && c.runs.records().isLoaded(c.runInput.run())))
        return;
    if (!isShown(m_wanted->feed->shown(), m_wanted->view, 0)) {
        const auto path = std::exchange(m_wanted, std::nullopt)->path;
        return m_window.controllers().messages.info(
            QStringLiteral("Something else was chosen while %1 was opened").arg(shortName(path)));
    }
    try {
        if (!m_wanted->edited && applyEdits(*m_wanted->edits)) return;
    } catch (const Error& error) {
        return refuseEdits(error);
    }
    finish();
}

void ViewFiles::finish() {
    const auto view = m_wanted->view;
    const auto path = m_wanted->path;
    const auto& feed = *m_wanted->feed;
    auto& inspector = *m_wanted->inspector;
    if (isOfInspector(view)) inspector.chooseView(widgets::inspectorViewOf(view));
    if (view.command == "inspect") {
        markMenus(inspector, view, path);
        return done();
    }
    auto* tab = showAnalysis(view.command);
    if (!tab)
        return refuse(QStringLiteral("%1: the analysis '%2' has no tab in this version")
                          .arg(path, QString::fromStdString(view.command)));
    if (const auto corrupt = view.text("corrupt"); corrupt.starts_with("text:")) {
        if (feed.tokenizer() && feed.model())
            m_window.measurePage()->analyses().setSecond(
                typedText(*feed.tokenizer(), corrupt.substr(5), *feed.model()).sample,
                QStringLiteral("B of the view"));
    }
    if (const auto why = tab->openView(view, path); !why.isEmpty())
        return refuse(QStringLiteral("%1: %2").arg(path, why));
    done();
}

AnalysisTab* ViewFiles::showAnalysis(const std::string& name) {
    const auto* analysis = core::findAnalysis(name);
    if (!analysis || analysis->place == 0 || analysis->page == core::AnalysisPage::None)
        return nullptr;
    m_window.edits().measure(name);
    switch (analysis->page) {
        case core::AnalysisPage::Duel:
            return m_window.duelPage()->tab();
        case core::AnalysisPage::Atlas:
            return qobject_cast<AtlasPage*>(m_window.page(PageId::Atlas))->tab(analysis->name);
        case core::AnalysisPage::Measure:
        case core::AnalysisPage::None:
            break;
    }
    return m_window.measurePage()->analyses().tab(analysis->name);
}

}  // namespace relascope::app
