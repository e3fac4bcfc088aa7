// SPDX-License-Identifier: GPL-3.0-or-later
// What all views of the objects of a source share: the chosen i and j, and the values towards each
// object from i.
#pragma once

#include <QColor>
#include <QString>
#include <vector>

#include "widgets/maps/color_map.h"

namespace relascope::widgets {

class LinkedView {
public:
    virtual ~LinkedView() = default;

    /// One value a sender, towards it from i. A masked one is hatched, NaN in the error's colour.
    void setValues(std::vector<float> values, std::vector<bool> masked, const ColorScale& scale);
    void setNumberDigits(int digits, bool isSigned);
    void setSource(int index);   ///< i
    void setTarget(int index);   ///< j, locked; -1 for none
    void setPreview(int index);  ///< j while another pane's pointer shows it; -1 for none
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
    /// i is another one, chosen here or elsewhere.
    virtual void sourceMoved() {}
    virtual void previewMoved() {}

    /// How an object is filled by its value; `known` false: as one without a value.
    struct Shade {
        QColor fill, ink, hatch;  ///< no hatch where that is invalid
        bool byScale = false;     ///< the fill is a colour of the scale
    };
    Shade shade(int index, bool known) const;
    const ColorScale& scale() const { return m_scale; }
    bool hasValue(int index) const;
    bool masked(int index) const;
    /// NaN where there is none, also where it is masked.
    float value(int index) const;
    /// As written on the object; empty where there is no value or a masked one.
    QString number(int index) const;
    /// j without the pointer of this view, and with it.
    int restingTarget() const { return m_preview >= 0 ? m_preview : m_target; }
    int shownTarget() const;
    /// After other objects came: i and j stay where they can.
    void clampChoice();
    /// A click or a key: `View` has the signals sourceChosen and targetChosen.
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
