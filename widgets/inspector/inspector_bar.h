// SPDX-License-Identifier: GPL-3.0-or-later
// The controls of the inspector: kind of map, direction, transform and scale.
#pragma once

#include <QWidget>

#include "widgets/inspector/view_maps.h"

class QComboBox;
class QSpinBox;
class QToolButton;

namespace relascope::widgets {

class PanelHead;
class SegmentedControl;

class InspectorBar : public QWidget {
    Q_OBJECT
public:
    explicit InspectorBar(QWidget* parent = nullptr);

    /// Shows a view and the choices available for the result, without emitting signals.
    void display(const ViewMaps& maps, const InspectorView& view);
    void setStepText(const QString& text);
    /// Arranges the controls in two rows.
    void setCompact(bool compact);
    /// Offers the kinds of two models that are compared, also those that only the pinned one has.
    void offerKinds(const ViewMaps& own, const ViewMaps& pinned);
    /// Whether the maps are compared with those before edits, or with a pinned picture; of other
    /// tokens there is no change.
    void setCompared(bool compared, bool pinned, const InspectorView& view,
                     const QString& whyNoDifference = {});
    /// Whether there is a text to read, and whether it is laid across the pane.
    void setReading(bool possible, bool on);
    /// Without the title where the page has a line for its subject.
    void setTitled(bool on);
    /// Offers the layers and the maps of a layer, which small maps do otherwise.
    void setMapsOffered(bool on);
    /// Adds a control of the page at the right end.
    void addControl(QWidget* control);
    SegmentedControl* kinds() const { return m_kinds; }
    SegmentedControl* directions() const { return m_directions; }
    QComboBox* range() const { return m_range; }
    QComboBox* heads() const { return m_heads; }
    /// After, before, difference; hidden without edits.
    SegmentedControl* shown() const { return m_shown; }
    QToolButton* beside() const { return m_beside; }
    QToolButton* reading() const { return m_reading; }

Q_SIGNALS:
    /// The user changed a control; `view` is the view with that change.
    void changed(InspectorView view);
    void readingToggled();

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void chooseWords();
    /// Uses short titles where the full ones would be elided.
    void setNarrow(bool narrow);
    void showKinds();
    void arrangeCompared();

    QString m_stepText;
    bool m_compact = false, m_narrow = false, m_titled = true;
    bool m_plain = false;  ///< the model has one kind of heads
    PanelHead *m_head, *m_second = nullptr;
    PanelHead* m_third = nullptr;  ///< head of a comparison, in compact form
    SegmentedControl* m_kinds;
    SegmentedControl* m_directions;
    SegmentedControl* m_shown;
    QComboBox* m_processing;
    QComboBox* m_range;
    QComboBox* m_heads;
    QComboBox *m_layers, *m_maps;
    QSpinBox* m_topK;
    QToolButton *m_reading, *m_beside;
    InspectorView m_view;
};

}  // namespace relascope::widgets
