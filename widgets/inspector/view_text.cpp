// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/inspector/view_text.h"

#include <QFileInfo>
#include <QStringList>
#include <QtMath>
#include <algorithm>
#include <cmath>

#include "widgets/export/export.h"
#include "widgets/source/axis_objects.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

const QString& dot = kFooterDot;

QString plainNumber(double value, int digits = 3) {
    if (std::isnan(value)) return QStringLiteral("NaN");
    QString text = signedNumber(value, digits);
    if (text.startsWith(u'+')) text.remove(0, 1);
    return text;
}

/// The name of a relation that was fitted afterwards, its file's; empty for a map of the model.
QString fittedName(const ViewMaps& maps, const MapId& id) {
    const RelationMap* map =
        id.kind == MapKind::Relation ? maps.find(id.kind, id.layer, id.index) : nullptr;
    return map ? QFileInfo(QString::fromStdString(map->fitted)).completeBaseName() : QString();
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
        case Processing::Sign:
            return QStringLiteral("sign ");
        default:
            return {};
    }
}

/// Whether the values are rows of a library, not weights.
bool rowsOfLibrary(const ViewMaps& maps, const InspectorView& view) {
    if (view.kind != MapKind::Symbols || !maps.result()) return false;
    const RelationMap* map = maps.find(view.kind, view.layer, view.index);
    return map && map->libraryRows;
}

}  // namespace

QString itemLabel(const ViewMaps& maps, const MapId& id) {
    if (const QString name = fittedName(maps, id); !name.isEmpty())
        return QStringLiteral("fitted: ") + name;
    return (relationKind(id.kind) ? QStringLiteral("r %1") : QStringLiteral("head %1"))
        .arg(id.index + 1);
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

bool hasOneKindOfHead(const ViewMaps& maps) {
    return !maps.has(MapKind::RelationalAttention);
}

QString sensoryTitle(const ViewMaps& maps, int layer) {
    return maps.layerName(layer).contains(QLatin1String("cross"))
               ? QStringLiteral("Cross attention")
           : hasOneKindOfHead(maps) ? QStringLiteral("Attention")
                                    : QStringLiteral("Sensory attention");
}

QString mapTitle(const ViewMaps& maps, const InspectorView& view) {
    if (const QString name = fittedName(maps, {view.kind, view.layer, view.index}); !name.isEmpty())
        return QStringLiteral("Fitted: ") + name;
    return view.kind == MapKind::SensoryAttention
               ? sensoryTitle(maps, view.layer) + QStringLiteral(" %1").arg(view.index + 1)
               : mapTitle(view);
}

QString mapSubTitle(const ViewMaps& maps, const InspectorView& view, const MapValues& values) {
    if (values.empty() || !maps.result()) return {};
    const QString size = QStringLiteral("%1 \u00D7 %2").arg(values.rows).arg(values.columns);
    const int rows = maps.rowSide(view);
    const int columns = maps.columnSide(view);
    if (columns < 0) return size + QStringLiteral(", rows i, columns symbols");
    const QString padding =
        maps.paddingLeftOut() > 0 && columns != 1
            ? QStringLiteral(", without %1 padding tokens").arg(maps.paddingLeftOut())
            : QString();
    if (rows == columns) return size + QStringLiteral(", rows i, columns j") + padding;
    return size +
           QStringLiteral(", rows i %1, columns j %2")
               .arg(sideWord(*maps.result(), rows), sideWord(*maps.result(), columns)) +
           padding;
}

QString rowName(const ViewMaps& maps, const InspectorView& view, int i) {
    return maps.result() ? objectName(*maps.result(), maps.rowSide(view), i) : QString();
}
QString columnName(const ViewMaps& maps, const InspectorView& view, int j) {
    const int side = maps.columnSide(view);
    if (side < 0) return QStringLiteral("symbol %1").arg(j);
    return maps.result() ? objectName(*maps.result(), side, j) : QString();
}

QString scaleCaption(const ViewMaps& maps, const InspectorView& view) {
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
            what = rowsOfLibrary(maps, view) ? QStringLiteral("row of the symbol library")
                                             : QStringLiteral("weight of the symbol");
            break;
        default:
            what = QChar(0x03B1) + pair;
            break;
    }
    if (view.shown == Shown::Difference) what = QStringLiteral("change of %1").arg(what);
    if (view.processing == Processing::TopK)
        what += QStringLiteral(", top %1 per row").arg(view.topK);
    const QString ends = !maps.isRobust(view)       ? QString()
                         : ViewMaps::isSigned(view) ? QStringLiteral(", 2nd to 98th percentile")
                                                    : QStringLiteral(", up to the 98th percentile");
    if (view.shown == Shown::Difference) return what;
    const bool shared = view.range == Range::Fixed || maps.sharesScale(view);
    switch (shared ? view.range : Range::ThisMap) {
        case Range::ThisMap:
            return what + QStringLiteral(", scale of this map") + ends;
        case Range::ThisLayer:
            return what + QStringLiteral(", scale of the layer") + ends;
        case Range::WholeModel:
            return what + QStringLiteral(", scale of the model") + ends;
        case Range::Fixed:
            return what + QStringLiteral(", fixed scale");
    }
    return what;
}

QString saturationText(const InspectorView& view, const MapValues& values) {
    const double fraction = saturatedFraction(values, ViewMaps::processing(view));
    return fraction > 0.5 ? QStringLiteral("%1 % saturated").arg(qFloor(100 * fraction))
                          : QString();
}

QString footerText(const ViewMaps& maps, const InspectorView& view, int i, int j, bool rich,
                   const ViewMaps* before) {
    if (!maps.result() || maps.count(view.kind, view.layer) == 0) return {};
    const RelationMap* map =
        maps.find(relationKind(view.kind) ? MapKind::Relation : view.kind, view.layer, view.index);
    // The names come from data: a token "<b>" must not be interpreted as rich text.
    const auto plain = [rich](const QString& text) { return rich ? text.toHtmlEscaped() : text; };
    QStringList parts{plain(maps.layerName(view.layer))};
    switch (view.kind) {
        case MapKind::Relation:
            parts << (map && !map->fitted.empty()
                          ? plain(itemLabel(maps, {view.kind, view.layer, view.index}))
                          : QStringLiteral("relation %1").arg(view.index + 1));
            break;
        case MapKind::AttentionTimesRelation:
            parts << QStringLiteral("relation %1").arg(view.index + 1)
                  << QStringLiteral("head %1").arg(view.head + 1);
            break;
        case MapKind::RelationalAttention:
            parts << QStringLiteral("relational head %1").arg(view.index + 1);
            break;
        case MapKind::SensoryAttention:
            // Attention to another sequence is neither sensory nor relational.
            parts << (maps.rowSide(view) == maps.columnSide(view) && !hasOneKindOfHead(maps)
                          ? QStringLiteral("sensory head %1")
                          : QStringLiteral("head %1"))
                         .arg(view.index + 1);
            break;
        case MapKind::Symbols:
            parts << QStringLiteral("symbols");
            break;
    }
    const QString there = maps.columnSide(view) < 0
                              ? columnName(maps, view, j)
                              : QStringLiteral("j = ") + columnName(maps, view, j);
    parts << QStringLiteral("i = %1 %2 %3")
                 .arg(plain(rowName(maps, view, i)),
                      QChar(maps.isTransposed(view) ? 0x2192 : 0x2190), plain(there));
    const auto strong = [rich](const QString& text) {
        return rich ? QStringLiteral("<b>%1</b>").arg(text) : text;
    };
    if (maps.masked(view, i, j)) return parts.join(dot) + dot + strong(QStringLiteral("masked"));

    const float r = maps.number(MapKind::Relation, view.index, view, i, j);
    const float alpha = maps.number(MapKind::RelationalAttention, view.head, view, i, j);
    // "+1.283 -> +0.000" where edits change the value.
    const auto changed = [&](const QString& now, const QString& then) {
        return before && then != now ? then + QStringLiteral(" \u2192 ") + now : now;
    };
    // One of two models may have no such map.
    const auto number = [&](MapKind kind, int index) {
        const auto of = [&](const ViewMaps& from) {
            if (!from.find(kind, view.layer, index)) return QStringLiteral("none");
            const bool relation = kind == MapKind::Relation;
            // Large maps are read row by row from a file.
            const float value =
                relation && &from == &maps ? r : from.number(kind, index, view, i, j);
            // Objects that a fitted relation has no mean of, as the class token.
            if (map && !map->fitted.empty() && std::isnan(value)) return QStringLiteral("no value");
            return relation ? signedNumber(value) : plainNumber(value);
        };
        return changed(of(maps), before ? of(*before) : QString());
    };
    const int heads = maps.count(MapKind::RelationalAttention, view.layer);
    const auto alphaText = [&] {
        const QString text =
            QStringLiteral("alpha = ") + number(MapKind::RelationalAttention, view.head);
        return heads > 1 && view.kind == MapKind::Relation
                   ? text + QStringLiteral(" (head %1)").arg(view.head + 1)
                   : text;
    };
    switch (view.kind) {
        case MapKind::Relation: {
            parts << strong(QStringLiteral("r = ") + number(MapKind::Relation, view.index));
            const Processing p = ViewMaps::processing(view);
            if (p == Processing::Tanh)
                parts << QStringLiteral("tanh r = ") + signedNumber(processedValue(r, p));
            if (p == Processing::Sigmoid)
                parts << QStringLiteral("sigmoid r = ") + plainNumber(processedValue(r, p));
            if (p == Processing::SoftmaxOverJ && map)
                parts << QStringLiteral("softmax r = ") + plainNumber(maps.value(view, i, j));
            if (heads > 0) parts << alphaText();
            break;
        }
        case MapKind::AttentionTimesRelation:
            parts << strong(QStringLiteral("alpha \u00D7 r = ") + signedNumber(alpha * r))
                  << QStringLiteral("r = ") + number(MapKind::Relation, view.index) << alphaText();
            break;
        case MapKind::RelationalAttention:
        case MapKind::SensoryAttention:
            parts << strong(QStringLiteral("alpha = ") + number(view.kind, view.index));
            break;
        case MapKind::Symbols: {
            const float value = maps.number(view.kind, view.index, view, i, j);
            parts << strong(rowsOfLibrary(maps, view)
                                ? QStringLiteral("row %1 of the library").arg(value, 0, 'f', 0)
                                : QStringLiteral("weight = ") + number(view.kind, view.index));
            break;
        }
    }
    return parts.join(dot);
}

QString answerText(const ProbeResult& result, const ProbeResult* before, bool rich,
                   bool withLabel) {
    const auto& classes = result.classNames;
    const auto nameOf = [&](qint64 k) {
        const bool known = k >= 0 && k < std::ssize(classes);
        const QString name = known ? QString::fromStdString(classes[static_cast<std::size_t>(k)])
                                   : QString::number(k);
        return rich ? QStringLiteral("<b>") + name.toHtmlEscaped() + QStringLiteral("</b>") : name;
    };
    const auto best = [](const std::vector<float>& p) {
        return std::max_element(p.begin(), p.end()) - p.begin();
    };
    const auto answer = [&](const std::vector<float>& p) {
        const auto k = best(p);
        return QStringLiteral("%1 %2").arg(nameOf(k)).arg(
            static_cast<double>(p[static_cast<std::size_t>(k)]), 0, 'f', 3);
    };
    if (result.probabilities.empty()) return {};
    QStringList parts;
    const auto label = static_cast<qint64>(result.sample.label);
    if (label >= 0 && withLabel) parts << QStringLiteral("true: ") + nameOf(label);
    QString text = result.sample.target.size() > 0 ? QStringLiteral("after the last token: ")
                                                   : QStringLiteral("answer: ");
    if (before && before->probabilities.size() == result.probabilities.size())
        text += answer(before->probabilities) + QStringLiteral(" \u2192 ");
    text += answer(result.probabilities);
    if (label >= 0)
        text += best(result.probabilities) == label ? QStringLiteral(" \u2713")
                                                    : QStringLiteral(" \u2717");
    return (parts << text).join(QStringLiteral(" \u00B7 "));
}

QString mapCsv(const ViewMaps& maps, const InspectorView& view) {
    const MapValues values = maps.values(view);
    if (values.empty() || !maps.result()) return {};
    QString text = QStringLiteral("i");
    for (int j = 0; j < values.columns; ++j) text += u',' + csvField(columnName(maps, view, j));
    text += u'\n';
    for (int i = 0; i < values.rows; ++i) {
        text += csvField(rowName(maps, view, i));
        for (int j = 0; j < values.columns; ++j) {
            text += u',';
            if (!values.masked(i, j))
                text += QString::number(static_cast<double>(values.at(i, j)), 'g', 9);
        }
        text += u'\n';
    }
    return text;
}

QString computingText(const ViewMaps& maps) {
    if (!maps.result() || !maps.result()->partial) return {};
    const int layers = maps.layers();
    return QStringLiteral("Computing layer %1 of %2 \u2026")
        .arg(qMin(maps.computedLayers() + 1, layers))
        .arg(layers);
}

QString absenceReason(const ViewMaps& maps, MapKind kind) {
    if (maps.has(kind) || (maps.result() && maps.result()->partial)) return {};
    switch (kind) {
        case MapKind::Relation:
            return QStringLiteral("This model has no relations: it has no relational heads");
        case MapKind::RelationalAttention:
            return QStringLiteral("This model has no relational heads");
        case MapKind::SensoryAttention:
            return QStringLiteral("This model has no sensory heads");
        case MapKind::AttentionTimesRelation:
            return QStringLiteral(
                "Needs relations and relational heads; this model does not have both");
        case MapKind::Symbols:
            return QStringLiteral(
                "This model has no symbols, or they are not retrieved by content or position");
    }
    return {};
}

QString layerAbsence(const ViewMaps& maps, MapKind kind, int layer) {
    if (maps.awaited(layer)) return computingText(maps);
    const bool cross = maps.layerName(layer).contains(QLatin1String("cross"));
    if (cross && kind != MapKind::SensoryAttention)
        return QStringLiteral("None: attention between two sequences has no relations");
    switch (kind) {
        case MapKind::Relation:
            return maps.count(MapKind::RelationalAttention, layer) == 0
                       ? QStringLiteral("None: no relational heads")
                       : QStringLiteral(
                             "None: the relations of this layer are its attention scores");
        case MapKind::RelationalAttention:
            return maps.count(MapKind::Relation, layer) == 0
                       ? QStringLiteral("None: no relational heads")
                       : QStringLiteral(
                             "None: the relations are used as they are, without attention");
        default:
            return QStringLiteral("None: no sensory heads");
    }
}

}  // namespace relascope::widgets
