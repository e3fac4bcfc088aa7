// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/inspector/sample_chooser.h"

#include <QActionGroup>
#include <QComboBox>
#include <QHBoxLayout>
#include <QMenu>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QToolButton>
#include <limits>

#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {

SampleChooser::SampleChooser(QWidget* parent) : QWidget(parent) {
    auto* row = rowOf(this, {}, 4);
    m_split = new QComboBox(this);
    m_split->setFont(smallFont());
    m_split->setAccessibleName(QStringLiteral("Split"));
    m_split->setToolTip(QStringLiteral("Split of the sample"));
    m_split->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_split->setMinimumContentsLength(5);
    m_split->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    auto* previousButton =
        framedIconButton("chevron-left", QStringLiteral("Previous sample"), this);
    m_index = new QSpinBox(this);
    m_index->setFont(numberFont(12));
    m_index->setButtonSymbols(QAbstractSpinBox::NoButtons);
    m_index->setAlignment(Qt::AlignRight);
    m_index->setRange(0, std::numeric_limits<int>::max());
    m_index->setGroupSeparatorShown(true);
    m_index->setKeyboardTracking(false);
    m_index->setFixedWidth(52);
    m_index->setAccessibleName(QStringLiteral("Sample number"));
    m_index->setToolTip(QStringLiteral("Sample number, from 0"));
    auto* nextButton = framedIconButton("chevron-right", QStringLiteral("Next sample"), this);
    auto* randomButton = framedIconButton("shuffle", QStringLiteral("Random sample (R)"), this);
    m_filter =
        framedIconButton("filter", QStringLiteral("Previous and next sample with any label"), this);
    m_filter->setAccessibleName(QStringLiteral("By label"));
    m_filter->setPopupMode(QToolButton::InstantPopup);
    m_filter->setCheckable(true);
    m_filter->setMenu(new QMenu(m_filter));
    row->addWidget(m_split, 1);
    for (QWidget* w :
         std::initializer_list<QWidget*>{previousButton, m_index, nextButton, randomButton})
        row->addWidget(w);

    connect(previousButton, &QToolButton::clicked, this, &SampleChooser::previous);
    connect(nextButton, &QToolButton::clicked, this, &SampleChooser::next);
    connect(randomButton, &QToolButton::clicked, this, &SampleChooser::random);
    connect(m_index, &QSpinBox::valueChanged, this, &SampleChooser::request);
    connect(m_split, &QComboBox::activated, this, [this] {
        const QSignalBlocker quiet(m_index);
        limitIndex();
        request();
    });
    fillLabelMenu();
}

void SampleChooser::setSplits(const QStringList& names, const std::vector<qint64>& sizes) {
    const QSignalBlocker quiet(m_split);
    const QString before = m_split->currentText();
    m_split->clear();
    m_split->addItems(names);
    m_split->setCurrentIndex(qMax(0, static_cast<int>(names.indexOf(before))));
    m_sizes = sizes;
    setSample(split(), index());
    Q_EMIT offerChanged();
}

bool SampleChooser::empty() const {
    return m_split->count() == 0;
}
QString SampleChooser::split() const {
    return m_split->currentText();
}
qint64 SampleChooser::index() const {
    return m_index->value();
}

void SampleChooser::limitIndex() {
    const auto at = static_cast<std::size_t>(qMax(0, m_split->currentIndex()));
    const qint64 size = at < m_sizes.size() ? m_sizes[at] : 0;
    constexpr int most = std::numeric_limits<int>::max();
    m_index->setMaximum(size > 0 ? static_cast<int>(qMin<qint64>(size - 1, most)) : most);
}

void SampleChooser::setSample(const QString& split, qint64 index) {
    const QSignalBlocker quietSplit(m_split);
    const QSignalBlocker quietIndex(m_index);
    const int row = m_split->findText(split);
    if (row >= 0) m_split->setCurrentIndex(row);
    limitIndex();
    m_index->setValue(static_cast<int>(qBound(qint64{0}, index, qint64{m_index->maximum()})));
}

void SampleChooser::request() {
    Q_EMIT sampleRequested(split(), index());
}

void SampleChooser::setLabels(const QStringList& labels) {
    m_labelsGiven = false;
    offerLabels(labels);
    m_labelsGiven = true;
}

void SampleChooser::offerLabels(const QStringList& labels) {
    if (!m_labelsGiven && labels != m_labels) {
        m_labels = labels;
        setLabelFilter(m_labelFilter);
    }
    Q_EMIT offerChanged();
}

void SampleChooser::setLabelFilter(int label) {
    m_labelFilter = label >= 0 && label < m_labels.size() ? label : -1;
    fillLabelMenu();
}

void SampleChooser::fillLabelMenu() {
    QMenu* menu = m_filter->menu();
    menu->clear();
    if (auto* before = menu->findChild<QActionGroup*>()) before->deleteLater();
    addChoices(menu, QStringList{QStringLiteral("Any label")} + m_labels, m_labelFilter + 1,
               [this](int entry) {
                   setLabelFilter(entry - 1);
                   if (m_labelFilter >= 0) Q_EMIT labelRequested(split(), m_labelFilter, true);
               });
    const bool any = m_labelFilter < 0;
    m_filter->setChecked(!any);
    m_filter->setToolTip(any ? QStringLiteral("Filter by label: any")
                             : QStringLiteral("Filter by label: \u201C%1\u201D only")
                                   .arg(m_labels.value(m_labelFilter)));
}

void SampleChooser::step(int direction) {
    if (m_labelFilter >= 0)
        Q_EMIT labelRequested(split(), m_labelFilter, direction > 0);
    else
        m_index->setValue(m_index->value() + direction);  // its signal asks for the sample
}
void SampleChooser::random() {
    Q_EMIT randomSampleRequested(split());
}

}  // namespace relascope::widgets
