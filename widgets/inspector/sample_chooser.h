// SPDX-License-Identifier: GPL-3.0-or-later
// Which sample of the data is looked at: its split, its number, and the label that previous and
// next are limited to.
#pragma once

#include <QStringList>
#include <QWidget>
#include <vector>

class QComboBox;
class QSpinBox;
class QToolButton;

namespace relascope::widgets {

class SampleChooser : public QWidget {
    Q_OBJECT
public:
    explicit SampleChooser(QWidget* parent = nullptr);

    /// Splits that samples can be taken from; `sizes` (may be shorter) bound the index.
    void setSplits(const QStringList& names, const std::vector<qint64>& sizes = {});
    bool empty() const;  ///< there are no splits
    QString split() const;
    qint64 index() const;
    /// What is shown now, without a request.
    void setSample(const QString& split, qint64 index);
    /// Labels that previous and next can be limited to; none hides the choice.
    void setLabels(const QStringList& labels);
    /// Those of a result, unless labels were given.
    void offerLabels(const QStringList& labels);
    bool hasLabels() const { return !m_labels.isEmpty(); }
    /// -1: any label.
    int labelFilter() const { return m_labelFilter; }
    void setLabelFilter(int label);
    /// The menu of the labels, for the pane around to place.
    QToolButton* filterButton() const { return m_filter; }

public Q_SLOTS:
    void next() { step(1); }
    void previous() { step(-1); }
    void random();
    /// Asks for the sample that is chosen.
    void request();

Q_SIGNALS:
    void sampleRequested(QString split, qint64 index);
    void randomSampleRequested(QString split);
    void labelRequested(QString split, int label, bool forward);
    void offerChanged();  ///< there are other splits or labels

private:
    void step(int direction);
    void limitIndex();
    void fillLabelMenu();

    QComboBox* m_split;
    QSpinBox* m_index;
    QToolButton* m_filter;
    QStringList m_labels;
    bool m_labelsGiven = false;
    std::vector<qint64> m_sizes;
    int m_labelFilter = -1;
};

}  // namespace relascope::widgets
