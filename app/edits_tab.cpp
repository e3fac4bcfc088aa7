// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/edits_tab.h"

#include <QFileDialog>
#include <QFileInfo>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <algorithm>
#include <utility>

#include "analysis/analysis.h"
#include "answers/evaluation_answer.h"
#include "app/controllers/controllers.h"
#include "app/controllers/edited_probe.h"
#include "app/controllers/inspector_feed.h"
#include "app/controllers/typed_text.h"
#include "app/inspector_editing.h"
#include "app/inspector_why.h"
#include "app/main_window.h"
#include "app/opener.h"
#include "app/pages/analysis_window.h"
#include "app/pages/atlas_page.h"
#include "app/pages/checkpoint_page.h"
#include "app/pages/duel_page.h"
#include "app/pages/measure_page.h"
#include "app/pages/workbench_page.h"
#include "app/run_export.h"
#include "interventions/edit_values.h"
#include "interventions/edit_words.h"
#include "question/question_input.h"
#include "widgets/bar/train_bar.h"
#include "widgets/edits/edits_panel.h"
#include "widgets/export/export.h"
#include "widgets/form/options_form.h"
#include "widgets/inspector/relation_inspector.h"
#include "widgets/inspector/view_text.h"
#include "widgets/lists/sidebar.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::app {
namespace {

const QString kFilter = QStringLiteral("Edits (*.json)");

std::vector<widgets::EditLine> linesOf(const InspectorEdits& edits) {
    std::vector<widgets::EditLine> lines;
    int k = 0;
    const auto& means = edits.means();
    for (const auto& edit : edits.list().edits) {
        widgets::EditLine line;
        line.words = QString::fromStdString(core::wordsOf(edit));
        line.effect = edit.enabled ? edits.effects().value(k) : QString();
        const auto taken = means.find(static_cast<std::size_t>(k));
        const QString mean = QString::fromStdString(
            core::meanText(edit, taken == means.end() ? nullptr : &taken->second));
        if (!mean.isEmpty())
            line.effect = line.effect.isEmpty() ? mean : line.effect + u'\n' + mean;
        line.tip = QString::fromStdString(edit.point);
        if (!edit.note.empty()) line.tip += u'\n' + QString::fromStdString(edit.note);
        line.enabled = edit.enabled;
        lines.push_back(std::move(line));
        ++k;
    }
    return lines;
}

// The map and cell that the inspector shows. In a reversed view the cell (i, j) is the cell (j, i)
// of the map.
void addMap(Subject& subject, const widgets::ViewChoice& choice) {
    const auto& view = choice.view();
    const bool turned = view.reversed && choice.maps().canReverse(view);
    const int i = turned ? view.target : view.source, j = turned ? view.source : view.target;
    subject.asked.cell = MapCell{view.kind, view.layer, view.index, view.head, i, j};
    if (const auto* map = choice.maps().find(view.kind, view.layer, view.index))
        subject.asked.cell->fitted = map->fitted;
    subject.cellName =
        QStringLiteral("i = %1, j = %2")
            .arg(widgets::rowName(choice.maps(), view, turned ? view.target : view.source),
                 widgets::columnName(choice.maps(), view, turned ? view.source : view.target));
}

}  // namespace

EditsTab::EditsTab(MainWindow& window)
    : QObject(&window),
      m_window(window),
      m_panel(new widgets::EditsPanel(&window)),
      m_measure(window.measurePage()) {
    auto& c = window.controllers();
    auto* page = qobject_cast<CheckpointPage*>(window.page(PageId::Checkpoint));
    m_workbench = std::make_unique<InspectorEditing>(*window.workbench()->inspector(), c.runEdits);
    m_checkpoint = std::make_unique<InspectorEditing>(*page->inspector(), c.checkpointEdits);
    window.workbench()->inspector()->setDescribe([this] { return describeRun(); });
    page->inspector()->setDescribe([this] { return describeCheckpoint(); });
    window.form()->addTab(QStringLiteral("Edits"), m_panel);
    askFile = [this](bool saves) {
        return saves ? widgets::chooseSaveFile(&m_window, QStringLiteral("Save the edits"),
                                               QStringLiteral("edits.json"), kFilter)
                     : QFileDialog::getOpenFileName(&m_window, QStringLiteral("Open edits"), {},
                                                    kFilter);
    };
    wire(*m_workbench);
    wire(*m_checkpoint);
    m_whyOfWorkbench = makeWhy(*m_workbench);
    m_whyOfCheckpoint = makeWhy(*m_checkpoint);
    using widgets::EditsPanel;
    const auto edits = [this]() -> InspectorEdits& { return editing().edits(); };
    connect(m_panel, &EditsPanel::enabledRequested, this,
            [edits](int line, bool on) { edits().setEnabled(line, on); });
    connect(m_panel, &EditsPanel::moveRequested, this,
            [edits](int from, int to) { edits().move(from, to); });
    connect(m_panel, &EditsPanel::removeRequested, this,
            [edits](int line) { edits().remove(line); });
    connect(m_panel, &EditsPanel::wordsEntered, this,
            [edits](const QString& words) { edits().addWords(words); });
    connect(m_panel, &EditsPanel::clearRequested, this, [edits] { edits().clear(); });
    connect(m_panel, &EditsPanel::saveRequested, this, &EditsTab::save);
    connect(m_panel, &EditsPanel::openRequested, this, &EditsTab::open);
    connect(m_panel, &EditsPanel::trainRequested, this, &EditsTab::train);
    connect(m_panel, &EditsPanel::evaluateRequested, this, &EditsTab::chooseSplit);
    connect(m_panel, &EditsPanel::ablationRequested, this, [this] { measure("ablate"); });
    connect(m_panel, &EditsPanel::patchRequested, this, [this] { measure("patch"); });
    auto& messages = c.messages;
    connect(&m_evaluation, &LongTask::failed, &messages, &Messages::error);
    m_progress.setInterval(100);
    connect(&m_progress, &QTimer::timeout, this, [this] {
        const auto& job = m_evaluation.job();
        m_panel->setEvaluating(job ? job->fraction.load() : -1.0);
    });
    connect(&m_evaluation, &LongTask::began, this, [this] {
        m_progress.start();
        m_panel->setEvaluating(0.0);
    });
    connect(&m_evaluation, &LongTask::ended, this, [this] {
        m_progress.stop();
        m_panel->setEvaluating(-1.0);
    });
    connect(m_panel, &EditsPanel::cancelRequested, &m_evaluation, &LongTask::abandon);
    wireMeasure();
    connect(window.form(), &widgets::OptionsForm::tabRequested, this,
            [this](int tab) { tab == m_tab ? show() : m_window.form()->showTab(tab); });
    connect(window.form(), &widgets::OptionsForm::collapsedChanged, this, [this](bool collapsed) {
        if (collapsed && std::exchange(m_hidSidebar, false)) m_window.sidebar()->show();
    });
    connect(window.bar(), &widgets::TrainBar::interventionClicked, this, &EditsTab::show);
    connect(&c.training, &TrainingController::stateChanged, this, &EditsTab::refresh);
    connect(&c.selection, &Selection::currentChanged, this, &EditsTab::refresh);
    connect(&c.selection, &Selection::stepChanged, this, &EditsTab::refresh);
    connect(&c.checkpoint, &CheckpointController::loadedChanged, this, &EditsTab::refresh);
    connect(window.workbench(), &WorkbenchPage::pinRequested, this, &EditsTab::togglePin);
    refresh();
}

EditsTab::~EditsTab() = default;

std::unique_ptr<InspectorWhy> EditsTab::makeWhy(InspectorEditing& editing) {
    auto& c = m_window.controllers();
    auto& looker = &editing == m_workbench.get() ? c.looker : c.checkpoint.looker();
    auto why = std::make_unique<InspectorWhy>(
        editing.inspector(), looker, [this, &editing](QString& problem) {
            if (&editing == m_workbench.get() && m_window.controllers().runInput.showsCapture())
                problem =
                    noModel().isEmpty()
                        ? QStringLiteral(
                              "Captures hold maps without weights; press Live, or choose a step "
                              "whose weights were kept")
                        : noModel();
            return subjectOf(editing);
        });
    connect(why.get(), &InspectorWhy::tablesRequested, this, [this] { measure("qk-attribution"); });
    return why;
}

InspectorWhy& EditsTab::why() const {
    return &editing() == m_checkpoint.get() ? *m_whyOfCheckpoint : *m_whyOfWorkbench;
}

void EditsTab::wire(InspectorEditing& editing) {
    auto& edits = editing.edits();
    auto& messages = m_window.controllers().messages;
    connect(&editing.inspector(), &widgets::RelationInspector::secondDropped, this,
            &EditsTab::showSecond);
    connect(&editing.inspector(), &widgets::RelationInspector::viewChanged, this,
            [this, &editing] { measureAgain(editing); });
    connect(&edits, &InspectorEdits::changed, this, &EditsTab::refresh);
    connect(&edits, &InspectorEdits::stateChanged, this, &EditsTab::refresh);
    connect(&edits, &InspectorEdits::refused, &messages, &Messages::error);
    connect(&edits, &InspectorEdits::wordsRefused, this, [this, &editing](const QString& sentence) {
        if (&editing != &this->editing()) return;
        if (sentence.isEmpty()) m_panel->words()->clear();
        m_panel->setWordsProblem(sentence);
    });
    connect(&edits, &InspectorEdits::saved, &messages, [&messages](const QString& path) {
        messages.ok(QStringLiteral("Saved %1").arg(QFileInfo(path).fileName()));
    });
    connect(&editing, &InspectorEditing::whyWanted, this, [this] { why().toggle(); });
    connect(&editing, &InspectorEditing::measureWanted, this,
            [this, &editing](const QPoint& at) { editing.showMenu(*m_window.measureMenu(), at); });
    connect(&editing, &InspectorEditing::secondWanted, this, [this] {
        m_window.controllers().messages.info(
            QStringLiteral("Choose a second input: drop it on the source with Shift, or use a "
                           "sample: Inspect, Edits, Second input"));
    });
}

InspectorFeed& EditsTab::feedOf(const InspectorEditing& editing) const {
    auto& c = m_window.controllers();
    return &editing == m_workbench.get() ? c.runInput.feed() : c.checkpoint.feed();
}

QString EditsTab::noModel() const {
    const auto& c = m_window.controllers();
    return c.runs.whyNoModel(c.runInput.run());
}

std::optional<Subject> EditsTab::subjectOf(InspectorEditing& editing) const {
    auto& c = m_window.controllers();
    const auto& shown = editing.inspector().choice().inspected();
    if (!shown.result || shown.result->partial) return std::nullopt;
    const auto& feed = feedOf(editing);
    if (!feed.shownStep()) return std::nullopt;  // the maps are those of the model before
    Subject subject;
    auto& asked = subject.asked;
    asked = feed.shown();
    asked.options = core::inputOf(asked).options;
    asked.sample = shown.result->sample;
    subject.sampleName = QString::fromStdString(shown.result->sample.origin);
    subject.edits() = editing.edits().list();
    addMap(subject, editing.inspector().choice());
    if (&editing == m_checkpoint.get()) {
        subject.name = checkpointTitles({feed.path()}).front();
        auto& checkpoint = subject.model().checkpoint = c.checkpoint.shownCheckpoint();
        if (!checkpoint.empty())
            subject.name += QStringLiteral(", step %1").arg(QString::fromStdString(checkpoint));
        subject.setData(c.checkpoint.data());
        if (!shown.result->sample.source.text) asked.classNames = shown.result->classNames;
        return subject;
    }
    const QString run = c.runInput.run();
    subject.name = c.runs.name(run);
    subject.noModel = noModel();
    subject.setData(c.runInput.data());
    if (subject.data) asked.classNames = subject.data->at("validation").info.classNames;
    const auto& kept = c.runs.records().kept(run);
    const bool live = (c.training.busy() && c.training.run() == run) || c.runs.trains(run);
    // A run in training may have no checkpoint yet, and its newest checkpoint is replaced while it
    // is measured.
    auto& checkpoint = subject.model().checkpoint;
    checkpoint.clear();
    if (c.selection.step())
        checkpoint = std::to_string(shown.result->step);
    else if (live && !kept.empty())
        checkpoint = std::to_string(kept.back());
    if (!checkpoint.empty())
        subject.name += QStringLiteral(", step %1").arg(QString::fromStdString(checkpoint));
    return subject;
}

std::optional<View> EditsTab::describeRun() const {
    const auto& c = m_window.controllers();
    auto subject = subjectOf(*m_workbench);
    const bool live = c.training.busy() && c.training.run() == c.runInput.run();
    if (!subject || (live && !c.selection.step())) return std::nullopt;
    if (c.runInput.showsCapture()) {
        subject->model().checkpoint = std::to_string(*c.runInput.feed().shownStep());
        subject->edits() = {};
    }
    return viewOf(subject->asked);
}

std::optional<View> EditsTab::describeCheckpoint() const {
    const auto subject = subjectOf(*m_checkpoint);
    const bool exact = !m_window.controllers().checkpoint.feed().bfloat16();
    return subject && exact ? viewOf(subject->asked) : std::nullopt;
}

void EditsTab::measure(const std::string& analysis) {
    const auto page = core::analysisNamed(analysis).page;
    if (page == core::AnalysisPage::Duel) return m_window.showPage(PageId::Duel);
    if (page == core::AnalysisPage::Atlas) {
        m_window.showPage(PageId::Atlas);
        return qobject_cast<AtlasPage*>(m_window.page(PageId::Atlas))->showTab(analysis);
    }
    auto& analyses = m_measure->analyses();
    // Before the tab is seen, so that it does not ask about what was shown before.
    analyses.setSubject(subject());
    analyses.showTab(analysis);
    if (!m_measure->isApart()) m_window.showPage(PageId::Measure);
}

void EditsTab::measureAgain(const InspectorEditing& of) {
    auto* analyses = m_measure->made();
    if (!analyses || !analyses->isVisible() || &of != &editing()) return;
    const auto& c = m_window.controllers();
    const QString run = c.selection.current();
    analyses->setSubject(
        subject(),
        &of == m_checkpoint.get() ? QStringLiteral("Press Inspect on the page Checkpoint")
        : run.isEmpty()           ? QString()
                                  : QStringLiteral("Reading the maps of %1").arg(c.runs.name(run)));
}

void EditsTab::wireMeasure() {
    auto& c = m_window.controllers();
    connect(&c.runInput.feed(), &InspectorFeed::inspected, this,
            [this] { measureAgain(*m_workbench); });
    connect(&c.runInput, &RunInput::cleared, this, [this] { measureAgain(*m_workbench); });
    connect(&c.selection, &Selection::currentChanged, this, [this] { measureAgain(*m_workbench); });
    connect(&c.checkpoint.feed(), &InspectorFeed::inspected, this,
            [this] { measureAgain(*m_checkpoint); });
    connect(m_measure, &MeasurePage::subjectWanted, this, [this] { measureAgain(editing()); });
    connect(m_measure, &MeasurePage::analysesMade, this, [this] {
        auto& analyses = m_measure->analyses();
        for (auto* menu : analyses.findChildren<widgets::ViewMenu*>())
            m_window.exporter().listen(menu);
        if (m_second) analyses.setSecond(m_second->first, m_second->second);
        auto* feed = &m_window.controllers().runInput.feed();
        connect(&analyses, &AnalysisWindow::shown, feed,
                [feed, by = &analyses] { feed->setWatched(by, true); });
        connect(&analyses, &AnalysisWindow::hidden, feed,
                [feed, by = &analyses] { feed->setWatched(by, false); });
        const auto showMaps = [this] {
            if (!m_measure->isApart()) m_window.showPage(m_window.inspectedPage());
        };
        connect(&analyses, &AnalysisWindow::editsRequested, this,
                [this, showMaps](const std::vector<Edit>& edits, const QString& what) {
                    editing().edits().addNew(edits, what);
                    showMaps();
                });
        connect(&analyses, &AnalysisWindow::mapRequested, this,
                [this, showMaps](MapKind kind, int layer, int index) {
                    editing().inspector().showMap(kind, layer, index);
                    showMaps();
                });
        connect(&analyses, &AnalysisWindow::textsRequested, this,
                [this, showMaps](const QString& text, const QString& second) {
                    showTexts(text, second);
                    showMaps();
                });
        connect(&analyses, &AnalysisWindow::exampleRequested,
                qobject_cast<AtlasPage*>(m_window.page(PageId::Atlas)), &AtlasPage::showExample);
        connect(&analyses, &AnalysisWindow::stepRequested, this, [this](qint64 step) {
            auto& c = m_window.controllers();
            if (&editing() == m_workbench.get())
                c.selection.setStep(step);
            else
                c.checkpoint.setStep(step);
        });
    });
}

QStringList EditsTab::splits() const {
    QStringList names;
    if (&editing() != m_workbench.get()) return names;
    if (const auto& data = m_window.controllers().runInput.data())
        for (const auto& split : data->splits) names << QString::fromStdString(split.name);
    return names;
}

void EditsTab::chooseSplit() {
    QMenu menu(m_panel);
    const auto data = m_window.controllers().runInput.data();
    for (const QString& name : splits())
        menu.addAction(
            QStringLiteral("%1, %2 examples")
                .arg(name, widgets::groupedNumber(data->at(name.toStdString()).info.size)),
            this, [this, name] { evaluate(name); });
    auto* button = m_panel->evaluateButton();
    if (!menu.isEmpty()) menu.exec(button->mapToGlobal(QPoint(0, button->height())));
}

void EditsTab::evaluate(const QString& split) {
    const auto now = subject();
    if (!now) return;
    // Two models are in the memory only while this runs, beside the inspector's.
    m_evaluator.askOnce(
        m_evaluation, QStringLiteral("Evaluating on %1").arg(split),
        effectQuestion(*now, split.toStdString()), core::editEffectOf,
        [this, split, words = wordsOfList(now->edits())](const EditEffect& effect) {
            m_panel->setOutcome(effectHtml(effect, split, words));
            m_window.controllers().messages.ok(
                QStringLiteral("Evaluated the edits on %1").arg(split));
        },
        true);
}

/// Sets a second input that was dropped: a text or a picture.
void EditsTab::showSecond(const QString& path) {
    const QFileInfo file(path);
    EditInput input;
    const auto& result = editing().inspector().choice().inspected().result;
    if (result && !result->sample.image.empty()) {
        input.image = path.toStdString();
    } else {
        m_window.controllers().disk.post(
            this, [path](std::stop_token) { return beginningOfText(path.toStdString()); },
            [this, name = file.fileName()](const std::string& text) {
                EditInput second;
                second.text = text;
                editing().edits().setSecond(second, name);
            },
            [this](const QString& sentence) { m_window.controllers().messages.error(sentence); });
        return;
    }
    editing().edits().setSecond(input, file.fileName());
}

/// Shows the good sentence of a minimal pair, with the wrong one as the second input.
void EditsTab::showTexts(const QString& text, const QString& second) {
    auto& c = m_window.controllers();
    auto& feed = feedOf(editing());
    feed.offerText(text);
    if (!feed.tokenizer() || !feed.model()) return;
    try {
        const auto typed = typedText(*feed.tokenizer(), second.toStdString(), *feed.model()).sample;
        const auto name = QStringLiteral("the wrong sentence");
        EditInput input;
        input.text = second.toStdString();
        editing().edits().setSecond(input, name);
        if (auto* analyses = m_measure->made()) analyses->setSecond(typed, name);
        m_second = {typed, name};
        c.messages.info(QStringLiteral("A is the good sentence, B the wrong one"));
    } catch (const Error& error) {
        c.messages.error(QString::fromUtf8(error.what()));
    }
}

void EditsTab::useAsSecond() {
    const auto& result = editing().inspector().choice().inspected().result;
    if (!result) return;
    const auto& sample = result->sample;
    EditInput input;
    const auto& inspected = feedOf(editing()).shown();
    if (inspected.option("sample") && inspected.option("split")) {
        input.split = inspected.text("split");
        input.sample = inspected.value<std::int64_t>("sample");
    } else if (!sample.source.tokens.empty()) {
        input.tokens = sample.source.tokens;
        input.target = sample.target.tokens;
    } else {
        return m_window.controllers().messages.error(QStringLiteral(
            "This input is no example of the data; drop a file on the source with Shift"));
    }
    const QString name = QString::fromStdString(sample.origin);
    editing().edits().setSecond(input, name);
    if (auto* analyses = m_measure->made()) analyses->setSecond(sample, name);
    m_second = {sample, name};
    m_window.controllers().messages.info(QStringLiteral("B is %1").arg(name));
}

InspectorEditing& EditsTab::editing() const {
    return m_window.inspectedPage() == PageId::Checkpoint ? *m_checkpoint : *m_workbench;
}

QString EditsTab::disabledReason() const {
    if (&editing().inspector() == m_window.activeInspector()) return {};
    return QStringLiteral("Pin and edit on the Workbench; A and B are chosen above the maps");
}

void EditsTab::show() {
    // In a narrow window the list at the left makes room for the inspector.
    constexpr int narrow = 1240;  // px
    if (m_window.width() < narrow && m_window.sidebar()->isVisible()) {
        m_window.sidebar()->hide();
        m_hidSidebar = true;
    }
    m_window.form()->showTab(m_tab);
    m_panel->focusWords();
}

void EditsTab::togglePin() {
    auto& inspector = editing().inspector();
    if (inspector.pinned()) return inspector.unpin();
    const auto& result = inspector.choice().inspected().result;
    if (!result) return;
    QString name = QString::fromStdString(result->sample.origin);
    if (&editing() == m_workbench.get()) {
        name += QStringLiteral(", step %1").arg(widgets::groupedNumber(result->step));
        m_window.duelPage()->setSubject(0, m_window.duelPage()->shownOnWorkbench());
    }
    inspector.pin(name);
    m_window.controllers().messages.info(
        QStringLiteral("A is %1, and stays as it is now. B is what you look at next.").arg(name));
}

void EditsTab::save() {
    if (editing().edits().list().edits.empty()) return;
    QString path = askFile(true);
    if (path.isEmpty()) return;
    if (QFileInfo(path).suffix().isEmpty()) path += QStringLiteral(".json");
    editing().edits().save(path);
}

void EditsTab::open() {
    const QString path = askFile(false);
    if (!path.isEmpty()) editing().edits().open(path);
}

QString EditsTab::trainDisabledReason() const {
    const auto& c = m_window.controllers();
    if (&editing() != m_workbench.get())
        return QStringLiteral("Edits of training are given to a run on the Workbench");
    if (!c.training.busy() || c.training.run() != c.selection.current())
        return QStringLiteral("Start or resume the run that is shown first");
    return {};
}

/// Applies the list to training from the next step on; an empty list ends the edits of training.
/// Means get the values that the inspector has taken, since training takes none.
void EditsTab::train() {
    auto& c = m_window.controllers();
    if (!trainDisabledReason().isEmpty()) return;
    EditList list = c.runEdits.listWithValues();
    std::erase_if(list.edits, [](const Edit& edit) { return !edit.enabled; });
    c.training.setEdits(std::move(list));
}

void EditsTab::refresh() {
    const auto& selection = m_window.controllers().selection;
    QString about = m_window.controllers().checkpoint.feed().path();
    if (&editing() == m_workbench.get()) {
        about = selection.current();
        if (selection.step()) about += u'/' + QString::number(*selection.step());
    }
    if (std::exchange(m_about, about) != about) {
        m_evaluation.abandon();
        m_panel->setOutcome({});
    }
    const auto& edits = editing().edits();
    m_panel->setLines(linesOf(edits));
    m_panel->setProblem(edits.problem());
    m_panel->setDisabledReason(edits.disabledReason());
    m_panel->setTrainDisabledReason(trainDisabledReason());
    m_panel->setEvaluateDisabledReason(
        splits().isEmpty() ? QStringLiteral("There are no data to evaluate on: use a run")
                           : QString());
    const RunInfo* info = m_window.controllers().runs.info(m_window.controllers().runInput.run());
    const bool run = &editing() == m_workbench.get() && info;
    m_panel->setTraining(run ? wordsOfList(info->edits) : QString());
    const auto& list = edits.list().edits;
    const auto on =
        std::count_if(list.begin(), list.end(), [](const Edit& edit) { return edit.enabled; });
    m_window.bar()->setIntervention(on == 0   ? QString()
                                    : on == 1 ? QStringLiteral("1 edit")
                                              : QStringLiteral("%1 edits").arg(on),
                                    edits.blocked());
}

}  // namespace relascope::app
