// SPDX-License-Identifier: GPL-3.0-or-later
// What the source pane shows of a result; how it is put together is in source_pane.cpp.
#include <QLabel>
#include <QToolButton>
#include <limits>

#include "types/text_piece.h"
#include "widgets/export/export.h"
#include "widgets/inspector/source_pane.h"
#include "widgets/source/input_chooser.h"
#include "widgets/source/patch_view.h"
#include "widgets/source/probability_bars.h"
#include "widgets/source/sides.h"
#include "widgets/source/text_input.h"
#include "widgets/source/text_outcome.h"
#include "widgets/source/text_pair.h"
#include "widgets/source/tile_view.h"
#include "widgets/source/token_strip.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope {
namespace {

constexpr int tallestChips = 84;  ///< of receivers above an image; more of them scroll

}  // namespace

void SourcePane::setResult(const ProbeResult& result) {
    QStringList names;
    for (const auto& name : result.classNames) names << QString::fromStdString(name);
    m_classes = names;
    if (!m_labelsGiven && names != m_labels) {
        m_labels = names;
        if (m_labelFilter >= names.size()) m_labelFilter = -1;
        fillLabelMenu();
    }
    const auto label = static_cast<int>(result.sample.label);
    m_probabilities = result.probabilities;
    m_patches->setImage(result.sample.image, result.grid);
    const QString name = label < 0 ? QString() : names.value(label, QString::number(label));
    m_image = result.grid.tokens() > 0;
    const bool pair = result.sample.target.size() > 0;
    m_text = !m_image && result.sample.source.text && !pair;
    m_patches->setVisible(m_image);
    m_patches->setLabel(name);
    // Without a label, where the sample comes from may say more than the chooser does.
    QString origin = QString::fromStdString(result.sample.origin);
    if (origin == QStringLiteral("%1 %2").arg(split()).arg(index())) origin.clear();
    m_label->setText(name.isEmpty() ? origin : QStringLiteral("label ") + name);
    m_label->setVisible(!m_image && !m_text && !m_label->text().isEmpty());
    arrangeText();
    m_patches->setToolTip({});
    if (m_text) {
        m_bars->setProbabilities({}, {}, -1);  // of a vocabulary: the outcome shows the likeliest
        return setTokenCount(
            QStringLiteral("%1 tokens")
                .arg(groupedNumber(static_cast<qlonglong>(result.sample.source.size()))));
    }
    // A checkpoint may be of any step; only a run counts them.
    const QString output = pair ? QStringLiteral("After the last token") : QStringLiteral("Output");
    m_output->setText(
        !m_inputs->isHidden() ? output
        : pair ? QStringLiteral("%1, step %2").arg(output, groupedNumber(result.step))
               : QStringLiteral("%1 at step %2").arg(output, groupedNumber(result.step)));
    m_output->setToolTip(pair ? QStringLiteral("Next-token prediction of the model, given the "
                                               "correct target so far (teacher forcing)")
                              : QString());
    m_output->setVisible(!result.probabilities.empty());
    m_bars->setProbabilities(names, result.probabilities, label);
}

void SourcePane::setSides(const ProbeResult& result, int rows, int columns) {
    const bool patchesReceive = isPatchSide(result, rows);
    m_patches->setTargetsOnly(m_image && !patchesReceive);
    const ProbeSequence* text = textAlong(result, rows);
    const ProbeSequence* sender = columns >= 0 ? textAlong(result, columns) : nullptr;
    const bool strip = text && (columns < 0 || columns == rows);
    const bool pair = text && sender && !strip;
    m_strip->setVisible(strip);
    m_pair->setVisible(pair);
    m_filler->setVisible(strip);
    m_tiles->setVisible(!patchesReceive && !strip && !pair);
    const auto title = [&](int side, const char* what) {
        return QStringLiteral("%1 (%2)").arg(sideWord(result, side), QLatin1String(what));
    };
    showOther(result, strip ? rows : -1);
    if (strip) return m_strip->setTokens(text->words);
    if (pair)
        return m_pair->setTexts(title(rows, "from"), text->words, title(columns, "to"),
                                sender->words);
    fillTiles(*m_tiles, result, rows, columns);
    fitTiles();
}

/// Below one of two texts, the other one: a question is not understood without its answer.
void SourcePane::showOther(const ProbeResult& result, int shown) {
    const int other = shown == 0 ? 1 : 0;
    const ProbeSequence* text =
        shown >= 0 && shown < 2 && result.sides.size() > 1 ? textAlong(result, other) : nullptr;
    QString words;
    for (std::size_t k = 0; text && k < text->words.size(); ++k)
        words += QString::fromStdString(text->words[k]);
    m_other->setText(text ? QStringLiteral("%1: %2").arg(sideWord(result, other), words)
                          : QString());
    m_other->setVisible(text != nullptr);
}

void SourcePane::setTokenCount(const QString& words) {
    m_output->setText(words);
    m_output->show();
}
void SourcePane::setTextProblem(const QString& sentence) {
    m_textInput->setProblem(sentence);
}

void SourcePane::openText() {
    // What is looked at now is what one begins to change. Nothing is asked for: nothing is typed.
    std::string whole;
    for (const auto& piece : m_strip->tokens()) whole += piece;
    m_textInput->setText(QString::fromStdString(validUtf8(whole)));
}

/// Above an image the receivers take what they need; alone they take it all.
void SourcePane::fitTiles() {
    if (m_image)
        m_tiles->setFixedHeight(qMin(tallestChips, qMax(26, m_tiles->contentHeight())));
    else
        m_tiles->setMinimumHeight(40), m_tiles->setMaximumHeight(QWIDGETSIZE_MAX);
}

void SourcePane::setTint(std::vector<float> values, std::vector<bool> masked,
                         const ColorScale& scale, bool isSigned) {
    m_patches->setNumberDigits(2, isSigned);
    m_tiles->setNumberDigits(2, isSigned);
    m_strip->setNumberDigits(2, isSigned);
    m_pair->setNumberDigits(2, isSigned);
    m_towards = values;
    if (!m_pair->isHidden()) return m_pair->setValues(std::move(values), std::move(masked), scale);
    if (!m_strip->isHidden())
        return m_strip->setValues(std::move(values), std::move(masked), scale);
    if (!m_image) return m_tiles->setValues(std::move(values), std::move(masked), scale);
    for (std::size_t j = 0; j < values.size() && j < masked.size(); ++j)
        if (masked[j]) values[j] = std::numeric_limits<float>::quiet_NaN();
    m_patches->setValues(std::move(values), scale);
}

void SourcePane::setChoice(int source, int target, int preview) {
    if (m_image && !m_patches->targetsOnly()) m_patches->setSource(source);
    m_patches->setTarget(target);
    m_tiles->setSource(source);
    m_tiles->setTarget(target);
    m_strip->setSource(source);
    m_strip->setTarget(target);
    m_pair->setSource(source);
    m_pair->setTarget(target);
    setPreview(preview);
}
void SourcePane::setPreview(int target) {
    m_patches->setPreview(target);
    m_tiles->setPreview(target);
    m_strip->setPreview(target);
    m_pair->setPreview(target);
}

void SourcePane::arrangeText() {
    const bool offered = m_split->count() == 0 && m_inputs->offer().kind == InputOffer::Kind::Text;
    m_textInput->setVisible(m_text || offered);
    const bool own = m_split->count() == 0 && m_inputs->offer().kind != InputOffer::Kind::None;
    m_filter->setVisible(!own && !m_text && !m_labels.isEmpty());  // texts have no labels
    if (!m_text) m_outcome->clear();
}

QString SourcePane::csv() const {
    const bool pair = !m_pair->isHidden();
    if (m_text || pair) {
        QString rows = QStringLiteral("token,text,value\n");
        const auto& pieces = (pair ? m_pair->sender() : m_strip)->tokens();
        for (std::size_t k = 0; k < pieces.size(); ++k) {
            rows += QStringLiteral("%1,%2,").arg(k).arg(csvField(pieceLabel(pieces[k])));
            if (k < m_towards.size()) rows += QString::number(m_towards[k], 'g', 9);
            rows += u'\n';
        }
        return rows;
    }
    QString text = QStringLiteral("class,probability\n");
    for (std::size_t k = 0; k < m_probabilities.size(); ++k)
        text += QString("%1,%2\n")
                    .arg(m_classes.value(static_cast<int>(k), QString::number(k)))
                    .arg(m_probabilities[k], 0, 'g', 9);
    return text;
}

}  // namespace relascope
