// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/pages/ablation_tab.h"

#include <QComboBox>
#include <QPushButton>
#include <QSpinBox>
#include <QVBoxLayout>

#include "app/pages/data_source.h"
#include "app/pages/measure_window.h"
#include "types/metric.h"
#include "widgets/analysis/ablation_view.h"
#include "widgets/analysis/measure_frame.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::app {
namespace {

using Kind = MeasureController::Kind;
using widgets::ToggleChip;

struct Group {
    const char* name;
    const char* title;
    const char* tip;
    bool on;
};
constexpr Group kGroups[] = {
    {"heads", "Heads", "Sensory, relational and cross heads, one at a time", true},
    {"relations", "Relations", "One relation at a time, for every head", true},
    {"columns", "Relation x head", "One relation at a time, for one head: its column of W_r", true},
    {"paths", "Paths", "Of a layer: attention, all relations, all symbols", true},
    {"mlp", "Feed-forward", "The feed-forward part of a layer", true},
    {"symbols", "Library symbols", "One symbol of a library at a time", false}};

ToggleChip* chip(const QString& text, bool on, const QString& tip, QWidget* parent) {
    auto* made = new ToggleChip(text, parent);
    made->setChecked(on);
    made->setToolTip(tip);
    return made;
}

QString nounOf(InputKind input) {
    return input == InputKind::Images   ? QStringLiteral("images")
           : input == InputKind::Tokens ? QStringLiteral("windows of text")
                                        : QStringLiteral("examples");
}

}  // namespace

AblationTab::AblationTab(MeasureController& controller, QWidget* parent)
    : QWidget(parent),
      m_c(controller),
      m_split(choiceBox(QStringLiteral("Split"), this)),
      m_metric(choiceBox(QStringLiteral("Metric"), this)),
      m_examples(numberBox(QStringLiteral("Examples"), 2, 1000000, this)),
      m_cumulative(
          chip(QStringLiteral("Cumulative curve"), false,
               QStringLiteral("Then remove more and more parts, the least important first"), this)),
      m_pairs(chip(QStringLiteral("Pairs"), false,
                   QStringLiteral("And the pairs of the ten strongest parts"), this)),
      m_measure(new QPushButton(QStringLiteral("Measure"), this)),
      m_knockOut(new QPushButton(QStringLiteral("Knock out in the inspector"), this)),
      m_strip(new JobStrip(this)),
      m_view(new widgets::AblationView(this)) {
    m_examples->setValue(2000);
    m_examples->setSingleStep(500);
    m_measure->setProperty("primary", true);
    m_measure->setProperty("compact", true);
    m_knockOut->setProperty("compact", true);
    m_strip->follow(m_c.task(Kind::Ablation));
    auto* column = widgets::columnOf(this);
    column->addWidget(makeWays());
    column->addWidget(makeGroups());
    column->addWidget(widgets::horizontalLine(this));
    column->addWidget(m_strip);
    column->addWidget(m_view, 1);

    for (QComboBox* box : {m_split, m_metric})
        connect(box, &QComboBox::activated, this, &AblationTab::optionsChanged);
    connect(m_examples, &QSpinBox::valueChanged, this, &AblationTab::optionsChanged);
    for (ToggleChip* one : findChildren<ToggleChip*>())
        connect(one, &ToggleChip::toggled, this, &AblationTab::optionsChanged);
    connect(m_measure, &QPushButton::clicked, this, [this] {
        m_strip->setDelay(150);
        m_c.ablate(request());
        m_measuring = true;
        m_view->setCaption(m_c.subject()->name + QStringLiteral(", ") + m_split->currentText() +
                           editedText(*m_c.subject()));
        updateButtons();
    });
    connect(m_knockOut, &QPushButton::clicked, this, [this] {
        if (const auto edit = m_view->chosenEdit()) Q_EMIT editRequested(*edit);
    });
    connect(m_view, &widgets::AblationView::editChosen, this, &AblationTab::updateButtons);
    connect(m_view, &widgets::AblationView::editActivated, this, &AblationTab::editRequested);
    connect(&m_c.task(Kind::Ablation), &LongTask::ended, this, [this] {
        m_measuring = false;
        describe();
    });
    connect(&m_c, &MeasureController::estimated, this, [this](const AblationEstimate& estimate) {
        m_estimate = estimate;
        m_estimated = request().how.what;
        describe();
    });
    connect(&m_c, &MeasureController::ablated, this, [this](const AblationTable& table, bool) {
        m_view->setTable(table);
        updateButtons();
    });
    connect(&m_c, &MeasureController::refused, this, [this](Kind kind, const QString& sentence) {
        if (kind != Kind::Ablation) return;
        m_refusal = sentence;
        m_view->clear(sentence);
        updateButtons();
    });
    subjectChanged();
}

QWidget* AblationTab::makeWays() {
    auto* row = new ControlRow(this);
    row->add(QStringLiteral("Split"), m_split);
    row->add(QStringLiteral("Examples"), m_examples);
    row->add(QStringLiteral("Metric"), m_metric);
    row->addGap();
    row->add(widgets::mutedLabel(QStringLiteral("Replace by"), this));
    const std::pair<EditOp, const char*> ways[] = {
        {EditOp::Zero, "Zero: the part adds nothing"},
        {EditOp::Mean, "Its mean over 1,024 examples of the training set"},
        {EditOp::Resample, "That of another example of the split; three draws, averaged"}};
    for (const auto& [way, tip] : ways) {
        m_ways.push_back({chip(widgets::wayText(way), true, QString::fromLatin1(tip), this), way});
        row->add(m_ways.back().chip);
    }
    row->addRight(m_measure);
    return row;
}

QWidget* AblationTab::makeGroups() {
    auto* row = new ControlRow(this);
    row->add(widgets::mutedLabel(QStringLiteral("Parts"), this));
    for (const auto& group : kGroups) {
        m_groups.push_back(
            {chip(QString::fromLatin1(group.title), group.on, QString::fromLatin1(group.tip), this),
             EditOp::Zero, group.name});
        row->add(m_groups.back().chip);
    }
    row->addGap();
    row->add(m_cumulative);
    row->add(m_pairs);
    row->addRight(m_knockOut);
    return row;
}

AblationRequest AblationTab::request() const {
    AblationRequest request;
    request.split = m_split->currentText().toStdString();
    auto& how = request.how;
    how.metric = m_metric->currentData().toString().toStdString();
    how.examples = m_examples->value();
    how.how.clear();
    for (const auto& way : m_ways)
        if (way.chip->isChecked()) how.how.push_back(way.way);
    how.what.clear();
    for (const auto& group : m_groups)
        if (group.chip->isChecked()) how.what.emplace_back(group.group);
    how.cumulative = m_cumulative->isChecked();
    how.pairs = m_pairs->isChecked();
    return request;
}

void AblationTab::subjectChanged() {
    const auto& subject = m_c.subject();
    m_estimate.reset();
    m_refusal.clear();
    fillSplits(*m_split, subject ? &*subject : nullptr);
    m_metric->clear();
    for (const Metric metric : {Metric::Accuracy, Metric::Loss}) {
        const auto& info = metricInfo(metric);
        m_metric->addItem(QString::fromUtf8(info.title.data(), qsizetype(info.title.size())),
                          QString::fromUtf8(info.key.data(), qsizetype(info.key.size())));
    }
    m_view->clear({});
    describe();
    m_seen = false;
    if (isVisible()) activate();
}

void AblationTab::activate() {
    if (std::exchange(m_seen, true)) return;
    ask();
}

void AblationTab::ask() {
    const auto& subject = m_c.subject();
    if (!subject || !subject->splits || request().how.what.empty()) return;
    m_strip->setDelay(1000);  // a second is not worth a strip that comes and goes
    m_c.estimate(request());
}

void AblationTab::optionsChanged() {
    if (m_measuring) return;
    if (!m_estimate || m_estimated != request().how.what) {
        m_estimate.reset();
        m_refusal.clear();
        if (m_seen) ask();
    }
    describe();
}

// The sentence in place of the table; a table stays until the next one.
void AblationTab::describe() {
    updateButtons();
    // Numbers have an error instead of a share of right answers.
    if (m_estimate && m_estimate->numbers && m_metric->currentIndex() == 0) {
        const auto& info = metricInfo(Metric::MeanError);
        m_metric->setItemText(0,
                              QString::fromUtf8(info.title.data(), qsizetype(info.title.size())));
        m_metric->setItemData(0, QString::fromUtf8(info.key.data(), qsizetype(info.key.size())));
    }
    if (!m_view->isEmpty()) return;
    const auto& subject = m_c.subject();
    const auto wanted = request();
    if (!subject) return m_view->clear(QStringLiteral("Open a run or a checkpoint first."));
    if (!subject->splits)
        return m_view->clear(
            QStringLiteral("There are no data to measure on: open a run, whose data are known."));
    if (!m_refusal.isEmpty()) return m_view->clear(m_refusal);
    if (wanted.how.how.empty())
        return m_view->clear(
            QStringLiteral("Choose what replaces a part: zero, its mean, or "
                           "another example."));
    if (wanted.how.what.empty())
        return m_view->clear(QStringLiteral("Choose which parts are taken out."));
    if (!m_estimate) return m_view->clear(QStringLiteral("Not measured."));
    if (m_estimate->parts == 0)
        return m_view->clear(QStringLiteral("This model has no such parts; choose others."));
    auto how = wanted.how;
    if (const auto data = subject->splits->find(wanted.split))
        how.examples = std::min(how.examples, data->size());
    const int ways = static_cast<int>(how.how.size());
    m_view->clear(QStringLiteral("Not measured. %1 parts x %2 %3 on %4 %5: about %6.")
                      .arg(m_estimate->parts)
                      .arg(ways)
                      .arg(ways == 1 ? QStringLiteral("way") : QStringLiteral("ways"),
                           widgets::groupedNumber(how.examples), nounOf(m_estimate->input),
                           widgets::roughDuration(std::max(1.0, m_estimate->seconds(how)))));
}

void AblationTab::updateButtons() {
    const auto& subject = m_c.subject();
    const auto wanted = request();
    m_measure->setEnabled(subject && subject->splits && m_refusal.isEmpty() &&
                          !wanted.how.how.empty() && !wanted.how.what.empty() && !m_measuring);
    const bool continues = !m_measuring && m_c.continues(wanted);
    m_measure->setText(continues ? QStringLiteral("Continue") : QStringLiteral("Measure"));
    m_measure->setToolTip(continues ? QStringLiteral("Measure on the examples that are missing")
                                    : QString());
    m_knockOut->setEnabled(m_view->chosenEdit().has_value());
    m_knockOut->setToolTip(m_knockOut->isEnabled()
                               ? QStringLiteral("Take the chosen part out in the inspector (Enter "
                                                "on its row)")
                               : QStringLiteral("Choose a row of the table first"));
}

}  // namespace relascope::app
