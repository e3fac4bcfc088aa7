// SPDX-License-Identifier: GPL-3.0-or-later
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

#include "types/text_piece.h"
#include "widgets/export/export.h"
#include "widgets/source/input_chooser.h"
#include "widgets/source/patch_view.h"
#include "widgets/source/probability_bars.h"
#include "widgets/source/text_input.h"
#include "widgets/source/text_outcome.h"
#include "widgets/source/text_pair.h"
#include "widgets/source/tile_view.h"
#include "widgets/source/token_strip.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope {
namespace {

constexpr int narrowest = 256;      ///< px that the chooser needs to show the name of a split
constexpr int widestChooser = 262;  ///< px that reference, random and a seed need

}  // namespace

SourcePane::SourcePane(QWidget* parent) : QWidget(parent) {
    setMinimumWidth(narrowest);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(12, 10, 12, 10);
    column->setSpacing(6);

    m_chooser = new QWidget(this);
    auto* chooser = new QHBoxLayout(m_chooser);
    chooser->setContentsMargins(0, 0, 0, 0);
    chooser->setSpacing(4);
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
    chooser->addWidget(m_split, 1);
    for (QWidget* w : {static_cast<QWidget*>(previousButton), static_cast<QWidget*>(m_index),
                       static_cast<QWidget*>(nextButton), static_cast<QWidget*>(randomButton)})
        chooser->addWidget(w);
    column->addWidget(m_chooser);
    m_inputs = new InputChooser(this);
    m_inputs->hide();
    column->addWidget(m_inputs);

    m_textInput = new TextInput(this);
    m_textInput->hide();
    column->addWidget(m_textInput);
    m_strip = new TokenStrip(this);
    m_strip->hide();
    column->addWidget(m_strip, 300);
    m_pair = new TextPair(this);
    m_pair->hide();
    column->addWidget(m_pair, 300);
    m_tiles = new TileView(this);
    m_tiles->hide();
    column->addWidget(m_tiles, 1);
    m_patches = new PatchView(this);
    column->addWidget(m_patches, 1);
    const auto line = [&] {
        auto* label = new ElidedLabel({}, this);
        label->setFont(smallFont());
        label->hide();
        column->addWidget(label);
        return label;
    };
    m_other = line();
    m_other->setForegroundRole(QPalette::PlaceholderText);
    m_label = line();
    m_output = mutedLabel({}, this);
    auto* below = new QHBoxLayout;
    below->addWidget(m_output);
    below->addStretch(1);
    below->addWidget(m_filter);
    auto* more = iconButton("more", QStringLiteral("Sample: copy, save"), this);
    m_menu = new ViewMenu(
        more, this,
        [this] {
            return m_figureName ? m_figureName() : QString("%1-%2").arg(split()).arg(index());
        },
        [this] { return csv(); });
    below->addWidget(more);
    setAccessibleName(QStringLiteral("Sample and output"));
    column->addLayout(below);
    m_bars = new ProbabilityBars(this);
    m_menu->addPgfplots([this] { return m_bars->pgfplots(m_menu->fileName()); });
    column->addWidget(m_bars);
    m_outcome = new TextOutcome(this);
    column->addWidget(m_outcome, 200);
    m_filler = new QWidget(this);
    m_filler->hide();
    column->addWidget(m_filler, 1);

    // A short text takes what it needs, so that what belongs to it stands right below.
    connect(m_strip, &TokenStrip::contentResized, this,
            [this] { m_strip->setMaximumHeight(qMax(40, m_strip->contentHeight())); });
    connect(m_strip, &TokenStrip::hovered, this, &SourcePane::hovered);
    connect(m_strip, &TokenStrip::sourceChosen, this, &SourcePane::sourceChosen);
    connect(m_strip, &TokenStrip::targetChosen, this, &SourcePane::targetChosen);
    connect(m_textInput, &TextInput::textTyped, this, &SourcePane::textTyped);
    connect(m_textInput, &TextInput::opened, this, &SourcePane::openText);
    connect(m_textInput, &TextInput::closed, this, [this] {
        if (m_split->count() > 0) Q_EMIT sampleRequested(split(), index());
    });
    connect(m_patches, &PatchView::hovered, this, &SourcePane::hovered);
    connect(m_patches, &PatchView::sourceChosen, this, &SourcePane::sourceChosen);
    connect(m_patches, &PatchView::targetChosen, this, &SourcePane::targetChosen);
    connect(m_pair, &TextPair::hovered, this, &SourcePane::hovered);
    connect(m_pair, &TextPair::rowHovered, this, &SourcePane::rowHovered);
    connect(m_pair, &TextPair::sourceChosen, this, &SourcePane::sourceChosen);
    connect(m_pair, &TextPair::targetChosen, this, &SourcePane::targetChosen);
    connect(m_tiles, &TileView::hovered, this, &SourcePane::hovered);
    connect(m_tiles, &TileView::rowHovered, this, &SourcePane::rowHovered);
    connect(m_tiles, &TileView::sourceChosen, this, &SourcePane::sourceChosen);
    connect(m_tiles, &TileView::targetChosen, this, &SourcePane::targetChosen);
    connect(m_tiles, &TileView::laidOut, this, &SourcePane::fitTiles);
    connect(previousButton, &QToolButton::clicked, this, &SourcePane::previous);
    connect(nextButton, &QToolButton::clicked, this, &SourcePane::next);
    connect(randomButton, &QToolButton::clicked, this, &SourcePane::random);
    connect(m_index, &QSpinBox::valueChanged, this, [this](int value) {
        m_textInput->setOpen(false);  // the data's text is asked for, not one's own
        Q_EMIT sampleRequested(split(), value);
    });
    connect(m_split, &QComboBox::activated, this, [this](int row) {
        m_textInput->setOpen(false);
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

void SourcePane::setInputs(const InputOffer& offer) {
    m_inputs->setOffer(offer);
    arrangeChooser();
}

void SourcePane::arrangeChooser() {
    const InputOffer& offer = m_inputs->offer();
    const bool own = m_split->count() == 0 && offer.kind != InputOffer::Kind::None;
    // A text model without stored inputs has nothing to choose: a text is typed.
    const bool typedOnly = own && offer.kind == InputOffer::Kind::Text && offer.references == 0;
    m_inputs->setVisible(own && !typedOnly);
    m_chooser->setVisible(!own);
    m_filter->setVisible(!own);
    setMinimumWidth(own ? widestChooser : narrowest);
    arrangeText();
}

void SourcePane::setSplits(const QStringList& names, const std::vector<qint64>& sizes) {
    const QSignalBlocker quiet(m_split);
    const QString before = m_split->currentText();
    m_split->clear();
    m_split->addItems(names);
    m_split->setCurrentIndex(qMax(0, static_cast<int>(names.indexOf(before))));
    m_sizes = sizes;
    setSample(split(), index());
    arrangeChooser();
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

void SourcePane::setLabels(const QStringList& labels) {
    m_labelsGiven = true;
    if (labels != m_labels) {
        m_labels = labels;
        if (m_labelFilter >= labels.size()) m_labelFilter = -1;
        fillLabelMenu();
    }
    arrangeText();
}

void SourcePane::setLabelFilter(int label) {
    m_labelFilter = label >= 0 && label < m_labels.size() ? label : -1;
    fillLabelMenu();
}

void SourcePane::fillLabelMenu() {
    QMenu* menu = m_filter->menu();
    menu->clear();
    auto* group = new QActionGroup(menu);
    for (int label = -1; label < m_labels.size(); ++label) {
        QAction* action =
            menu->addAction(label < 0 ? QStringLiteral("Any label") : m_labels[label]);
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
    m_filter->setToolTip(any ? QStringLiteral("Filter by label: any")
                             : QStringLiteral("Filter by label: \u201C%1\u201D only")
                                   .arg(m_labels.value(m_labelFilter)));
}

void SourcePane::step(int direction) {
    if (m_labelFilter >= 0) {
        Q_EMIT labelRequested(split(), m_labelFilter, direction > 0);
        return;
    }
    m_index->setValue(m_index->value() + direction);  // its signal asks for the sample
}
void SourcePane::next() {
    if (!m_inputs->isHidden()) return m_inputs->next();
    step(1);
}
void SourcePane::previous() {
    if (!m_inputs->isHidden()) return m_inputs->previous();
    step(-1);
}
void SourcePane::random() {
    if (!m_inputs->isHidden()) return m_inputs->random();
    m_textInput->setOpen(false);
    Q_EMIT randomSampleRequested(split());
}

}  // namespace relascope
