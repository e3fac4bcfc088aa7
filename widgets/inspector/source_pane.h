// The first pane of the inspector: which sample, its image, its label and the model's output.
#pragma once

#include <QStringList>
#include <QWidget>
#include <memory>

#include "types/relation_map.h"

class QComboBox;
class QLabel;
class QSpinBox;
class QToolButton;

namespace relascope {

class PatchView;
class ProbabilityBars;
class ViewMenu;

class SourcePane : public QWidget {
    Q_OBJECT
public:
    explicit SourcePane(QWidget* parent = nullptr);

    PatchView* patches() const { return m_patches; }
    ViewMenu* menu() const { return m_menu; }
    /// Classes with their probabilities, one a line.
    QString csv() const;
    void setResult(const ProbeResult& result);
    /// Splits that samples can be taken from; `sizes` (may be shorter) bound the index.
    void setSplits(const QStringList& names, const std::vector<qint64>& sizes = {});
    QString split() const;
    qint64 index() const;
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

private:
    void step(int direction);
    void fillLabelMenu();

    QComboBox* m_split;
    QSpinBox* m_index;
    QToolButton* m_filter;
    PatchView* m_patches;
    QLabel* m_output;
    ProbabilityBars* m_bars;
    ViewMenu* m_menu;
    QStringList m_classes;
    std::vector<float> m_probabilities;
    std::vector<qint64> m_sizes;
    int m_labelFilter = -1;
};

}  // namespace relascope
