// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>

#include <QHeaderView>

#include "types/metric.h"
#include "widgets/analysis/atlas_table.h"
#include "widgets/analysis/measure_frame.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

constexpr int kAtlasRow = 26;

QString tableText(const std::string& text) {
    return QString::fromStdString(text);
}
QString rangeText(const RelationAtlas::Fit& fit) {
    if (std::isnan(fit.untrained)) return QString(QChar(0x2014));
    return QStringLiteral("%1 to %2")
        .arg(atlasNumber(fit.untrainedLow, 2), atlasNumber(fit.untrainedHigh, 2));
}

/// A cell that sorts by its number.
class NumberItem : public QTableWidgetItem {
public:
    NumberItem(const QString& text, double value) : QTableWidgetItem(text) {
        setData(Qt::UserRole, value);
        setFont(numberFont(12));
        setTextAlignment(Qt::AlignVCenter | Qt::AlignRight);
    }
    bool operator<(const QTableWidgetItem& other) const override {
        const double a = data(Qt::UserRole).toDouble(), b = other.data(Qt::UserRole).toDouble();
        return std::isnan(b) ? !std::isnan(a) : a < b;
    }
};

const QStringList& atlasColumns() {
    static const QStringList columns = {QStringLiteral("Map"),      QStringLiteral("Label"),
                                        QStringLiteral("AUC"),      QStringLiteral("Untrained"),
                                        QStringLiteral("Alone"),    QStringLiteral("Layer out"),
                                        QStringLiteral("Symmetry"), QStringLiteral("Rank"),
                                        QStringLiteral("Place"),    QStringLiteral("Pair")};
    return columns;
}

}  // namespace

QString atlasNumber(double value, int digits) {
    if (std::isnan(value)) return QString(QChar(0x2014));
    if (std::isinf(value)) return QString(QChar(0x221E));
    return QString::number(value, 'f', digits);
}

QString symmetryText(double ratio) {
    return std::isinf(ratio) ? QStringLiteral("symmetric") : atlasNumber(ratio, 2);
}

AtlasTable::AtlasTable(QWidget* parent) : QTableWidget(parent) {
    setColumnCount(static_cast<int>(atlasColumns().size()));
    setHorizontalHeaderLabels(atlasColumns());
    layOutTable(*this, kAtlasRow);
    horizontalHeader()->setHighlightSections(false);
    for (int c = 0; c < columnCount(); ++c)
        horizontalHeaderItem(c)->setTextAlignment(Qt::AlignVCenter |
                                                  (c < 2 ? Qt::AlignLeft : Qt::AlignRight));
}

void AtlasTable::fill(const RelationAtlas& atlas, int most) {
    const bool sorted = isSortingEnabled();
    setSortingEnabled(false);
    const int rows = std::min(most, static_cast<int>(atlas.relations.size()));
    setRowCount(rows);
    const MetricText metric(atlas.metric.empty() ? "accuracy" : std::string_view(atlas.metric));
    for (int row = 0; row < rows; ++row) {
        const auto& r = atlas.relations[static_cast<std::size_t>(row)];
        const auto put = [&](int column, QTableWidgetItem* item) {
            item->setToolTip(item->text());
            setItem(row, column, item);
        };
        auto* name = new QTableWidgetItem(tableText(r.name));
        name->setData(Qt::UserRole + 1, row);
        name->setFont(smallFont());
        put(0, name);
        auto* label = new QTableWidgetItem(tableText(r.label));
        label->setFont(smallFont());
        if (r.labelled < 0) label->setForeground(Theme::current().muted);
        put(1, label);
        const RelationAtlas::Fit* fit =
            r.attribute < 0 ? nullptr : &r.fits[static_cast<std::size_t>(r.attribute)];
        put(2, new NumberItem(atlasNumber(fit ? fit->fixed : NAN, 3), fit ? fit->fixed : NAN));
        if (fit)
            item(row, 2)->setToolTip(
                tableText(atlas.attributes[static_cast<std::size_t>(r.attribute)].name));
        put(3, new NumberItem(fit ? rangeText(*fit) : atlasNumber(NAN, 2),
                              fit ? fit->untrained : NAN));
        // The larger of the two replacements.
        double alone = NAN, group = NAN;
        for (const auto& use : r.uses) {
            if (!(std::abs(use.change) <= std::abs(alone))) alone = use.change;
            if (!(std::abs(use.groupChange) <= std::abs(group))) group = use.groupChange;
        }
        put(4, new NumberItem(metric.change(alone), alone));
        put(5, new NumberItem(metric.change(group), group));
        put(6, new NumberItem(symmetryText(r.symmetry), r.symmetry));
        put(7, new NumberItem(atlasNumber(r.rank, 2), r.rank));
        for (const auto& [column, share] : {std::pair(8, 0U), std::pair(9, 4U)}) {
            const double value = share < r.shares.size() ? r.shares[share] : NAN;
            put(column, new NumberItem(std::isnan(value)
                                           ? atlasNumber(value, 0)
                                           : atlasNumber(100.0 * value, 0) + QStringLiteral(" %"),
                                       value));
        }
    }
    setSortingEnabled(sorted);
}

int AtlasTable::relationOfRow(int row) const {
    const auto* name = item(row, 0);
    return name ? name->data(Qt::UserRole + 1).toInt() : -1;
}

void AtlasTable::fit(int width) {
    constexpr int names = 170, numbers = 78, untrained = 96;
    // A label is read whole; the numbers behind it scroll.
    constexpr int longest = 420;
    int wanted = 180;
    for (int row = 0; row < rowCount(); ++row)
        if (const auto* label = item(row, 1))
            wanted = std::max(wanted, fontMetrics().horizontalAdvance(label->text()) + 24);
    const int label =
        std::max(std::min(wanted, longest), width - names - untrained - 7 * numbers - 24);
    for (int c = 0; c < columnCount(); ++c)
        setColumnWidth(c, c == 0 ? names : c == 1 ? label : c == 3 ? untrained : numbers);
}

}  // namespace relascope::widgets
