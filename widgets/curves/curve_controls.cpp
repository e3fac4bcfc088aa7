// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/curves/curve_controls.h"

#include <QActionGroup>
#include <QMenu>
#include <algorithm>

namespace relascope::widgets {
namespace {

constexpr double smoothings[] = {0.6, 0.8, 0.9, 0.97, 0.99};

}  // namespace

CurveControls::CurveControls(QWidget* parent)
    : PanelHead(QStringLiteral("Curves"), parent),
      m_axis(new SegmentedControl({"Step", "Epoch", "Time"}, this)),
      m_axes({CurveAxis::Step, CurveAxis::Epoch, CurveAxis::Time}),
      m_menu(new QMenu(this)) {
    m_axis->setAccessibleName(QStringLiteral("Horizontal axis"));
    auto* logX =
        chip("log x", "Logarithmic horizontal axis; step 0 is left out", &CurveOptions::logX);
    auto* logY = chip("log y", "Logarithmic loss and perplexity", &CurveOptions::logY);
    auto* smooth = chip("Smooth", "Exponential moving average, with the raw points behind it",
                        &CurveOptions::smooth);
    m_published = chip("Published", "", &CurveOptions::showPublished);
    m_training = chip("Training", "", &CurveOptions::showTraining);
    m_law = chip("Power law", "", &CurveOptions::powerLaw);
    m_law->hide();
    auto* recent =
        chip("Recent", "Only the last quarter of the horizontal axis", &CurveOptions::recentOnly);
    auto* more = iconButton("more", QStringLiteral("More for the curves"), this);
    more->setMenu(m_menu);
    more->setPopupMode(QToolButton::InstantPopup);
    for (QWidget* control : std::initializer_list<QWidget*>{
             m_axis, logX, logY, m_published, m_training, m_law, recent, smooth, more})
        addControl(control);
    setCompareControls(false);
    connect(m_axis, &SegmentedControl::changed, this,
            [this](int i) { set(&CurveOptions::axis, m_axes[static_cast<std::size_t>(i)]); });
    connect(m_law, &QAbstractButton::clicked, this, [this](bool on) {
        if (!on) return;  // a power law is a straight line where both axes are logarithmic
        set(&CurveOptions::logX, true);
        set(&CurveOptions::logY, true);
    });
    fillMenu();
    display(m_options);
}

ToggleChip* CurveControls::chip(const char* text, const char* tip, bool CurveOptions::*field) {
    auto* chip = new ToggleChip(QString::fromLatin1(text), this);
    chip->setToolTip(QString::fromLatin1(tip));
    connect(chip, &QAbstractButton::toggled, this, [this, field](bool on) { set(field, on); });
    m_chips.emplace_back(chip, field);
    return chip;
}

void CurveControls::fillMenu() {
    auto* training = m_menu->addAction(QStringLiteral("Show training"));
    training->setCheckable(true);
    connect(training, &QAction::toggled, m_training, &QAbstractButton::setChecked);
    connect(m_training, &QAbstractButton::toggled, training, &QAction::setChecked);
    QStringList bands, factors;
    for (int kind = 0; kind < 3; ++kind) bands << bandName(static_cast<CurveBandKind>(kind));
    for (const double beta : smoothings)
        factors << QString("s = %1 s + %2 x").arg(beta).arg(1.0 - beta, 0, 'g', 2);
    m_bands = addChoices(
        m_menu->addMenu(QStringLiteral("Band of several seeds")), bands, 0,
        [this](int kind) { set(&CurveOptions::band, static_cast<CurveBandKind>(kind)); });
    m_outliers = m_menu->addAction(QStringLiteral("Vertical range without outliers"));
    m_outliers->setCheckable(true);
    m_outliers->setToolTip(
        QStringLiteral("Leaves the highest 2 % of a loss out of the vertical range if they would "
                       "compress the rest"));
    connect(m_outliers, &QAction::toggled, this,
            [this](bool on) { set(&CurveOptions::withoutOutliers, on); });
    m_factors = addChoices(m_menu->addMenu(QStringLiteral("Smoothing")), factors, 1,
                           [this](int k) { set(&CurveOptions::beta, smoothings[k]); });
    m_second = m_menu->addMenu(QStringLiteral("Second plot"));
    m_second->menuAction()->setVisible(false);
    connect(m_menu->addAction(QStringLiteral("Reset zoom")), &QAction::triggered, this,
            &CurveControls::resetRequested);
    m_menu->addSeparator();
}

void CurveControls::display(const CurveOptions& options) {
    m_options = options;
    for (const auto& [chip, field] : m_chips) chip->setChecked(options.*field);
    m_outliers->setChecked(options.withoutOutliers);
    m_bands->actions().at(static_cast<int>(options.band))->setChecked(true);
    if (const auto at = std::find(std::begin(smoothings), std::end(smoothings), options.beta);
        at != std::end(smoothings))
        m_factors->actions().at(at - std::begin(smoothings))->setChecked(true);
    const auto place = std::find(m_axes.begin(), m_axes.end(), axis());
    m_axis->setCurrent(static_cast<int>(place - m_axes.begin()));
    const bool tokens = axis() == CurveAxis::Tokens;
    m_law->setEnabled(tokens);
    m_law->setToolTip(
        tokens
            ? QStringLiteral(
                  "L = a N^\u2212b, fitted to the validation loss (or else the training loss) by "
                  "least squares on the logarithms, without the first tenth of the points")
            : QStringLiteral("Fits a power law of the loss against tokens; select Tokens first"));
}

CurveAxis CurveControls::axis() const {
    const bool offered = std::find(m_axes.begin(), m_axes.end(), m_options.axis) != m_axes.end();
    return offered ? m_options.axis : CurveAxis::Step;
}

bool CurveControls::offerTokens(bool tokens) {
    if (tokens == (m_axes.size() == 4)) return false;
    m_axes = {CurveAxis::Step, CurveAxis::Epoch, CurveAxis::Time};
    QStringList names{QStringLiteral("Step"), QStringLiteral("Epoch"), QStringLiteral("Time")};
    if (tokens) {
        m_axes.insert(m_axes.begin() + 2, CurveAxis::Tokens);
        names.insert(2, QStringLiteral("Tokens"));
    }
    m_axis->setItems(names);
    m_law->setVisible(tokens);
    display(m_options);
    return true;
}

void CurveControls::offerMetrics(const std::vector<CurveMetric>& metrics, CurveMetric shown) {
    if (metrics != m_metrics) {
        m_metrics = metrics;
        m_second->clear();
        QStringList names;
        for (const CurveMetric metric : metrics) names << metricTitle(metric);
        if (auto* before = m_second->findChild<QActionGroup*>()) before->deleteLater();
        addChoices(m_second, names, -1, [this](int k) {
            set(&CurveOptions::second, std::optional(m_metrics[static_cast<std::size_t>(k)]));
        });
        m_second->menuAction()->setVisible(metrics.size() > 1);
    }
    for (std::size_t k = 0; k < metrics.size(); ++k)
        m_second->actions().at(static_cast<int>(k))->setChecked(metrics[k] == shown);
}

void CurveControls::setCompareControls(bool shown) {
    m_published->setVisible(shown);
    m_training->setVisible(shown);
}

}  // namespace relascope::widgets
