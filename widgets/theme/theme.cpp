// SPDX-License-Identifier: GPL-3.0-or-later
#include <cmath>

#include <QApplication>
#include <QFontDatabase>
#include <QLocale>

#include "types/map_colors.h"
#include "types/text_format.h"
#include "widgets/theme/style.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

template <std::size_t N>
std::array<QColor, N> colors(const char* const (&names)[N]) {
    std::array<QColor, N> all;
    for (std::size_t i = 0; i < N; ++i) all[i] = QColor(QLatin1String(names[i]));
    return all;
}

template <std::size_t N>
std::array<QColor, N> colors(const std::array<Rgb, N>& values) {
    std::array<QColor, N> all;
    for (std::size_t i = 0; i < N; ++i) all[i] = QColor::fromRgb(values[i]);
    return all;
}

Theme makeLight() {
    Theme t;
    const MapColors& maps = kLightMapColors;
    t.window = QColor("#F1F3F5");
    t.panel = QColor::fromRgb(maps.page);
    t.alt = QColor("#F7F8FA");
    t.border = QColor("#D8DCE1");
    t.controlBorder = QColor("#8D96A1");
    t.text = QColor("#1A1E23");
    t.muted = QColor("#5A6470");
    t.faint = QColor("#8B949F");
    t.accent = QColor("#1F63B5");
    t.onAccent = QColor("#FFFFFF");
    t.selection = QColor("#E1ECF8");
    t.hover = QColor("#EBEEF1");
    t.outline = QColor("#D3241B");
    t.ok = QColor("#1A7A3A");
    t.okFill = QColor("#E4F4E9");
    t.warning = QColor("#8F5B00");
    t.warningFill = QColor("#FFF4DB");
    t.error = QColor::fromRgb(maps.noHatch);
    t.errorFill = QColor::fromRgb(maps.notANumber);
    t.grid = QColor("#E7EAED");
    t.axis = QColor("#8B949F");
    t.track = QColor("#DDE1E6");
    t.hatch = QColor::fromRgb(maps.hatch);
    t.hatchFill = QColor::fromRgb(maps.masked);
    t.series = colors(
        {"#0072B2", "#D55E00", "#008F68", "#B8578D", "#663B0F", "#2222E6", "#371380", "#083333"});
    t.signedStops = colors(maps.signedStops);
    t.paperStops = colors({"#67000D", "#B2182B", "#D6604D", "#F4A582", "#FDDBC7", "#F7F7F7",
                           "#D9F0D3", "#A6DBA0", "#5AAE61", "#1B7837", "#00441B"});
    t.viridis = colors(maps.viridis);
    t.likelihood = colors({"#FFFFFF", "#E3EEFA", "#C3DBF4", "#9CC4EC"});
    return t;
}

Theme makeDark() {
    Theme t = makeLight();
    t.dark = true;
    t.window = QColor("#15171A");
    t.panel = QColor("#1C1F23");
    t.alt = QColor("#22262B");
    t.border = QColor("#343A41");
    t.controlBorder = QColor("#656F7A");
    t.text = QColor("#E4E7EA");
    t.muted = QColor("#9CA6B1");
    t.faint = QColor("#6C7682");
    t.accent = QColor("#6BA6EE");
    t.onAccent = QColor("#0E1621");
    t.selection = QColor("#22364E");
    t.hover = QColor("#282D33");
    t.outline = QColor("#FF6257");
    t.ok = QColor("#58C27D");
    t.okFill = QColor("#1C3626");
    t.warning = QColor("#E5B04B");
    t.warningFill = QColor("#3A2F17");
    t.error = QColor("#FF8A80");
    t.errorFill = QColor("#41211F");
    t.grid = QColor("#2A2F35");
    t.axis = QColor("#6C7682");
    t.track = QColor("#343A41");
    t.hatch = QColor("#3F464E");
    t.hatchFill = QColor("#1C1F23");
    t.series = colors(
        {"#55A9E6", "#F2803D", "#2CC597", "#E093C1", "#99734C", "#7B61FF", "#FFE561", "#E4E7EA"});
    t.signedStops = colors({"#E3C4F5", "#B98ADB", "#8D5FB3", "#63448A", "#40315A", "#262A30",
                            "#264232", "#316B41", "#479A56", "#7CC982", "#C4F0BD"});
    t.paperStops = colors({"#F9C0B5", "#EE8270", "#CC4B3E", "#8F332C", "#4F2A29", "#262A30",
                           "#264232", "#316B41", "#479A56", "#7CC982", "#C4F0BD"});
    t.likelihood = colors({"#1C1F23", "#20344B", "#294E76", "#3569A3"});
    return t;
}

const Theme*& inForce() {
    static const Theme* theme = &Theme::light();
    return theme;
}

QFont family(const QStringList& names, int pixels, int weight = QFont::Normal) {
    QFont font;
    font.setFamilies(names);
    font.setPixelSize(pixels);
    font.setWeight(static_cast<QFont::Weight>(weight));
    return font;
}
const QStringList& sans() {
    static const QStringList names{"Inter", "Noto Sans", "DejaVu Sans"};
    return names;
}

bool systemIsDark(const QPalette& palette) {
    return palette.color(QPalette::Window).lightness() <
           palette.color(QPalette::WindowText).lightness();
}

}  // namespace

const Theme& Theme::light() {
    static const Theme theme = makeLight();
    return theme;
}
const Theme& Theme::darkTheme() {
    static const Theme theme = makeDark();
    return theme;
}
const Theme& Theme::current() {
    return *inForce();
}

QColor Theme::textOn(const QColor& fill) {
    const auto linear = [](double c) {
        return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
    };
    const double luminance = 0.2126 * linear(fill.redF()) + 0.7152 * linear(fill.greenF()) +
                             0.0722 * linear(fill.blueF());
    return luminance > 0.18 ? QColor(Qt::black) : QColor(Qt::white);
}

QPalette Theme::palette() const {
    QPalette p;
    p.setColor(QPalette::Window, window);
    p.setColor(QPalette::WindowText, text);
    p.setColor(QPalette::Base, panel);
    p.setColor(QPalette::AlternateBase, alt);
    p.setColor(QPalette::ToolTipBase, alt);
    p.setColor(QPalette::ToolTipText, text);
    p.setColor(QPalette::Text, text);
    p.setColor(QPalette::Button, panel);
    p.setColor(QPalette::ButtonText, text);
    p.setColor(QPalette::BrightText, error);
    p.setColor(QPalette::Highlight, accent);
    p.setColor(QPalette::HighlightedText, onAccent);
    p.setColor(QPalette::PlaceholderText, muted);
    p.setColor(QPalette::Link, accent);
    p.setColor(QPalette::Light, border);
    p.setColor(QPalette::Midlight, border);
    p.setColor(QPalette::Mid, controlBorder);
    p.setColor(QPalette::Dark, controlBorder);
    p.setColor(QPalette::Shadow, border);
    for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
        p.setColor(QPalette::Disabled, role, faint);
    return p;
}

void applyTheme(QApplication& application, ThemeMode mode) {
    // Read once, before the palette of the desktop is replaced, as "System" needs it later.
    static const bool desktopDark = systemIsDark(QApplication::palette());
    const bool dark = mode == ThemeMode::Dark || (mode == ThemeMode::System && desktopDark);
    inForce() = dark ? &Theme::darkTheme() : &Theme::light();
    if (!application.property("relascopeStyle").toBool()) {
        application.setStyle(new RelascopeStyle);
        application.setProperty("relascopeStyle", true);
    }
    application.setFont(bodyFont());
    application.setPalette(Theme::current().palette());
}

namespace {
int figureScopes = 0;
}

FigureStyle& figureStyle() {
    static FigureStyle style;
    return style;
}

FigureScope::FigureScope(QWidget* view) : m_before(inForce()) {
    ++figureScopes;
    if (view && paper())
        for (QWidget* child : view->findChildren<QWidget*>())
            if (child->testAttribute(Qt::WA_SetFont) && child->font().families() != sans()) {
                m_fonts.emplace_back(child, child->font());
                QFont one = child->font();
                one.setFamilies(sans());
                child->setFont(one);
            }
    if (!(figureStyle().light || figureStyle().paper) || !m_before->dark) return;
    inForce() = &Theme::light();
    if (!view) return;
    m_view = view;
    m_own = view->testAttribute(Qt::WA_SetPalette);
    m_palette = view->palette();
    view->setPalette(Theme::light().palette());
}
FigureScope::~FigureScope() {
    --figureScopes;
    inForce() = m_before;
    for (const auto& [child, font] : m_fonts) child->setFont(font);
    if (m_view) m_view->setPalette(m_own ? m_palette : QPalette());
}
bool FigureScope::active() {
    return figureScopes > 0;
}
bool FigureScope::paper() {
    return active() && figureStyle().paper;
}

QFont bodyFont() {
    return family(sans(), 13);
}
QFont smallFont() {
    return family(sans(), 12);
}
QFont captionFont() {
    return family(sans(), 11);
}
QFont titleFont() {
    return family(sans(), 16, QFont::DemiBold);
}
QFont headFont() {
    return family(sans(), 13, QFont::DemiBold);
}
QFont numberFont(int pixels) {
    return family(FigureScope::paper() ? sans() : QStringList{"Noto Sans", "DejaVu Sans"}, pixels);
}
QFont monoFont(int pixels) {
    return family(FigureScope::paper() ? sans() : QStringList{"JetBrains Mono", "DejaVu Sans Mono"},
                  pixels);
}

QString signedNumber(double value, int digits) {
    if (std::isnan(value)) return QStringLiteral("NaN");
    // All digits of a number that grew beyond measure have no room anywhere.
    const QString text = std::abs(value) < 1e6 ? QLocale::c().toString(std::abs(value), 'f', digits)
                                               : exponentNumber(std::abs(value));
    const QString sign = value < 0 ? QString(QChar(0x2212)) : QStringLiteral("+");
    return sign + text;
}

QString groupedNumber(qlonglong value) {
    QLocale locale(QLocale::English, QLocale::UnitedStates);
    return locale.toString(value);
}

QString exponentNumber(double value, int digits) {
    QString text = QString::number(std::abs(value), 'g', digits).remove(u'+');
    return value < 0.0 ? QChar(0x2212) + text : text;
}

QString shortCount(qlonglong value) {
    const QLocale c = QLocale::c();
    if (value >= 1000000000) return c.toString(value / 1e9, 'f', 2) + "B";
    if (value >= 1000000) return c.toString(value / 1e6, 'f', 1) + "M";
    if (value >= 10000) return c.toString(std::floor(value / 1e3), 'f', 0) + "K";
    return groupedNumber(value);
}

QString byteSize(quint64 bytes) {
    const QLocale c = QLocale::c();
    const auto size = static_cast<double>(bytes);
    if (bytes < 1024) return QString("%1 B").arg(bytes);
    if (bytes < 1048576) return c.toString(size / 1024, 'f', bytes < 10240 ? 1 : 0) + " KiB";
    if (bytes < 1073741824) return c.toString(size / 1048576, 'f', 1) + " MiB";
    return c.toString(size / 1073741824, 'f', 2) + " GiB";
}

QString durationText(double seconds) {
    if (!std::isfinite(seconds) || seconds < 0) return QString(QChar(0x2014));
    const auto s = static_cast<qlonglong>(std::llround(seconds));
    if (s < 60) return QString("%1 s").arg(s);
    if (s < 3600)
        return s % 60 == 0 ? QString("%1 min").arg(s / 60)
                           : QString("%1 min %2 s").arg(s / 60).arg(s % 60);
    return s / 60 % 60 == 0 ? QString("%1 h").arg(s / 3600)
                            : QString("%1 h %2 min").arg(s / 3600).arg(s / 60 % 60);
}

QString roughDuration(double seconds) {
    return QString::fromStdString(relascope::roughDuration(seconds));
}

}  // namespace relascope::widgets
