// SPDX-License-Identifier: GPL-3.0-or-later
// The tokens of a text, wrapped as text. The chosen one is outlined, the others are shaded by the
// value towards them.
#pragma once

#include "widgets/kit/token_view.h"
#include "widgets/source/linked_view.h"

namespace relascope::widgets {

class TokenStrip : public TokenView, public LinkedView {
    Q_OBJECT
public:
    /// If one text attends to another, one receives and the other sends.
    enum class Role { Both, Receives, Sends };
    explicit TokenStrip(QWidget* parent = nullptr);

    void setRole(Role role);

    /// ProbeSequence::words: the bytes of each token; joined, they are the text.
    void setTokens(std::vector<std::string> tokens);
    /// Underlines ranges of tokens and frames one of them, which is scrolled to; -1: none.
    void setMatches(std::vector<TokenRange> matches, int current);
    /// Larger letters, for a text across a wide pane.
    void setReading(bool reading) { setLarge(reading); }

Q_SIGNALS:
    void hovered(int index);       ///< a j; -1 when the pointer leaves
    void rowHovered(int index);    ///< in a text that only receives
    void sourceChosen(int index);  ///< a click, or an arrow key
    void targetChosen(int index);  ///< either with Shift, or in a text that only sends

protected:
    TokenLook look(int index) const override;
    void hoverMoved(int before, int now) override;
    void pressed(int index, Qt::KeyboardModifiers modifiers) override;
    int current(Qt::KeyboardModifiers modifiers) const override;
    int receivers() const override { return size(); }
    int senders() const override { return m_role == Role::Receives ? 0 : receivers(); }
    int pointedSender() const override { return m_role == Role::Receives ? -1 : hover(); }
    void touch(bool /*sender*/, int index) override { updateTile(index); }
    void paintOver(QPainter& painter) override;
    void touchAll() override { refresh(); }
    void describe() override;
    void sourceMoved() override;
    void previewMoved() override { describe(); }

private:
    /// Whether a click or a key chooses j.
    bool choosesTarget(Qt::KeyboardModifiers modifiers) const;
    /// The number at the pointer, in the viewport; empty without one.
    QRect numberRect() const;
    bool inMatch(int index, bool current) const;

    Role m_role = Role::Both;
    std::vector<TokenRange> m_matches;
    int m_match = -1;
    QRect m_number;  ///< as painted
};

}  // namespace relascope::widgets
