// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>

#include <QFileDialog>
#include <QHelpEvent>
#include <QMenu>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <QVBoxLayout>

#include "widgets/analysis/along_view.h"
#include "widgets/analysis/analysis_frame.h"
#include "widgets/analysis/film_strip.h"
#include "widgets/curves/curve_items.h"
#include "widgets/export/export.h"
#include "widgets/maps/color_map.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

constexpr int kAlongLeft = 56, kAlongRight = 20;

/// Ticks at steps of an axis of log(step + 1).
class LogStepTicker : public QCPAxisTicker {
protected:
    double getTickStep(const QCPRange& range) override { return range.size(); }
    int getSubTickCount(double) override { return 0; }
    QVector<double> createTickVector(double, const QCPRange& range) override {
        QVector<double> ticks;
        const double decades = range.size() / std::log(10.0);
        if (range.lower <= 0.0) ticks << 0.0;
        for (double power = 1.0; std::log1p(power) <= range.upper; power *= 10.0)
            for (const double head : {1.0, 2.0, 3.0, 5.0}) {
                const bool wanted =
                    head == 1.0 || (decades < 2.6 ? head != 3.0 : decades < 5.0 && head == 3.0);
                const double key = std::log1p(head * power);
                if (wanted && key >= range.lower && key <= range.upper) ticks << key;
            }
        return ticks;
    }
    QString getTickLabel(double tick, const QLocale&, QChar, int) override {
        return groupedNumber(std::llround(std::expm1(tick)));
    }
};

}  // namespace

struct AlongPlot::Parts {
    Field field;
    ThemedPlot* plot;
    QCPGraph *before, *now, *dots;
    CursorItem* cursor;
    AlongTraining along;
    std::vector<int> frames;
    QString cellName;
    std::optional<qint64> current;
    bool logarithmic = true;

    Parts(AlongPlot* self, Field which)
        : field(which),
          plot(new ThemedPlot(QMargins(kAlongLeft, 6, kAlongRight, 24), self)),
          before(plot->addGraph()),
          now(plot->addGraph()),
          dots(plot->addGraph()),
          cursor(new CursorItem(plot, CursorItem::Line::Dotted)) {
        plot->setAccessibleName(field == Field::Value
                                    ? QStringLiteral("The cell along training")
                                    : QStringLiteral("The answer along training"));
        plot->setInteractions(QCP::iNone);
        plot->setFocusPolicy(Qt::NoFocus);  // the film has the keys
        dots->setLineStyle(QCPGraph::lsNone);
    }

    double key(qint64 step) const {
        const auto x = static_cast<double>(step);
        return logarithmic ? std::log1p(x) : x;
    }
    double of(const AlongValues& values) const {
        return field == Field::Value ? values.value : values.probability;
    }
    const AlongStep& step(int at) const { return along.steps[static_cast<std::size_t>(at)]; }

    void style() {
        const Theme& t = Theme::current();
        const QColor ink = t.series[0];
        plot->applyTheme();
        // Ticks without length leave dots in figures.
        plot->yAxis->setTickPen(QPen(t.panel, 1));
        // Where the sign of the cell changes.
        plot->yAxis->grid()->setZeroLinePen(field == Field::Value ? QPen(t.axis, 1)
                                                                  : QPen(t.grid, 1));
        now->setPen(QPen(ink, 1.75));
        QPen dashed(ink, 1.5);
        dashed.setDashPattern({5.0, 3.0});
        before->setPen(dashed);
        dots->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssDisc, ink, ink, 6));
        cursor->dots.clear();
        cursor->shown = current.has_value() && !along.steps.empty();
        if (!cursor->shown) return;
        cursor->key = key(*current);
        for (const auto& at : along.steps)
            if (at.step == *current && std::isfinite(of(at.now)))
                cursor->dots.push_back({cursor->key, of(at.now), ink, {}});
    }

    void fill() {
        QVector<double> x, y, plain, dotX, dotY;
        double low = 0.0, high = 0.0;
        for (const auto& at : along.steps) {
            x << key(at.step);
            y << of(at.now);
            plain << of(at.before);
            for (const double value : {of(at.now), of(at.before)})
                if (std::isfinite(value)) low = std::min(low, value), high = std::max(high, value);
        }
        for (const int at : frames) {
            dotX << key(step(at).step);
            dotY << of(step(at).now);
        }
        now->setData(x, y, true);
        before->setData(x, plain, true);
        before->setVisible(along.edited);
        dots->setData(dotX, dotY, true);
        if (field == Field::Probability) low = 0.0, high = 1.0;
        const double pad = high > low ? 0.06 * (high - low) : 1.0;
        plot->yAxis->setRange(low - pad, high + pad);
        plot->yAxis->setTicker(QSharedPointer<CurveTicker>::create(
            field == Field::Probability ? CurveTicker::Format::Percent
                                        : CurveTicker::Format::Plain));
        const double first = x.isEmpty() ? 0.0 : x.first(), last = x.isEmpty() ? 1.0 : x.last();
        const double edge = std::max(0.015 * (last - first), 1e-9);
        plot->xAxis->setRange(first - edge, std::max(last, first + 1e-6) + edge);
        if (logarithmic)
            plot->xAxis->setTicker(QSharedPointer<LogStepTicker>::create());
        else
            plot->xAxis->setTicker(QSharedPointer<CurveTicker>::create(CurveTicker::Format::Count));
        style();
        plot->replot(QCustomPlot::rpQueuedReplot);
    }
};

AlongPlot::AlongPlot(Field field, QWidget* parent)
    : QWidget(parent), m(std::make_unique<Parts>(this, field)) {
    columnOf(this, {0, kTitle, 0, 0})->addWidget(m->plot);
    setAxisLabel(false);
    m->style();
}
AlongPlot::~AlongPlot() = default;

void AlongPlot::setAxisLabel(bool shown) {
    m->plot->xAxis->setLabel(shown ? QStringLiteral("Step") : QString());
    m->plot->axisRect()->setMargins(QMargins(kAlongLeft, 6, kAlongRight, shown ? 42 : 24));
}

QString AlongPlot::title() const {
    if (m->field == Field::Value)
        return filmSymbol(m->along.cell.kind) + QStringLiteral(", ") + m->cellName;
    return QStringLiteral("Probability of \u201C%1\u201D").arg(answerText(m->along.answerName));
}

void AlongPlot::setAlong(const AlongTraining& along, const std::vector<int>& frames,
                         const QString& cellName) {
    m->along = along;
    m->frames = frames;
    m->cellName = cellName;
    m->fill();
    QString text = title().remove(u'_');
    for (const int at : frames)
        text += QStringLiteral("; step %1: %2")
                    .arg(groupedNumber(m->step(at).step), signedText(m->of(m->step(at).now), 3));
    m->plot->setAccessibleDescription(text);
    update();
}

void AlongPlot::setCurrent(std::optional<qint64> step) {
    m->current = step;
    m->style();
    m->plot->replot(QCustomPlot::rpQueuedReplot);
}

void AlongPlot::setLogarithmic(bool on) {
    m->logarithmic = on;
    m->fill();
}

QPointF AlongPlot::pixelOf(qint64 step) const {
    double value = 0.0;
    for (const auto& at : m->along.steps)
        if (at.step == step && std::isfinite(m->of(at.now))) value = m->of(at.now);
    return m->plot->pixelOf(m->key(step), value);
}

int AlongPlot::stepAt(int x) const {
    int best = -1;
    double nearest = 0.0;
    const double key = m->plot->xAxis->pixelToCoord(x - m->plot->pos().x());
    for (int at = 0; at < static_cast<int>(m->along.steps.size()); ++at) {
        const double far = std::abs(m->key(m->step(at).step) - key);
        if (best < 0 || far < nearest) best = at, nearest = far;
    }
    return best;
}

QString AlongPlot::hoverText(const QPoint& at) const {
    const int found = at.y() < kTitle ? -1 : stepAt(at.x());
    if (found < 0) return {};
    const auto& step = m->step(found);
    const auto number = [&](const AlongValues& values) {
        const double value = m->of(values);
        return m->field == Field::Value ? signedText(value, 3) : probabilityText(value);
    };
    QString text = QStringLiteral("step %1: %2").arg(groupedNumber(step.step), number(step.now));
    if (m->along.edited) text += QStringLiteral(", without the edits ") + number(step.before);
    return text;
}

void AlongPlot::paintTitle(QPainter& painter, const QRect& box) const {
    const Theme& t = Theme::current();
    const QString text = title();
    painter.setFont(smallFont());
    painter.setPen(t.text);
    // Texts wider than their box begin at its left.
    drawSubscripted(painter, QRectF(box.left() + 16, box.top(), 1, box.height()), text);
    if (!m->along.edited || m->field != Field::Value) return;
    painter.setFont(captionFont());
    int right = box.right() - kAlongRight;
    for (const bool edited : {false, true}) {
        const QString name = edited ? QStringLiteral("with the edits") : QStringLiteral("without");
        const int room = painter.fontMetrics().horizontalAdvance(name);
        painter.setPen(t.muted);
        painter.drawText(QRect(right - room, box.top(), room, box.height()), Qt::AlignVCenter,
                         name);
        painter.setPen(edited ? m->now->pen() : m->before->pen());
        const qreal y = box.top() + box.height() / 2 + 0.5;
        painter.drawLine(QPointF(right - room - 34, y), QPointF(right - room - 8, y));
        right -= room + 52;
    }
}

void AlongPlot::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), Theme::current().panel);
    if (!m->along.steps.empty()) paintTitle(painter, QRect(0, 0, width(), kTitle));
}

void AlongPlot::paintVector(QPainter& painter, int top, const QSize& size, bool steps) {
    m->style();
    paintTitle(painter, QRect(0, top, size.width(), kTitle));
    m->plot->paintFigure(painter, top + kTitle, size - QSize(0, kTitle),
                         steps ? QStringLiteral("Step") : QString(), {});
}

void AlongPlot::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() != QEvent::PaletteChange || !m) return;
    m->style();
    m->plot->replot(QCustomPlot::rpQueuedReplot);
}

bool AlongPlot::eventFilter(QObject* watched, QEvent* event) {
    if (!m) return QWidget::eventFilter(watched, event);
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        const QString text = hoverText(help->pos() + m->plot->pos());
        if (!text.isEmpty()) QToolTip::showText(help->globalPos(), plainTip(text), this);
        return true;
    }
    if (event->type() == QEvent::MouseButtonPress) {
        const auto* mouse = static_cast<QMouseEvent*>(event);
        const int at = stepAt(mouse->pos().x() + m->plot->pos().x());
        if (at >= 0 && mouse->button() == Qt::LeftButton) Q_EMIT stepChosen(m->step(at).step);
        return true;
    }
    return QWidget::eventFilter(watched, event);
}

namespace {

constexpr int kAlongFigureWidth = 1180, kAlongFigurePlot = 176, kHead = 36;

}  // namespace

AlongView::AlongView(QWidget* parent)
    : AnalysisFrame(QStringLiteral("Along training"), QStringLiteral("along-training"), parent),
      m_value(new AlongPlot(AlongPlot::Field::Value, this)),
      m_answer(new AlongPlot(AlongPlot::Field::Probability, this)),
      m_film(new FilmStrip(this)),
      m_log(new ToggleChip(QStringLiteral("log(step + 1)"), this)) {
    m_log->setChecked(true);
    m_log->setToolTip(QStringLiteral("A logarithmic axis of steps, which begins at step 0"));
    head()->addLeftControl(m_log);
    m_answer->setAxisLabel(true);
    content()->addWidget(m_value, 3);
    content()->addWidget(m_answer, 3);
    content()->addWidget(horizontalLine(this));
    content()->addWidget(m_film, 4);
    askFolder = [this] {
        return QFileDialog::getExistingDirectory(this, QStringLiteral("Folder of the frames"));
    };
    menu()->menu()->addSeparator();
    menu()->menu()->addAction(QStringLiteral("Frames..."), this, [this] {
        const QString folder = askFolder();
        if (!folder.isEmpty()) saveFrames(folder);
    });
    connect(m_log, &ToggleChip::toggled, m_value, &AlongPlot::setLogarithmic);
    connect(m_log, &ToggleChip::toggled, m_answer, &AlongPlot::setLogarithmic);
    for (AlongPlot* plot : {m_value, m_answer})
        connect(plot, &AlongPlot::stepChosen, this, &AlongView::stepRequested);
    connect(m_film, &FilmStrip::stepChosen, this, &AlongView::stepRequested);
    m_log->hide();
}

void AlongView::clear(const QString& sentence) {
    m_along = {};
    m_log->hide();
    AnalysisFrame::clear(sentence);
}

void AlongView::setAlong(const AlongTraining& along) {
    m_along = along;
    fill();
    m_log->show();
    const auto count = static_cast<qint64>(along.steps.size());
    head()->setSubText(filmTitle(along) + QStringLiteral(", ") +
                       (count < along.wanted
                            ? QStringLiteral("%1 of %2 kept steps")
                                  .arg(groupedNumber(count), groupedNumber(along.wanted))
                            : QStringLiteral("%1 kept steps").arg(groupedNumber(count))));
    leaveEmpty();
}

bool AlongView::showResult(const Answer& result) {
    try {
        auto along = core::alongTrainingOf(result);
        // The cell may be another one than when the reading began.
        if (m_place.cell && !along.chooseCell(*m_place.cell)) return false;
        setAlong(along);
    } catch (const Error& error) {
        clear(QString::fromStdString(error.what()));
    }
    return true;
}

bool AlongView::setPlace(const AnalysisPlace& place) {
    const bool sameName = place.cellName == m_place.cellName;
    m_place = place;
    m_value->setCurrent(place.step);
    m_answer->setCurrent(place.step);
    m_film->setCurrentStep(place.step);
    if (isEmpty()) return true;
    const bool sameCell = !place.cell || m_along.cell == *place.cell;
    // Maps that are stored in blocks have no single cells.
    if (!sameCell && !m_along.chooseCell(*place.cell)) return false;
    if (!sameCell || !sameName) setAlong(m_along);
    return true;
}

QString AlongView::cellName() const {
    const QString numbers =
        QStringLiteral("i = %1, j = %2").arg(m_along.cell.i).arg(m_along.cell.j);
    return m_place.cellName.isEmpty() ? numbers : m_place.cellName;
}

void AlongView::fill() {
    m_film->setAlong(m_along);
    m_value->setAlong(m_along, m_film->frames(), cellName());
    m_answer->setAlong(m_along, m_film->frames(), {});
    m_answer->setVisible(m_along.answer >= 0);
    m_value->setAxisLabel(m_along.answer < 0);
}

QString AlongView::framesName() const {
    return figureFileName({m_place.run, filmFileName(m_along)});
}

void AlongView::saveFrames(const QString& folder) {
    if (isEmpty()) return;
    auto* files = new FrameFiles(m_along, folder, framesName(), this);
    connect(files, &FrameFiles::finished, menu(), &ViewMenu::saved);
    connect(files, &FrameFiles::failed, menu(), &ViewMenu::failed);
}

QSize AlongView::figureSize() const {
    const int plots = m_along.answer < 0 ? 1 : 2;
    return {kAlongFigureWidth,
            kHead + plots * kAlongFigurePlot + 22 + m_film->heightFor(kAlongFigureWidth) + 4};
}

void AlongView::paintFigure(QPainter& painter) {
    if (isEmpty()) return;
    const QSize size = figureSize();
    painter.setFont(headFont());
    painter.setPen(Theme::current().text);
    painter.drawText(QRect(16, 0, size.width() - 32, kHead), Qt::AlignVCenter,
                     filmTitle(m_along) + QStringLiteral(", along training"));
    int top = kHead;
    const bool answers = m_along.answer >= 0;
    m_value->paintVector(painter, top, {size.width(), kAlongFigurePlot + (answers ? 0 : 22)},
                         !answers);
    top += kAlongFigurePlot + (answers ? 0 : 22);
    if (answers) {
        m_answer->paintVector(painter, top, {size.width(), kAlongFigurePlot + 22}, true);
        top += kAlongFigurePlot + 22;
    }
    painter.translate(0, top);
    m_film->paintFigure(painter, size - QSize(0, top));
}

}  // namespace relascope::widgets
