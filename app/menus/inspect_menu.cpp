// SPDX-License-Identifier: GPL-3.0-or-later
#include <QAction>
#include <QFileDialog>
#include <QMenu>
#include <cctype>

#include "analysis/analysis.h"
#include "app/controllers/controllers.h"
#include "app/edits_tab.h"
#include "app/inspector_editing.h"
#include "app/main_window.h"
#include "app/menus/menus.h"
#include "app/opener.h"
#include "app/pages/workbench_page.h"
#include "widgets/inspector/relation_inspector.h"
#include "widgets/inspector/source_pane.h"

namespace relascope::app {

InspectMenu::InspectMenu(MainWindow& window, QMenu* menu, KeyList& keys)
    : AppMenu(window, menu, keys) {
    const auto inspector = [this] { return m_window.activeInspector(); };
    const char* kinds[] = {"Relation r", "Relational attention", "Sensory attention",
                           "Attention x relation", "Symbols"};
    for (int k = 0; k < 5; ++k)
        addEntry(QString::fromLatin1(kinds[k]), QKeySequence(Qt::Key_1 + k),
                 QString("Show %1").arg(QString::fromLatin1(kinds[k]).toLower()),
                 [inspector, k] { inspector()->setKindByNumber(k + 1); });
    m_menu->addSeparator();
    addArrow("Previous relation", "Left", "Show the previous map",
             [inspector] { inspector()->stepRelation(-1); });
    addArrow("Next relation", "Right", "Show the next map",
             [inspector] { inspector()->stepRelation(1); });
    addArrow("Next layer", "Up", "Show the next layer", [inspector] { inspector()->stepLayer(1); });
    addArrow("Previous layer", "Down", "Show the previous layer",
             [inspector] { inspector()->stepLayer(-1); });
    m_menu->addSeparator();
    addEntry("Swap direction (i \u2194 j)", QKeySequence(Qt::Key_D),
             "Switch between i \u2192 j and j \u2192 i",
             [inspector] { inspector()->toggleDirection(); });
    addEntry("Next transform", QKeySequence(Qt::Key_P), "Raw, tanh, sigmoid, softmax, top k",
             [inspector] { inspector()->cycleProcessing(); });
    addEntry("Whole map", {}, "Show the whole map again after zooming; 0 on the map",
             [inspector] { inspector()->showWholeMap(); });
    addEntry("Small maps of all layers", QKeySequence(Qt::Key_A),
             "Switch between the maps of this layer and of all layers",
             [inspector] { inspector()->toggleAllLayers(); });
    m_menu->addSeparator();
    addTextEntry("Reading layout", QKeySequence(Qt::Key_T),
                 "Switch between the text across the pane and beside the maps",
                 [inspector] { inspector()->toggleReading(); });
    addTextEntry("Find token...", QKeySequence("Ctrl+F"), "Find a word in the text",
                 [inspector] { inspector()->findToken(); });
    addTextEntry("Find next", QKeySequence(Qt::Key_F3), "Show the next match",
                 [inspector] { inspector()->findNext(true); });
    addTextEntry("Find previous", QKeySequence("Shift+F3"), "Show the previous match",
                 [inspector] { inspector()->findNext(false); });
    m_keys.emplace_back("Alt+drag on a cell",
                        "Set r or alpha while you look; Escape takes it back");
    m_keys.emplace_back("Wheel, +, -, 0", "On the map: zoom at the pointer or the cell; whole map");
    m_menu->addSeparator();
    m_pin = addEntry("Pin as A", QKeySequence("Shift+P"),
                     "Keep this picture as A and compare what follows with it; again: unpin",
                     [this] { m_window.edits().togglePin(); });
    m_pin->setCheckable(true);
    m_beside = add("Side by side", QKeySequence("Shift+B"),
                   "Show A, or the maps before the edits, beside the map",
                   [inspector] { inspector()->toggleBeside(); });
    m_beside->setCheckable(true);
    m_edits = std::make_unique<EditsMenu>(window, menu->addMenu("Edits"), keys);
    m_menu->addSeparator();
    addSamples();
}

InspectMenu::~InspectMenu() = default;

void InspectMenu::addTextEntry(const QString& text, const QKeySequence& key, const QString& help,
                               Slot slot) {
    m_texts << add(text, key, help, std::move(slot));
}

void InspectMenu::addSamples() {
    const auto inspector = [this] { return m_window.activeInspector(); };
    addEntry("Random sample", QKeySequence(Qt::Key_R), "Show a random sample",
             [inspector] { inspector()->sourcePane()->random(); });
    addEntry("Next sample", QKeySequence("Ctrl+Right"), "Show the next sample",
             [inspector] { inspector()->sourcePane()->next(); });
    addEntry("Previous sample", QKeySequence("Ctrl+Left"), "Show the previous sample",
             [inspector] { inspector()->sourcePane()->previous(); });
    m_write = add("Generate text with this run", {},
                  "Generate text with the newest weights of the run shown, on the Checkpoint page",
                  [this] { m_window.opener().generateWith(m_c.selection.current()); });
    m_image = addEntry("Inspect image...", {},
                       "Inspect a PNG or JPEG file; files can also be dropped onto the inspector",
                       [this] { chooseImage(); });
    m_menu->addSeparator();
    m_live = addEntry("Follow the newest weights", {}, "Move the time cursor to the newest step",
                      [this] { m_c.selection.setStep(std::nullopt); });
}

QAction* InspectMenu::addEntry(const QString& text, const QKeySequence& key, const QString& help,
                               Slot slot) {
    auto* action = add(text, key, help, std::move(slot));
    m_entries << action;
    return action;
}

/// The arrow keys are handled in MainWindow::keyPressEvent: focused panes handle them first.
void InspectMenu::addArrow(const QString& text, const QString& key, const QString& help,
                           Slot slot) {
    addEntry(text + u'\t' + key, {}, help, std::move(slot));
    m_keys.emplace_back(key, help);
}

void InspectMenu::chooseImage() {
    const QString path =
        QFileDialog::getOpenFileName(&m_window, "Inspect image", {}, "Images (*.png *.jpg *.jpeg)");
    if (!path.isEmpty()) m_c.probe.chooseImage(path);
}

void InspectMenu::refresh() {
    const QString nothing = m_window.inspectDisabledReason();
    m_edits->refresh();
    m_pin->setChecked(m_window.activeInspector()->pinned());
    m_beside->setChecked(m_window.activeInspector()->view().beside);
    allow(m_beside, nothing);
    for (auto* action : m_entries) allow(action, nothing);
    if (const QString why = m_window.edits().disabledReason(); !why.isEmpty()) allow(m_pin, why);
    const bool text = m_window.activeInspector()->showsText();
    for (auto* action : m_texts)
        allow(action, !nothing.isEmpty() ? nothing : text ? QString() : "The input is no text");
    const bool onCheckpoint = m_window.activeInspector() != m_window.workbench()->inspector();
    allow(m_image, onCheckpoint ? "Use the source pane of the checkpoint's inspector" : nothing);
    allow(m_write, m_c.probe.readsText()
                       ? QString()
                       : "Select a run of a language model on the Workbench first");
    allow(m_live, nothing.isEmpty() && !onCheckpoint && m_c.selection.step().has_value()
                      ? QString()
                      : "The inspector already shows the newest weights");
}

EditsMenu::EditsMenu(MainWindow& window, QMenu* menu, KeyList& keys) : AppMenu(window, menu, keys) {
    const auto editing = [this]() -> InspectorEditing& { return m_window.edits().editing(); };
    add("List of edits", QKeySequence(Qt::Key_E), "Show the edits beside the options",
        [this] { m_window.edits().show(); });
    m_menu->addSeparator();
    m_map << add("Knock out this map", QKeySequence(Qt::Key_X),
                 "Take the chosen map out; again to return it",
                 [editing] { editing().knockOut(); });
    m_map << add("Only this map", QKeySequence("Shift+X"),
                 "Take all other maps of its kind in the layer out; again to return them",
                 [editing] { editing().onlyThis(); });
    const auto change = [&](const QString& text, const char* key, double by) {
        m_map << add(text, QKeySequence(key),
                     QString("Change the value of the chosen cell by %1").arg(by),
                     [editing, by] { editing().changeCell(by); });
    };
    change(QString::fromUtf8("Raise r_ij by 0.1"), "Alt+Up", 0.1);
    change(QString::fromUtf8("Lower r_ij by 0.1"), "Alt+Down", -0.1);
    change(QString::fromUtf8("Raise r_ij by 1"), "Alt+Shift+Up", 1.0);
    change(QString::fromUtf8("Lower r_ij by 1"), "Alt+Shift+Down", -1.0);
    m_menu->addSeparator();
    m_shown = add("After, before or difference", QKeySequence(Qt::Key_B),
                  "Show the maps with the edits, without them, or the change",
                  [this] { m_window.activeInspector()->cycleShown(); });
    m_second = add("Use this input as the second one", {},
                   "Keep the input that is inspected as B: positions are patched from it, and "
                   "patching maps compare with it",
                   [this] { m_window.edits().useAsSecond(); });
    m_menu->addSeparator();
    for (const auto* analysis : core::analyses()) {
        std::string help = analysis->summary;
        if (!help.empty()) help[0] = static_cast<char>(std::toupper(help[0]));
        m_measure << add((analysis->title + "...").c_str(), {}, help.c_str(),
                         [this, analysis] { m_window.edits().measure(analysis->name); });
    }
    m_menu->addSeparator();
    m_open = add("Open edits...", {}, "Open a file of edits", [this] { m_window.edits().open(); });
    m_lists << add("Save edits...", QKeySequence("Ctrl+Shift+E"),
                   "Save the list as a file of edits", [this] { m_window.edits().save(); });
    m_lists << add("Remove all edits", {}, "Empty the list of edits",
                   [editing] { editing().edits().clear(); });
    for (auto* edits : {&m_c.runEdits, &m_c.checkpointEdits}) {
        connect(edits, &InspectorEdits::changed, this, &EditsMenu::refresh);
        connect(edits, &InspectorEdits::stateChanged, this, &EditsMenu::refresh);
    }
}

void EditsMenu::refresh() {
    const auto& edits = m_window.edits().editing().edits();
    const QString nothing = m_window.inspectDisabledReason();
    QString why = m_window.edits().disabledReason();
    if (why.isEmpty()) why = nothing.isEmpty() ? edits.disabledReason() : nothing;
    for (auto* action : m_map) allow(action, why);
    allow(m_open, why);
    allow(m_second, why);
    for (auto* action : m_measure) allow(action, nothing);
    for (auto* action : m_lists)
        allow(action, edits.list().edits.empty() ? "The list of edits is empty" : QString());
    allow(m_shown, nothing);  // of a pinned picture, too
}

}  // namespace relascope::app
