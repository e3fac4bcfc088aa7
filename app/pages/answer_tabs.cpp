// SPDX-License-Identifier: GPL-3.0-or-later
#include <utility>

#include <QPushButton>
#include <QSpinBox>
#include <QVBoxLayout>

#include "app/pages/answer_tabs.h"
#include "app/pages/data_source.h"
#include "app/pages/measure_window.h"
#include "widgets/analysis/along_view.h"
#include "widgets/analysis/attribution_view.h"
#include "widgets/analysis/heads_view.h"
#include "widgets/analysis/lens_view.h"
#include "widgets/theme/controls.h"

namespace relascope::app {
namespace {

using Kind = MeasureController::Kind;

std::optional<qint64> stepOf(const MeasuredSubject& subject) {
    bool number = false;
    const qint64 step = QString::fromStdString(subject.checkpoint).toLongLong(&number);
    return number ? std::optional(step) : std::nullopt;
}

}  // namespace

AlongTab::AlongTab(MeasureController& controller, QWidget* parent)
    : QWidget(parent),
      m_c(controller),
      m_continue(new QPushButton(QStringLiteral("Continue"), this)),
      m_strip(new JobStrip(this)),
      m_view(new widgets::AlongView(this)) {
    m_continue->setProperty("compact", true);
    m_continue->setToolTip(QStringLiteral("Run the input at the steps that are missing"));
    m_view->addControl(m_continue);
    m_strip->follow(m_c.task(Kind::Along));
    auto* column = widgets::columnOf(this);
    column->addWidget(m_strip);
    column->addWidget(m_view, 1);
    m_start.setSingleShot(true);
    m_start.setInterval(150);
    connect(&m_start, &QTimer::timeout, this, &AlongTab::read);
    connect(m_view, &widgets::AlongView::stepChosen, this, &AlongTab::stepChosen);
    connect(m_continue, &QPushButton::clicked, this, &AlongTab::read);
    connect(&m_c.task(Kind::Along), &LongTask::began, this, &AlongTab::updateButton);
    connect(&m_c.task(Kind::Along), &LongTask::ended, this, &AlongTab::updateButton);
    connect(&m_c, &MeasureController::alongRead, this,
            [this](const AlongTraining& along, bool) { showResult(along); });
    connect(&m_c, &MeasureController::refused, this, [this](Kind kind, const QString& sentence) {
        if (kind != Kind::Along) return;
        m_valid = false;
        m_view->clear(sentence);
    });
    subjectChanged(true);
}

void AlongTab::subjectChanged(bool anew) {
    const auto& subject = m_c.subject();
    const std::string checkpoint = subject ? subject->checkpoint : std::string();
    if (anew) m_valid = m_read = false;
    // A run that trains may have kept more.
    if (checkpoint != std::exchange(m_checkpoint, checkpoint)) m_read = false;
    if (!subject || !subject->sample || !subject->map) {
        m_start.stop();
        return m_view->clear(subject ? QStringLiteral("Choose a sample in the inspector.")
                                     : QStringLiteral("Open a run first."));
    }
    m_view->setCaption(captionOf(*subject));
    m_view->setRunName(subject->name);
    m_view->setCurrent(stepOf(*subject));
    if (m_valid) showResult(m_view->along());
    if (isVisible()) activate();
}

void AlongTab::activate() {
    const auto& subject = m_c.subject();
    if (!subject || !subject->sample || !subject->map || std::exchange(m_read, true)) return;
    m_start.start();
}

// What is there already stays, so that only new steps are run.
void AlongTab::read() {
    if (!m_c.subject() || m_c.task(Kind::Along).busy()) return;
    m_read = true;
    m_c.readAlong(m_valid ? std::optional(m_view->along()) : std::nullopt);
}

// The cell may be another one than when the reading began; the map is the same.
void AlongTab::showResult(AlongTraining along) {
    const auto& subject = m_c.subject();
    if (!subject || !subject->map) return;
    if (!along.chooseCell(*subject->map)) {
        // Of maps stored in blocks there are no single cells.
        m_c.task(Kind::Along).abandon();
        m_valid = m_read = false;
        if (isVisible()) activate();
        return;
    }
    m_valid = true;
    m_view->setCellName(subject->cellName);
    m_view->setAlong(along);
    updateButton();
}

void AlongTab::updateButton() {
    const auto& along = m_view->along();
    const bool busy = m_c.task(Kind::Along).busy();
    m_continue->setVisible(m_valid && !busy &&
                           static_cast<std::int64_t>(along.steps.size()) < along.wanted);
}

namespace {

using Kind = MeasureController::Kind;

const char* const kNoSample = "Choose a sample in the inspector.";

JobStrip* stripOf(MeasureController& controller, Kind kind, QWidget* parent) {
    auto* strip = new JobStrip(parent);
    strip->follow(controller.task(kind));
    return strip;
}

}  // namespace

LensTab::LensTab(MeasureController& controller, QWidget* parent)
    : QWidget(parent), m_c(controller), m_view(new widgets::LensView(this)) {
    auto* column = widgets::columnOf(this);
    column->addWidget(stripOf(m_c, Kind::Lens, this));
    column->addWidget(m_view, 1);
    connect(m_view, &widgets::LensView::columnChosen, this, [this](int at) {
        const auto& positions = m_view->result().positions;
        if (at >= 0 && at < static_cast<int>(positions.size()))
            Q_EMIT positionChosen(positions[static_cast<std::size_t>(at)]);
    });
    connect(&m_c, &MeasureController::lensRead, m_view, &widgets::LensView::setResult);
    connect(&m_c, &MeasureController::refused, this, [this](Kind kind, const QString& sentence) {
        if (kind == Kind::Lens) m_view->clear(sentence);
    });
    subjectChanged();
}

void LensTab::subjectChanged() {
    const auto& subject = m_c.subject();
    m_read = false;
    if (subject) m_view->setCaption(captionOf(*subject));
    if (!subject || !subject->sample) return m_view->clear(QLatin1String(kNoSample));
    if (isVisible()) activate();
}

void LensTab::activate() {
    const auto& subject = m_c.subject();
    if (!subject || !subject->sample || std::exchange(m_read, true)) return;
    m_c.readLens();
}

HeadsTab::HeadsTab(MeasureController& controller, QWidget* parent)
    : QWidget(parent),
      m_c(controller),
      m_length(numberBox(QStringLiteral("Random tokens"), 2, 100000, this)),
      m_seed(numberBox(QStringLiteral("Seed"), 0, 1000000, this)),
      m_view(new widgets::HeadsView(this)) {
    m_length->setValue(static_cast<int>(HeadMeasureOptions().length));
    m_length->setToolTip(QStringLiteral(
        "Random tokens, all different, which stand twice in a row: a head that looks for earlier "
        "copies can find them, and nothing else in the text repeats"));
    auto* row = new ControlRow(this);
    row->add(QStringLiteral("Random tokens, twice"), m_length);
    row->addGap();
    row->add(QStringLiteral("Seed"), m_seed);
    row->addRight(new QWidget(row));
    m_options = row;
    auto* column = widgets::columnOf(this);
    column->addWidget(m_options);
    column->addWidget(stripOf(m_c, Kind::Heads, this));
    column->addWidget(m_view, 1);
    m_start.setSingleShot(true);
    m_start.setInterval(300);
    connect(&m_start, &QTimer::timeout, this, &HeadsTab::read);
    for (auto* box : {m_length, m_seed})
        connect(box, &QSpinBox::valueChanged, this, [this] {
            if (isVisible()) m_start.start();
        });
    connect(m_view, &widgets::HeadsView::headChosen, this, &HeadsTab::headChosen);
    connect(&m_c, &MeasureController::headsMeasured, m_view, &widgets::HeadsView::setResult);
    connect(&m_c, &MeasureController::refused, this, [this](Kind kind, const QString& sentence) {
        if (kind == Kind::Heads) m_view->clear(sentence);
    });
    subjectChanged();
}

void HeadsTab::subjectChanged() {
    const auto& subject = m_c.subject();
    m_read = false;
    m_start.stop();
    m_options->setVisible(subject && subject->sample && !subject->sample->source.tokens.empty() &&
                          subject->sample->target.size() == 0);
    // The random text is not what the inspector shows.
    if (subject)
        m_view->setCaption(m_options->isHidden() ? captionOf(*subject)
                                                 : subject->name + editedText(*subject));
    if (!subject || !subject->sample) return m_view->clear(QLatin1String(kNoSample));
    if (isVisible()) activate();
}

void HeadsTab::activate() {
    if (!m_read) read();
}

void HeadsTab::read() {
    const auto& subject = m_c.subject();
    if (!subject || !subject->sample) return;
    m_read = true;
    m_c.measureHeads({m_length->value(), m_seed->value()});
}

AttributionTab::AttributionTab(MeasureController& controller, QWidget* parent)
    : QWidget(parent), m_c(controller), m_view(new widgets::AttributionView(this)) {
    auto* column = widgets::columnOf(this);
    column->addWidget(stripOf(m_c, Kind::Attribution, this));
    column->addWidget(m_view, 1);
    connect(m_view, &widgets::AttributionView::answerChosen, this, &AttributionTab::read);
    connect(m_view, &widgets::AttributionView::minusChosen, this, &AttributionTab::read);
    connect(m_view, &widgets::AttributionView::positionChosen, this, &AttributionTab::read);
    connect(&m_c, &MeasureController::attributed, this,
            [this](const Attribution& result, const AttributionOffer& offer) {
                m_view->setPositions(offer.positions);
                m_view->setAnswers(offer.answers);
                m_view->setResult(result);
            });
    connect(&m_c, &MeasureController::refused, this, [this](Kind kind, const QString& sentence) {
        if (kind != Kind::Attribution) return;
        // An answer that is none is said beside the choice; the last result stays.
        if (!m_view->isEmpty())
            m_view->setProblem(sentence);
        else
            m_view->clear(sentence);
    });
    subjectChanged();
}

void AttributionTab::subjectChanged() {
    const auto& subject = m_c.subject();
    m_read = false;
    if (subject) m_view->setCaption(captionOf(*subject));
    m_view->clear(subject && subject->sample ? QString() : QLatin1String(kNoSample));
    const std::string path = subject ? subject->path : std::string();
    if (path != std::exchange(m_path, path)) {
        m_view->resetAnswers();
        m_view->setPositions(0);
    }
    if (isVisible()) activate();
}

void AttributionTab::activate() {
    if (!m_read) read();
}

void AttributionTab::setPosition(std::int64_t position) {
    m_view->setPosition(static_cast<int>(position));
    m_read = false;
    if (isVisible()) activate();
}

void AttributionTab::read() {
    const auto& subject = m_c.subject();
    if (!subject || !subject->sample) return;
    m_read = true;
    m_c.attribute({m_view->answer(), m_view->minus(), m_view->position()});
}

}  // namespace relascope::app
