// SPDX-License-Identifier: GPL-3.0-or-later
#include <QAction>
#include <QFileDialog>
#include <QMenu>
#include <optional>
#include <utility>

#include "analysis/analysis.h"
#include "app/controllers/controllers.h"
#include "app/edits_tab.h"
#include "app/inspector_editing.h"
#include "app/inspector_why.h"
#include "app/main_window.h"
#include "app/menus/menus.h"
#include "app/opener.h"
#include "app/pages/workbench_page.h"
#include "widgets/inspector/relation_inspector.h"
#include "widgets/inspector/source_pane.h"

namespace relascope::app {

void Menus::addInspect() {
    const auto inspector = [this] { return m_window.activeInspector(); };
    const auto nothing = [this] { return m_window.inspectDisabledReason(); };
    const auto entry = [this, nothing](const QString& text, const QKeySequence& key,
                                       const QString& help, Slot slot) {
        add(text, key, help, std::move(slot), nothing);
    };
    const auto ofText = [this, inspector, nothing](const QString& text, const QKeySequence& key,
                                                   const QString& help, Slot slot) {
        add(text, key, help, std::move(slot), [inspector, nothing] {
            const QString why = nothing();
            return !why.isEmpty() || inspector()->showsText() ? why : "The input is no text";
        });
    };
    // The arrow keys are handled in MainWindow::keyPressEvent: focused panes handle them first.
    const auto arrow = [this, entry](const QString& text, const QString& key, const QString& help,
                                     Slot slot) {
        entry(text + u'\t' + key, {}, help, std::move(slot));
        addKey(key, help);
    };
    const char* kinds[] = {"Relation r", "Relational attention", "Sensory attention",
                           "Attention x relation", "Symbols"};
    for (int k = 0; k < 5; ++k)
        entry(QString::fromLatin1(kinds[k]), QKeySequence(Qt::Key_1 + k),
              QString("Show %1").arg(QString::fromLatin1(kinds[k]).toLower()),
              [inspector, k] { inspector()->setKindByNumber(k + 1); });
    separate();
    arrow("Previous relation", "Left", "Show the previous map",
          [inspector] { inspector()->stepRelation(-1); });
    arrow("Next relation", "Right", "Show the next map",
          [inspector] { inspector()->stepRelation(1); });
    arrow("Next layer", "Up", "Show the next layer", [inspector] { inspector()->stepLayer(1); });
    arrow("Previous layer", "Down", "Show the previous layer",
          [inspector] { inspector()->stepLayer(-1); });
    separate();
    entry("Swap direction (i \u2194 j)", QKeySequence(Qt::Key_D),
          "Switch between i \u2190 j and j \u2190 i",
          [inspector] { inspector()->toggleDirection(); });
    entry("Next transform", QKeySequence(Qt::Key_P), "Raw, tanh, sigmoid, softmax, top k",
          [inspector] { inspector()->cycleProcessing(); });
    entry("Whole map", {}, "Show the whole map again after zooming; 0 on the map",
          [inspector] { inspector()->showWholeMap(); });
    entry("Small maps of all layers", QKeySequence(Qt::Key_A),
          "Switch between the maps of this layer and of all layers",
          [inspector] { inspector()->toggleAllLayers(); });
    separate();
    ofText("Reading layout", QKeySequence(Qt::Key_T),
           "Switch between the text across the pane and beside the maps",
           [inspector] { inspector()->toggleReading(); });
    ofText("Find token...", QKeySequence("Ctrl+F"), "Find a word in the text",
           [inspector] { inspector()->findToken(); });
    ofText("Find next", QKeySequence(Qt::Key_F3), "Show the next match",
           [inspector] { inspector()->findNext(true); });
    ofText("Find previous", QKeySequence("Shift+F3"), "Show the previous match",
           [inspector] { inspector()->findNext(false); });
    addKey("Alt+drag on a cell", "Set r or alpha while you look; Escape takes it back");
    addKey("Wheel, +, -, 0", "On the map: zoom at the pointer or the cell; whole map");
    separate();
    add(
        "Pin as A", QKeySequence("Shift+P"),
        "Keep this picture as A and compare what follows with it; again: unpin",
        [this] { m_window.edits().togglePin(); },
        [this, nothing] {
            const QString why = m_window.edits().disabledReason();
            return why.isEmpty() ? nothing() : why;
        },
        [inspector] { return inspector()->pinned(); });
    add(
        "Side by side", QKeySequence("Shift+B"),
        "Show A, or the maps before the edits, beside the map",
        [inspector] { inspector()->toggleBeside(); }, nothing,
        [inspector] { return inspector()->view().beside; });
    fill("Edits", [this] { addEdits(); });
    separate();
    entry("Random sample", QKeySequence(Qt::Key_R), "Show a random sample",
          [inspector] { inspector()->sourcePane()->random(); });
    entry("Next sample", QKeySequence("Ctrl+Right"), "Show the next sample",
          [inspector] { inspector()->sourcePane()->next(); });
    entry("Previous sample", QKeySequence("Ctrl+Left"), "Show the previous sample",
          [inspector] { inspector()->sourcePane()->previous(); });
    add(
        "Generate text with this run", {},
        "Generate text with the newest weights of the run shown, on the Checkpoint page",
        [this] { m_window.opener().generateWith(m_c.selection.current()); },
        [this] {
            return m_c.runInput.readsText()
                       ? QString()
                       : "Select a run of a language model on the Workbench first";
        });
    const auto onCheckpoint = [this, inspector] {
        return inspector() != m_window.workbench()->inspector();
    };
    add(
        "Inspect image...", {},
        "Inspect a PNG or JPEG file; files can also be dropped onto the inspector",
        [this] {
            const QString path = QFileDialog::getOpenFileName(&m_window, "Inspect image", {},
                                                              "Images (*.png *.jpg *.jpeg)");
            if (!path.isEmpty()) m_c.runInput.chooseImage(path);
        },
        [nothing, onCheckpoint] {
            return onCheckpoint() ? "Use the source pane of the checkpoint's inspector" : nothing();
        });
    separate();
    add(
        "Follow the newest weights", {}, "Move the time cursor to the newest step",
        [this] { m_c.selection.setStep(std::nullopt); },
        [this, nothing, onCheckpoint] {
            return nothing().isEmpty() && !onCheckpoint() && m_c.selection.step().has_value()
                       ? QString()
                       : "The inspector already shows the newest weights";
        });
}

void Menus::addEdits() {
    const auto editing = [this]() -> InspectorEditing& { return m_window.edits().editing(); };
    const auto nothing = [this] { return m_window.inspectDisabledReason(); };
    const auto ofMap = [this, editing, nothing] {  // needs a result and hook points
        if (const QString why = m_window.edits().disabledReason(); !why.isEmpty()) return why;
        const QString why = nothing();
        return why.isEmpty() ? editing().edits().disabledReason() : why;
    };
    const auto ofList = [editing] {
        return editing().edits().list().edits.empty() ? "The list of edits is empty" : QString();
    };
    add("List of edits", QKeySequence(Qt::Key_E), "Show the edits beside the options",
        [this] { m_window.edits().show(); });
    separate();
    add(
        "Knock out this map", QKeySequence(Qt::Key_X),
        "Take the chosen map out; again to return it", [editing] { editing().knockOut(); }, ofMap);
    add(
        "Why this value...", QKeySequence(Qt::Key_W),
        "Which parts of the streams of i and j the value of the chosen cell comes from",
        [this] { m_window.edits().why().toggle(); }, nothing);
    add(
        "Only this map", QKeySequence("Shift+X"),
        "Take all other maps of its kind in the layer out; again to return them",
        [editing] { editing().onlyThis(); }, ofMap);
    for (const auto& [text, key, by] : {std::tuple{"Raise r\u1D62\u2C7C by 0.1", "Alt+Up", 0.1},
                                        {"Lower r\u1D62\u2C7C by 0.1", "Alt+Down", -0.1},
                                        {"Raise r\u1D62\u2C7C by 1", "Alt+Shift+Up", 1.0},
                                        {"Lower r\u1D62\u2C7C by 1", "Alt+Shift+Down", -1.0}})
        add(
            QString::fromUtf8(text), QKeySequence(key),
            QString("Change the value of the chosen cell by %1").arg(by),
            [editing, by] { editing().changeCell(by); }, ofMap);
    separate();
    add(
        "After, before or difference", QKeySequence(Qt::Key_B),
        "Show the maps with the edits, without them, or the change",
        [this] { m_window.activeInspector()->cycleShown(); }, nothing);  // also for a pinned result
    add(
        "Use this input as the second one", {},
        "Keep the input that is inspected as B: positions are patched from it, and patching maps "
        "compare with it",
        [this] { m_window.edits().useAsSecond(); }, ofMap);
    separate();
    m_measure = fill("Measure", [this] { addMeasure(); });
    separate();
    add(
        "Open edits...", {}, "Open a file of edits", [this] { m_window.edits().open(); }, ofMap);
    add(
        "Save edits...", QKeySequence("Ctrl+Shift+E"), "Save the list as a file of edits",
        [this] { m_window.edits().save(); }, ofList);
    add(
        "Remove all edits", {}, "Empty the list of edits", [editing] { editing().edits().clear(); },
        ofList);
    for (auto* edits : {&m_c.runEdits, &m_c.checkpointEdits}) {
        connect(edits, &InspectorEdits::changed, this, &Menus::refresh);
        connect(edits, &InspectorEdits::stateChanged, this, &Menus::refresh);
    }
}

void Menus::addMeasure() {
    std::optional<core::AnalysisGroup> before;
    for (const auto* analysis : core::analyses()) {
        if (analysis->page == core::AnalysisPage::None) continue;
        if (std::exchange(before, analysis->group) != analysis->group)
            m_menu->addSection(QString::fromStdString(core::groupTitle(analysis->group)));
        QString help = QString::fromStdString(analysis->summary);
        if (!help.isEmpty()) help[0] = help[0].toUpper();
        add(
            QString::fromStdString(analysis->title) + QStringLiteral("..."), {}, help,
            [this, analysis] { m_window.edits().measure(analysis->name); },
            [this] { return m_window.inspectDisabledReason(); });
    }
}

}  // namespace relascope::app
