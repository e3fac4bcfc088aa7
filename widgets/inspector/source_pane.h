// SPDX-License-Identifier: GPL-3.0-or-later
// The first pane of the inspector: which sample, its image or objects, its label and the model's
// output.
#pragma once

#include <QStringList>
#include <QWidget>
#include <functional>
#include <vector>

#include "types/relation_map.h"

class QBoxLayout;
class QLabel;

namespace relascope::widgets {

class FindBar;
class InputChooser;
class ProbabilityBars;
class SampleChooser;
class SourceObjects;
class TextInput;
class TextOutcome;
class ViewMenu;
struct InputOffer;

class SourcePane : public QWidget {
    Q_OBJECT
public:
    explicit SourcePane(QWidget* parent = nullptr);

    SampleChooser* samples() const { return m_samples; }
    SourceObjects* objects() const { return m_objects; }
    InputChooser* inputs() const { return m_inputs; }
    /// For texts: the field for a text of the user. The sample is requested again when the user
    /// closes it.
    TextInput* textInput() const { return m_textInput; }
    /// For texts: the next tokens or a generated sample below the text; hidden until set.
    TextOutcome* outcome() const { return m_outcome; }
    ViewMenu* menu() const { return m_menu; }
    /// Searches the text.
    FindBar* find() const { return m_find; }
    /// Whether one text is shown, which can be read and searched.
    bool showsText() const;
    /// The layout for a text in a wide pane: controls in a row, outcomes beside the text. `across`:
    /// the pane is as wide as the inspector.
    void setReading(bool reading, bool across);
    /// The file name suggested by the menu; by default that of the sample.
    void setFigureName(std::function<QString()> name) { m_figureName = std::move(name); }
    /// "51 tokens", shown below the text; set with every result.
    void setTokenCount(const QString& text);
    /// Classes with their probabilities, one a line; of a text its tokens with the values shown.
    QString csv() const;
    /// `before`: that of the same input without edits, if there are any.
    void setResult(const ProbeResult& result, const ProbeResult* before = nullptr);
    /// The sides of the result along rows and columns; `columns` is -1 if the senders are not
    /// objects.
    void setSides(const ProbeResult& result, int rows, int columns);
    /// What the pane offers while whether there are no splits.
    void setInputs(const InputOffer& offer);

Q_SIGNALS:
    void menuRequested(const QPoint& at);  ///< on the objects; `at` on the screen

protected:
    void contextMenuEvent(QContextMenuEvent* event) override;

public Q_SLOTS:
    void next();
    void previous();
    void random();

private:
    void arrange();
    void openText();
    void showOther(const ProbeResult& result, int shown);

    QBoxLayout *m_column, *m_head;
    QBoxLayout* m_body;  ///< of a text that is read: the text and its outcome
    bool m_reading = false;
    FindBar* m_find;
    SampleChooser* m_samples;
    InputChooser* m_inputs;
    TextInput* m_textInput;
    SourceObjects* m_objects;
    QLabel* m_other;  ///< the other one of two texts
    TextOutcome* m_outcome;
    QWidget* m_filler;  ///< fills the space below a text
    QLabel* m_label;
    QLabel* m_output;
    ProbabilityBars* m_bars;
    ViewMenu* m_menu;
    std::function<QString()> m_figureName;
    QStringList m_classes;
    std::vector<float> m_probabilities;
    bool m_text = false;  ///< the input is a text
};

}  // namespace relascope::widgets
