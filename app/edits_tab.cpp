// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/edits_tab.h"

#include <QFileDialog>
#include <QFileInfo>
#include <QLineEdit>

#include "app/controllers/controllers.h"
#include "app/inspector_editing.h"
#include "app/main_window.h"
#include "app/pages/checkpoint_page.h"
#include "app/pages/workbench_page.h"
#include "edit/edit_words.h"
#include "widgets/bar/train_bar.h"
#include "widgets/edits/edits_panel.h"
#include "widgets/form/options_form.h"
#include "widgets/inspector/relation_inspector.h"
#include "widgets/theme/theme.h"

namespace relascope::app {
namespace {

const QString kFilter = QStringLiteral("Edits (*.json)");

std::vector<widgets::EditLine> linesOf(const InspectorEdits& edits) {
    std::vector<widgets::EditLine> lines;
    int k = 0;
    for (const auto& edit : edits.list().edits) {
        widgets::EditLine line;
        line.words = QString::fromStdString(core::wordsOf(edit));
        line.effect = edit.enabled ? edits.effects().value(k) : QString();
        line.tip = QString::fromStdString(edit.at);
        if (!edit.note.empty()) line.tip += u'\n' + QString::fromStdString(edit.note);
        line.enabled = edit.enabled;
        lines.push_back(std::move(line));
        ++k;
    }
    return lines;
}

}  // namespace

EditsTab::EditsTab(MainWindow& window)
    : QObject(&window), m_window(window), m_panel(new widgets::EditsPanel(&window)) {
    auto& c = window.controllers();
    auto* page = qobject_cast<CheckpointPage*>(window.page(PageId::Checkpoint));
    m_workbench = std::make_unique<InspectorEditing>(*window.workbench()->inspector(), c.runEdits);
    m_checkpoint = std::make_unique<InspectorEditing>(*page->inspector(), c.checkpointEdits);
    window.form()->addTab(QStringLiteral("Edits"), m_panel);
    askFile = [this](bool saves) {
        return saves ? QFileDialog::getSaveFileName(&m_window, QStringLiteral("Save the edits"),
                                                    QStringLiteral("edits.json"), kFilter)
                     : QFileDialog::getOpenFileName(&m_window, QStringLiteral("Open edits"), {},
                                                    kFilter);
    };
    wire(*m_workbench);
    wire(*m_checkpoint);
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
    connect(m_panel, &EditsPanel::evaluateRequested, this, &EditsTab::evaluateRequested);
    connect(m_panel, &EditsPanel::ablationRequested, this, &EditsTab::ablationRequested);
    connect(m_panel, &EditsPanel::patchRequested, this, &EditsTab::patchRequested);
    connect(window.form(), &widgets::OptionsForm::tabRequested, this,
            [this](int tab) { m_window.form()->showTab(tab); });
    connect(window.bar(), &widgets::TrainBar::interventionClicked, this, &EditsTab::show);
    connect(&c.training, &TrainingController::stateChanged, this, &EditsTab::refresh);
    connect(&c.selection, &Selection::currentChanged, this, &EditsTab::refresh);
    connect(&c.selection, &Selection::stepChanged, this, &EditsTab::refresh);
    connect(window.workbench(), &WorkbenchPage::pinRequested, this, &EditsTab::togglePin);
    refresh();
}

EditsTab::~EditsTab() = default;

void EditsTab::wire(InspectorEditing& editing) {
    auto& edits = editing.edits();
    auto& messages = m_window.controllers().messages;
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
    connect(&editing, &InspectorEditing::secondWanted, this, &EditsTab::patchRequested);
}

InspectorEditing& EditsTab::editing() const {
    const bool checkpoint = m_window.currentPage() == PageId::Checkpoint;
    return checkpoint ? *m_checkpoint : *m_workbench;
}

void EditsTab::show() {
    m_window.form()->showTab(m_tab);
    m_panel->focusWords();
}

void EditsTab::togglePin() {
    auto& inspector = editing().inspector();
    if (inspector.pinned()) return inspector.unpin();
    const auto& result = inspector.choice().inspected().result;
    if (!result) return;
    QString name = QString::fromStdString(result->sample.origin);
    if (&editing() == m_workbench.get())
        name += QStringLiteral(", step %1").arg(widgets::groupedNumber(result->step));
    inspector.pin(name);
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

/// From the next step on; an empty list ends the edits of training.
void EditsTab::train() {
    auto& c = m_window.controllers();
    if (!trainDisabledReason().isEmpty()) return;
    EditList list = c.runEdits.list();
    std::erase_if(list.edits, [](const Edit& edit) { return !edit.enabled; });
    c.training.setEdits(std::move(list));
}

void EditsTab::refresh() {
    const auto& edits = editing().edits();
    m_panel->setLines(linesOf(edits));
    m_panel->setProblem(edits.problem());
    const bool captured =
        &editing() == m_workbench.get() && m_window.controllers().probe.showsCapture();
    m_panel->setDisabledReason(
        captured
            ? QStringLiteral("Captures hold maps without weights; press Live to edit the model")
            : edits.disabledReason());
    m_panel->setTrainDisabledReason(trainDisabledReason());
    const auto& list = edits.list().edits;
    const auto on =
        std::count_if(list.begin(), list.end(), [](const Edit& edit) { return edit.enabled; });
    m_window.bar()->setIntervention(on == 0   ? QString()
                                    : on == 1 ? QStringLiteral("1 edit")
                                              : QStringLiteral("%1 edits").arg(on));
}

}  // namespace relascope::app
