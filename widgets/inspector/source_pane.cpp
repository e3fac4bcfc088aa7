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
#include "widgets/source/sides.h"
#include "widgets/source/text_input.h"
#include "widgets/source/text_outcome.h"
#include "widgets/source/tile_view.h"
#include "widgets/source/token_strip.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/icons.h"
#include "widgets/theme/theme.h"

namespace relascope {
namespace {

constexpr int narrowest = 216;
constexpr int widestChooser = 262;  ///< px that reference, random and a seed need
constexpr int tallestChips = 84;    ///< of receivers above an image; more of them scroll

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
    m_tiles = new TileView(this);
    m_tiles->hide();
    column->addWidget(m_tiles, 1);
    m_patches = new PatchView(this);
    column->addWidget(m_patches, 1);
    m_label = new ElidedLabel({}, this);
    m_label->setFont(smallFont());
    m_label->hide();
    column->addWidget(m_label);
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
    const QString name = label < 0 ? QString() : names.value(label, QString::number(label));
    m_image = result.grid.tokens() > 0;
    m_text = !m_image && result.sample.source.text;
    m_patches->setVisible(m_image);
    m_patches->setLabel(name);
    m_label->setText(QStringLiteral("label ") + name);
    m_label->setVisible(!m_image && !name.isEmpty());
    arrangeText();
    m_patches->setToolTip({});
    if (m_text) {
        m_bars->setProbabilities({}, {}, -1);  // of a vocabulary: the outcome shows the likeliest
        return setTokenCount(
            QStringLiteral("%1 tokens")
                .arg(groupedNumber(static_cast<qlonglong>(result.sample.source.size()))));
    }
    // A checkpoint may be of any step; only a run counts them.
    m_output->setText(m_inputs->isHidden()
                          ? QStringLiteral("Output at step ") + groupedNumber(result.step)
                          : QStringLiteral("Output"));
    m_output->setVisible(!result.probabilities.empty());
    m_bars->setProbabilities(names, result.probabilities, label);
}

void SourcePane::setSides(const ProbeResult& result, int rows, int columns) {
    const bool patchesReceive = isPatchSide(result, rows);
    m_patches->setTargetsOnly(m_image && !patchesReceive);
    const ProbeSequence* text = textAlong(result, rows);
    const bool strip = text && (columns < 0 || columns == rows);
    m_strip->setVisible(strip);
    m_filler->setVisible(strip);
    m_tiles->setVisible(!patchesReceive && !strip);
    if (strip) return m_strip->setTokens(text->words);
    fillTiles(*m_tiles, result, rows, columns);
    fitTiles();
}

void SourcePane::setTokenCount(const QString& words) {
    m_output->setText(words);
    m_output->show();
}
void SourcePane::setTextProblem(const QString& sentence) {
    m_textInput->setProblem(sentence);
}

void SourcePane::openText() {
    // What is looked at now is what one begins to change. Nothing is asked for: nothing is typed.
    std::string whole;
    for (const auto& piece : m_strip->tokens()) whole += piece;
    m_textInput->setText(QString::fromStdString(validUtf8(whole)));
}

/// Above an image the receivers take what they need; alone they take it all.
void SourcePane::fitTiles() {
    if (m_image)
        m_tiles->setFixedHeight(qMin(tallestChips, qMax(26, m_tiles->contentHeight())));
    else
        m_tiles->setMinimumHeight(40), m_tiles->setMaximumHeight(QWIDGETSIZE_MAX);
}

void SourcePane::setTint(std::vector<float> values, std::vector<bool> masked,
                         const ColorScale& scale, bool isSigned) {
    m_patches->setNumberDigits(2, isSigned);
    m_tiles->setNumberDigits(2, isSigned);
    m_strip->setNumberDigits(2, isSigned);
    if (!m_strip->isHidden()) {
        m_towards = values;
        return m_strip->setValues(std::move(values), std::move(masked), scale);
    }
    if (!m_image) return m_tiles->setValues(std::move(values), std::move(masked), scale);
    for (std::size_t j = 0; j < values.size() && j < masked.size(); ++j)
        if (masked[j]) values[j] = std::numeric_limits<float>::quiet_NaN();
    m_patches->setValues(std::move(values), scale);
}

void SourcePane::setChoice(int source, int target, int preview) {
    if (m_image && !m_patches->targetsOnly()) m_patches->setSource(source);
    m_patches->setTarget(target);
    m_tiles->setSource(source);
    m_tiles->setTarget(target);
    m_strip->setSource(source);
    m_strip->setTarget(target);
    setPreview(preview);
}
void SourcePane::setPreview(int target) {
    m_patches->setPreview(target);
    m_tiles->setPreview(target);
    m_strip->setPreview(target);
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

void SourcePane::arrangeText() {
    const bool offered = m_split->count() == 0 && m_inputs->offer().kind == InputOffer::Kind::Text;
    m_textInput->setVisible(m_text || offered);
    const bool own = m_split->count() == 0 && m_inputs->offer().kind != InputOffer::Kind::None;
    m_filter->setVisible(!own && !m_text);  // texts have no labels
    if (!m_text) m_outcome->clear();
}

QString SourcePane::csv() const {
    if (m_text) {
        QString rows = QStringLiteral("token,text,value\n");
        const auto& pieces = m_strip->tokens();
        for (std::size_t k = 0; k < pieces.size(); ++k) {
            rows += QStringLiteral("%1,%2,").arg(k).arg(csvField(pieceLabel(pieces[k])));
            if (k < m_towards.size()) rows += QString::number(m_towards[k], 'g', 9);
            rows += u'\n';
        }
        return rows;
    }
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
