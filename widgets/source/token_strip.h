// SPDX-License-Identifier: GPL-3.0-or-later
// A text as a language model reads it: its tokens wrapped as text, the chosen one outlined, the
// others shaded by the value towards them.
#pragma once

#include "widgets/maps/color_map.h"
#include "widgets/text/piece_view.h"

namespace relascope {

class TokenStrip : public PieceView {
    Q_OBJECT
public:
    /// Of two texts, one of which looks at the other, one receives and one sends.
    enum class Role { Both, Receives, Sends };
    explicit TokenStrip(QWidget* parent = nullptr);

    void setRole(Role role);
    Role role() const { return m_role; }

    /// ProbeSequence::words: the bytes of each token, which joined are the text.
    void setTokens(std::vector<std::string> pieces);
    const std::vector<std::string>& tokens() const { return m_pieces; }
    /// One value a token, towards it from i. A masked one wears the hatch; NaN the error's.
    void setValues(std::vector<float> values, std::vector<bool> masked, const ColorScale& scale);
    void setNumberDigits(int digits, bool isSigned);
    void setSource(int index);   ///< i; scrolls to it
    void setTarget(int index);   ///< j, locked; -1 for none
    void setPreview(int index);  ///< j while another pane's pointer shows it; -1 for none
    int source() const { return m_source; }
    int target() const { return m_target; }

Q_SIGNALS:
    void hovered(int index);       ///< a j; -1 when the pointer leaves
    void rowHovered(int index);    ///< of a text that only receives
    void sourceChosen(int index);  ///< a click, or an arrow key
    void targetChosen(int index);  ///< the same with Shift, or in a text that only sends

protected:
    PieceLook look(int index) const override;
    void hoverMoved(int before, int now) override;
    void pressed(int index, Qt::KeyboardModifiers modifiers) override;
    int current(Qt::KeyboardModifiers modifiers) const override;

private:
    int shownTarget() const;
    void describe();

    Role m_role = Role::Both;
    std::vector<std::string> m_pieces;
    std::vector<float> m_values;
    std::vector<bool> m_masked;
    ColorScale m_scale;
    int m_source = 0, m_target = -1, m_preview = -1;
    int m_digits = 2;
    bool m_signedNumbers = true;
};

}  // namespace relascope
