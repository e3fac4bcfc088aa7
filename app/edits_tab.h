// SPDX-License-Identifier: GPL-3.0-or-later
// The Edits tab beside the options: shows the edits of the inspector of the current page.
#pragma once

#include <QObject>
#include <QString>
#include <functional>
#include <memory>

namespace relascope::widgets {
class EditsPanel;
}  // namespace relascope::widgets

namespace relascope::app {

class InspectorEditing;
class InspectorEdits;
class MainWindow;

class EditsTab : public QObject {
    Q_OBJECT
public:
    /// Adds the tab to the form of the window.
    explicit EditsTab(MainWindow& window);
    ~EditsTab() override;

    widgets::EditsPanel* panel() const { return m_panel; }
    /// The editing of the inspector that is shown.
    InspectorEditing& editing() const;
    InspectorEditing& ofWorkbench() const { return *m_workbench; }
    InspectorEditing& ofCheckpoint() const { return *m_checkpoint; }
    /// Shows the tab and moves the keyboard focus there.
    void show();
    /// Pins the picture of the inspector as A, or unpins it.
    void togglePin();
    void save();
    void open();
    /// Another page or run is shown, or its state changed.
    void refresh();

    /// Ask for a file; replaced in tests.
    std::function<QString(bool save)> askFile;

Q_SIGNALS:
    void evaluateRequested();
    void ablationRequested();
    void patchRequested();

private:
    void wire(InspectorEditing& editing);
    void fill();
    void train();
    QString trainDisabledReason() const;

    MainWindow& m_window;
    widgets::EditsPanel* m_panel;
    std::unique_ptr<InspectorEditing> m_workbench, m_checkpoint;
    int m_tab = 1;
};

}  // namespace relascope::app
