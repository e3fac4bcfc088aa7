// SPDX-License-Identifier: GPL-3.0-or-later
// Base class of views of the objects of a source: the chosen i and j, and the values from i towards
// each object.
#pragma once

#include <vector>

#include <QColor>
#include <QString>

#include "widgets/maps/color_map.h"

namespace relascope::widgets {

class LinkedView {
public:
    virtual ~LinkedView() = default;

    /// One value per sender, from i towards it. Masked values are hatched, NaN in the error colour.
    void setValues(std::vector<float> values, std::vector<bool> masked, const ColorScale& scale);
    void setNumberDigits(int digits, bool isSigned);
    void setSource(int index);   ///< i
    void setTarget(int index);   ///< j, locked; -1 for none
    void setPreview(int index);  ///< j at the pointer of another pane; -1 for none
    int source() const { return m_source; }
    int target() const { return m_target; }

protected:
    virtual int receivers() const = 0;  ///< how many there are
    virtual int senders() const = 0;
    virtual int pointedSender() const = 0;  ///< under the pointer; -1 for none
    /// Repaints one object, or all of them.
    virtual void touch(bool sender, int index) = 0;
    virtual void touchAll() = 0;
    virtual void describe() = 0;
    /// Called when i changed, in this or another view.
    virtual void sourceMoved() {}
    virtual void previewMoved() {}

    /// The colours of an object for its value; `known` false: without a value.
    struct Shade {
        QColor fill, ink, hatch;  ///< invalid: no hatch
        bool byScale = false;     ///< the fill is a colour of the scale
    };
    Shade shade(int index, bool known) const;
    const ColorScale& scale() const { return m_scale; }
    bool hasValue(int index) const;
    bool masked(int index) const;
    /// The value; NaN if there is none or it is masked.
    float value(int index) const;
    /// The text on the object; empty without a value or for a masked one.
    QString number(int index) const;
    /// j without and with the pointer of this view.
    int restingTarget() const { return m_preview >= 0 ? m_preview : m_target; }
    int shownTarget() const;
    /// Called after the objects changed: keeps i and j if they still exist.
    void clampChoice();
    /// Handles a click or key; `View` has the signals sourceChosen and targetChosen.
    template <class View>
    void choose(View* view, bool target, int index) {
        if (target) {
            setTarget(index);
            view->targetChosen(index);
        } else {
            setSource(index);
            view->sourceChosen(index);
        }
    }

private:
    std::vector<float> m_values;
    std::vector<bool> m_masked;
    ColorScale m_scale;
    int m_source = 0, m_target = -1, m_preview = -1;
    int m_digits = 2;
    bool m_signedNumbers = true;
};

}  // namespace relascope::widgets
