// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/pages/patching_tab.h"

#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QVBoxLayout>
#include <limits>

#include "app/pages/data_source.h"
#include "app/pages/measure_window.h"
#include "widgets/analysis/patch_maps.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/icons.h"
#include "widgets/theme/theme.h"

namespace relascope::app {
namespace {

using Kind = MeasureController::Kind;
using widgets::ToggleChip;

}  // namespace

PatchingTab::PatchingTab(MeasureController& controller, QWidget* parent)
    : QWidget(parent),
      m_c(controller),
      m_clean(new widgets::ElidedLabel({}, this)),
      m_split(choiceBox(QStringLiteral("Split of B"), this)),
      m_example(numberBox(QStringLiteral("Second sample"), 0, 0, this)),
      m_other(new QPushButton(this)),
      m_metric(new QLineEdit(QStringLiteral("auto"), this)),
      m_estimate(new ToggleChip(QStringLiteral("Estimate only"), this)),
      m_noising(new ToggleChip(QStringLiteral("Exchange A and B"), this)),
      m_cells(new ToggleChip(QStringLiteral("Cells of r"), this)),
      m_measure(new QPushButton(QStringLiteral("Measure"), this)),
      m_strip(new JobStrip(this)),
      m_view(new widgets::PatchMapView(this)) {
    m_clean->setFont(widgets::smallFont());
    m_clean->setMinimumWidth(120);
    m_other->setProperty("compact", true);
    m_other->setIcon(widgets::icon("close"));
    m_other->setLayoutDirection(Qt::RightToLeft);
    m_other->hide();
    m_metric->setFont(widgets::monoFont(12));
    m_metric->setFixedWidth(190);
    m_metric->setAccessibleName(QStringLiteral("Metric"));
    m_metric->setToolTip(
        QStringLiteral("auto (the answers to A and to B), logit:A, probability:A or "
                       "logit-difference:A,B with ids of answers; @P for a position"));
    m_estimate->setToolTip(QStringLiteral(
        "First-order estimates from one backward pass: fast, and good for the order only"));
    m_cells->setToolTip(QStringLiteral(
        "Also the cells i, j of the relation that is chosen in the inspector; a pass for each"));
    m_noising->setToolTip(QStringLiteral("Put the parts of B into the pass of A"));
    m_measure->setProperty("primary", true);
    m_measure->setProperty("compact", true);
    m_strip->setDelay(150);
    m_strip->follow(m_c.task(Kind::Patching));
    auto* row = new ControlRow(this);
    row->add(QStringLiteral("Clean (A)"), m_clean);
    row->addGap();
    row->add(QStringLiteral("corrupted (B)"), m_split);
    row->add(m_example);
    row->add(m_other);
    row->addGap();
    row->add(QStringLiteral("Metric"), m_metric);
    row->add(m_estimate);
    row->add(m_noising);
    row->add(m_cells);
    row->addRight(m_measure);
    auto* column = widgets::columnOf(this);
    column->addWidget(row);
    column->addWidget(widgets::horizontalLine(this));
    column->addWidget(m_strip);
    column->addWidget(m_view, 1);

    connect(m_split, &QComboBox::currentTextChanged, this, &PatchingTab::describe);
    connect(m_example, &QSpinBox::valueChanged, this, &PatchingTab::describe);
    connect(m_other, &QPushButton::clicked, this, [this] { setSecond(std::nullopt, {}); });
    connect(m_measure, &QPushButton::clicked, this, [this] {
        if (const auto& subject = m_c.subject())
            m_view->setCaption(caption() + editedText(*subject));
        m_c.patch(request());
    });
    connect(m_metric, &QLineEdit::returnPressed, m_measure, &QPushButton::click);
    connect(&m_c.task(Kind::Patching), &LongTask::began, this,
            [this] { m_measure->setEnabled(false); });
    connect(&m_c.task(Kind::Patching), &LongTask::ended, this,
            [this] { m_measure->setEnabled(ready()); });
    connect(&m_c, &MeasureController::patched, this,
            [this](const PatchResult& result, bool) { m_view->setResult(result); });
    connect(&m_c, &MeasureController::refused, this, [this](Kind kind, const QString& sentence) {
        if (kind == Kind::Patching) m_view->clear(sentence);
    });
    subjectChanged();
}

bool PatchingTab::ready() const {
    const auto& subject = m_c.subject();
    return subject && subject->sample && (m_second || m_split->count() > 0);
}

PatchRequest PatchingTab::request() const {
    PatchRequest request;
    request.second = m_second;
    request.split = m_split->currentText().toStdString();
    request.example = m_example->value();
    request.how.metric = m_metric->text().trimmed().toStdString();
    if (request.how.metric.empty()) request.how.metric = "auto";
    request.how.estimateOnly = m_estimate->isChecked();
    request.how.noising = m_noising->isChecked();
    const auto& subject = m_c.subject();
    if (m_cells->isChecked() && subject && subject->map && subject->map->kind == MapKind::Relation)
        request.how.over.push_back("cells:" + std::to_string(subject->map->layer + 1) + ":" +
                                   std::to_string(subject->map->index + 1));
    return request;
}

void PatchingTab::setSecond(std::optional<ProbeSample> sample, const QString& name) {
    m_second = std::move(sample);
    m_secondName = m_second ? name : QString();
    m_other->setText(m_secondName);
    m_other->setAccessibleName(QStringLiteral("B is %1; remove it").arg(m_secondName));
    m_other->setVisible(m_second.has_value());
    m_split->setVisible(!m_second);
    m_example->setVisible(!m_second);
    describe();
}

QString PatchingTab::caption() const {
    const auto& subject = m_c.subject();
    return QStringLiteral("%1, A: %2, B: %3").arg(subject->name, subject->sampleName, nameOfB());
}

QString PatchingTab::nameOfB() const {
    return m_second ? m_secondName
                    : QStringLiteral("%1 %2").arg(m_split->currentText()).arg(m_example->value());
}

void PatchingTab::subjectChanged() {
    const auto& subject = m_c.subject();
    fillSplits(*m_split, subject ? &*subject : nullptr);
    m_clean->setText(subject ? subject->sampleName : QString());
    m_clean->setAccessibleName(QStringLiteral("Clean input: %1").arg(m_clean->text()));
    describe();
}

// Results belong to the inputs they were measured on, so a change of these removes them.
void PatchingTab::describe() {
    const auto& subject = m_c.subject();
    m_c.task(Kind::Patching).abandon();
    if (subject && subject->splits) {
        const auto data = subject->splits->find(m_split->currentText().toStdString());
        const auto most = data ? data->size() - 1 : 0;
        m_example->setMaximum(
            static_cast<int>(std::min<std::int64_t>(most, std::numeric_limits<int>::max())));
    }
    // Not the first one, which the inspector shows at first.
    if (m_untouched && m_example->maximum() > 0) {
        m_untouched = false;
        const QSignalBlocker quiet(m_example);
        m_example->setValue(1);
    }
    m_example->setEnabled(m_split->count() > 0);
    m_measure->setEnabled(ready());
    if (!subject) return m_view->clear(QStringLiteral("Open a run or a checkpoint first."));
    if (!subject->sample) return m_view->clear(QStringLiteral("Choose a sample in the inspector."));
    if (!ready())
        return m_view->clear(
            QStringLiteral("Choose a second input: drop it in the inspector with Shift."));
    m_view->setCaption(caption());
    m_view->clear(QStringLiteral("Not measured. Parts of A (%1) are put into the pass of B (%2).")
                      .arg(subject->sampleName, nameOfB()));
}

}  // namespace relascope::app
