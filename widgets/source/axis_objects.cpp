// SPDX-License-Identifier: GPL-3.0-or-later
#include <QStringList>

#include "widgets/source/axis_objects.h"
#include "widgets/text/text_flow.h"

namespace relascope::widgets {
namespace {

const ProbeSide* sideOf(const ProbeResult& result, int side) {
    return side >= 0 && side < static_cast<int>(result.sides.size())
               ? &result.sides[static_cast<std::size_t>(side)]
               : nullptr;
}

const ProbeLayer* layerOf(const ProbeResult& result, int layer) {
    return layer >= 0 && layer < static_cast<int>(result.layers.size())
               ? &result.layers[static_cast<std::size_t>(layer)]
               : nullptr;
}

/// The sequence that contains the objects of a side, or nullptr.
const ProbeSequence* sequenceOf(const ProbeResult& result, int side) {
    const ProbeSide* s = sideOf(result, side);
    const bool target = s && s->name == "target";
    const ProbeSequence& sequence = target ? result.sample.target : result.sample.source;
    if (sequence.size() == 0) return nullptr;
    if (!s) return result.sides.empty() && side == 0 ? &sequence : nullptr;
    // A side with its own names ("selection") or of another length is not a sequence.
    if (s->labels.empty() || static_cast<int>(s->labels.size()) == sequence.size())
        return target || s->name == "source" || side == 0 ? &sequence : nullptr;
    return nullptr;
}

/// The pictures of a side's objects; for encoder and abstractor side by side, those of the source
/// twice. Empty if there are none.
std::vector<QImage> picturesAlong(const ProbeResult& result, int side) {
    if (const ProbeSequence* sequence = sequenceOf(result, side)) return picturesOf(*sequence);
    const ProbeSide* s = sideOf(result, side);
    auto pictures = picturesOf(result.sample.source);
    if (!s || pictures.empty() || s->labels.size() != 2 * pictures.size()) return {};
    const auto once = pictures;
    pictures.insert(pictures.end(), once.begin(), once.end());
    return pictures;
}

/// Replaces spaces and line ends by visible symbols.
QString visible(QString text) {
    text.replace(u'\n', QChar(0x21B5)).replace(u'\t', QChar(0x21E5));
    if (text.trimmed().isEmpty()) text.replace(u' ', QChar(0x2423));
    return text;
}

/// The text of an object; empty if it has only a number.
QString wordOf(const ProbeResult& result, int side, int index) {
    const auto at = static_cast<std::size_t>(index);
    if (const ProbeSequence* text = textAlong(result, side); text && index >= 0)
        return at < text->labels.size() ? pieceLabel(text->labels[at]) : QString();
    if (const ProbeSide* s = sideOf(result, side); s && index >= 0 && at < s->labels.size())
        return visible(QString::fromStdString(s->labels[at]));
    const ProbeSequence* sequence = sequenceOf(result, side);
    if (!sequence || index < 0) return {};
    if (at < sequence->labels.size()) return visible(QString::fromStdString(sequence->labels[at]));
    if (at < sequence->tokens.size()) return QString::number(sequence->tokens[at]);
    return {};
}

}  // namespace

const ProbeSequence* textAlong(const ProbeResult& result, int side) {
    if (isPatchSide(result, side)) return nullptr;
    const ProbeSequence* sequence = sequenceOf(result, side);
    return sequence && sequence->text && sequence->width == 0 &&
                   static_cast<int>(sequence->labels.size()) == sequence->size()
               ? sequence
               : nullptr;
}

QString layerName(const ProbeResult& result, int layer) {
    const ProbeLayer* known = layerOf(result, layer);
    return known && !known->name.empty() ? QString::fromStdString(known->name)
                                         : QStringLiteral("layer %1").arg(layer + 1);
}

bool isPatchSide(const ProbeResult& result, int side) {
    if (result.grid.tokens() == 0) return false;
    const ProbeSide* s = sideOf(result, side);
    return s ? s->labels.empty() : side == 0;
}

int sideSize(const ProbeResult& result, int side) {
    if (isPatchSide(result, side)) return result.grid.tokens();
    if (const ProbeSide* s = sideOf(result, side); s && !s->labels.empty())
        return static_cast<int>(s->labels.size());
    const ProbeSequence* sequence = sequenceOf(result, side);
    return sequence ? sequence->size() : 0;
}

QString sideWord(const ProbeResult& result, int side) {
    const ProbeSide* s = sideOf(result, side);
    if (!s || s->name.empty()) return QStringLiteral("token");
    QString word = QString::fromStdString(s->name);
    if (word.contains(QLatin1String(" and "))) return QStringLiteral("context");
    if (word == QLatin1String("patches")) return QStringLiteral("patch");
    if (word.endsWith(u's') && !word.endsWith(QLatin1String("ss"))) word.chop(1);
    return word;
}

QString objectName(const ProbeResult& result, int side, int index) {
    if (isPatchSide(result, side)) return tokenName(result.grid, index);
    const QString word = wordOf(result, side, index);
    const QString number = QString::number(index);
    if (const ProbeSequence* text = textAlong(result, side);
        text && index >= 0 && index < text->size())
        return sideWord(result, side) + u' ' +
               piecePlace(index, text->labels[static_cast<std::size_t>(index)]);
    const ProbeSide* s = sideOf(result, side);
    // Named objects ("E1") are shown without a number.
    if (!word.isEmpty() && s && s->name == "selection") return word;
    if (word.startsWith(sideWord(result, side) + u' ')) return word;  // "object 17" of an order
    // Vectors have no text: they are named by their number.
    const ProbeSequence* sequence = sequenceOf(result, side);
    bool counts = false;
    word.toInt(&counts);
    if (counts && sequence && sequence->width > 0) return sideWord(result, side) + u' ' + word;
    const QString name = sideWord(result, side) + u' ' + number;
    const bool token = sequence && sequence->width == 0;
    return word.isEmpty() || (word == number && !token) ? name
                                                        : name + QStringLiteral(" '%1'").arg(word);
}

QString objectLabel(const ProbeResult& result, int side, int index) {
    if (isPatchSide(result, side)) return tokenLabel(result.grid, index);
    const QString word = wordOf(result, side, index);
    return word.isEmpty() ? QString::number(index) : word;
}

std::vector<AxisToken> sideTokens(const ProbeResult& result, int side, int count) {
    if (isPatchSide(result, side)) return patchTokens(result, count);
    std::vector<AxisToken> tokens;
    tokens.reserve(static_cast<std::size_t>(qMax(0, count)));
    const ProbeSequence* text = textAlong(result, side);
    const std::vector<QImage> pictures = picturesAlong(result, side);
    for (int k = 0; k < count; ++k) {
        const auto at = static_cast<std::size_t>(k);
        tokens.push_back(
            {objectLabel(result, side, k), objectName(result, side, k),
             at < pictures.size() ? pictures[at] : QImage(), true,
             text && at < text->labels.size() ? piecePlace(k, text->labels[at]) : QString()});
    }
    return tokens;
}

TileGroup sideTiles(const ProbeResult& result, int side) {
    TileGroup group;
    const int count = sideSize(result, side);
    for (int k = 0; k < count; ++k) {
        group.texts << objectLabel(result, side, k);
        group.names << objectName(result, side, k);
    }
    if (const ProbeSequence* sequence = sequenceOf(result, side); sequence && sequence->width > 0) {
        group.vectors = sequence->vectors;
        group.width = sequence->width;
    }
    group.pictures = picturesAlong(result, side);
    return group;
}

void fillTiles(TileView& tiles, const ProbeResult& result, int rows, int columns) {
    if (isPatchSide(result, rows)) return tiles.setObjects({});
    const auto titled = [&result](int side, const char* what) {
        TileGroup group = sideTiles(result, side);
        group.title = QStringLiteral("%1 (%2)").arg(sideWord(result, side), QLatin1String(what));
        return group;
    };
    if (columns >= 0 && isPatchSide(result, columns))
        tiles.setSides(sideTiles(result, rows), {});
    else if (columns < 0 || rows == columns)
        tiles.setObjects(sideTiles(result, rows));
    else
        tiles.setSides(titled(rows, "from"), titled(columns, "to"));
}

}  // namespace relascope::widgets
