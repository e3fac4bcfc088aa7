// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/pages/checkpoint_details.h"

#include <QScrollArea>
#include <QStackedWidget>
#include <QVBoxLayout>
#include <cmath>

#include "widgets/checkpoint/config_view.h"
#include "widgets/checkpoint/histogram_view.h"
#include "widgets/checkpoint/outline_view.h"
#include "widgets/data/statistics_view.h"
#include "widgets/export/export.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/icons.h"
#include "widgets/theme/theme.h"

namespace relascope::app {
namespace {

QString percent(double fraction) {
    return std::isnan(fraction) ? QStringLiteral("no examples")
                                : QString::number(100.0 * fraction, 'f', 1) + QStringLiteral(" %");
}

}  // namespace

CheckpointDetails::CheckpointDetails(QWidget* parent)
    : QWidget(parent),
      m_head(new widgets::PanelHead({}, this)),
      m_tabs(
          new widgets::SegmentedControl({QStringLiteral("Configuration"), QStringLiteral("Outline"),
                                         QStringLiteral("Values"), QStringLiteral("Evaluation")},
                                        this)),
      m_views(new QStackedWidget(this)),
      m_config(new widgets::ConfigView(this)),
      m_outline(new widgets::OutlineView(this)),
      m_histogram(new widgets::HistogramView(this)),
      m_evaluation(new widgets::StatisticsView(this)) {
    m_tabs->setAccessibleName(QStringLiteral("Panel below the tensors"));
    m_head->addLeftControl(m_tabs);
    m_evaluation->setAccessibleName(QStringLiteral("Evaluation"));
    auto* scroll = new QScrollArea(this);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidgetResizable(true);
    scroll->setWidget(m_evaluation);
    for (QWidget* view : std::initializer_list<QWidget*>{m_config, m_outline, m_histogram, scroll})
        m_views->addWidget(view);
    makeMenus();
    auto* column = widgets::columnOf(this);
    column->addWidget(widgets::horizontalLine(this));
    column->addWidget(m_head);
    column->addWidget(m_views, 1);
    setMinimumHeight(160);
    connect(m_tabs, &widgets::SegmentedControl::changed, m_views, &QStackedWidget::setCurrentIndex);
}

void CheckpointDetails::makeMenus() {
    // The histogram contains its menu; the menus of the others are shown here.
    const auto menu = [this](Tab tab, QWidget* view, const char* name,
                             std::function<QString()> csv) {
        auto* more = widgets::iconButton(
            "more", QStringLiteral("More for the %1").arg(QLatin1String(name)), m_head);
        m_head->addControl(more);
        new widgets::ViewMenu(
            more, view, [name] { return QString::fromLatin1(name); }, std::move(csv));
        const auto show = [this, more, tab] { more->setVisible(m_views->currentIndex() == tab); };
        connect(m_views, &QStackedWidget::currentChanged, more, show);
        show();
    };
    menu(Configuration, m_config->canvas(), "configuration", [this] { return m_config->csv(); });
    menu(Outline, m_outline, "outline", [this] { return m_outline->csv(); });
    menu(Evaluated, m_evaluation, "evaluation", [this] { return m_evaluation->csv(); });
}

void CheckpointDetails::setCheckpoint(const CheckpointInfo& info) {
    m_histogram->clear();
    m_config->setConfig(QString::fromStdString(info.config));
    m_outline->setOutline(info.outline);
    m_evaluation->setRows({});
    m_evaluation->setClasses({});
    m_tabs->setItemEnabled(Evaluated, false, QStringLiteral("Press Evaluate first"));
    m_tabs->setItemEnabled(Outline, info.model.has_value(),
                           QStringLiteral("No configuration was found, so the model is unknown"));
    showTab(Configuration);
}

void CheckpointDetails::showTab(Tab tab) {
    m_tabs->setCurrent(tab);
    m_views->setCurrentIndex(tab);
}

void CheckpointDetails::setEvaluation(const core::Evaluation& evaluation, const QString& data,
                                      bool language) {
    std::vector<std::pair<QString, QString>> rows = {
        {QStringLiteral("Data"), data},
        {language ? QStringLiteral("Windows") : QStringLiteral("Images"),
         widgets::groupedNumber(evaluation.examples)},
        {QStringLiteral("Loss"), QString::number(evaluation.loss, 'f', 4)},
        {language ? QStringLiteral("Next-token accuracy") : QStringLiteral("Accuracy"),
         percent(evaluation.accuracy)}};
    if (language)
        rows.insert(rows.end() - 1, {QStringLiteral("Perplexity"),
                                     widgets::perplexityText(std::exp(evaluation.loss))});
    for (std::size_t label = 0; label < evaluation.classAccuracy.size(); ++label)
        rows.emplace_back(QStringLiteral("Accuracy, class %1").arg(label),
                          percent(evaluation.classAccuracy[label]));
    m_evaluation->setRows(std::move(rows));
    m_tabs->setItemEnabled(Evaluated, true);
    showTab(Evaluated);
}

QString CheckpointDetails::evaluationText(const core::Evaluation& evaluation, bool language) {
    return QStringLiteral("loss %1, %2")
        .arg(QString::number(evaluation.loss, 'f', 3),
             language ? QStringLiteral("perplexity ") +
                            widgets::perplexityText(std::exp(evaluation.loss))
                      : QStringLiteral("accuracy ") + percent(evaluation.accuracy));
}

}  // namespace relascope::app
