// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <limits>

#include <QLabel>
#include <QPainter>
#include <QResizeEvent>
#include <QSplitter>
#include <QToolButton>
#include <QVBoxLayout>

#include "types/text_piece.h"
#include "widgets/export/export.h"
#include "widgets/generate/generated_text.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/icons.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {

GeneratedText::GeneratedText(QWidget* parent) : TokenView(parent) {
    setSpacing(TextFlow::Spacing::Reading);
    setAccessibleName(QStringLiteral("Generated text"));
}

void GeneratedText::begin(std::vector<std::string> prompt) {
    m_prompt = static_cast<int>(prompt.size());
    m_probabilities.clear();
    m_chosen = m_marked = -1;
    setTokens(std::move(prompt));
    reveal(size() - 1);
    setAccessibleDescription(text());
}

void GeneratedText::append(const std::string& piece, double probability) {
    m_probabilities.push_back(probability);
    appendToken(piece);
}

void GeneratedText::setRunning(bool running) {
    if (running == m_running) return;
    m_running = running;
    refresh();
    // Not at every token, as screen readers could not keep up.
    if (!running) setAccessibleDescription(text());
}

void GeneratedText::setChosen(int index) {
    updateTile(m_chosen);
    m_chosen = qBound(-1, index, size() - 1);
    updateTile(m_chosen);
}

void GeneratedText::setMarked(int index) {
    m_marked = qBound(-1, index, size() - 1);
    refresh();
}

double GeneratedText::probability(int index) const {
    return index < m_prompt || index >= size()
               ? std::numeric_limits<double>::quiet_NaN()
               : m_probabilities[static_cast<std::size_t>(index - m_prompt)];
}

TokenLook GeneratedText::look(int index) const {
    const Theme& t = Theme::current();
    TokenLook wears;
    wears.ink = t.muted;
    if (index >= m_prompt) {
        wears.fill = t.likelihoodFill(probability(index));
        wears.ink = Theme::textOn(wears.fill);
    }
    if (index == m_marked) {
        wears.frame = TokenLook::Frame::Solid;
        wears.frameColor = t.warning;
    }
    if (index == m_chosen) {
        wears.frame = TokenLook::Frame::Solid;
        wears.frameColor = t.accent;
    }
    return wears;
}

void GeneratedText::pressed(int index, Qt::KeyboardModifiers) {
    if (index == m_chosen) return;
    setChosen(index);
    Q_EMIT tokenChosen(index);
}

int GeneratedText::current(Qt::KeyboardModifiers) const {
    if (m_chosen >= 0) return m_chosen;
    // Two texts that are compared stay at their difference when the panel changes its size.
    return m_marked >= 0 && !m_running ? m_marked : size() - 1;
}

void GeneratedText::paintOver(QPainter& painter) {
    if (m_marked >= 0) {
        const QRect place = placeOf(m_marked);
        painter.fillRect(place.left(), place.bottom() - 1, place.width(), 3,
                         Theme::current().warning);
    }
    if (!m_running) return;
    const QRect last = placeOf(size() - 1);
    const QRect caret = last.isEmpty()
                            ? QRect(4, 4, 2, 17)
                            : QRect(last.right() + 3, last.top() + 1, 2, last.height() - 2);
    painter.fillRect(caret, Theme::current().accent);
}

QString GeneratedText::tipOf(int index) const {
    QString tip = piecePlace(index, tokens()[static_cast<std::size_t>(index)]);
    tip += index < m_prompt ? QStringLiteral(", in the prompt")
                            : QStringLiteral(", probability %1").arg(probability(index), 0, 'f', 3);
    if (index == m_marked) tip += QStringLiteral(", the first that differs");
    return tip;
}

namespace {

constexpr TextSide kBoth[] = {TextSide::Plain, TextSide::Edited};  // from left to right

/// With its leading space, which may be all that differs.
QString quotedPiece(const std::string& piece) {
    return u'"' + QString::fromStdString(pieceText(piece).text) + u'"';
}

TextSide other(TextSide side) {
    return side == TextSide::Plain ? TextSide::Edited : TextSide::Plain;
}

}  // namespace

GeneratedPair::GeneratedPair(QWidget* parent)
    : QWidget(parent),
      m_line(new QWidget(this)),
      m_differenceLabel(new ElidedLabel({}, m_line)),
      m_show(iconButton("target", QStringLiteral("Show the first difference"), m_line)),
      m_splitter(new QSplitter(Qt::Horizontal, this)) {
    m_differenceLabel->setFont(smallFont());
    m_differenceLabel->setTextFormat(Qt::PlainText);
    auto* line = rowOf(m_line, {}, 6);
    line->addWidget(m_differenceLabel, 1);
    line->addWidget(m_show);
    connect(m_show, &QToolButton::clicked, this, &GeneratedPair::showDifference);
    m_splitter->setChildrenCollapsible(false);
    m_splitter->setHandleWidth(1);
    sideOf(TextSide::Plain) = makeSide(TextSide::Plain, QStringLiteral("Without the edits"));
    sideOf(TextSide::Edited) = makeSide(TextSide::Edited, QStringLiteral("With the edits"));
    text(TextSide::Plain)->setAccessibleName(QStringLiteral("Generated text without the edits"));
    auto* column = columnOf(this, {}, 4);
    column->addWidget(m_line);
    column->addWidget(m_splitter, 1);
    refresh();
}

GeneratedPair::Side GeneratedPair::makeSide(TextSide side, const QString& title) {
    Side made;
    made.box = new QWidget(m_splitter);
    made.title = mutedLabel(title, made.box);
    made.title->setFont(captionFont());
    made.title->setTextFormat(Qt::PlainText);
    made.text = new GeneratedText(made.box);
    auto* column = columnOf(made.box, {2, 2, 2, 2}, 2);
    column->addWidget(made.title);
    column->addWidget(made.text, 1);
    m_splitter->addWidget(made.box);
    connect(made.text, &GeneratedText::tokenChosen, this,
            [this, side](int index) { choose(side, index); });
    return made;
}

void GeneratedPair::begin(std::vector<std::string> promptPieces, bool both) {
    m_both = both;
    m_running = true;
    m_difference = -1;
    for (const auto side : kBoth) {
        auto& of = sideOf(side);
        of.written.clear();
        of.text->begin(side == TextSide::Edited || both ? promptPieces
                                                        : std::vector<std::string>());
    }
    refresh();
}

void GeneratedPair::append(TextSide side, const GeneratedToken& token) {
    auto& of = sideOf(side);
    of.written.push_back(token);
    of.text->append(token.chosen.piece, token.chosen.probability);
    if (of.written.size() == 1 || m_both) {
        findDifference();
        refresh();
    }
}

void GeneratedPair::setRunning(bool running) {
    m_running = running;
    refresh();
}

void GeneratedPair::findDifference() {
    if (!m_both || m_difference >= 0) return;
    const auto &plain = written(TextSide::Plain), &edited = written(TextSide::Edited);
    const auto common = std::min(plain.size(), edited.size());
    // One token came since the last call, so that only the last common one is new.
    if (common == 0 || plain[common - 1].chosen.id == edited[common - 1].chosen.id) return;
    m_difference = text(TextSide::Edited)->promptSize() + static_cast<int>(common) - 1;
    for (const auto side : kBoth) text(side)->setMarked(m_difference);
}

void GeneratedPair::refresh() {
    sideOf(TextSide::Plain).box->setVisible(m_both);
    sideOf(TextSide::Edited).title->setVisible(m_both);
    m_line->setVisible(m_both);
    m_show->setEnabled(m_difference >= 0);
    m_differenceLabel->setText(differenceText());
    m_differenceLabel->setToolTip(differenceText());
    text(TextSide::Edited)
        ->setAccessibleName(m_both ? QStringLiteral("Generated text with the edits")
                                   : QStringLiteral("Generated text"));
    // The plain text comes first; the caret is where the next token will be.
    const bool plain = m_both && written(TextSide::Edited).empty();
    text(TextSide::Plain)->setRunning(m_running && plain);
    text(TextSide::Edited)->setRunning(m_running && !plain);
    arrange();
}

QString GeneratedPair::differenceText() const {
    if (!m_both) return {};
    const auto &plain = written(TextSide::Plain), &edited = written(TextSide::Edited);
    if (m_difference >= 0) {
        const auto at = static_cast<std::size_t>(m_difference) -
                        static_cast<std::size_t>(text(TextSide::Edited)->promptSize());
        return QStringLiteral("First difference at token %1: %2 instead of %3")
            .arg(QString::number(m_difference), quotedPiece(edited[at].chosen.piece),
                 quotedPiece(plain[at].chosen.piece));
    }
    return !m_running && !plain.empty() && plain.size() == edited.size()
               ? QStringLiteral("No difference")
               : QStringLiteral("No difference so far");
}

void GeneratedPair::choose(TextSide side, int index) {
    text(other(side))->setChosen(-1);
    Q_EMIT tokenChosen(side, index);
}

void GeneratedPair::setChosen(TextSide side, int index) {
    text(other(side))->setChosen(-1);
    text(side)->setChosen(index);
    if (index >= 0) text(side)->reveal(index);
}

void GeneratedPair::showDifference() {
    if (m_difference < 0) return;
    setChosen(TextSide::Edited, m_difference);
    text(TextSide::Plain)->reveal(m_difference);
    Q_EMIT tokenChosen(TextSide::Edited, m_difference);
}

TextSide GeneratedPair::current() const {
    if (!m_both || text(TextSide::Edited)->chosen() >= 0) return TextSide::Edited;
    if (text(TextSide::Plain)->chosen() >= 0) return TextSide::Plain;
    return written(TextSide::Edited).empty() ? TextSide::Plain : TextSide::Edited;
}

void GeneratedPair::setEditedTitle(const QString& title, const QString& words) {
    auto* label = sideOf(TextSide::Edited).title;
    label->setText(title);
    label->setToolTip(words.isEmpty() ? QString() : plainTip(words));
}
QString GeneratedPair::editedTitle() const {
    return sideOf(TextSide::Edited).title->text();
}

bool GeneratedPair::stacked() const {
    return m_splitter->orientation() == Qt::Vertical;
}

void GeneratedPair::arrange() {
    const auto wanted = width() < kBesideWidth ? Qt::Vertical : Qt::Horizontal;
    if (m_splitter->orientation() == wanted) return;
    m_splitter->setOrientation(wanted);
    m_splitter->setSizes({1000, 1000});
}

void GeneratedPair::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    arrange();
}

QString GeneratedPair::csv() const {
    QString rows = QStringLiteral("token,text,probability");
    rows += m_both ? QStringLiteral(",edited\n") : QStringLiteral("\n");
    for (const auto side : kBoth) {
        if (!m_both && side == TextSide::Plain) continue;
        const GeneratedText& of = *text(side);
        for (int k = 0; k < of.size(); ++k) {
            rows += QStringLiteral("%1,%2,").arg(k).arg(
                csvField(pieceLabel(of.tokens()[static_cast<std::size_t>(k)])));
            if (const double p = of.probability(k); p == p) rows += QString::number(p, 'g', 9);
            if (m_both)
                rows += side == TextSide::Edited ? QStringLiteral(",1") : QStringLiteral(",0");
            rows += u'\n';
        }
    }
    return rows;
}

}  // namespace relascope::widgets
