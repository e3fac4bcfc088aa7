// The first pane of the inspector: which sample, its image or objects, its label and the model's
// output.
#pragma once

#include <QStringList>
#include <QWidget>
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
class TileView;
class ViewMenu;
struct InputOffer;

class SourcePane : public QWidget {
    Q_OBJECT
public:
    explicit SourcePane(QWidget* parent = nullptr);

    PatchView* patches() const { return m_patches; }
    /// Objects of a set or sequence; for an image the receivers that are not its patches.
    TileView* tiles() const { return m_tiles; }
    InputChooser* inputs() const { return m_inputs; }
    ViewMenu* menu() const { return m_menu; }
    /// Classes with their probabilities, one a line.
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
    void sourceChosen(int source);
    void targetChosen(int target);

private:
    void arrangeChooser();
    void fitTiles();
    void step(int direction);
    void fillLabelMenu();

    QWidget* m_chooser;
    InputChooser* m_inputs;
    QComboBox* m_split;
    QSpinBox* m_index;
    QToolButton* m_filter;
    PatchView* m_patches;
    TileView* m_tiles;
    QLabel* m_label;
    QLabel* m_output;
    ProbabilityBars* m_bars;
    ViewMenu* m_menu;
    QStringList m_classes;
    std::vector<float> m_probabilities;
    std::vector<qint64> m_sizes;
    int m_labelFilter = -1;
    bool m_image = true;  ///< what is looked at has patches
};

}  // namespace relascope
