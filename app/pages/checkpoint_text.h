// SPDX-License-Identifier: GPL-3.0-or-later
// Text generation on the Checkpoint page, next to the inspector.
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

/// The inspector follows the text while it is generated, and the token chosen in it.
class CheckpointText : public QWidget {
    Q_OBJECT
public:
    CheckpointText(CheckpointController& controller, widgets::RelationInspector& inspector,
                   QWidget* parent = nullptr);

    /// Updates whether a text can be generated, with the reason if not.
    void refresh();
    /// Other weights were loaded, or the weights were removed.
    void loaded();
    /// The inspector shows an input other than the generated text.
    void leave() { m_resultFirst = -1; }
    /// Shows the likeliest tokens after the text in the inspector.
    void showNextTokens();

    widgets::GeneratePanel* panel() const { return m_panel; }
    QPushButton* tokenizerButton() const { return m_tokenizer; }

Q_SIGNALS:
    void exported(const QString& path);
    void failed(const QString& sentence);

private:
    void wire();
    void showResult(const std::shared_ptr<const ProbeResult>& result, int first);
    void chooseToken(int index);

    CheckpointController& m_c;
    widgets::RelationInspector& m_inspector;
    QWidget* m_tokenizerRow;
    QPushButton* m_tokenizer;
    widgets::GeneratePanel* m_panel;
    int m_resultFirst = -1;  ///< index of the generated token that the result shown begins with
};

}  // namespace relascope::app
