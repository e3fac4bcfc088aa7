// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>
#include <set>

#include <QActionGroup>
#include <QHBoxLayout>
#include <QMenu>
#include <QPainter>
#include <QTimer>
#include <QVBoxLayout>

#include "widgets/curves/curve_data.h"
#include "widgets/curves/curve_panel.h"
#include "widgets/curves/curve_plot.h"
#include "widgets/export/export.h"
#include "widgets/export/figure.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

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

CurvePanel::CurvePanel(QWidget* parent)
    : QWidget(parent),
      m_model(new CurveModel),
      m_head(new CurveControls(this)),
      m_timer(new QTimer(this)) {
    setAccessibleName(QStringLiteral("Learning curves"));
    auto* column = columnOf(this);
    column->addWidget(m_head);
    auto* row = m_row = new QHBoxLayout;
    row->setSpacing(0);
    m_plots[0] = new CurvePlot(CurveMetric::Loss, *m_model, this);
    m_plots[1] = new CurvePlot(CurveMetric::Accuracy, *m_model, this);
    row->addWidget(m_plots[0], 1);
    row->addWidget(m_between = verticalLine(this));
    row->addWidget(m_plots[1], 1);
    column->addLayout(row, 1);

    m_timer->setSingleShot(true);
    m_timer->setInterval(16);
    connect(m_timer, &QTimer::timeout, this, &CurvePanel::flush);
    connect(m_head, &CurveControls::changed, this, &CurvePanel::setOptions);
    connect(m_head, &CurveControls::resetRequested, this, &CurvePanel::resetZoom);
    for (int i = 0; i < 2; ++i) {
        connect(m_plots[i], &CurvePlot::cursorDragged, this, &CurvePanel::dragTo);
        connect(m_plots[i], &CurvePlot::cursorStepped, this, &CurvePanel::stepCursor);
        connect(m_plots[i], &CurvePlot::resetRequested, this, &CurvePanel::resetZoom);
        connect(m_plots[i], &CurvePlot::fillRequested, this, &CurvePanel::fillRequested);
        connect(m_plots[i], &CurvePlot::markMenuRequested, this, &CurvePanel::markMenuRequested);
        connect(m_plots[i], &CurvePlot::rangeDragged, this, [this, i](double low, double high) {
            m_plots[1 - i]->setRange(low, high);
            emitAxis();
        });
    }
    changed();
}

CurvePanel::~CurvePanel() {
    // The plots use the model until they are destroyed.
    delete m_plots[0];
    delete m_plots[1];
    delete m_model;
}

void CurvePanel::setTitle(const QString& title) {
    m_head->setTitle(title);
}
void CurvePanel::setSubText(const QString& text) {
    m_subText = text;
    updateText();
}

void CurvePanel::changed() {
    ++m_model->version;
    updateText();
    if (!m_timer->isActive()) m_timer->start();
}

/// Uses tokens if a run counts them; the second plot shows perplexity if a run has it.
void CurvePanel::offer() {
    if (m_head->offerTokens(m_model->hasTokens())) setOptions(options());
    const auto metrics = m_model->secondMetrics();
    const bool wanted = m_model->second && m_model->has(*m_model->second);
    m_plots[1]->setMetric(wanted ? *m_model->second : metrics.front());
    m_head->offerMetrics(metrics, m_plots[1]->metric());
}

const CurveOptions& CurvePanel::options() const {
    return m_head->options();
}

void CurvePanel::setOptions(const CurveOptions& options) {
    const CurveOptions before = *m_model;
    CurveOptions& now = *m_model;
    m_head->display(options);
    now = options;
    now.axis = m_head->axis();
    now.beta = std::clamp(options.beta, 0.0, 0.9999);
    if (now == before) return;
    changed();
    if (now.axis != before.axis || now.logX != before.logX || now.recentOnly != before.recentOnly)
        resetZoom();
    else if (now.second != before.second)
        flush();
}

void CurvePanel::flush() {
    offer();
    m_timer->stop();
    for (CurvePlot* plot : m_plots) plot->sync();
    setAccessibleDescription(summary());
    emitAxis();
}

void CurvePanel::emitAxis() {
    Q_EMIT axisChanged(m_plots[0]->rangeLow(), m_plots[0]->rangeHigh(), m_model->logX,
                       m_plots[0]->leftMargin(), m_plots[0]->rightMargin());
}

void CurvePanel::updateText() {
    QStringList parts;
    if (!m_subText.isEmpty()) parts += m_subText;
    std::size_t most = 0;
    for (const Curve& curve : m_model->curves()) most = qMax(most, curve.members.size());
    if (m_subText.isEmpty() && most > 1)
        parts += QString("mean of up to %1 seeds, band: %2").arg(most).arg(bandName(m_model->band));
    if (m_subText.isEmpty() && !m_model->showTraining)
        parts += QStringLiteral("validation; training hidden");
    // First, so that other text is elided before the formula.
    if (m_model->smooth)
        parts.prepend(
            QString("s = %1 s + %2 x").arg(m_model->beta).arg(1.0 - m_model->beta, 0, 'g', 2));
    m_head->setSubText(parts.join(QStringLiteral(" · ")));
}

void CurvePanel::setRuns(std::vector<CurveRun> runs) {
    std::set<QString> kept;
    std::vector<CurveRun> order;
    for (CurveRun& run : runs) {
        if (!kept.insert(run.id).second) continue;
        m_model->runs[run.id].run = run;
        order.push_back(std::move(run));
    }
    std::erase_if(m_model->runs, [&](const auto& entry) { return !kept.contains(entry.first); });
    m_model->order = std::move(order);
    changed();
    flush();
}

void CurvePanel::appendPoints(const QString& id, const std::vector<MetricPoint>& points) {
    const auto found = m_model->runs.find(id);
    if (found == m_model->runs.end() || points.empty()) return;
    const auto layers = found->second.layers.size();
    for (const MetricPoint& point : points) found->second.append(point);
    if (found->second.layers.size() != layers) changed();
    if (!m_timer->isActive()) m_timer->start();
}

void CurvePanel::clearPoints(const QString& id) {
    const auto found = m_model->runs.find(id);
    if (found == m_model->runs.end()) return;
    found->second.clearPoints();
    changed();
}

void CurvePanel::setMarks(const QString& id, std::vector<CurveMark> marks) {
    const auto found = m_model->runs.find(id);
    if (found == m_model->runs.end()) return;
    found->second.marks = std::move(marks);
    if (!m_timer->isActive()) m_timer->start();
}

void CurvePanel::setPublished(std::vector<PublishedValue> published) {
    m_model->published = std::move(published);
    if (!m_timer->isActive()) m_timer->start();
}

bool CurvePanel::hasPublished() const {
    return !m_model->published.empty();
}

void CurvePanel::setCursorStep(std::optional<qint64> step) {
    if (m_model->cursor == step) return;
    m_model->cursor = step;
    for (CurvePlot* plot : m_plots) plot->cursorMoved();
}
std::optional<qint64> CurvePanel::cursorStep() const {
    return m_model->cursor;
}

void CurvePanel::dragTo(double key) {
    const auto step = static_cast<qint64>(std::llround(m_model->stepOfKey(key)));
    if (m_model->cursor == step) return;
    setCursorStep(step);
    Q_EMIT cursorMoved(step);
}

void CurvePanel::stepCursor(int direction) {
    const CurveRunData* leader = m_model->leader();
    if (!leader) return;
    const CurveSeries& s = leader->validation.size() > 0 ? leader->validation : leader->training;
    const auto& steps = s.keys(CurveAxis::Step);
    const double now =
        m_model->cursor ? static_cast<double>(*m_model->cursor) : m_model->lastStep();
    auto at = direction < 0 ? std::lower_bound(steps.begin(), steps.end(), now)
                            : std::upper_bound(steps.begin(), steps.end(), now);
    if (direction < 0 ? at == steps.begin() : at == steps.end()) return;
    if (direction < 0) --at;
    const auto step = static_cast<qint64>(*at);
    setCursorStep(step);
    Q_EMIT cursorMoved(step);
}

CurveAxis CurvePanel::axis() const {
    return m_model->axis;
}
void CurvePanel::setEnd(std::optional<qint64> step) {
    const auto end = step ? std::optional(static_cast<double>(*step)) : std::nullopt;
    if (std::exchange(m_model->end, end) != end) changed();
}
double CurvePanel::keyOfStep(qint64 step) const {
    return m_model->keyOfStep(static_cast<double>(step));
}
void CurvePanel::resetZoom() {
    for (CurvePlot* plot : m_plots) plot->resetRange();
    flush();
}

QString CurvePanel::csv() const {
    return m_model->csv();
}
QString CurvePanel::summary() const {
    return m_model->summary();
}

void CurvePanel::paintVector(QPainter& painter, const QRectF& target) {
    const double head = FigureScope::paper() ? 0.0 : 30.0;  // the title is in the caption then
    flush();
    painter.setFont(headFont());
    painter.setPen(Theme::current().text);
    if (head > 0.0)
        painter.drawText(QRectF(target.left() + 16, target.top(), target.width() - 32, head),
                         Qt::AlignVCenter, m_head->title());
    const double half = target.width() / 2.0, top = target.top() + head;
    for (const int k : {0, 1})
        m_plots[k]->paintVector(painter,
                                {target.left() + k * half, top, half, target.height() - head});
}

void CurvePanel::setFigure(ViewMenu& menu) {
    constexpr QSize size(960, 380);  // a page's width, whatever the window's
    menu.paintVector = [this, size](QPainter& painter) {
        paintVector(painter, QRectF(QPointF(0, 0), size));
    };
    menu.wholeSize = [size] { return size; };
    menu.caption = [this] {
        const QString caption = figureCaption();
        return FigureScope::paper() ? m_head->title() + QStringLiteral(" \u00B7 ") + caption
                                    : caption;
    };
    menu.addPgfplots([this] { return pgfplots(); });
}

QString CurvePanel::figureName() const {
    const auto curves = m_model->curves();
    const QString runs =
        curves.size() == 1 ? curves.front().name : QStringLiteral("%1-runs").arg(curves.size());
    return figureFileName({runs, QStringLiteral("curves")});
}

QString CurvePanel::figureCaption() const {
    QStringList names, parts;
    for (const Curve& curve : m_model->curves())
        names << (curve.members.size() > 1
                      ? QStringLiteral("%1 (%2 seeds)").arg(curve.name).arg(curve.members.size())
                      : curve.name);
    const double last = std::fmax(0.0, m_model->keyRange(CurveAxis::Step).second);
    parts << names.join(QStringLiteral(", "))
          << QStringLiteral("up to step %1").arg(groupedNumber(static_cast<qlonglong>(last)));
    if (!m_head->subText().isEmpty()) parts << m_head->subText();
    return parts.join(QStringLiteral(" \u00B7 "));
}

QString CurvePanel::pgfplots() {
    flush();
    std::vector<PgfPlot> plots;
    for (CurvePlot* plot : m_plots)
        plots.push_back({m_head->title(), axisTitle(m_model->axis), metricTitle(plot->metric()),
                         m_model->logX, m_model->logY && metricInfo(plot->metric()).lowerIsBetter,
                         plot->pgfSeries()});
    return pgfplotsText(figureCaption(), plots);
}

void CurvePanel::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    arrange();
    emitAxis();
}

std::vector<std::pair<double, QString>> CurvePanel::ticks() const {
    return m_plots[m_plots[1]->isHidden() ? 0 : 1]->ticks();
}

void CurvePanel::setStrip(QWidget* controls) {
    m_corner = new QWidget(this);
    auto* row = rowOf(m_corner, {}, 4);
    m_loss = new ToggleChip(QStringLiteral("Loss"), m_corner);
    m_loss->setToolTip(QStringLiteral("Shows the loss in place of the other curves"));
    auto* more = iconButton("more", QStringLiteral("More for the curves"), m_corner);
    more->setMenu(m_head->menu());
    more->setPopupMode(QToolButton::InstantPopup);
    m_cornerMenu = more;
    for (QWidget* control : std::initializer_list<QWidget*>{m_loss, controls, more})
        row->addWidget(control);
    connect(m_loss, &QAbstractButton::toggled, this, &CurvePanel::arrange);
    m_row->setDirection(QBoxLayout::TopToBottom);
    m_between->hide();
    for (CurvePlot* plot : m_plots) plot->setNumbersShown(false);
    arrange();
}

/// Both plots and the controls above them need height; a low strip shows one plot.
void CurvePanel::arrange() {
    if (!m_corner) return;
    constexpr int withHead = 210, withBoth = 300;  // px
    const bool both = height() >= withBoth, head = height() >= withHead;
    m_head->setVisible(head);
    m_cornerMenu->setVisible(!head);
    m_loss->setVisible(!both);
    m_plots[0]->setVisible(both || m_loss->isChecked());
    m_plots[1]->setVisible(both || !m_loss->isChecked());
    m_corner->adjustSize();
    m_corner->move(width() - m_corner->width() - 12, head ? m_head->height() : 0);
    m_corner->raise();
    CurvePlot* upper = m_plots[m_plots[0]->isHidden() ? 1 : 0];
    for (CurvePlot* plot : m_plots) plot->setLegendInset(plot == upper ? m_corner->width() + 4 : 0);
}

}  // namespace relascope::widgets
