// SPDX-License-Identifier: GPL-3.0-or-later
// Every colour and font of the window. Widgets get colours from the current Theme only.
#pragma once

#include <array>
#include <utility>
#include <vector>

#include <QColor>
#include <QFont>
#include <QPalette>
#include <QString>

class QApplication;
class QWidget;

namespace relascope::widgets {

// Rendering of views to files.

struct Theme;

/// How views are drawn into files, common to all of them.
struct FigureStyle {
    bool light = true;  ///< in the light theme; false: in that of the window
    /// For a paper: light, the panel alone in one font, and nothing of what is chosen; its caption
    /// is a text file beside the picture (captionFile()).
    bool paper = false;
};
FigureStyle& figureStyle();

/// During its lifetime Theme::current() and the fonts are those of figureStyle(), `view` and its
/// children have them, and no focus ring is drawn. Not visible on the screen as long as the event
/// loop does not run.
class FigureScope {
public:
    explicit FigureScope(QWidget* view = nullptr);
    ~FigureScope();
    FigureScope(const FigureScope&) = delete;
    FigureScope& operator=(const FigureScope&) = delete;

    static bool active();
    static bool paper();  ///< one is active, and figures are for a paper

private:
    const Theme* m_before;
    QWidget* m_view = nullptr;  ///< its palette is replaced temporarily
    QPalette m_palette;
    bool m_own = false;  ///< the view had a palette of its own, not an inherited one
    std::vector<std::pair<QWidget*, QFont>> m_fonts;  ///< fonts that were replaced
};

enum class ThemeMode { System, Light, Dark };

struct Theme {
    bool dark = false;
    QColor window, panel, alt, border, controlBorder, text, muted, faint, accent, onAccent,
        selection, hover, outline, ok, okFill, warning, warningFill, error, errorFill, grid, axis,
        track, hatch, hatchFill;
    std::array<QColor, 8> series;        ///< one per run, the same on every page
    std::array<QColor, 11> signedStops;  ///< -1 .. +1, zero in the middle
    std::array<QColor, 11> paperStops;   ///< green and red, as in the papers
    std::array<QColor, 10> viridis;      ///< 0 .. 1
    /// Colours of a token's probability: below 0.3, from 0.3, 0.6, 0.85.
    std::array<QColor, 4> likelihood;

    QPalette palette() const;
    QColor seriesColor(int index) const {
        return series[static_cast<std::size_t>(index < 0 ? 0 : index) % series.size()];
    }
    const QColor& likelihoodFill(double probability) const {
        return likelihood[probability >= 0.85 ? 3 : probability >= 0.6 ? 2 : probability >= 0.3];
    }
    /// Black or white, whichever is readable on a fill (WCAG relative luminance, threshold 0.18).
    static QColor textOn(const QColor& fill);

    static const Theme& light();
    static const Theme& darkTheme();
    /// The current theme; light until applyTheme() is called.
    static const Theme& current();
};

/// Sets palette, style and fonts of the application; widgets receive QEvent::PaletteChange.
void applyTheme(QApplication& application, ThemeMode mode);

/// The fonts of the window: Inter and JetBrains Mono where installed, else Noto or DejaVu.
QFont bodyFont();                   ///< 13 px
QFont smallFont();                  ///< 12 px: forms, tables
QFont captionFont();                ///< 11 px: axes, badges
QFont titleFont();                  ///< 16 px, semi-bold
QFont headFont();                   ///< 13 px, semi-bold
QFont numberFont(int pixels = 12);  ///< tabular figures
QFont monoFont(int pixels = 12);    ///< tensor and option names

/// A number with a true minus sign and `digits` after the decimal point, without exponent.
QString signedNumber(double value, int digits = 3);
/// 1234567 -> "1,234,567".
QString groupedNumber(qlonglong value);
/// 388322 -> "388K", 6025066 -> "6.0M".
QString shortCount(qlonglong value);
/// A large number with `digits` significant ones: 2113538621440 -> "2.1e12".
QString exponentNumber(double value, int digits = 2);
/// Bytes as "512 B", "16 KiB", "196.5 MiB", "1.28 GiB".
QString byteSize(quint64 bytes);
/// Seconds as "3 min 22 s" or "1:04:10 h" without "about".
QString durationText(double seconds);
/// Seconds, to the nearest minute from one minute on: "9 min", "1 h 20 min".
QString roughDuration(double seconds);

}  // namespace relascope::widgets
