#include "widgets/inspector/words.h"

#include <QStringList>
#include <cmath>

#include "widgets/source/patches.h"
#include "widgets/theme/theme.h"

namespace relascope {
namespace {

const QString dot = QStringLiteral(" \u00B7 ");

QString plainNumber(double value, int digits = 3) {
    if (std::isnan(value)) return QStringLiteral("NaN");
    QString text = signedNumber(value, digits);
    if (text.startsWith(u'+')) text.remove(0, 1);
    return text;
}

bool relationKind(MapKind kind) {
    return kind == MapKind::Relation || kind == MapKind::AttentionTimesRelation;
}

QString processedWord(const InspectorView& view) {
    switch (ViewMaps::processing(view)) {
        case Processing::Tanh:
            return QStringLiteral("tanh ");
        case Processing::Sigmoid:
            return QStringLiteral("sigmoid ");
        case Processing::SoftmaxOverJ:
            return QStringLiteral("softmax ");
        default:
            return {};
    }
}

/// Rows of the position-relative library are whole numbers above one, weights never are.
bool rowsOfLibrary(const ViewMaps& maps, const InspectorView& view) {
    if (view.kind != MapKind::Symbols || !maps.result()) return false;
    const RelationMap* map = maps.result()->find(view.kind, view.layer, view.index);
    if (!map || map->rows != map->columns) return false;
    for (const float v : map->values)
        if (v == v && v != std::floor(v)) return false;
    return true;
}

QString quoted(const QString& text) {
    return text.contains(u',') || text.contains(u'"')
               ? u'"' + QString(text).replace(u'"', QStringLiteral("\"\"")) + u'"'
               : text;
}

}  // namespace

QString itemLabel(MapKind kind, int index) {
    return (relationKind(kind) ? QStringLiteral("r %1") : QStringLiteral("head %1")).arg(index + 1);
}

QString mapTitle(const InspectorView& view) {
    switch (view.kind) {
        case MapKind::Relation:
            return QStringLiteral("Relation %1").arg(view.index + 1);
        case MapKind::RelationalAttention:
            return QStringLiteral("Relational attention %1").arg(view.index + 1);
        case MapKind::SensoryAttention:
            return QStringLiteral("Sensory attention %1").arg(view.index + 1);
        case MapKind::AttentionTimesRelation:
            return QStringLiteral("\u03B1 \u00D7 r, head %1, relation %2")
                .arg(view.head + 1)
                .arg(view.index + 1);
        case MapKind::Symbols:
            return view.index == 0 ? QStringLiteral("Symbols")
                                   : QStringLiteral("Symbols %1").arg(view.index + 1);
    }
    return {};
}

QString mapSubTitle(const InspectorView& view, const MapValues& values) {
    if (values.empty()) return {};
    const QString size = QStringLiteral("%1 \u00D7 %2").arg(values.rows).arg(values.columns);
    if (view.kind == MapKind::Symbols && values.rows != values.columns)
        return size + QStringLiteral(", rows i, columns symbols");
    return size + QStringLiteral(", rows i, columns j");
}

QString scaleCaption(const InspectorView& view) {
    const QString pair = view.reversed ? QStringLiteral("_ji") : QStringLiteral("_ij");
    QString what;
    switch (view.kind) {
        case MapKind::Relation:
            what = processedWord(view) + u'r' + pair;
            break;
        case MapKind::AttentionTimesRelation:
            what = processedWord(view) + QChar(0x03B1) + pair + QStringLiteral(" r") + pair;
            break;
        case MapKind::Symbols:
            what = QStringLiteral("symbol of i");
            break;
        default:
            what = QChar(0x03B1) + pair;
            break;
    }
    if (view.processing == Processing::TopK)
        what += QStringLiteral(", top %1 a row").arg(view.topK);
    switch (view.range) {
        case Range::ThisMap:
            return what + QStringLiteral(", a scale of its own");
        case Range::ThisLayer:
            return what + QStringLiteral(", one scale for the layer");
        case Range::WholeModel:
            return what + QStringLiteral(", one scale for the model");
        case Range::Fixed:
            return what + QStringLiteral(", fixed scale");
    }
    return what;
}

QString footerText(const ViewMaps& maps, const InspectorView& view, int i, int j, bool rich) {
    if (!maps.result() || maps.count(view.kind, view.layer) == 0) return {};
    const PatchGrid& grid = maps.result()->grid;
    const RelationMap* map = maps.result()->find(
        relationKind(view.kind) ? MapKind::Relation : view.kind, view.layer, view.index);
    const bool symbols = view.kind == MapKind::Symbols && map && map->rows != map->columns;
    QStringList parts{QStringLiteral("layer %1").arg(view.layer + 1)};
    switch (view.kind) {
        case MapKind::Relation:
            parts << QStringLiteral("relation %1").arg(view.index + 1);
            break;
        case MapKind::AttentionTimesRelation:
            parts << QStringLiteral("relation %1").arg(view.index + 1)
                  << QStringLiteral("head %1").arg(view.head + 1);
            break;
        case MapKind::RelationalAttention:
            parts << QStringLiteral("relational head %1").arg(view.index + 1);
            break;
        case MapKind::SensoryAttention:
            parts << QStringLiteral("sensory head %1").arg(view.index + 1);
            break;
        case MapKind::Symbols:
            parts << QStringLiteral("symbols");
            break;
    }
    const QString there =
        symbols ? QStringLiteral("symbol %1").arg(j) : QStringLiteral("j = ") + tokenName(grid, j);
    parts << QStringLiteral("i = %1 %2 %3")
                 .arg(tokenName(grid, i), QChar(view.reversed ? 0x2190 : 0x2192), there);
    const auto strong = [rich](const QString& text) {
        return rich ? QStringLiteral("<b>%1</b>").arg(text) : text;
    };
    if (maps.masked(view, i, j)) return parts.join(dot) + dot + strong(QStringLiteral("masked"));

    const float r = maps.number(MapKind::Relation, view.index, view, i, j);
    const float alpha = maps.number(MapKind::RelationalAttention, view.head, view, i, j);
    const int heads = maps.count(MapKind::RelationalAttention, view.layer);
    const auto alphaText = [&] {
        const QString text = QStringLiteral("alpha = ") + plainNumber(alpha);
        return heads > 1 && view.kind == MapKind::Relation
                   ? text + QStringLiteral(" (head %1)").arg(view.head + 1)
                   : text;
    };
    switch (view.kind) {
        case MapKind::Relation: {
            parts << strong(QStringLiteral("r = ") + signedNumber(r));
            const Processing p = ViewMaps::processing(view);
            if (p == Processing::Tanh)
                parts << QStringLiteral("tanh r = ") + signedNumber(processedValue(r, p));
            if (p == Processing::Sigmoid)
                parts << QStringLiteral("sigmoid r = ") + plainNumber(processedValue(r, p));
            if (p == Processing::SoftmaxOverJ && map) {
                const MapValues all = maps.values(view);
                parts << QStringLiteral("softmax r = ") + plainNumber(all.at(i, j));
            }
            if (heads > 0) parts << alphaText();
            break;
        }
        case MapKind::AttentionTimesRelation:
            parts << strong(QStringLiteral("alpha \u00D7 r = ") + signedNumber(alpha * r))
                  << QStringLiteral("r = ") + signedNumber(r) << alphaText();
            break;
        case MapKind::RelationalAttention:
        case MapKind::SensoryAttention:
            parts << strong(QStringLiteral("alpha = ") +
                            plainNumber(maps.number(view.kind, view.index, view, i, j)));
            break;
        case MapKind::Symbols: {
            const float value = maps.number(view.kind, view.index, view, i, j);
            parts << strong(rowsOfLibrary(maps, view)
                                ? QStringLiteral("row %1 of the library").arg(value, 0, 'f', 0)
                                : QStringLiteral("weight = ") + plainNumber(value));
            break;
        }
    }
    return parts.join(dot);
}

QString mapCsv(const ViewMaps& maps, const InspectorView& view) {
    const MapValues values = maps.values(view);
    if (values.empty() || !maps.result()) return {};
    const PatchGrid& grid = maps.result()->grid;
    const bool symbols = view.kind == MapKind::Symbols && values.rows != values.columns;
    QString text = QStringLiteral("i");
    for (int j = 0; j < values.columns; ++j)
        text += u',' + quoted(symbols ? QStringLiteral("symbol %1").arg(j) : tokenName(grid, j));
    text += u'\n';
    for (int i = 0; i < values.rows; ++i) {
        text += quoted(tokenName(grid, i));
        for (int j = 0; j < values.columns; ++j) {
            text += u',';
            if (!values.masked(i, j))
                text += QString::number(static_cast<double>(values.at(i, j)), 'g', 9);
        }
        text += u'\n';
    }
    return text;
}

QString absenceReason(const ViewMaps& maps, MapKind kind) {
    if (maps.has(kind)) return {};
    switch (kind) {
        case MapKind::Relation:
            return QStringLiteral("This model has no relations: it has no relational heads");
        case MapKind::RelationalAttention:
            return QStringLiteral("This model has no relational heads");
        case MapKind::SensoryAttention:
            return QStringLiteral("This model has no sensory heads");
        case MapKind::AttentionTimesRelation:
            return QStringLiteral(
                "Needs relations and relational heads; this model lacks one of them");
        case MapKind::Symbols:
            return QStringLiteral(
                "This model's symbols are not retrieved by content or position, or it has none");
    }
    return {};
}

}  // namespace relascope
