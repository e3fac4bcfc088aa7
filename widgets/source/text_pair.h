// SPDX-License-Identifier: GPL-3.0-or-later
// Two texts, one of which attends to the other: the answer above the question, linked by (i, j).
#pragma once

#include <QString>
#include <QWidget>
#include <string>
#include <vector>

class QLabel;

namespace relascope::widgets {

class TokenStrip;

class TextPair : public QWidget {
    Q_OBJECT
public:
    explicit TextPair(QWidget* parent = nullptr);

    /// Sets the receiving text with its title ("target (from)"), and the sending text.
    void setTexts(const QString& from, const std::vector<std::string>& rows, const QString& to,
                  const std::vector<std::string>& columns);
    TokenStrip* receiver() const { return m_from; }
    TokenStrip* sender() const { return m_to; }
    /// The height of both texts at this width.
    int contentHeight() const;

Q_SIGNALS:
    void hovered(int index);     ///< a sender; -1 when the pointer leaves
    void rowHovered(int index);  ///< a token that receives
    void sourceChosen(int index);
    void targetChosen(int index);

private:
    void fit();

    QLabel *m_fromTitle, *m_toTitle;
    TokenStrip *m_from, *m_to;
};

}  // namespace relascope::widgets
