// SPDX-License-Identifier: GPL-3.0-or-later

#include <QFileDialog>
#include <QMenu>
#include <QPainter>
#include <QVBoxLayout>

#include "widgets/analysis/along/along_view.h"
#include "widgets/analysis/along/film_strip.h"
#include "widgets/analysis/analysis_frame.h"
#include "widgets/export/export.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

constexpr int kAlongFigureWidth = 1180, kAlongFigurePlot = 176, kHead = 36;

}  // namespace

const auto kAlongView = RegisterView::of<AlongView>("along");

AlongView::AlongView(QWidget* parent)
    : AnalysisFrame(QStringLiteral("Along training"), QStringLiteral("along-training"), parent),
      m_value(new PlotView(QStringLiteral("The cell along training"), this)),
      m_answer(new PlotView(QStringLiteral("The answer along training"), this)),
      m_film(new FilmStrip(this)),
      m_log(new ToggleChip(QStringLiteral("log(step + 1)"), this)) {
    m_log->setChecked(true);
    m_log->setToolTip(QStringLiteral("A logarithmic axis of steps, which begins at step 0"));
    head()->addLeftControl(m_log);
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
    for (PlotView* plot : {m_value, m_answer}) {
        plot->setLogarithmic(true);
        plot->setFocusPolicy(Qt::NoFocus);  // the film has the keys
        connect(m_log, &ToggleChip::toggled, plot, &PlotView::setLogarithmic);
        connect(plot, &PlotView::chosen, this, [this](int at) {
            Q_EMIT stepRequested(m_along.steps[static_cast<std::size_t>(at)].step);
        });
    }
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
    for (PlotView* plot : {m_value, m_answer})
        plot->setCursor(place.step ? std::optional(static_cast<double>(*place.step))
                                   : std::nullopt);
    m_film->setCurrentStep(place.step);
    if (isEmpty()) return true;
    const bool sameCell = !place.cell || m_along.cell == *place.cell;
    // Maps that are stored in blocks have no single cells.
    if (!sameCell && !m_along.chooseCell(*place.cell)) return false;
    if (!sameCell || !sameName) setAlong(m_along);
    return true;
}

PlotData AlongView::plotOf(bool answer) const {
    const auto of = [answer](const AlongValues& v) { return answer ? v.probability : v.value; };
    PlotData data;
    PlotLine now, before;
    now.dots = m_film->frames();
    before.dashed = true;
    for (const auto& step : m_along.steps) {
        data.x.push_back(static_cast<double>(step.step));
        now.y.push_back(of(step.now));
        before.y.push_back(of(step.before));
    }
    data.range = {0.0, answer ? 1.0 : 0.0};
    data.percent = answer;
    data.zero = !answer;
    if (!answer && m_along.edited)
        now.name = QStringLiteral("with the edits"), before.name = QStringLiteral("without");
    const QString numbers =
        QStringLiteral("i = %1, j = %2").arg(m_along.cell.i).arg(m_along.cell.j);
    data.title =
        answer ? QStringLiteral("Probability of \u201C%1\u201D").arg(answerText(m_along.answerName))
               : filmSymbol(m_along.cell.kind) + QStringLiteral(", ") +
                     (m_place.cellName.isEmpty() ? numbers : m_place.cellName);
    // The lower plot has the title of the axis.
    if (answer || m_along.answer < 0) data.xTitle = QStringLiteral("Step");
    const auto number = [of, answer](const AlongValues& values) {
        return answer ? probabilityText(of(values)) : signedText(of(values), 3);
    };
    data.text = [this, number](int at) {
        const auto& step = m_along.steps[static_cast<std::size_t>(at)];
        const QString text =
            QStringLiteral("step %1: %2").arg(groupedNumber(step.step), number(step.now));
        return m_along.edited ? text + QStringLiteral(", without the edits ") + number(step.before)
                              : text;
    };
    data.description = QString(data.title).remove(u'_');
    for (const int at : now.dots) data.description += QStringLiteral("; ") + data.text(at);
    data.lines.push_back(std::move(now));
    if (m_along.edited) data.lines.push_back(std::move(before));
    return data;
}

void AlongView::fill() {
    m_film->setAlong(m_along);
    m_value->setData(plotOf(false));
    m_answer->setData(plotOf(true));
    m_answer->setVisible(m_along.answer >= 0);
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
    for (PlotView* plot : {m_value, m_answer}) {
        const bool last = plot == m_answer || m_along.answer < 0;
        if (plot == m_answer && m_along.answer < 0) continue;
        const int high = kAlongFigurePlot + (last ? 22 : 0);
        plot->paintFigure(painter, top, {size.width(), high});
        top += high;
    }
    painter.translate(0, top);
    m_film->paintFigure(painter, size - QSize(0, top));
}

}  // namespace relascope::widgets
