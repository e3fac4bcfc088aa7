// SPDX-License-Identifier: GPL-3.0-or-later
// The head row of the inspector: what is shown, in which direction, processed how, on which scale.
#pragma once

#include <QWidget>

#include "widgets/inspector/view_maps.h"

class QComboBox;
class QSpinBox;

namespace relascope::widgets {

class PanelHead;
class SegmentedControl;

class InspectorBar : public QWidget {
    Q_OBJECT
public:
    explicit InspectorBar(QWidget* parent = nullptr);

    /// Shows a view without signalling, and what of it the result can offer.
    void display(const ViewMaps& maps, const InspectorView& view);
    void setStepText(const QString& text);
    /// Two rows: what is shown above, how below.
    void setCompact(bool compact);
    /// A control at the right end, before those added earlier ones' end: for the page around.
    void addControl(QWidget* control);
    SegmentedControl* kinds() const { return m_kinds; }
    SegmentedControl* directions() const { return m_directions; }
    QComboBox* processing() const { return m_processing; }
    QComboBox* range() const { return m_range; }
    QComboBox* heads() const { return m_heads; }
    QSpinBox* topK() const { return m_topK; }

Q_SIGNALS:
    /// The user changed a control: `view` is what was shown with that change.
    void changed(InspectorView view);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    /// Short words where the full ones would be cut.
    void setNarrow(bool narrow);

    bool m_compact = false, m_narrow = false;
    PanelHead *m_head, *m_second = nullptr;
    SegmentedControl* m_kinds;
    SegmentedControl* m_directions;
    QComboBox* m_processing;
    QComboBox* m_range;
    QComboBox* m_heads;
    QSpinBox* m_topK;
    InspectorView m_view;
};

}  // namespace relascope::widgets
