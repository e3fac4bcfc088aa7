// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/curves/curve_panel.h"

#include <QActionGroup>
#include <QHBoxLayout>
#include <QMenu>
#include <QPainter>
#include <QTimer>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <set>

#include "widgets/curves/curve_data.h"
#include "widgets/curves/curve_plot.h"
#include "widgets/export/export.h"
#include "widgets/export/pgfplots.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope {

CurvePanel::CurvePanel(QWidget* parent)
    : QWidget(parent),
      m_model(new CurveModel),
      m_head(new PanelHead(QStringLiteral("Curves"), this)),
      m_axis(new SegmentedControl({"Step", "Epoch", "Time"}, this)),
      m_logX(new ToggleChip("log x", this)),
      m_logY(new ToggleChip("log y", this)),
      m_smooth(new ToggleChip("Smooth", this)),
      m_published(new ToggleChip("Published", this)),
      m_training(new ToggleChip("Training", this)),
      m_law(new ToggleChip("Power law", this)),
      m_recent(new ToggleChip("Recent", this)),
      m_axes({CurveAxis::Step, CurveAxis::Epoch, CurveAxis::Time}),
      m_menu(new QMenu(this)),
      m_timer(new QTimer(this)) {
    setAccessibleName(QStringLiteral("Learning curves"));
    m_axis->setAccessibleName(QStringLiteral("Horizontal axis"));
    m_logX->setToolTip(QStringLiteral("Logarithmic horizontal axis; step 0 is left out"));
    m_logY->setToolTip(QStringLiteral("Logarithmic loss and perplexity"));
    m_law->hide();
    m_smooth->setToolTip(
        QStringLiteral("Exponential moving average, with the raw points behind it"));
    m_recent->setToolTip(QStringLiteral("Only the last quarter of the horizontal axis"));
    m_published->setChecked(true);
    m_training->setChecked(true);
    auto* more = iconButton("more", QStringLiteral("More for the curves"), this);
    more->setMenu(m_menu);
    more->setPopupMode(QToolButton::InstantPopup);
    for (QWidget* control : std::initializer_list<QWidget*>{
             m_axis, m_logX, m_logY, m_published, m_training, m_law, m_recent, m_smooth, more})
        m_head->addControl(control);
    setCompareControls(false);
    m_law->setEnabled(false);

    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_head);
    auto* row = new QHBoxLayout;
    row->setSpacing(0);
    m_plots[0] = new CurvePlot(CurveMetric::Loss, *m_model, this);
    m_plots[1] = new CurvePlot(CurveMetric::Accuracy, *m_model, this);
    row->addWidget(m_plots[0], 1);
    row->addWidget(verticalLine(this));
    row->addWidget(m_plots[1], 1);
    column->addLayout(row, 1);

    auto* training = m_menu->addAction(QStringLiteral("Show training"));
    training->setCheckable(true);
    training->setChecked(true);
    connect(training, &QAction::toggled, m_training, &QAbstractButton::setChecked);
    connect(m_training, &QAbstractButton::toggled, training, &QAction::setChecked);
    QMenu* bands = m_menu->addMenu(QStringLiteral("Band of several seeds"));
    auto* kinds = new QActionGroup(bands);
    for (const auto kind :
         {CurveBandKind::MinMax, CurveBandKind::StandardError, CurveBandKind::Confidence95}) {
        QAction* action = m_bands[static_cast<int>(kind)] = bands->addAction(bandName(kind));
        action->setCheckable(true);
        action->setChecked(kind == m_model->band);
        kinds->addAction(action);
        connect(action, &QAction::triggered, this, [this, kind] { setBand(kind); });
    }
    m_outliers = m_menu->addAction(QStringLiteral("Vertical range without outliers"));
    m_outliers->setCheckable(true);
    m_outliers->setChecked(m_model->withoutOutliers);
    m_outliers->setToolTip(QStringLiteral(
        "The highest 2 % of a loss do not set the range where they would squeeze the rest"));
    connect(m_outliers, &QAction::toggled, this, &CurvePanel::setWithoutOutliers);
    QMenu* factors = m_menu->addMenu(QStringLiteral("Smoothing"));
    auto* group = new QActionGroup(factors);
    for (const double beta : {0.6, 0.8, 0.9, 0.97, 0.99}) {
        QAction* action =
            factors->addAction(QString("s = %1 s + %2 x").arg(beta).arg(1.0 - beta, 0, 'g', 2));
        action->setCheckable(true);
        action->setChecked(beta == m_model->beta);
        group->addAction(action);
        connect(action, &QAction::triggered, this, [this, beta] { setSmoothing(beta); });
    }
    m_second = m_menu->addMenu(QStringLiteral("Second plot"));
    m_second->menuAction()->setVisible(false);
    connect(m_second, &QMenu::aboutToShow, this, [this] {
        for (QAction* action : m_second->actions())
            action->setChecked(action->text() == metricTitle(m_plots[1]->metric()));
    });
    connect(m_menu->addAction(QStringLiteral("Reset zoom")), &QAction::triggered, this,
            &CurvePanel::resetZoom);
    m_menu->addSeparator();

    m_timer->setSingleShot(true);
    m_timer->setInterval(16);
    connect(m_timer, &QTimer::timeout, this, &CurvePanel::flush);
    connect(m_axis, &SegmentedControl::changed, this,
            [this](int i) { setAxis(m_axes[static_cast<std::size_t>(i)]); });
    connect(m_law, &QAbstractButton::toggled, this, &CurvePanel::setPowerLaw);
    connect(m_law, &QAbstractButton::clicked, this, [this](bool on) {
        if (!on) return;  // a power law is a straight line where both axes are logarithmic
        setLogX(true);
        setLogY(true);
    });
    connect(m_recent, &QAbstractButton::toggled, this, &CurvePanel::setRecentOnly);
    connect(m_logX, &QAbstractButton::toggled, this, &CurvePanel::setLogX);
    connect(m_logY, &QAbstractButton::toggled, this, &CurvePanel::setLogY);
    connect(m_smooth, &QAbstractButton::toggled, this, &CurvePanel::setSmooth);
    connect(m_training, &QAbstractButton::toggled, this, &CurvePanel::setShowTraining);
    connect(m_published, &QAbstractButton::toggled, this, [this](bool on) {
        m_model->showPublished = on;
        changed();
    });
    for (int i = 0; i < 2; ++i) {
        connect(m_plots[i], &CurvePlot::cursorDragged, this, &CurvePanel::dragTo);
        connect(m_plots[i], &CurvePlot::cursorStepped, this, &CurvePanel::stepCursor);
        connect(m_plots[i], &CurvePlot::resetRequested, this, &CurvePanel::resetZoom);
        connect(m_plots[i], &CurvePlot::markMenuRequested, this, &CurvePanel::markMenuRequested);
        connect(m_plots[i], &CurvePlot::rangeDragged, this, [this, i](double low, double high) {
            m_plots[1 - i]->setRange(low, high);
            tellAxis();
        });
    }
    changed();
}

CurvePanel::~CurvePanel() {
    // The plots look into the model until they are gone.
    delete m_plots[0];
    delete m_plots[1];
    delete m_model;
}

void CurvePanel::setTitle(const QString& title) {
    m_head->setTitle(title);
}
void CurvePanel::setSubText(const QString& text) {
    m_subText = text;
    words();
}

void CurvePanel::changed() {
    ++m_model->version;
    words();
    if (!m_timer->isActive()) m_timer->start();
}

/// Tokens where a run counts them; the second plot is the perplexity's where a run measures it.
void CurvePanel::offerAxes() {
    const bool tokens = m_model->hasTokens();
    if (const bool offered = m_axes.size() == 4; offered != tokens) {
        m_axes = {CurveAxis::Step, CurveAxis::Epoch, CurveAxis::Time};
        QStringList names{QStringLiteral("Step"), QStringLiteral("Epoch"), QStringLiteral("Time")};
        if (tokens) {
            m_axes.insert(m_axes.begin() + 2, CurveAxis::Tokens);
            names.insert(2, QStringLiteral("Tokens"));
        }
        m_axis->setItems(names);
        m_law->setVisible(tokens);
        setAxis(m_wantedAxis);
    }
    const auto metrics = m_model->secondMetrics();
    const bool wanted = m_wantedMetric && m_model->has(*m_wantedMetric);
    m_plots[1]->setMetric(wanted ? *m_wantedMetric : metrics.front());
    if (metrics == m_metrics) return;
    m_metrics = metrics;
    m_second->clear();
    for (const auto metric : metrics) {
        QAction* action = m_second->addAction(metricTitle(metric));
        action->setCheckable(true);
        connect(action, &QAction::triggered, this, [this, metric] { setSecondMetric(metric); });
    }
    m_second->menuAction()->setVisible(metrics.size() > 1);
}

void CurvePanel::setSecondMetric(std::optional<CurveMetric> metric) {
    if (m_wantedMetric == metric) return;
    m_wantedMetric = metric;
    changed();
    flush();
}

void CurvePanel::flush() {
    offerAxes();
    m_timer->stop();
    for (CurvePlot* plot : m_plots) plot->sync();
    setAccessibleDescription(summary());
    tellAxis();
}

void CurvePanel::tellAxis() {
    Q_EMIT axisChanged(m_plots[0]->rangeLow(), m_plots[0]->rangeHigh(), m_model->logX,
                       m_plots[0]->leftMargin(), m_plots[0]->rightMargin());
}

void CurvePanel::words() {
    QStringList parts;
    if (!m_subText.isEmpty()) parts += m_subText;
    std::size_t most = 0;
    for (const Curve& curve : m_model->curves()) most = qMax(most, curve.members.size());
    if (m_subText.isEmpty() && most > 1)
        parts += QString("mean of up to %1 seeds, band: %2").arg(most).arg(bandName(m_model->band));
    if (m_subText.isEmpty() && !m_model->showTraining)
        parts += QStringLiteral("validation; training hidden");
    // First, so that a narrow head cuts the other words and not the formula.
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
    for (const MetricPoint& point : points) {
        if (point.split == Split::Train) found->second.training.append(point);
        if (point.split == Split::Validation) found->second.validation.append(point);
    }
    if (!m_timer->isActive()) m_timer->start();
}

void CurvePanel::clearPoints(const QString& id) {
    const auto found = m_model->runs.find(id);
    if (found == m_model->runs.end()) return;
    found->second.training.clear();
    found->second.validation.clear();
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

void CurvePanel::setShowTraining(bool shown) {
    m_training->setChecked(shown);
    if (m_model->showTraining == shown) return;
    m_model->showTraining = shown;
    changed();
}
void CurvePanel::setAxis(CurveAxis axis) {
    m_wantedAxis = axis;
    auto place = std::find(m_axes.begin(), m_axes.end(), axis);
    if (place == m_axes.end()) place = m_axes.begin();
    axis = *place;
    m_axis->setCurrent(static_cast<int>(place - m_axes.begin()));
    const bool tokens = axis == CurveAxis::Tokens;
    m_law->setEnabled(tokens);
    m_law->setToolTip(
        tokens
            ? QStringLiteral(
                  "L = a N^\u2212b, fitted to the validation loss (or else the training loss) by "
                  "least squares on the logarithms, without the first tenth of the points")
            : QStringLiteral("Fits a power law of the loss against tokens; select Tokens first"));
    if (m_model->axis == axis) return;
    m_model->axis = axis;
    changed();
    resetZoom();
}
CurveAxis CurvePanel::axis() const {
    return m_model->axis;
}
double CurvePanel::keyOfStep(qint64 step) const {
    return m_model->keyOfStep(static_cast<double>(step));
}
void CurvePanel::setLogX(bool on) {
    m_logX->setChecked(on);
    if (m_model->logX == on) return;
    m_model->logX = on;
    changed();
    resetZoom();
}
void CurvePanel::setLogY(bool on) {
    m_logY->setChecked(on);
    if (m_model->logY == on) return;
    m_model->logY = on;
    changed();
}
bool CurvePanel::logX() const {
    return m_model->logX;
}
bool CurvePanel::logY() const {
    return m_model->logY;
}
void CurvePanel::setPowerLaw(bool on) {
    m_law->setChecked(on);
    if (m_model->powerLaw == on) return;
    m_model->powerLaw = on;
    changed();
}
bool CurvePanel::powerLaw() const {
    return m_model->powerLaw;
}
bool CurvePanel::smooth() const {
    return m_model->smooth;
}
void CurvePanel::setSmooth(bool on) {
    m_smooth->setChecked(on);
    if (m_model->smooth == on) return;
    m_model->smooth = on;
    changed();
}
void CurvePanel::setSmoothing(double beta) {
    m_model->beta = std::clamp(beta, 0.0, 0.9999);
    changed();
}
void CurvePanel::setCompareControls(bool shown) {
    m_published->setVisible(shown);
    m_training->setVisible(shown);
}

void CurvePanel::setBand(CurveBandKind kind) {
    m_bands[static_cast<int>(kind)]->setChecked(true);
    if (m_model->band == kind) return;
    m_model->band = kind;
    changed();
}
CurveBandKind CurvePanel::band() const {
    return m_model->band;
}
void CurvePanel::setWithoutOutliers(bool on) {
    m_outliers->setChecked(on);
    if (m_model->withoutOutliers == on) return;
    m_model->withoutOutliers = on;
    changed();
}
bool CurvePanel::withoutOutliers() const {
    return m_model->withoutOutliers;
}
void CurvePanel::setRecentOnly(bool on) {
    m_recent->setChecked(on);
    if (m_model->recentOnly == on) return;
    m_model->recentOnly = on;
    changed();
    resetZoom();
}
bool CurvePanel::recentOnly() const {
    return m_model->recentOnly;
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
    constexpr double head = 30.0;
    flush();
    painter.setFont(headFont());
    painter.setPen(Theme::current().text);
    painter.drawText(QRectF(target.left() + 16, target.top(), target.width() - 32, head),
                     Qt::AlignVCenter, m_head->title());
    const double half = target.width() / 2.0, top = target.top() + head;
    for (const int k : {0, 1})
        m_plots[k]->paintVector(painter,
                                {target.left() + k * half, top, half, target.height() - head});
}

void CurvePanel::setFigure(ViewMenu& menu) {
    constexpr QSize size(960, 380);  // of a page's width, whatever the window's
    menu.paintVector = [this, size](QPainter& painter) {
        paintVector(painter, QRectF(QPointF(0, 0), size));
    };
    menu.wholeSize = [size] { return size; };
    menu.caption = [this] { return figureCaption(); };
    menu.addPgfplots([this] { return pgfplots(); });
}

QString CurvePanel::figureName() const {
    const auto curves = m_model->curves();
    const QString runs =
        curves.size() == 1 ? curves.front().name : QStringLiteral("%1-runs").arg(curves.size());
    return figureFileName({runs, QStringLiteral("curves")});
}

QString CurvePanel::figureCaption() const {
    QStringList names, words;
    for (const Curve& curve : m_model->curves())
        names << (curve.members.size() > 1
                      ? QStringLiteral("%1 (%2 seeds)").arg(curve.name).arg(curve.members.size())
                      : curve.name);
    double last = 0.0;
    for (const auto& [id, run] : m_model->runs)
        for (const bool validation : {false, true}) {
            const auto& steps = run.split(validation).keys(CurveAxis::Step);
            if (!steps.empty()) last = std::max(last, steps.back());
        }
    words << names.join(QStringLiteral(", "))
          << QStringLiteral("up to step %1").arg(groupedNumber(static_cast<qlonglong>(last)));
    if (!m_head->subText().isEmpty()) words << m_head->subText();
    return words.join(QStringLiteral(" \u00B7 "));
}

QString CurvePanel::pgfplots() {
    flush();
    std::vector<PgfPlot> plots;
    for (CurvePlot* plot : m_plots)
        plots.push_back({m_head->title(), axisTitle(m_model->axis), metricTitle(plot->metric()),
                         m_model->logX, m_model->logY && lowerIsBetter(plot->metric()),
                         plot->pgfSeries()});
    return pgfplotsText(figureCaption(), plots);
}

void CurvePanel::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    tellAxis();
}

}  // namespace relascope
