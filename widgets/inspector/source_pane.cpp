#include "widgets/inspector/source_pane.h"

#include <QActionGroup>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QToolButton>
#include <QVBoxLayout>
#include <limits>

#include "widgets/export/export.h"
#include "widgets/source/patch_view.h"
#include "widgets/source/probability_bars.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/icons.h"
#include "widgets/theme/theme.h"

namespace relascope {

SourcePane::SourcePane(QWidget* parent) : QWidget(parent) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(12, 10, 12, 10);
    column->setSpacing(6);

    auto* chooser = new QHBoxLayout;
    chooser->setSpacing(4);
    m_split = new QComboBox(this);
    m_split->setFont(smallFont());
    m_split->setAccessibleName(QStringLiteral("Split"));
    m_split->setToolTip(QStringLiteral("Split the sample is taken from"));
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
    m_filter = framedIconButton("filter", QStringLiteral("Previous and next take any label"), this);
    m_filter->setAccessibleName(QStringLiteral("By label"));
    m_filter->setPopupMode(QToolButton::InstantPopup);
    m_filter->setCheckable(true);
    m_filter->setMenu(new QMenu(m_filter));
    chooser->addWidget(m_split, 1);
    for (QWidget* w : {static_cast<QWidget*>(previousButton), static_cast<QWidget*>(m_index),
                       static_cast<QWidget*>(nextButton), static_cast<QWidget*>(randomButton)})
        chooser->addWidget(w);
    column->addLayout(chooser);

    m_patches = new PatchView(this);
    column->addWidget(m_patches, 1);
    m_output = mutedLabel({}, this);
    auto* below = new QHBoxLayout;
    below->addWidget(m_output);
    below->addStretch(1);
    below->addWidget(m_filter);
    auto* more = iconButton("more", QStringLiteral("Sample: copy, save"), this);
    m_menu = new ViewMenu(
        more, this, [this] { return QString("%1-%2").arg(split()).arg(index()); },
        [this] { return csv(); });
    below->addWidget(more);
    setAccessibleName(QStringLiteral("Sample and output"));
    column->addLayout(below);
    m_bars = new ProbabilityBars(this);
    column->addWidget(m_bars);

    connect(previousButton, &QToolButton::clicked, this, &SourcePane::previous);
    connect(nextButton, &QToolButton::clicked, this, &SourcePane::next);
    connect(randomButton, &QToolButton::clicked, this, &SourcePane::random);
    connect(m_index, &QSpinBox::valueChanged, this,
            [this](int value) { Q_EMIT sampleRequested(split(), value); });
    connect(m_split, &QComboBox::activated, this, [this](int row) {
        const qint64 size =
            row < static_cast<int>(m_sizes.size()) ? m_sizes[static_cast<std::size_t>(row)] : 0;
        const QSignalBlocker quiet(m_index);
        m_index->setMaximum(
            size > 0 ? static_cast<int>(qMin<qint64>(size - 1, std::numeric_limits<int>::max()))
                     : std::numeric_limits<int>::max());
        Q_EMIT sampleRequested(split(), m_index->value());
    });
    fillLabelMenu();
}

void SourcePane::setResult(const ProbeResult& result) {
    QStringList names;
    for (const auto& name : result.classNames) names << QString::fromStdString(name);
    if (names != m_classes) {
        m_classes = names;
        if (m_labelFilter >= names.size()) m_labelFilter = -1;
        fillLabelMenu();
    }
    const auto label = static_cast<int>(result.sample.label);
    m_probabilities = result.probabilities;
    m_patches->setImage(result.sample.image, result.grid);
    m_patches->setLabel(label < 0 ? QString() : names.value(label, QString::number(label)));
    m_output->setText(QStringLiteral("Output at step %1")
                          .arg(QLocale(QLocale::English, QLocale::UnitedStates)
                                   .toString(static_cast<qlonglong>(result.step))));
    m_output->setVisible(!result.probabilities.empty());
    m_bars->setProbabilities(names, result.probabilities, label);
    m_patches->setToolTip({});
}

QString SourcePane::csv() const {
    QString text = QStringLiteral("class,probability\n");
    for (std::size_t k = 0; k < m_probabilities.size(); ++k)
        text += QString("%1,%2\n")
                    .arg(m_classes.value(static_cast<int>(k), QString::number(k)))
                    .arg(m_probabilities[k], 0, 'g', 9);
    return text;
}

void SourcePane::setSplits(const QStringList& names, const std::vector<qint64>& sizes) {
    const QSignalBlocker quiet(m_split);
    const QString before = m_split->currentText();
    m_split->clear();
    m_split->addItems(names);
    m_split->setCurrentIndex(qMax(0, static_cast<int>(names.indexOf(before))));
    m_sizes = sizes;
    setSample(split(), index());
}

QString SourcePane::split() const {
    return m_split->currentText();
}
qint64 SourcePane::index() const {
    return m_index->value();
}

void SourcePane::setSample(const QString& split, qint64 index) {
    const QSignalBlocker quietSplit(m_split);
    const QSignalBlocker quietIndex(m_index);
    const int row = m_split->findText(split);
    if (row >= 0) m_split->setCurrentIndex(row);
    const auto at = static_cast<std::size_t>(qMax(0, m_split->currentIndex()));
    const qint64 size = at < m_sizes.size() ? m_sizes[at] : 0;
    m_index->setMaximum(
        size > 0 ? static_cast<int>(qMin<qint64>(size - 1, std::numeric_limits<int>::max()))
                 : std::numeric_limits<int>::max());
    m_index->setValue(static_cast<int>(qBound(qint64{0}, index, qint64{m_index->maximum()})));
}

void SourcePane::setLabelFilter(int label) {
    m_labelFilter = label >= 0 && label < m_classes.size() ? label : -1;
    fillLabelMenu();
}

void SourcePane::fillLabelMenu() {
    QMenu* menu = m_filter->menu();
    menu->clear();
    auto* group = new QActionGroup(menu);
    for (int label = -1; label < m_classes.size(); ++label) {
        QAction* action =
            menu->addAction(label < 0 ? QStringLiteral("Any label") : m_classes[label]);
        action->setCheckable(true);
        action->setChecked(label == m_labelFilter);
        group->addAction(action);
        connect(action, &QAction::triggered, this, [this, label] {
            setLabelFilter(label);
            if (m_labelFilter >= 0) Q_EMIT labelRequested(split(), m_labelFilter, true);
        });
    }
    const bool any = m_labelFilter < 0;
    m_filter->setChecked(!any);
    m_filter->setToolTip(
        any ? QStringLiteral("By label: previous and next take any label")
            : QStringLiteral("By label: previous and next take \u201C%1\u201D only")
                  .arg(m_classes.value(m_labelFilter)));
}

void SourcePane::step(int direction) {
    if (m_labelFilter >= 0) {
        Q_EMIT labelRequested(split(), m_labelFilter, direction > 0);
        return;
    }
    m_index->setValue(m_index->value() + direction);  // its signal asks for the sample
}
void SourcePane::next() {
    step(1);
}
void SourcePane::previous() {
    step(-1);
}
void SourcePane::random() {
    Q_EMIT randomSampleRequested(split());
}

}  // namespace relascope
