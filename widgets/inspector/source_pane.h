// SPDX-License-Identifier: GPL-3.0-or-later
// The first pane of the inspector: which sample, its image or objects, its label and the model's
// output.
#pragma once

#include <QStringList>
#include <QWidget>
#include <functional>
#include <memory>

#include "types/relation_map.h"
#include "widgets/maps/color_map.h"

class QComboBox;
class QLabel;
class QSpinBox;
class QToolButton;

namespace relascope {

class InputChooser;
class PatchView;
class ProbabilityBars;
class TextInput;
class TextOutcome;
class TextPair;
class TileView;
class TokenStrip;
class ViewMenu;
struct InputOffer;

class SourcePane : public QWidget {
    Q_OBJECT
public:
    explicit SourcePane(QWidget* parent = nullptr);

    PatchView* patches() const { return m_patches; }
    /// Objects of a set or sequence; for an image the receivers that are not its patches.
    TileView* tiles() const { return m_tiles; }
    /// The tokens of a text, in place of tiles.
    TokenStrip* strip() const { return m_strip; }
    /// Two texts, where one looks at the other.
    TextPair* pair() const { return m_pair; }
    InputChooser* inputs() const { return m_inputs; }
    /// Of a text: one of the user's own. Its signal is passed on as textTyped.
    TextInput* textInput() const { return m_textInput; }
    /// Of a text, below it: next tokens, or a sample the model wrote; hidden until set.
    TextOutcome* outcome() const { return m_outcome; }
    ViewMenu* menu() const { return m_menu; }
    /// The file name that the menu suggests; of the sample until set.
    void setFigureName(std::function<QString()> name) { m_figureName = std::move(name); }
    /// "51 tokens", shown below the text; set anew with every result.
    void setTokenCount(const QString& words);
    /// "262 tokens are more than the model's 256", below what is typed; empty where all is well.
    void setTextProblem(const QString& sentence);
    /// Classes with their probabilities, one a line; of a text its tokens with the values shown.
    QString csv() const;
    void setResult(const ProbeResult& result);
    /// Which sides of the result receive and send; `columns` -1 where what sends is no object.
    void setSides(const ProbeResult& result, int rows, int columns);
    // The shared choice, whichever view shows it.
    void setTint(std::vector<float> values, std::vector<bool> masked, const ColorScale& scale,
                 bool isSigned);
    void setChoice(int source, int target, int preview);
    void setPreview(int target);
    /// Splits that samples can be taken from; `sizes` (may be shorter) bound the index.
    void setSplits(const QStringList& names, const std::vector<qint64>& sizes = {});
    QString split() const;
    qint64 index() const;
    /// What the pane offers while there are no splits.
    void setInputs(const InputOffer& offer);
    /// What is shown now, without a request.
    void setSample(const QString& split, qint64 index);
    /// Labels that previous and next can be limited to; none hides the choice. Unless given, the
    /// classes of the result.
    void setLabels(const QStringList& labels);
    /// -1: any label.
    int labelFilter() const { return m_labelFilter; }
    void setLabelFilter(int label);

public Q_SLOTS:
    void next();
    void previous();
    void random();

Q_SIGNALS:
    void sampleRequested(QString split, qint64 index);
    void randomSampleRequested(QString split);
    void labelRequested(QString split, int label, bool forward);
    void hovered(int target);  ///< -1 when the pointer leaves
    void rowHovered(int source);
    void textTyped(QString text);  ///< on every change by the user; the sample is asked for anew
                                   ///< when the user closes the field
    void sourceChosen(int source);
    void targetChosen(int target);

private:
    void arrangeChooser();
    void arrangeText();
    void openText();
    void fitTiles();
    void showOther(const ProbeResult& result, int shown);
    void step(int direction);
    void fillLabelMenu();

    QWidget* m_chooser;
    InputChooser* m_inputs;
    QComboBox* m_split;
    QSpinBox* m_index;
    QToolButton* m_filter;
    PatchView* m_patches;
    TileView* m_tiles;
    TextInput* m_textInput;
    TokenStrip* m_strip;
    TextPair* m_pair;
    QLabel* m_other;  ///< of two texts the one that is not looked at
    TextOutcome* m_outcome;
    QWidget* m_filler;  ///< of a text, what is left below
    QLabel* m_label;
    QLabel* m_output;
    ProbabilityBars* m_bars;
    ViewMenu* m_menu;
    std::function<QString()> m_figureName;
    QStringList m_classes, m_labels;
    bool m_labelsGiven = false;
    std::vector<float> m_probabilities;
    std::vector<qint64> m_sizes;
    int m_labelFilter = -1;
    std::vector<float> m_towards;  ///< of a text, the value of each token that sends
    bool m_image = true;           ///< what is looked at has patches
    bool m_text = false;           ///< what is looked at is a text
};

}  // namespace relascope
