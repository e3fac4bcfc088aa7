// SPDX-License-Identifier: GPL-3.0-or-later
// The first pane of the inspector: which sample, its label and the model's answer, its image or
// objects, and the probabilities.
#pragma once

#include <functional>
#include <vector>

#include <QObject>
#include <QStringList>
#include <QWidget>

#include "types/relation_map.h"
#include "widgets/maps/color_map.h"

class QBoxLayout;

namespace relascope::widgets {

// The objects of a source as patches of an image, tiles, or texts, linked with the map by (i, j).

class LinkedView;
class PatchView;
class TextPair;
class TileView;
class TokenStrip;

class SourceObjects : public QObject {
    Q_OBJECT
public:
    /// Adds the views to the layout of the pane.
    SourceObjects(QBoxLayout* column, QWidget* parent);

    PatchView* patches() const { return m_patches; }
    /// Objects of a set or sequence; for an image the receivers that are not its patches.
    TileView* tiles() const { return m_tiles; }
    /// The tokens of a text, in place of tiles.
    TokenStrip* strip() const { return m_strip; }
    /// Two texts, one of which attends to the other.
    TextPair* pair() const { return m_pair; }

    bool image() const { return m_image; }  ///< the input has patches
    /// The value towards each sender.
    const std::vector<float>& towards() const { return m_towards; }

    void setResult(const ProbeResult& result);
    /// The sides of the result along rows and columns; `columns` is -1 if the senders are not
    /// objects.
    void setSides(const ProbeResult& result, int rows, int columns);
    void setTint(std::vector<float> values, std::vector<bool> masked, const ColorScale& scale,
                 bool isSigned);
    void setChoice(int source, int target, int preview);
    void setPreview(int target);

Q_SIGNALS:
    void hovered(int target);     ///< -1 when the pointer leaves
    void rowHovered(int source);  ///< among objects that only receive
    void sourceChosen(int source);
    void targetChosen(int target);

private:
    void fitTiles();
    std::vector<LinkedView*> senders() const;

    PatchView* m_patches;
    TileView* m_tiles;
    TokenStrip* m_strip;
    TextPair* m_pair;
    std::vector<float> m_towards;
    bool m_image = true;
};

}  // namespace relascope::widgets

class QLabel;
class QToolButton;

namespace relascope::widgets {

class FindBar;
class InputChooser;
class ProbabilityBars;
class Readout;
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
    /// The inputs that the pane offers when the data has no splits.
    void setInputs(const InputOffer& offer);

Q_SIGNALS:
    void menuRequested(const QPoint& at);  ///< on the objects; `at` on the screen

protected:
    void contextMenuEvent(QContextMenuEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

public Q_SLOTS:
    void next();
    void previous();
    void random();

private:
    void arrange();
    void openText();
    void showOther(const ProbeResult& result, int shown);
    /// Shows the probabilities where the image keeps its size, or where the user wants them.
    void arrangeBars();

    QBoxLayout *m_column, *m_head;
    QBoxLayout* m_body;  ///< a text that is read, and its outcome
    bool m_reading = false;
    FindBar* m_find;
    SampleChooser* m_samples;
    InputChooser* m_inputs;
    TextInput* m_textInput;
    SourceObjects* m_objects;
    QLabel* m_other;  ///< the other one of two texts
    TextOutcome* m_outcome;
    QWidget* m_filler;  ///< fills the space below a text
    QLabel* m_origin;
    Readout* m_output;          ///< the label and the answer, or the number of tokens
    QToolButton* m_allAnswers;  ///< shows the probabilities though they take height
    QLabel* m_notFinite;        // why there are no outputs
    ProbabilityBars* m_bars;
    ViewMenu* m_menu;
    std::function<QString()> m_figureName;
    QStringList m_classes;
    std::vector<float> m_probabilities;
    bool m_text = false;  ///< the input is a text
};

}  // namespace relascope::widgets
