// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/analysis/heads_view.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <QVBoxLayout>

#include "widgets/analysis/lens_view.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

QString share(double value) {
    return std::isfinite(value) ? QString::number(value, 'f', 2) : QString(QChar(0x2014));
}

/// The heads of an answer by their layer and column: sensory ones before relational ones.
struct HeadCells {
    explicit HeadCells(const Table& heads) : links(heads.links) {
        for (const auto& link : links) {
            auto& most = link.kind == MapKind::RelationalAttention ? relational : sensory;
            most = std::max(most, link.index + 1);
        }
        for (std::size_t k = 0; k < links.size(); ++k) rows[{links[k].layer, column(links[k])}] = k;
    }
    int column(const MapLink& link) const {
        return link.index + (link.kind == MapKind::RelationalAttention ? sensory : 0);
    }
    /// -1: there is none.
    int rowAt(int layer, int column) const {
        const auto at = rows.find({layer, column});
        return at == rows.end() ? -1 : static_cast<int>(at->second);
    }
    std::vector<MapLink> links;
    int sensory = 0, relational = 0;
    std::map<std::pair<int, int>, std::size_t> rows;
};

std::vector<GridPanel> panelsOf(const Answer& answer) {
    const auto& table = answer.table("heads");
    const auto heads = std::make_shared<HeadCells>(table);
    const auto &measures = answer.table("even").texts("measure"),
               &layers = answer.table("layers").texts("name");
    const auto& even = answer.table("even").numbers("value");
    QStringList rows, columns;
    for (std::size_t k = 0; k < layers.size(); ++k) rows << QString::number(k + 1);
    for (int k = 0; k < heads->sensory + heads->relational; ++k) columns << QString::number(k + 1);
    std::vector<GridPanel> panels;
    const auto readings = std::make_shared<std::vector<std::string>>(table.texts("reading"));
    for (std::size_t m = 0; m < measures.size(); ++m) {
        const auto values = std::make_shared<std::vector<double>>(table.numbers(measures[m]));
        const QString name = shownText(measures[m]);
        GridPanel panel{name.left(1).toUpper() + name.mid(1),
                        QStringLiteral("even: %1").arg(share(even[m])), rows, columns};
        panel.groups = {{{"sensory heads", "sensory", "S"}, heads->sensory},
                        {{"relational heads", "relational", "R"}, heads->relational}};
        std::erase_if(panel.groups, [](const GridGroup& group) { return group.columns == 0; });
        panel.cell = [heads, values](int layer, int column) {
            const int row = heads->rowAt(layer, column);
            if (row < 0) return GridCell{.present = false};
            const double value = (*values)[static_cast<std::size_t>(row)];
            return GridCell{value, share(value)};
        };
        panel.text = [heads, values, readings, layers, name, flat = even[m]](int layer,
                                                                             int column) {
            const auto row = static_cast<std::size_t>(std::max(0, heads->rowAt(layer, column)));
            const auto& link = heads->links[row];
            return QStringLiteral("%1, %2 head %3: %4 %5; even attention %6")
                       .arg(shownText(layers[static_cast<std::size_t>(layer)]),
                            link.kind == MapKind::RelationalAttention ? QStringLiteral("relational")
                                                                      : QStringLiteral("sensory"))
                       .arg(link.index + 1)
                       .arg(name, share((*values)[row]), share(flat)) +
                   ((*readings)[row].empty()
                        ? QString()
                        : QStringLiteral("; it ") + shownText((*readings)[row]));
        };
        panels.push_back(std::move(panel));
    }
    return panels;
}

}  // namespace

HeadsView::HeadsView(QWidget* parent)
    : AnswerView(QStringLiteral("Head measures"), QStringLiteral("heads"), parent),
      m_grid(new GridView({.fill = probabilityTint, .beside = true},
                          QStringLiteral("Head measures"), this)),
      m_footer(addFooter()) {
    content()->insertWidget(0, m_grid, 1);
    const auto show = [this](const GridPlace& place) {
        const QString text = m_grid->text(place.panel < 0 ? m_grid->current() : place);
        m_footer->setText(!text.isEmpty()
                              ? text
                              : QStringLiteral("Mean attention of each head to places of a kind, "
                                               "from 0 (light) to 1. A click shows the head in "
                                               "the inspector."));
    };
    connect(m_grid, &GridView::hovered, this, show);
    connect(m_grid, &GridView::chosen, this, [this, show](const GridPlace& place) {
        show(place);
        const HeadCells heads(answer().table("heads"));
        const int row = heads.rowAt(place.row, place.column);
        if (row < 0) return;
        const auto& link = heads.links[static_cast<std::size_t>(row)];
        Q_EMIT mapRequested(link.kind, link.layer, link.index);
    });
    show({});
    AnswerView::clear(QStringLiteral("Open a language or vision model first."));
}

QString HeadsView::footerText() const {
    return m_footer->text();
}

void HeadsView::fill(const Answer& answer) {
    if (answer.tables.empty()) return m_grid->setPanels({});
    m_grid->setPanels(panelsOf(answer));
    head()->setSubText(QStringLiteral("mean attention over ") + shownText(answer.text("input")));
}

GridPicture HeadsView::laidOut() const {
    GridPicture picture = m_grid->picture();
    picture.fit(1000);
    return picture;
}
void HeadsView::draw(FigureLines& lines) const {
    lines.title(QStringLiteral("Head measures: ") + headText());
    lines.grid(laidOut());
}

}  // namespace relascope::widgets
