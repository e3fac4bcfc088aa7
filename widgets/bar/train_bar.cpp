// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/bar/train_bar.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QPainter>
#include <QPushButton>
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <utility>

#include "widgets/bar/devices_chip.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/icons.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

struct ProgressText {
    QString step, epoch, rate, left;
};

ProgressText progressText(const Progress& p, bool paused, TrainBar::Ending ending, int silence) {
    const auto epochs = [](double v) {
        return QString::number(v, 'f', v == static_cast<double>(static_cast<qint64>(v)) ? 0 : 1);
    };
    ProgressText w;
    w.step = p.totalSteps > 0
                 ? QString("Step %1 of %2").arg(groupedNumber(p.step), groupedNumber(p.totalSteps))
                 : "Step " + groupedNumber(p.step);
    if (p.totalEpochs > 0.0)
        w.epoch =
            QString("epoch %1 of %2").arg(QString::number(p.epoch, 'f', 1), epochs(p.totalEpochs));
    if (silence > 0)
        w.rate = QString("no step for %1").arg(durationText(silence));
    else if (p.tokensPerSecond > 0.0)
        w.rate = groupedNumber(static_cast<qint64>(p.tokensPerSecond)) + " tokens/s";
    else if (p.examplesPerSecond > 0.0)
        w.rate = groupedNumber(static_cast<qint64>(p.examplesPerSecond)) + " examples/s";
    const double epochLeft = epochSecondsLeft(p);
    if (ending == TrainBar::Ending::Now)
        w.left = QStringLiteral("stopping, saving a checkpoint");
    else if (ending == TrainBar::Ending::AfterEpoch)
        w.left = (paused ? QStringLiteral("paused, stopping after this epoch")
                  : std::isnan(epochLeft)
                      ? QStringLiteral("stopping after this epoch")
                      : "stopping after this epoch, about " + roughDuration(epochLeft));
    else if (paused)
        w.left = QStringLiteral("paused");
    else if (p.secondsLeft > 0.0 && silence == 0)
        w.left = durationText(p.secondsLeft) + " left";
    return w;
}

}  // namespace

double epochSecondsLeft(const Progress& p) {
    const double steps = static_cast<double>(p.totalSteps - p.step);
    if (!(p.secondsLeft > 0.0) || !(p.totalEpochs > 0.0) || steps <= 0.0)
        return std::numeric_limits<double>::quiet_NaN();
    const double inEpoch =
        (std::floor(p.epoch) + 1.0 - p.epoch) * static_cast<double>(p.totalSteps) / p.totalEpochs;
    return p.secondsLeft * std::min(1.0, inEpoch / steps);
}

TrainProgressLine::TrainProgressLine(QWidget* parent) : QWidget(parent) {
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setFixedHeight(36);
    setMinimumWidth(180);
}
void TrainProgressLine::setProgress(const Progress& progress, bool paused) {
    m_progress = progress;
    m_busy = true;
    m_paused = paused;
    speak();
}
void TrainProgressLine::setPaused(bool paused) {
    if (std::exchange(m_paused, paused) == paused) return;
    if (!paused)
        m_progress.secondsLeft = m_progress.examplesPerSecond = m_progress.tokensPerSecond = 0.0;
    speak();
}
void TrainProgressLine::setEnding(TrainBar::Ending ending) {
    if (std::exchange(m_ending, ending) != ending) speak();
}
void TrainProgressLine::setSilence(int seconds) {
    if (std::exchange(m_silence, seconds) != seconds) speak();
}
void TrainProgressLine::setSentence(const QString& sentence) {
    m_sentence = sentence;
    m_busy = false;
    speak();
}
QString TrainProgressLine::text() const {
    if (!m_busy) return m_sentence;
    const ProgressText w = progressText(m_progress, m_paused, m_ending, m_silence);
    QStringList parts{w.step, w.epoch, w.rate, w.left};
    parts.removeAll(QString());
    return parts.join(QStringLiteral("  "));
}
void TrainProgressLine::speak() {
    setAccessibleName(text());
    setToolTip(text());
    update();
}

void TrainProgressLine::paintEvent(QPaintEvent*) {
    const Theme& t = Theme::current();
    QPainter painter(this);
    const QRect line(0, 2, width(), 20);
    if (!m_busy) {
        painter.setFont(smallFont());
        painter.setPen(t.muted);
        painter.drawText(rect(), Qt::AlignVCenter,
                         painter.fontMetrics().elidedText(m_sentence, Qt::ElideRight, width()));
        return;
    }
    const ProgressText w = progressText(m_progress, m_paused, m_ending, m_silence);
    QFont strong = numberFont(12), normal = numberFont(12);
    strong.setWeight(QFont::DemiBold);
    const QFontMetrics bold(strong), thin(normal);
    // Each part has the width of its widest form, so that the next one does not move.
    const QString total = groupedNumber(m_progress.totalSteps);
    QString widest = m_progress.totalSteps > 0 ? QString("Step %1 of %1").arg(total) : w.step;
    const int left = w.left.isEmpty() ? 0 : thin.horizontalAdvance(w.left) + 12;
    if (left > width()) {  // only room for the reason why the run ends
        painter.setFont(normal);
        painter.setPen(t.warning);
        painter.drawText(line, Qt::AlignVCenter, thin.elidedText(w.left, Qt::ElideRight, width()));
    }
    int x = 0;
    const auto part = [&](const QString& text, const QFont& font, int size, const QColor& ink) {
        if (text.isEmpty() || x + size > width() - left) return;
        painter.setFont(font);
        painter.setPen(ink);
        painter.drawText(QRect(x, line.top(), size, line.height()), Qt::AlignVCenter, text);
        x += size + 14;
    };
    if (left <= width())
        part(w.step, strong,
             qMin(width() - left,
                  qMax(bold.horizontalAdvance(widest), bold.horizontalAdvance(w.step))),
             t.text);
    const QString epochs = m_progress.totalEpochs >= 1000  ? "epoch 0000.0 of 0000"
                           : m_progress.totalEpochs >= 100 ? "epoch 000.0 of 000"
                                                           : "epoch 00.0 of 00";
    part(w.epoch, normal, qMax(thin.horizontalAdvance(epochs), thin.horizontalAdvance(w.epoch)),
         t.muted);
    part(w.rate, normal,
         qMax(thin.horizontalAdvance("00,000 examples/s"), thin.horizontalAdvance(w.rate)),
         t.muted);
    painter.setFont(normal);
    painter.setPen(m_paused || m_ending != TrainBar::Ending::No ? t.warning : t.muted);
    if (left <= width()) painter.drawText(line, Qt::AlignVCenter | Qt::AlignRight, w.left);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    const QRectF track(0, 27, width(), 4);
    painter.setBrush(t.track);
    painter.drawRoundedRect(track, 2, 2);
    if (m_progress.totalSteps <= 0) return;
    const double fraction = qBound(
        0.0, static_cast<double>(m_progress.step) / static_cast<double>(m_progress.totalSteps),
        1.0);
    painter.setBrush(m_paused ? t.warning : t.accent);
    if (fraction > 0.0)
        painter.drawRoundedRect(QRectF(0, 27, qMax(4.0, track.width() * fraction), 4), 2, 2);
}

TrainBar::TrainBar(QWidget* parent)
    : QWidget(parent),
      m_start(new QPushButton(this)),
      m_step(new QPushButton(QStringLiteral("Step"), this)),
      m_stop(new QPushButton(QStringLiteral("Stop"), this)),
      m_cancel(new QPushButton(QStringLiteral("Cancel"), this)),
      m_line(new TrainProgressLine(this)),
      m_device(new DevicesChip(this)),
      m_newRunMenu(new QMenu(this)),
      m_newRun(new Chip({}, this)),
      m_intervention(new Chip({}, this)),
      m_newRunLabel(mutedLabel(QStringLiteral("New run"), this)),
      m_options(new ToggleChip("Options", this)) {
    setFixedHeight(48);
    setAccessibleName(QStringLiteral("Training"));
    m_start->setProperty("primary", true);
    m_step->setIcon(icon("step"));
    m_stop->setIcon(icon("stop"));
    m_cancel->setIcon(icon("cancel"));
    m_intervention->setCursor(Qt::PointingHandCursor);
    connect(m_intervention, &QAbstractButton::clicked, this, &TrainBar::interventionClicked);
    m_intervention->setIcon(icon("scissors"));
    connect(m_device, &DevicesChip::devicesChosen, this, &TrainBar::devicesChosen);
    connect(m_device, &DevicesChip::hostChosen, this, &TrainBar::hostChosen);
    m_newRunLabel->setFont(smallFont());
    connect(m_newRun, &QAbstractButton::clicked, this,
            [this] { m_newRunMenu->popup(m_newRun->mapToGlobal(QPoint(0, m_newRun->height()))); });
    m_newRun->setCursor(Qt::PointingHandCursor);
    m_options->setToolTip(QStringLiteral("Options of the new run (Ctrl+Shift+O)"));
    connect(m_options, &QAbstractButton::clicked, this, &TrainBar::optionsToggled);
    auto* row = rowOf(this, {12, 0, 12, 1}, 8);
    row->addWidget(m_newRunLabel);
    row->addWidget(m_newRun);
    QFont face = bodyFont();
    face.setWeight(QFont::Medium);
    for (QPushButton* button : {m_start, m_step, m_stop, m_cancel}) {
        button->setFont(face);
        // A click leaves the focus, and with it Space, where it was.
        button->setFocusPolicy(Qt::TabFocus);
        row->addWidget(button);
    }
    row->insertWidget(row->indexOf(m_step), m_options);
    // "Start", "Pause" and "Resume" share one width: the next button must not move.
    m_start->setFixedWidth(88);
    m_stop->setText(QStringLiteral("Stop now"));
    m_stop->setFixedWidth(m_stop->sizeHint().width());
    row->addSpacing(14);
    row->addWidget(m_line, 1);
    row->addSpacing(12);
    for (Chip* chip : std::initializer_list<Chip*>{m_intervention, m_device}) {
        chip->hide();
        row->addWidget(chip);
    }
    connect(m_start, &QPushButton::clicked, this, [this] {
        if (m_state == RunState::Running)
            Q_EMIT pauseRequested();
        else if (m_state == RunState::Paused)
            Q_EMIT resumeRequested();
        else if (m_waits)
            Q_EMIT besideRequested();
        else
            Q_EMIT startRequested();
    });
    connect(m_step, &QPushButton::clicked, this, &TrainBar::stepRequested);
    connect(m_stop, &QPushButton::clicked, this, [this] {
        if (m_ending == Ending::No)
            Q_EMIT stopRequested();
        else
            Q_EMIT cancelRequested();
    });
    connect(m_cancel, &QPushButton::clicked, this, &TrainBar::cancelRequested);
    setIdle(QStringLiteral("Choose an experiment, then press Start."), false);
}

void TrainBar::setState(RunState state) {
    m_preparing = false;
    m_state = state;
    m_line->setPaused(state == RunState::Paused);
    refresh();
}
void TrainBar::setEnding(Ending ending) {
    m_ending = ending;
    m_line->setEnding(ending);
    refresh();
}
void TrainBar::setSilence(int seconds) {
    m_line->setSilence(seconds);
}
QString TrainBar::interventionText() const {
    return m_intervention->isHidden() ? QString() : m_intervention->text();
}
QString TrainBar::newRunText() const {
    return m_newRun->text();
}
QString TrainBar::modelText() const {
    return m_model;
}
QMenu* TrainBar::newRunMenu() const {
    return m_newRunMenu;
}
void TrainBar::setOptionsShown(bool shown) {
    m_options->setChecked(shown);
}
QString TrainBar::deviceText() const {
    return m_device->text();
}
QString TrainBar::deviceFacts() const {
    return m_device->accessibleDescription();
}
QString TrainBar::lineText() const {
    return m_line->text();
}
void TrainBar::setProgress(const Progress& progress) {
    m_line->setProgress(progress, m_state == RunState::Paused);
}
void TrainBar::setResumes(bool resumes) {
    if (m_resumes == resumes) return;
    m_resumes = resumes;
    refresh();
}
void TrainBar::setPreparing(const QString& sentence, bool waits) {
    setIdle(sentence, waits);
    m_preparing = true;
    m_waits = waits;
    refresh();
}
void TrainBar::setIdle(const QString& sentence, bool canStart) {
    m_preparing = m_waits = false;
    m_canStart = canStart;
    if (m_state != RunState::Running && m_state != RunState::Paused) m_line->setSentence(sentence);
    m_start->setProperty("why", sentence);
    refresh();
}

void TrainBar::refresh() {
    const bool running = m_state == RunState::Running, paused = m_state == RunState::Paused;
    m_start->setText(running               ? QStringLiteral("Pause")
                     : paused || m_resumes ? QStringLiteral("Resume")
                                           : QStringLiteral("Start"));
    const bool enabled = running || paused || m_canStart;
    m_start->setIcon(icon(running ? "pause" : "play",
                          enabled ? Theme::current().onAccent : Theme::current().faint));
    const bool now = m_ending == Ending::Now, job = (running || paused) && !now;
    const QString saving = QStringLiteral("The run is saving a checkpoint");
    // A button that is switched off would pass its focus on, and Space would press the next one.
    if (!(enabled && !now) && m_start->hasFocus()) setFocus(Qt::OtherFocusReason);
    m_start->setEnabled(enabled && !now);
    m_start->setToolTip(now       ? saving
                        : running ? QStringLiteral("Pause after the current step (Space)")
                        : paused  ? QStringLiteral("Resume (Space)")
                        : m_waits ? QStringLiteral("Start beside the run that trains (Space)")
                        : enabled && m_resumes ? QStringLiteral("Resume the selected run (Space)")
                        : enabled              ? QStringLiteral("Start training (Space)")
                                               : m_start->property("why").toString());
    for (QPushButton* button : {m_step, m_stop, m_cancel})
        button->setVisible(running || paused || m_preparing);
    m_step->setEnabled(paused && !now);
    m_step->setToolTip(paused ? QStringLiteral("One optimizer step (N)")
                              : QStringLiteral("Available while the run is paused"));
    const QString atOnce =
        QStringLiteral("Stop at once; the run can be resumed from its last checkpoint");
    const bool after = m_ending == Ending::AfterEpoch;
    m_stop->setText(after ? QStringLiteral("Stop now") : QStringLiteral("Stop"));
    m_stop->setEnabled(job);
    m_stop->setToolTip(now     ? saving
                       : after ? atOnce
                       : job   ? QStringLiteral("Finish this epoch, then stop")
                               : QStringLiteral("No run is training"));
    m_cancel->setEnabled(job || m_preparing);
    m_cancel->setToolTip(now                  ? saving
                         : job || m_preparing ? atOnce
                                              : QStringLiteral("No run is training"));
}

void TrainBar::setDevice(const QString& device) {
    m_device->setDevice(device);
}
void TrainBar::setDeviceFacts(const QString& lines) {
    m_device->setFacts(lines);
}
void TrainBar::setDeviceChoices(const std::vector<DeviceChoice>& choices,
                                const QStringList& chosen) {
    m_device->setChoices(choices, chosen);
}
void TrainBar::setHosts(const QStringList& hosts, const QString& chosen) {
    m_device->setHosts(hosts, chosen);
}
void TrainBar::setNewRun(const QString& text, const QString& model, const QString& ofRun) {
    m_model = model;
    m_newRunLabel->setText(ofRun.isEmpty() ? QStringLiteral("New run") : QStringLiteral("Resume"));
    const QString shown = !ofRun.isEmpty()  ? ofRun
                          : !text.isEmpty() ? text
                                            : QStringLiteral("choose an experiment");
    m_newRun->setText(shown + QStringLiteral(" \u25BE"));
    m_newRun->setAccessibleName(m_newRunLabel->text() + u' ' + shown);
    m_newRun->setToolTip(model.isEmpty() ? QStringLiteral("Experiment and model of the new run")
                                         : text + u'\n' + model);
    m_newRun->updateGeometry();
}
void TrainBar::setIntervention(const QString& text, const QString& off) {
    const Theme& t = Theme::current();
    m_editsOff = off;
    m_intervention->setText(text);
    m_intervention->setToolTip(
        off.isEmpty() ? QStringLiteral("The model shown is edited; click for the list (E)")
                      : QStringLiteral("What is shown is not edited: %1").arg(off));
    m_intervention->setFill(off.isEmpty() ? t.warningFill : t.panel);
    m_intervention->setTextColor(off.isEmpty() ? t.warning : t.muted);
    m_intervention->setVisible(!text.isEmpty());
    m_intervention->updateGeometry();
}

void TrainBar::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), Theme::current().panel);
    painter.fillRect(QRect(0, height() - 1, width(), 1), Theme::current().border);
}
void TrainBar::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() != QEvent::PaletteChange || !m_intervention) return;
    setIntervention(m_intervention->text(), m_editsOff);
    refresh();
}

}  // namespace relascope::widgets
