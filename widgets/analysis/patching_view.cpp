// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/analysis/patching_view.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <QEvent>
#include <QVBoxLayout>

#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

const char* const kPatchScale = "share of the way from B to A, 0: as B, +1: as A";

/// "Residual stream before the layer", "Relational heads".
QString patchMapTitle(const QString& over, const QString& point) {
    static const QHash<QString, QString> titles = {
        {"hook_resid_pre", "Residual stream before the layer"},
        {"hook_attn_out", "Attention"},
        {"hook_mlp_out", "Feed-forward"},
        {"attn.hook_z", "Sensory heads"},
        {"rel.hook_z", "Relational heads"},
        {"rca.hook_z", "Heads of relational cross-attention"},
        {"cross_attn.hook_z", "Cross heads"},
        {"rel.hook_r", "Relations"},
        {"rca.hook_r", "Relations of relational cross-attention"}};
    if (over.startsWith(QLatin1String("cells:")))
        return QStringLiteral("Cells of %1, rows i, columns j").arg(point);
    return titles.value(point, point);
}

/// "position", "head", "relation".
QString patchColumnName(const QString& over) {
    if (over == QLatin1String("heads") || over == QLatin1String("relations"))
        return over.chopped(1);
    return over.startsWith(QLatin1String("cells:")) ? QStringLiteral("j")
                                                    : QStringLiteral("position");
}

/// "1,2" of "patch (1, 2)", "cls" of "class token": what fits below a column, as beside a map.
/// Other places have their names.
QString placeHead(const QString& place) {
    if (place == QLatin1String("class token")) return QStringLiteral("cls");
    const QLatin1String patch("patch (");
    return place.startsWith(patch) ? place.mid(patch.size()).chopped(1).remove(u' ') : place;
}

QString shortValue(double value) {
    return signedText(value, std::abs(value) >= 100 ? 0 : std::abs(value) >= 10 ? 1 : 2);
}

/// The cells of all maps, which the panels share.
struct PatchCells {
    std::vector<double> exact, estimate;
    bool isExact(std::size_t k) const { return !std::isnan(exact[k]); }
    double value(std::size_t k) const { return isExact(k) ? exact[k] : estimate[k]; }
};

std::vector<GridPanel> panelsOf(const Answer& answer, const std::shared_ptr<PatchCells>& cells) {
    const auto &maps = answer.table("maps"), &table = answer.table("cells");
    const auto &rowNames = table.texts("row"), &columnNames = table.texts("column");
    const auto& named = answer.table("positions");
    const bool places = named.find("place");
    QStringList positions;
    for (const auto& name : named.texts(places ? "place" : "input")) positions << answerText(name);
    std::vector<GridPanel> panels;
    std::size_t begin = 0;
    for (std::size_t m = 0; m < maps.rows(); ++m) {
        const auto rows = static_cast<std::size_t>(indexOf(maps.numbers("rows")[m])),
                   columns = static_cast<std::size_t>(indexOf(maps.numbers("columns")[m]));
        if (columns > 0 && rows > (table.rows() - begin) / columns)
            throw Error("the maps of an answer have more cells than it holds");
        const QString over = shownText(maps.texts("over")[m]),
                      point = shownText(maps.texts("point")[m]);
        GridPanel panel;
        panel.title = patchMapTitle(over, point);
        panel.note = panel.title == point ? QString() : point;
        panel.columnName = patchColumnName(over);
        for (std::size_t r = 0; r < rows; ++r)
            panel.rows << blockTitle(rowNames[begin + r * columns]);
        for (std::size_t c = 0; rows > 0 && c < columns; ++c)
            panel.columns << shownText(columnNames[begin + c]);
        if (panel.columnName == QLatin1String("position") &&
            positions.size() >= panel.columns.size())
            for (const auto& name : std::as_const(positions)) panel.inputs << placeHead(name);
        const auto at = [begin, columns](int row, int column) {
            return begin + static_cast<std::size_t>(row) * columns +
                   static_cast<std::size_t>(column);
        };
        panel.cell = [cells, at](int row, int column) {
            const double value = cells->value(at(row, column));
            return std::isnan(value) ? GridCell{.value = value}
                                     : GridCell{.value = value,
                                                .text = shortValue(value),
                                                .hatched = !cells->isExact(at(row, column))};
        };
        panel.text = [cells, at, title = panel.title, name = panel.columnName, rows = panel.rows,
                      columns = panel.columns,
                      inputs = panel.inputs.isEmpty() ? QStringList() : positions,
                      places](int row, int column) {
            const bool place = places && !inputs.isEmpty();
            QString where = QStringLiteral("%1: %2, ").arg(title, rows[row]) +
                            (place ? inputs[column] : name + u' ' + columns[column]);
            if (!inputs.isEmpty() && !place)
                where += QStringLiteral(" \u201C%1\u201D").arg(inputs[column]);
            const auto k = at(row, column);
            const double exact = cells->exact[k], estimate = cells->estimate[k];
            if (std::isnan(exact) && std::isnan(estimate)) return where + QStringLiteral(": none");
            if (std::isnan(exact))
                return QStringLiteral("%1: about %2 (estimate)")
                    .arg(where, signedText(estimate, 3));
            return QStringLiteral("%1: %2 (estimate %3)")
                .arg(where, signedText(exact, 3), signedText(estimate, 3));
        };
        begin += rows * columns;
        panels.push_back(std::move(panel));
    }
    return panels;
}

}  // namespace

PatchingView::PatchingView(QWidget* parent)
    : AnswerView(QStringLiteral("Patching"), QStringLiteral("patching"), parent),
      m_scale(std::make_shared<ColorScale>()),
      m_bar(new ColorBar(this)),
      m_grid(new GridView(
          {.fill = [scale = m_scale](double value) { return scale->color(float(value)); },
           .leastCell = 9,
           .mostCell = 46,
           .rowHeight = 22,
           .numbersFrom = 40},
          QStringLiteral("Patching maps"), this)),
      m_footer(addFooter(m_bar)) {
    m_footer->setFont(numberFont(12));
    content()->insertWidget(0, m_grid, 1);
    const auto show = [this](const GridPlace& place) {
        m_footer->setText(m_grid->text(place.panel < 0 ? m_grid->current() : place));
        m_bar->setMark(place.panel < 0 ? std::numeric_limits<float>::quiet_NaN()
                                       : static_cast<float>(
                                             m_grid->panels()[static_cast<std::size_t>(place.panel)]
                                                 .cell(place.row, place.column)
                                                 .value));
    };
    connect(m_grid, &GridView::hovered, this, show);
    connect(m_grid, &GridView::chosen, this, show);
    AnswerView::clear(QStringLiteral("Choose a second input: drop it here with Shift."));
}

QString PatchingView::footerText() const {
    return m_footer->text();
}

void PatchingView::fill(const Answer& answer) {
    m_footer->setText({});
    if (answer.tables.empty()) return m_grid->setPanels({});
    const auto cells = std::make_shared<PatchCells>();
    cells->exact = answer.table("cells").numbers("exact");
    cells->estimate = answer.table("cells").numbers("estimate");
    m_grid->setPanels(panelsOf(answer, cells));
    m_most = 0.0;
    for (std::size_t k = 0; k < cells->exact.size(); ++k)
        if (const double value = cells->value(k); std::isfinite(value))
            m_most = std::max(m_most, std::abs(value));
    restyle();
    QString sub = QStringLiteral("%1: A %2, B %3")
                      .arg(shownText(answer.text("metric")), signedText(answer.number("clean"), 3),
                           signedText(answer.number("corrupted"), 3));
    const auto done = indexOf(answer.number("done")), total = indexOf(answer.number("total"));
    const double agreement = answer.number("agreement");
    if (total == 0) {
        sub += QStringLiteral("; estimates only");
    } else {
        sub +=
            QStringLiteral("; %1 of %2 cells exact").arg(groupedNumber(done), groupedNumber(total));
        if (done >= 3 && !std::isnan(agreement))
            sub +=
                QStringLiteral(", correlation with their estimates %1").arg(agreement, 0, 'f', 2);
    }
    head()->setSubText(sub);
}

void PatchingView::restyle() {
    const auto limit = static_cast<float>(m_most > 0 ? m_most : 1.0);
    *m_scale = ColorScale(ColorScale::Kind::Signed, {-limit, limit}, Theme::current());
    m_bar->setScale(*m_scale);
    m_bar->setCaption(QLatin1String(kPatchScale));
}

void PatchingView::changeEvent(QEvent* event) {
    AnswerView::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && m_bar) restyle();
}

GridPicture PatchingView::laidOut() const {
    GridPicture picture = m_grid->picture();
    picture.fit(900);
    return picture;
}
void PatchingView::draw(FigureLines& lines) const {
    lines.title(QStringLiteral("Patching A into B: ") + headText());
    lines.grid(laidOut());
    ColorBar bar;
    bar.setPalette(Theme::current().palette());
    bar.setScale(*m_scale);
    bar.setCaption(QLatin1String(kPatchScale));
    bar.resize(380, bar.sizeHint().height());
    lines.part(bar.height(), [&](QPainter& painter) {
        bar.render(&painter, QPoint(FigureLines::kMargin, 0), QRegion(), QWidget::DrawChildren);
    });
}

}  // namespace relascope::widgets
