// SPDX-License-Identifier: GPL-3.0-or-later
// What the Checkpoint page has for language models: the text that they write beside the inspector.
#pragma once

#include <QWidget>
#include <memory>

#include "types/relation_map.h"

class QPushButton;

namespace relascope::widgets {
class GeneratePanel;
class RelationInspector;
}  // namespace relascope::widgets

namespace relascope::app {

class CheckpointController;

/// While a text is written, or one of its tokens is chosen, the inspector follows.
class CheckpointText : public QWidget {
    Q_OBJECT
public:
    CheckpointText(CheckpointController& controller, widgets::RelationInspector& inspector,
                   QWidget* parent = nullptr);

    /// Whether a text can be written, and why not.
    void refresh();
    /// Other weights are loaded, or none any more.
    void loaded();
    /// The inspector shows something that is no part of the text.
    void leave() { m_lookedFirst = -1; }
    /// What may come behind the text that the inspector shows.
    void showNextTokens();

    widgets::GeneratePanel* panel() const { return m_panel; }
    QPushButton* tokenizerButton() const { return m_tokenizer; }

Q_SIGNALS:
    void exported(const QString& path);
    void failed(const QString& sentence);

private:
    void wire();
    void showLooked(const std::shared_ptr<const ProbeResult>& result, int first);
    void chooseToken(int index);

    CheckpointController& m_c;
    widgets::RelationInspector& m_inspector;
    QWidget* m_tokenizerRow;
    QPushButton* m_tokenizer;
    widgets::GeneratePanel* m_panel;
    int m_lookedFirst = -1;  ///< token of the written text that the result shown begins with
};

}  // namespace relascope::app
