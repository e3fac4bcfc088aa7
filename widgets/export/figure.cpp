// SPDX-License-Identifier: GPL-3.0-or-later
#include <cmath>
#include <limits>
#include <utility>

#include <QFileInfo>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QTextStream>
#include <QVBoxLayout>

#include "widgets/export/export.h"
#include "widgets/export/figure.h"
#include "widgets/inspector/all_maps.h"
#include "widgets/inspector/map_pane.h"
#include "widgets/inspector/view_text.h"
#include "widgets/maps/color_map.h"
#include "widgets/maps/map_view.h"
#include "widgets/source/axis_objects.h"
#include "widgets/source/patch_view.h"
#include "widgets/source/text_outcome.h"
#include "widgets/source/token_strip.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

constexpr std::size_t mostPoints = 500;  // TeX holds every one of them in memory

void head(QTextStream& out, const QString& caption, bool bands) {
    for (const QString& line : caption.split(u'\n'))
        if (!line.isEmpty()) out << "% " << line << '\n';
    out << "% Needs \\usepackage{pgfplots} and \\pgfplotsset{compat=1.16}";
    if (bands) out << " and \\usepgfplotslibrary{fillbetween}";
    out << ".\n";
}

void defineColor(QTextStream& out, const QString& name, const QColor& color) {
    out << "\\definecolor{" << name << "}{HTML}{" << color.name().mid(1).toUpper() << "}\n";
}

void axisOptions(QTextStream& out, const QString& title, const QString& x, const QString& y) {
    out << "  title={" << latexText(title) << "},\n  xlabel={" << latexText(x) << "},\n  ylabel={"
        << latexText(y) << "},\n";
}

void coordinates(QTextStream& out, const std::vector<double>& x, const std::vector<double>& y,
                 const PgfPlot& plot) {
    out << " coordinates {";
    const std::size_t count = std::min(x.size(), y.size());
    const std::size_t stride = 1 + count / mostPoints;
    std::size_t written = 0;
    for (std::size_t k = 0; k < count; ++k) {
        if (k % stride != 0 && k + 1 != count) continue;
        if (plot.logX && !(x[k] > 0.0)) continue;
        out << (written++ % 8 == 0 ? "\n    " : " ") << '(' << x[k] << ',';
        if (std::isnan(y[k]) || (plot.logY && !(y[k] > 0.0)))
            out << "nan";
        else
            out << y[k];
        out << ')';
    }
    out << "\n  };\n";
}

}  // namespace

QString latexText(QString text) {
    text.replace(u'\\', QLatin1String("\\textbackslash "));
    for (const char c : {'&', '%', '$', '#', '_', '{', '}'})
        text.replace(QLatin1Char(c), QStringLiteral("\\") + QLatin1Char(c));
    const std::pair<char16_t, const char*> signs[] = {{u'~', "\\textasciitilde "},
                                                      {u'^', "\\textasciicircum "},
                                                      {0x03B1, "$\\alpha$"},
                                                      {0x2192, "$\\to$"},
                                                      {0x00B1, "$\\pm$"},
                                                      {0x00B7, "$\\cdot$"},
                                                      {0x00D7, "$\\times$"},
                                                      {0x2212, "$-$"},
                                                      {0x2264, "$\\le$"},
                                                      {0x2265, "$\\ge$"},
                                                      {0x00B2, "$^2$"}};
    for (const auto& [sign, command] : signs) text.replace(QChar(sign), QLatin1String(command));
    return text;
}

QString pgfplotsText(const QString& caption, const std::vector<PgfPlot>& plots) {
    QString text;
    QTextStream out(&text);
    out.setRealNumberPrecision(7);
    bool bands = false;
    int colors = 0;
    for (const PgfPlot& plot : plots)
        for (const PgfSeries& series : plot.series) bands |= !series.low.empty();
    head(out, caption, bands);
    for (const PgfPlot& plot : plots)
        for (const PgfSeries& series : plot.series)
            defineColor(out, QStringLiteral("series%1").arg(colors++), series.color);
    out << "\\begin{tikzpicture}\n";
    colors = 0;
    int place = 0;
    for (const PgfPlot& plot : plots) {
        out << "\\begin{axis}[\n";
        axisOptions(out, plot.title, plot.xLabel, plot.yLabel);
        if (plot.logX) out << "  xmode=log,\n";
        if (plot.logY) out << "  ymode=log,\n";
        out << "  xshift=" << 8 * place++ << "cm, width=7cm, height=5cm, unbounded coords=jump,\n"
            << "  axis lines=left, ymajorgrids, legend style={draw=none, font=\\small},\n]\n";
        int band = 0;
        for (const PgfSeries& series : plot.series) {
            const QString color = QStringLiteral("series%1").arg(colors++);
            if (!series.low.empty()) {
                const QString key = QStringLiteral("%1x%2").arg(place).arg(band++);
                for (const bool high : {false, true}) {
                    out << "\\addplot[draw=none, forget plot, name path=" << (high ? "high" : "low")
                        << key << ']';
                    coordinates(out, series.x, high ? series.high : series.low, plot);
                }
                out << "\\addplot[" << color << ", opacity=0.18, forget plot] fill between[of=low"
                    << key << " and high" << key << "];\n";
            }
            out << "\\addplot[" << color << ", thick" << (series.dashed ? ", dashed" : "")
                << ", no marks]";
            coordinates(out, series.x, series.y, plot);
            out << "\\addlegendentry{" << latexText(series.name) << "}\n";
        }
        out << "\\end{axis}\n";
    }
    out << "\\end{tikzpicture}\n";
    out.flush();
    return text;
}

QString pgfplotsText(const QString& caption, const PgfBars& bars) {
    QString text;
    QTextStream out(&text);
    out.setRealNumberPrecision(7);
    head(out, caption, false);
    defineColor(out, QStringLiteral("bars"), bars.color);
    out << "\\begin{tikzpicture}\n\\begin{axis}[\n";
    axisOptions(out, bars.title, bars.xLabel, bars.yLabel);
    out << "  ybar, ymin=0, width=12cm, height=5cm, axis lines=left, ymajorgrids,\n  xtick={";
    for (qsizetype k = 0; k < bars.labels.size(); ++k) out << (k > 0 ? "," : "") << k;
    out << "},\n  xticklabels={";
    for (qsizetype k = 0; k < bars.labels.size(); ++k)
        out << (k > 0 ? "," : "") << '{' << latexText(bars.labels[k]) << '}';
    out << "},\n  x tick label style={rotate=45, anchor=east},\n]\n"
        << "\\addplot[fill=bars, draw=none] coordinates {\n   ";
    for (std::size_t k = 0; k < bars.values.size(); ++k)
        out << " (" << k << ',' << (std::isnan(bars.values[k]) ? 0.0 : bars.values[k]) << ')';
    out << "\n  };\n\\end{axis}\n\\end{tikzpicture}\n";
    out.flush();
    return text;
}

namespace {

QString captionOf(const ProbeResult& result, const FigureSubject& subject) {
    QStringList parts;
    if (!subject.name.isEmpty()) parts << subject.name;
    if (subject.steps) parts << QStringLiteral("step ") + groupedNumber(result.step);
    if (!result.sample.origin.empty())
        parts << QStringLiteral("sample ") + QString::fromStdString(result.sample.origin);
    const auto label = result.sample.label;
    if (label >= 0 && label < static_cast<std::int64_t>(result.classNames.size()))
        parts << QStringLiteral("label ") +
                     QString::fromStdString(result.classNames[static_cast<std::size_t>(label)]);
    for (std::size_t k = 0;
         k < result.probabilities.size() && k < result.classNames.size() && k < 3; ++k)
        parts << QStringLiteral("p(%1) = %2")
                     .arg(QString::fromStdString(result.classNames[k]))
                     .arg(result.probabilities[k], 0, 'f', 3);
    return parts.join(QStringLiteral(" \u00B7 "));
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

void setOnPanel(QWidget& widget) {
    widget.setAutoFillBackground(true);
    QPalette p = Theme::current().palette();
    p.setColor(QPalette::Window, Theme::current().panel);
    widget.setPalette(p);
}

/// A line of a figure.
QLabel* lineOf(const QString& text, const QFont& font, QPalette::ColorRole role, QWidget* parent) {
    auto* label = new QLabel(text, parent);
    label->setTextFormat(Qt::PlainText);
    label->setFont(font);
    label->setForegroundRole(role);
    label->setWordWrap(true);
    return label;
}

/// "Relation 1 of layer 2".
QString titleOf(const ViewMaps& maps, const InspectorView& view) {
    return mapTitle(maps, view) + QStringLiteral(" of ") + maps.layerName(view.layer);
}

/// The figure as a widget, so that it is drawn by the same code as in the window.
class Figure : public QWidget {
public:
    enum class Words { Caption, Title };  ///< below the panels, or above the one of several

    Figure(const ViewMaps& maps, const InspectorView& view, FigureParts parts,
           const FigureSubject& subject, const LayerMaps* small = nullptr,
           Words words = Words::Caption) {
        setOnPanel(*this);
        setAccessibleName(parts == FigureParts(FigurePart::SmallMaps)
                              ? QStringLiteral("Maps of ") + maps.layerName(view.layer)
                              : titleOf(maps, view));
        auto* column = columnOf(this, {20, 16, 20, 16}, 10);
        const QString source = QStringLiteral("i = ") + rowName(maps, view, view.source);
        if (words == Words::Title)
            column->addWidget(lineOf(accessibleName() + QStringLiteral(", ") + source, headFont(),
                                     QPalette::WindowText, this));
        auto* row = new QHBoxLayout;
        row->setSpacing(28);
        const ProbeResult& result = *maps.result();
        if (parts & FigurePart::Source) addSource(row, maps, view);
        if (parts & FigurePart::Map) addMap(row, maps, view);
        if (parts & FigurePart::SmallMaps) addSmallMaps(row, maps, view, small);
        column->addLayout(row);
        if (parts == FigureParts(FigurePart::Source)) addScale(column, maps, view);

        const QString caption = captionOf(result, subject);
        setAccessibleDescription(parts & FigurePart::Source ? source + u'\n' + caption : caption);
        if (words == Words::Caption && !FigureScope::paper()) {
            if (parts & ~FigureParts(FigurePart::SmallMaps))
                column->addWidget(lineOf(footerText(maps, view, view.source, view.target),
                                         smallFont(), QPalette::WindowText, this));
            column->addWidget(lineOf(caption, smallFont(), QPalette::PlaceholderText, this));
        }
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
            sender.setTarget(objects && !FigureScope::paper() ? view.target : -1);
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
            strip->grab();           // lays out the strip, which is never shown
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
        if (!FigureScope::paper()) {
            auto* title = lineOf(titleOf(maps, view), headFont(), QPalette::WindowText, this);
            title->setAlignment(Qt::AlignHCenter);
            right->addWidget(title, 0, 1);
        }
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

    /// The colours of a tinted source that has no map beside it.
    void addScale(QVBoxLayout* column, const ViewMaps& maps, const InspectorView& view) {
        auto* bar = new ColorBar(this);
        bar->setScale(maps.scale(view));
        bar->setExtent(maps.ends(view).extent);
        bar->setCaption(scaleCaption(maps, view));
        column->addWidget(bar);
    }

    void addSmallMaps(QHBoxLayout* row, const ViewMaps& maps, const InspectorView& view,
                      const LayerMaps* made) {
        auto* small = new MapStrip(StripLayout(StripLayout::Flow::Fitted), {}, this);
        small->resize(kSmallMapsSize);
        small->grab();  // lays out the small maps, which are never shown
        showMultiples(
            *small, maps, view,
            made ? *made : layerMaps(maps, view, layerMapsSide(maps, view, kSmallMapsSize)));
        small->setCurrent(MapId{storedKind(view.kind), view.layer, view.index});  // its page
        small->setCurrent({});  // no frame: nothing is chosen in a figure
        small->setFixedSize(kSmallMapsSize.width(), qMax(60, small->contentHeight()));
        row->addWidget(small, 0, Qt::AlignTop);
    }
};

}  // namespace

std::unique_ptr<QWidget> makeFigure(const ViewMaps& maps, const InspectorView& view,
                                    FigureParts parts, const FigureSubject& subject,
                                    const LayerMaps* small) {
    if (!maps.result() || maps.count(view.kind, view.layer) == 0) return nullptr;
    return std::make_unique<Figure>(maps, view, parts, subject, small);
}

QString mapFileName(MapKind kind, int index, int head) {
    const QString name = kind == MapKind::AttentionTimesRelation
                             ? QStringLiteral("attention%1-x-relation").arg(head + 1)
                             : mapKindWords(kind).replace(u' ', u'-');
    return name + QString::number(index + 1);
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
        names << mapFileName(view.kind, view.index, view.head);
        if (parts == FigureParts(FigurePart::Source)) names << QStringLiteral("source");
        if (parts == FigureParts(FigurePart::Map)) names << QStringLiteral("map");
    }
    return figureFileName(names);
}

bool renderFigure(const ProbeResult& result, const InspectorView& view, const QString& path,
                  QString* error, const FigureSubject& subject, FigureParts parts) {
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
    Figure figure(maps, shown, parts, subject);
    return exportWidget(figure, path, 0, error);
}

bool renderTints(const ProbeResult& result, const std::vector<InspectorView>& views,
                 const QString& path, QString* error, const FigureSubject& subject) {
    ViewMaps maps;
    maps.setResult(std::shared_ptr<const ProbeResult>(&result, [](const ProbeResult*) {}));
    QWidget all;
    setOnPanel(all);
    auto* grid = new QGridLayout(&all);
    grid->setContentsMargins({});
    grid->setSpacing(0);
    constexpr int across = 4;
    int place = 0;
    QStringList lines;
    for (const auto& view : views) {
        const auto shown = maps.clamped(view);
        if (maps.count(shown.kind, shown.layer) == 0) {
            if (error) *error = QStringLiteral("%1: the model has no map to draw").arg(path);
            return false;
        }
        auto* one =
            new Figure(maps, shown, FigurePart::Source, subject, nullptr, Figure::Words::Title);
        one->setFixedSize(one->size());
        lines << titleOf(maps, shown) + QStringLiteral(", i = ") +
                     rowName(maps, shown, shown.source) + QStringLiteral(": ") +
                     scaleCaption(maps, shown);
        grid->addWidget(one, place / across, place % across, Qt::AlignTop);
        ++place;
    }
    const QString caption = captionOf(*maps.result(), subject);
    all.setAccessibleDescription((lines << caption).join(u'\n'));
    if (!FigureScope::paper()) {
        auto* below = new QHBoxLayout;
        below->setContentsMargins(20, 0, 20, 16);
        below->addWidget(lineOf(caption, smallFont(), QPalette::PlaceholderText, &all));
        grid->addLayout(below, grid->rowCount(), 0, 1, std::min(place, across));
    }
    const QSize hint = all.layout()->sizeHint();
    all.resize(hint.width(), qMax(hint.height(), all.layout()->heightForWidth(hint.width())));
    all.ensurePolished();
    all.layout()->activate();
    return exportWidget(all, path, 0, error);
}

}  // namespace relascope::widgets
