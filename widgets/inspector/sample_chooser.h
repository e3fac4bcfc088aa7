// SPDX-License-Identifier: GPL-3.0-or-later
// Chooses a sample of the data: its split, its number, and the label that Previous and Next are
// limited to.
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

    /// Sets the available splits; `sizes` (may be shorter) limit the index.
    void setSplits(const QStringList& names, const std::vector<qint64>& sizes = {});
    bool empty() const;  ///< whether there are no splits
    QString split() const;
    qint64 index() const;
    /// Sets the sample shown without emitting a request.
    void setSample(const QString& split, qint64 index);
    /// Sets the labels that Previous and Next can be limited to; an empty list hides the choice.
    void setLabels(const QStringList& labels);
    /// Sets the labels from a result, unless labels were given.
    void offerLabels(const QStringList& labels);
    bool hasLabels() const { return !m_labels.isEmpty(); }
    /// -1: any label.
    int labelFilter() const { return m_labelFilter; }
    void setLabelFilter(int label);
    /// The menu of the labels, to be placed by the pane.
    QToolButton* filterButton() const { return m_filter; }

public Q_SLOTS:
    void next() { step(1); }
    void previous() { step(-1); }
    void random();
    /// Requests the chosen sample.
    void request();

Q_SIGNALS:
    void sampleRequested(QString split, qint64 index);
    void randomSampleRequested(QString split);
    void labelRequested(QString split, int label, bool forward);
    void offerChanged();  ///< the available splits or labels changed

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
