// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/measure/along_view.h"

#include <QFileDialog>
#include <QMenu>
#include <QPainter>
#include <QVBoxLayout>
#include <algorithm>

#include "widgets/export/export.h"
#include "widgets/measure/along_plot.h"
#include "widgets/measure/film_paint.h"
#include "widgets/measure/film_strip.h"
#include "widgets/measure/frame_files.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

constexpr int kFigureWidth = 1180, kFigurePlot = 176, kHead = 36;

}  // namespace

AlongView::AlongView(QWidget* parent)
    : MeasureFrame(QStringLiteral("Along training"), QStringLiteral("along-training"), parent),
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
        connect(plot, &AlongPlot::stepChosen, this, &AlongView::stepChosen);
    connect(m_film, &FilmStrip::stepChosen, this, &AlongView::stepChosen);
    m_log->hide();
}

void AlongView::addControl(QWidget* control) {
    head()->addLeftControl(control);
}

void AlongView::clear(const QString& sentence) {
    m_along = {};
    m_log->hide();
    MeasureFrame::clear(sentence);
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
    showResults();
}

void AlongView::setCurrent(std::optional<qint64> step) {
    m_value->setCurrent(step);
    m_answer->setCurrent(step);
    m_film->setCurrent(step);
}

void AlongView::setCellName(const QString& name) {
    if (name == m_cellName) return;
    m_cellName = name;
    if (!isEmpty()) fill();
}

QString AlongView::cellName() const {
    const QString numbers =
        QStringLiteral("i = %1, j = %2").arg(m_along.cell.i).arg(m_along.cell.j);
    return m_cellName.isEmpty() ? numbers : m_cellName;
}

void AlongView::fill() {
    m_film->setAlong(m_along);
    m_value->setAlong(m_along, m_film->frames(), cellName());
    m_answer->setAlong(m_along, m_film->frames(), {});
    m_answer->setVisible(m_along.answer >= 0);
    m_value->setAxisLabel(m_along.answer < 0);
}

QString AlongView::framesName() const {
    return figureFileName({m_run, filmFileName(m_along)});
}

void AlongView::saveFrames(const QString& folder) {
    if (isEmpty()) return;
    auto* files = new FrameFiles(m_along, folder, framesName(), this);
    connect(files, &FrameFiles::finished, menu(), &ViewMenu::saved);
    connect(files, &FrameFiles::failed, menu(), &ViewMenu::failed);
}

QSize AlongView::figureSize() const {
    const int plots = m_along.answer < 0 ? 1 : 2;
    return {kFigureWidth, kHead + plots * kFigurePlot + 22 + m_film->heightFor(kFigureWidth) + 4};
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
    m_value->paintVector(painter, top, {size.width(), kFigurePlot + (answers ? 0 : 22)}, !answers);
    top += kFigurePlot + (answers ? 0 : 22);
    if (answers) {
        m_answer->paintVector(painter, top, {size.width(), kFigurePlot + 22}, true);
        top += kFigurePlot + 22;
    }
    m_film->paintStrip(painter, QRect(0, top, size.width(), size.height() - top));
}

QString AlongView::csv() const {
    return csvOf && !isEmpty() ? QString::fromStdString(csvOf(m_along)) : QString();
}

}  // namespace relascope::widgets
