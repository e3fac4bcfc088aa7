// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/export/pgfplots.h"

#include <QTextStream>
#include <cmath>
#include <utility>

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

}  // namespace relascope::widgets
