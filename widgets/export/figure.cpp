// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/export/figure.h"

#include <QFileInfo>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QVBoxLayout>
#include <limits>

#include "widgets/export/export.h"
#include "widgets/inspector/layer_maps.h"
#include "widgets/inspector/map_pane.h"
#include "widgets/inspector/view_text.h"
#include "widgets/maps/color_bar.h"
#include "widgets/maps/map_view.h"
#include "widgets/maps/multiples_view.h"
#include "widgets/source/patch_view.h"
#include "widgets/source/sides.h"
#include "widgets/source/text_pair.h"
#include "widgets/source/token_strip.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

QString captionOf(const ProbeResult& result, const QString& run) {
    QString text = run.isEmpty() ? QString() : run + QStringLiteral(" \u00B7 ");
    text += QStringLiteral("step ") + groupedNumber(result.step);
    if (!result.sample.origin.empty())
        text += QStringLiteral(" \u00B7 sample ") + QString::fromStdString(result.sample.origin);
    const auto label = result.sample.label;
    if (label >= 0 && label < static_cast<std::int64_t>(result.classNames.size()))
        text += QStringLiteral(" \u00B7 label ") +
                QString::fromStdString(result.classNames[static_cast<std::size_t>(label)]);
    for (std::size_t k = 0;
         k < result.probabilities.size() && k < result.classNames.size() && k < 3; ++k)
        text += QStringLiteral(" \u00B7 p(%1) = %2")
                    .arg(QString::fromStdString(result.classNames[k]))
                    .arg(result.probabilities[k], 0, 'f', 3);
    return text;
}

/// The name of an axis of a map, upright beside its rows or above its columns.
class AxisTitle : public QWidget {
public:
    AxisTitle(const QString& text, bool upright, QWidget* parent)
        : QWidget(parent), m_text(text), m_upright(upright) {
        const QSize size(QFontMetrics(captionFont()).horizontalAdvance(text) + 4, 16);
        upright ? setFixedWidth(size.height()) : setFixedHeight(size.height());
    }

protected:
    void paintEvent(QPaintEvent*) override {
        QPainter painter(this);
        painter.setFont(captionFont());
        painter.setPen(Theme::current().muted);
        if (!m_upright) return painter.drawText(rect(), Qt::AlignCenter, m_text);
        painter.translate(0, height());
        painter.rotate(-90);
        painter.drawText(QRect(0, 0, height(), width()), Qt::AlignCenter, m_text);
    }

private:
    QString m_text;
    bool m_upright;
};

/// The figure as a widget, so that it is drawn by the same code as in the window.
class Figure : public QWidget {
public:
    Figure(const ViewMaps& maps, const InspectorView& view, FigureParts parts, const QString& run,
           const LayerMaps* small = nullptr) {
        setAutoFillBackground(true);
        QPalette p = Theme::current().palette();
        p.setColor(QPalette::Window, Theme::current().panel);
        setPalette(p);
        setAccessibleName(mapTitle(maps, view));
        auto* column = columnOf(this, {20, 16, 20, 16}, 10);
        auto* row = new QHBoxLayout;
        row->setSpacing(28);
        const ProbeResult& result = *maps.result();
        if (parts & FigurePart::Source) addSource(row, maps, view);
        if (parts & FigurePart::Map) addMap(row, maps, view);
        if (parts & FigurePart::SmallMaps) addSmallMaps(row, maps, view, small);
        column->addLayout(row);

        const auto line = [&](const QString& text, QPalette::ColorRole role) {
            auto* label = new QLabel(text, this);
            label->setTextFormat(Qt::PlainText);
            label->setFont(numberFont(12));
            label->setForegroundRole(role);
            label->setWordWrap(true);
            column->addWidget(label);
        };
        if (parts & ~FigureParts(FigurePart::SmallMaps))
            line(footerText(maps, view, view.source, view.target), QPalette::WindowText);
        line(captionOf(result, run), QPalette::PlaceholderText);
        // The widget is never shown, so its layout must be activated explicitly.
        layout()->activate();
        const QSize hint = layout()->sizeHint();
        resize(hint.width(), qMax(hint.height(), layout()->heightForWidth(hint.width())));
        ensurePolished();
        layout()->setGeometry(rect());
    }

private:
    void addSource(QHBoxLayout* row, const ViewMaps& maps, const InspectorView& view) {
        const ProbeResult& result = *maps.result();
        const ColorScale scale = maps.scale(view);
        const int rows = maps.rowSide(view);
        const int columns = maps.columnSide(view);
        MapValues::Row towards = maps.row(view, view.source);
        const bool objects =
            columns >= 0 && static_cast<int>(towards.values.size()) == maps.objects(columns);
        if (!objects) towards = {};
        const auto link = [&](LinkedView& sender, LinkedView& receiver) {
            sender.setNumberDigits(2, ViewMaps::isSigned(view));
            sender.setValues(towards.values, towards.masked, scale);
            receiver.setSource(view.source);
            sender.setTarget(objects ? view.target : -1);
        };

        if (!result.sample.image.empty()) {
            auto* patches = new PatchView(this);
            patches->setFixedSize(360, 410);
            patches->setImage(result.sample.image, result.grid);
            patches->setTargetsOnly(!isPatchSide(result, rows));
            link(*patches, *patches);
            row->addWidget(patches, 0, Qt::AlignTop);
        } else if (const ProbeSequence* text = textAlong(result, rows);
                   text && (columns < 0 || columns == rows)) {
            auto* strip = new TokenStrip(this);
            strip->setTokens(text->labels);
            link(*strip, *strip);
            strip->setFixedWidth(420);
            strip->resize(420, 40);  // wraps the text, which determines its height
            strip->setFixedHeight(qMax(40, strip->contentHeight()));
            row->addWidget(strip, 0, Qt::AlignTop);
        } else if (const ProbeSequence* to = columns >= 0 ? textAlong(result, columns) : nullptr;
                   text && to) {
            auto* pair = new TextPair(this);
            pair->setFixedWidth(420);
            pair->setTexts(sideWord(result, rows) + QStringLiteral(" (from)"), text->labels,
                           sideWord(result, columns) + QStringLiteral(" (to)"), to->labels);
            link(*pair->sender(), *pair->receiver());
            pair->resize(420, 400);
            pair->layout()->activate();
            pair->setFixedHeight(pair->contentHeight());
            row->addWidget(pair, 0, Qt::AlignTop);
        } else {
            auto* tiles = new TileView(this);
            fillTiles(*tiles, result, rows, columns);
            link(*tiles, *tiles);
            tiles->setFixedWidth(360);
            tiles->resize(360, 320);  // wraps the rows, which determines their height
            tiles->setFixedHeight(qMax(40, tiles->contentHeight()));
            row->addWidget(tiles, 0, Qt::AlignTop);
        }
    }

    void addMap(QHBoxLayout* row, const ViewMaps& maps, const InspectorView& view) {
        const ProbeResult& result = *maps.result();
        const int rows = maps.rowSide(view);
        const int columns = maps.columnSide(view);
        auto* right = new QGridLayout;
        right->setSpacing(6);
        auto* title = new QLabel(
            mapTitle(maps, view) + QStringLiteral(" of ") + maps.layerName(view.layer), this);
        title->setFont(headFont());
        title->setAlignment(Qt::AlignHCenter);
        right->addWidget(title, 0, 1);
        const auto axis = [&](const char* letter, int side) {
            return QStringLiteral("%1: %2").arg(QLatin1String(letter), sideWord(result, side));
        };
        right->addWidget(
            new AxisTitle(columns < 0 ? QStringLiteral("symbol") : axis("j", columns), false, this),
            1, 1);
        right->addWidget(new AxisTitle(axis("i", rows), true, this), 2, 0);
        auto* map = new MapView(this);
        map->setFixedSize(420, 400);
        right->addWidget(map, 2, 1);
        auto* bar = new ColorBar(this);
        showMap(*map, *bar, maps, view, maps.values(view), maps.ends(view));
        right->addWidget(bar, 3, 1);
        right->setRowStretch(4, 1);
        row->addLayout(right);
    }

    void addSmallMaps(QHBoxLayout* row, const ViewMaps& maps, const InspectorView& view,
                      const LayerMaps* made) {
        auto* small = new MultiplesView(this);
        small->resize(kSmallMapsSize);
        small->grab();  // lays out what is never shown
        showMultiples(
            *small, maps, view,
            made ? *made : layerMaps(maps, view, layerMapsSide(maps, view, kSmallMapsSize)));
        small->clearSecond();
        small->setCurrent(view.kind, -1);  // no frame: nothing is chosen in a figure
        small->setFixedSize(kSmallMapsSize.width(), qMax(60, small->canvas()->minimumHeight()));
        row->addWidget(small, 0, Qt::AlignTop);
    }
};

}  // namespace

std::unique_ptr<QWidget> makeFigure(const ViewMaps& maps, const InspectorView& view,
                                    FigureParts parts, const QString& run, const LayerMaps* small) {
    if (!maps.result() || maps.count(view.kind, view.layer) == 0) return nullptr;
    return std::make_unique<Figure>(maps, view, parts, run, small);
}

QString figureName(const ViewMaps& maps, const InspectorView& view, FigureParts parts,
                   const QString& run) {
    if (!maps.result()) return run;
    QStringList names{run};
    if (maps.result()->step > 0) names << QStringLiteral("step%1").arg(maps.result()->step);
    names << maps.layerName(view.layer).remove(u' ');
    if (parts == FigureParts(FigurePart::SmallMaps)) {
        names << QStringLiteral("maps");
    } else {
        const QString number = QString::number(view.index + 1);
        switch (view.kind) {
            case MapKind::Relation:
                names << QStringLiteral("relation") + number;
                break;
            case MapKind::RelationalAttention:
                names << QStringLiteral("relational-attention") + number;
                break;
            case MapKind::SensoryAttention:
                names << QStringLiteral("sensory-attention") + number;
                break;
            case MapKind::AttentionTimesRelation:
                names << QStringLiteral("attention%1-x-relation").arg(view.head + 1) + number;
                break;
            case MapKind::Symbols:
                names << QStringLiteral("symbols") + number;
                break;
        }
        if (parts == FigureParts(FigurePart::Source)) names << QStringLiteral("source");
        if (parts == FigureParts(FigurePart::Map)) names << QStringLiteral("map");
    }
    return figureFileName(names);
}

bool renderFigure(const ProbeResult& result, const InspectorView& view, const QString& path,
                  QString* error, const QString& run) {
    ViewMaps maps;
    // The caller keeps the result alive for the call; nothing of it is copied.
    maps.setResult(std::shared_ptr<const ProbeResult>(&result, [](const ProbeResult*) {}));
    const InspectorView shown = maps.clamped(view);
    if (maps.count(shown.kind, shown.layer) == 0) {
        if (error) *error = QStringLiteral("%1: the model has no map to draw").arg(path);
        return false;
    }
    if (QFileInfo(path).suffix().toLower() == QLatin1String("csv"))
        return exportCsv(mapCsv(maps, shown), path, error);
    Figure figure(maps, shown, FigurePart::Source | FigurePart::Map, run);
    return exportWidget(figure, path, 300, error);
}

}  // namespace relascope::widgets
