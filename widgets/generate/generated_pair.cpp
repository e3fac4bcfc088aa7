// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/generate/generated_pair.h"

#include <QLabel>
#include <QResizeEvent>
#include <QSplitter>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "types/text_piece.h"
#include "widgets/export/export.h"
#include "widgets/generate/generated_text.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/icons.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

constexpr TextSide kBoth[] = {TextSide::Plain, TextSide::Edited};  // from left to right

/// With its leading space, which may be all that differs.
QString quoted(const std::string& piece) {
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
            .arg(QString::number(m_difference), quoted(edited[at].chosen.piece),
                 quoted(plain[at].chosen.piece));
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
                csvField(pieceLabel(of.pieces()[static_cast<std::size_t>(k)])));
            if (const double p = of.probability(k); p == p) rows += QString::number(p, 'g', 9);
            if (m_both)
                rows += side == TextSide::Edited ? QStringLiteral(",1") : QStringLiteral(",0");
            rows += u'\n';
        }
    }
    return rows;
}

}  // namespace relascope::widgets
