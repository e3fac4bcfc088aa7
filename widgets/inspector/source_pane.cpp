// SPDX-License-Identifier: GPL-3.0-or-later
#include <QBoxLayout>
#include <QContextMenuEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QToolButton>
#include <QVBoxLayout>

#include "widgets/export/export.h"
#include "widgets/inspector/find_bar.h"
#include "widgets/inspector/sample_chooser.h"
#include "widgets/inspector/source_pane.h"
#include "widgets/inspector/view_text.h"
#include "widgets/source/axis_objects.h"
#include "widgets/source/input_chooser.h"
#include "widgets/source/patch_view.h"
#include "widgets/source/probability_bars.h"
#include "widgets/source/text_input.h"
#include "widgets/source/text_outcome.h"
#include "widgets/source/tile_view.h"
#include "widgets/source/token_strip.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/folding_layout.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

constexpr int tallestChips = 84;  ///< height of receivers above an image; more of them scroll

}  // namespace

SourceObjects::SourceObjects(QBoxLayout* column, QWidget* parent) : QObject(parent) {
    m_strip = new TokenStrip(parent);
    m_pair = new TextPair(parent);
    m_tiles = new TileView(parent);
    m_patches = new PatchView(parent);
    column->addWidget(m_strip, 300);
    column->addWidget(m_pair, 300);
    column->addWidget(m_tiles, 1);
    column->addWidget(m_patches, 1);
    for (QWidget* view : std::initializer_list<QWidget*>{m_strip, m_pair, m_tiles}) view->hide();

    const auto pass = [this](auto* view) {
        using View = std::remove_pointer_t<decltype(view)>;
        connect(view, &View::hovered, this, &SourceObjects::hovered);
        connect(view, &View::sourceChosen, this, &SourceObjects::sourceChosen);
        connect(view, &View::targetChosen, this, &SourceObjects::targetChosen);
    };
    pass(m_strip);
    pass(m_pair);
    pass(m_tiles);
    pass(m_patches);
    connect(m_pair, &TextPair::rowHovered, this, &SourceObjects::rowHovered);
    connect(m_tiles, &TileView::rowHovered, this, &SourceObjects::rowHovered);
    connect(m_tiles, &TileView::contentResized, this, &SourceObjects::fitTiles);
    // A short text gets its preferred height, so that related content is directly below.
    connect(m_strip, &TokenStrip::contentResized, this,
            [this] { m_strip->setMaximumHeight(qMax(40, m_strip->contentHeight())); });
}

std::vector<LinkedView*> SourceObjects::senders() const {
    return {m_pair->sender(), m_strip, m_tiles, m_patches};
}

void SourceObjects::setResult(const ProbeResult& result) {
    m_image = result.grid.tokens() > 0;
    m_patches->setImage(result.sample.image, result.grid);
    m_patches->setVisible(m_image);
}

void SourceObjects::setSides(const ProbeResult& result, int rows, int columns) {
    const bool patchesReceive = isPatchSide(result, rows);
    m_patches->setTargetsOnly(m_image && !patchesReceive);
    const ProbeSequence* text = textAlong(result, rows);
    const ProbeSequence* sender = columns >= 0 ? textAlong(result, columns) : nullptr;
    const bool strip = text && (columns < 0 || columns == rows);
    const bool pair = text && sender && !strip;
    m_strip->setVisible(strip);
    m_pair->setVisible(pair);
    m_tiles->setVisible(!patchesReceive && !strip && !pair);
    if (strip) return m_strip->setTokens(text->labels);
    const auto title = [&](int side, const char* what) {
        return QStringLiteral("%1 (%2)").arg(sideWord(result, side), QLatin1String(what));
    };
    if (pair)
        return m_pair->setTexts(title(rows, "from"), text->labels, title(columns, "to"),
                                sender->labels);
    fillTiles(*m_tiles, result, rows, columns);
    fitTiles();
}

/// Above an image the receivers get their preferred height; alone they fill the pane.
void SourceObjects::fitTiles() {
    if (m_image)
        m_tiles->setFixedHeight(qMin(tallestChips, qMax(26, m_tiles->contentHeight())));
    else
        m_tiles->setMinimumHeight(40), m_tiles->setMaximumHeight(QWIDGETSIZE_MAX);
}

void SourceObjects::setTint(std::vector<float> values, std::vector<bool> masked,
                            const ColorScale& scale, bool isSigned) {
    for (LinkedView* view : senders()) view->setNumberDigits(2, isSigned);
    m_towards = values;
    LinkedView* shown = !m_pair->isHidden()    ? m_pair->sender()
                        : !m_strip->isHidden() ? m_strip
                        : m_image              ? static_cast<LinkedView*>(m_patches)
                                               : m_tiles;
    shown->setValues(std::move(values), std::move(masked), scale);
}

void SourceObjects::setChoice(int source, int target, int preview) {
    if (m_image && !m_patches->targetsOnly()) m_patches->setSource(source);
    for (LinkedView* view :
         std::initializer_list<LinkedView*>{m_tiles, m_strip, m_pair->receiver()})
        view->setSource(source);
    for (LinkedView* view : senders()) view->setTarget(target);
    setPreview(preview);
}
void SourceObjects::setPreview(int target) {
    for (LinkedView* view : senders()) view->setPreview(target);
}

namespace {

constexpr int narrowest = 256;      ///< px that the chooser needs to show the name of a split
constexpr int widestChooser = 262;  ///< px that reference, random and a seed need

constexpr int widestRow = 340;     ///< px of the chooser beside the text input
constexpr int outcomeWidth = 260;  ///< px of the outcome beside a text
constexpr int narrowOutcome = 190;

}  // namespace

SourcePane::SourcePane(QWidget* parent) : QWidget(parent) {
    setMinimumWidth(narrowest);
    auto* column = columnOf(this, {12, 10, 12, 10}, 6);
    m_column = column;
    m_head = new QBoxLayout(QBoxLayout::TopToBottom);
    m_head->setSpacing(6);
    column->addLayout(m_head);
    m_samples = new SampleChooser(this);
    m_head->addWidget(m_samples);
    m_inputs = new InputChooser(this);
    m_inputs->hide();
    m_head->addWidget(m_inputs);
    m_textInput = new TextInput(this);
    m_textInput->hide();
    m_head->addWidget(m_textInput);
    auto* answer = new QHBoxLayout;
    column->addLayout(answer);
    m_find = new FindBar(this);
    column->addWidget(m_find);
    m_body = new QHBoxLayout;
    m_body->setSpacing(16);
    column->addLayout(m_body);
    m_objects = new SourceObjects(column, this);
    const auto line = [&] {
        auto* label = new ElidedLabel({}, this);
        label->setFont(smallFont());
        label->hide();
        column->addWidget(label);
        return label;
    };
    m_other = line();
    m_other->setForegroundRole(QPalette::PlaceholderText);
    m_origin = line();
    m_output = new Readout(this);
    m_output->setFont(smallFont());
    m_output->setFitting(true);
    answer->addWidget(m_output, 1);
    m_allAnswers = iconButton("chevron-down", QStringLiteral("Show every answer"), this);
    m_allAnswers->setCheckable(true);
    connect(m_allAnswers, &QToolButton::toggled, this, &SourcePane::arrangeBars);
    answer->addWidget(m_allAnswers);
    answer->addWidget(m_samples->filterButton());
    auto* more = iconButton("more", QStringLiteral("Sample: copy, save"), this);
    m_menu = new ViewMenu(
        more, this,
        [this] {
            return m_figureName ? m_figureName()
                                : QString("%1-%2").arg(m_samples->split()).arg(m_samples->index());
        },
        [this] { return csv(); });
    answer->addWidget(more);
    setAccessibleName(QStringLiteral("Sample and output"));
    m_notFinite = new QLabel(this);
    m_notFinite->setObjectName(QStringLiteral("notFinite"));
    m_notFinite->setFont(smallFont());
    m_notFinite->setWordWrap(true);
    m_notFinite->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_notFinite->hide();
    column->addWidget(m_notFinite);
    m_bars = new ProbabilityBars(this);
    m_menu->addPgfplots([this] { return m_bars->pgfplots(m_menu->fileName()); });
    column->addWidget(m_bars);
    m_outcome = new TextOutcome(this);
    column->addWidget(m_outcome, 200);
    m_filler = new QWidget(this);
    m_filler->hide();
    column->addWidget(m_filler, 1);

    // Requests the text of the data instead of the typed one.
    const auto closeText = [this] { m_textInput->setOpen(false); };
    connect(m_samples, &SampleChooser::sampleRequested, this, closeText);
    connect(m_samples, &SampleChooser::randomSampleRequested, this, closeText);
    connect(m_samples, &SampleChooser::offerChanged, this, &SourcePane::arrange);
    connect(m_textInput, &TextInput::opened, this, &SourcePane::openText);
    connect(m_textInput, &TextInput::closed, this, [this] {
        if (!m_samples->empty()) m_samples->request();
    });
}

bool SourcePane::showsText() const {
    return !m_objects->strip()->isHidden();
}

void SourcePane::setReading(bool reading, bool across) {
    m_outcome->setMinimumWidth(!reading ? 0 : across ? outcomeWidth : narrowOutcome);
    m_outcome->setMaximumWidth(reading ? m_outcome->minimumWidth() : QWIDGETSIZE_MAX);
    if (reading == m_reading) return;
    m_reading = reading;
    TokenStrip* strip = m_objects->strip();
    m_head->setDirection(reading ? QBoxLayout::LeftToRight : QBoxLayout::TopToBottom);
    m_samples->setMaximumWidth(reading ? widestRow : QWIDGETSIZE_MAX);
    m_head->setStretchFactor(m_textInput, reading ? 1 : 0);
    if (reading) {
        m_body->addWidget(strip, 1);
        m_body->addWidget(m_outcome, 0, Qt::AlignTop);
    } else {
        m_column->insertWidget(m_column->indexOf(m_objects->pair()), strip, 300);
        m_column->addWidget(m_outcome, 200);
        m_column->removeWidget(m_filler);  // stays the last one
        m_column->addWidget(m_filler, 1);
    }
    m_column->setStretchFactor(m_body, reading ? 300 : 0);
    strip->setReading(reading);
}

void SourcePane::setInputs(const InputOffer& offer) {
    m_inputs->setOffer(offer);
    arrange();
}

/// Shows the chooser that fits the model and data.
void SourcePane::arrange() {
    const InputOffer& offer = m_inputs->offer();
    const bool own = m_samples->empty() && offer.kind != InputOffer::Kind::None;
    const bool typed = own && offer.kind == InputOffer::Kind::Text;
    // A language model without stored inputs needs no chooser: the text is typed.
    m_inputs->setVisible(own && !(typed && offer.references == 0));
    m_samples->setVisible(!own);
    setMinimumWidth(own ? widestChooser : narrowest);
    m_textInput->setVisible(m_text || typed);
    // Texts have no labels.
    m_samples->filterButton()->setVisible(!own && !m_text && m_samples->hasLabels());
    if (!m_text) m_outcome->clear();
}

void SourcePane::next() {
    m_inputs->isHidden() ? m_samples->next() : m_inputs->next();
}
void SourcePane::previous() {
    m_inputs->isHidden() ? m_samples->previous() : m_inputs->previous();
}
void SourcePane::random() {
    m_inputs->isHidden() ? m_samples->random() : m_inputs->random();
}

void SourcePane::setResult(const ProbeResult& result, const ProbeResult* before) {
    QStringList names;
    for (const auto& name : result.classNames) names << QString::fromStdString(name);
    m_classes = names;
    const auto label = static_cast<int>(result.sample.label);
    m_probabilities = result.probabilities;
    m_objects->setResult(result);
    m_notFinite->setText(QString::fromStdString(result.notFinite));
    m_notFinite->setVisible(!result.notFinite.empty());
    // The outcome of a partial result follows: the text beside it must not be wrapped anew twice.
    QSizePolicy room = m_outcome->sizePolicy();
    room.setRetainSizeWhenHidden(m_reading && result.partial &&
                                 (!m_outcome->isHidden() || room.retainSizeWhenHidden()));
    m_outcome->setSizePolicy(room);
    const bool image = m_objects->image();
    const bool pair = result.sample.target.size() > 0;
    m_text = !image && result.sample.source.text && !pair;
    // Without a label, the origin of the sample may be more informative than the chooser.
    QString origin = QString::fromStdString(result.sample.origin);
    if (origin == QStringLiteral("%1 %2").arg(m_samples->split()).arg(m_samples->index()))
        origin.clear();
    m_origin->setText(label < 0 ? origin : QString());
    m_origin->setVisible(!image && !m_text && !m_origin->text().isEmpty());
    m_samples->offerLabels(names);
    if (m_text) {
        m_bars->setProbabilities({}, {}, -1);  // vocabulary: the outcome shows the likeliest
        m_bars->hide();
        m_allAnswers->hide();
        return setTokenCount(
            QStringLiteral("%1 tokens")
                .arg(groupedNumber(static_cast<qlonglong>(result.sample.source.size()))));
    }
    // With the true answer; the answers alone; the last one alone.
    const QString whole = answerText(result, before, true),
                  answer = answerText(result, before, true, false);
    m_output->setForms({whole, answer, answer.section(QStringLiteral(": "), 1),
                        answerText(result, nullptr, true, false).section(QStringLiteral(": "), 1)});
    m_output->setAccessibleName(answerText(result, before));
    m_output->setToolTip(pair ? QStringLiteral("Next-token prediction of the model, given the "
                                               "correct target so far (teacher forcing)")
                              : answerText(result, before));
    if (result.features)
        m_output->setForms({QStringLiteral("features, no classes: give texts or labelled pictures"),
                            QStringLiteral("features, no classes")});
    m_output->setVisible(!result.probabilities.empty() || result.features);
    m_bars->setProbabilities(names, result.probabilities, label);
    m_bars->setBefore(before ? before->probabilities : std::vector<float>());
    arrangeBars();
}

void SourcePane::arrangeBars() {
    const PatchView* patches = m_objects->patches();
    const bool image = m_objects->image() && !patches->isHidden();
    const int high = m_bars->sizeHint().height() + m_column->spacing();
    const int room = patches->height() + (m_bars->isHidden() ? 0 : high);
    const bool fits = !image || room - high >= patches->width();
    m_allAnswers->setVisible(!fits && !m_bars->shown().empty());
    m_bars->setVisible(!m_bars->shown().empty() && (fits || m_allAnswers->isChecked()));
}

void SourcePane::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    arrangeBars();
}

void SourcePane::contextMenuEvent(QContextMenuEvent* event) {
    // Fields have menus of their own, which arrive here only where they are not handled.
    event->accept();
    Q_EMIT menuRequested(event->globalPos());
}

void SourcePane::setSides(const ProbeResult& result, int rows, int columns) {
    m_objects->setSides(result, rows, columns);
    m_find->setTokens(showsText() ? m_objects->strip()->tokens() : std::vector<std::string>());
    if (!showsText() && !m_find->isHidden()) m_find->dismiss();
    const bool strip = !m_objects->strip()->isHidden();
    m_filler->setVisible(strip);
    showOther(result, strip ? rows : -1);
}

/// Shows the other one of two texts below, as a question cannot be understood without its answer.
void SourcePane::showOther(const ProbeResult& result, int shown) {
    const int other = shown == 0 ? 1 : 0;
    const ProbeSequence* text =
        shown >= 0 && shown < 2 && result.sides.size() > 1 ? textAlong(result, other) : nullptr;
    QString joined;
    for (std::size_t k = 0; text && k < text->labels.size(); ++k)
        joined += QString::fromStdString(text->labels[k]);
    m_other->setText(text ? QStringLiteral("%1: %2").arg(sideWord(result, other), joined)
                          : QString());
    m_other->setVisible(text != nullptr);
}

void SourcePane::setTokenCount(const QString& text) {
    m_output->setForms({text});
    m_output->show();
}

void SourcePane::openText() {
    // Editing starts from the current text. No request is sent, as nothing was typed.
    m_textInput->setText(m_objects->strip()->text());
}

QString SourcePane::csv() const {
    const bool pair = !m_objects->pair()->isHidden();
    if (m_text || pair) {
        QString rows = QStringLiteral("token,text,value\n");
        const auto& pieces = (pair ? m_objects->pair()->sender() : m_objects->strip())->tokens();
        const auto& towards = m_objects->towards();
        for (std::size_t k = 0; k < pieces.size(); ++k) {
            rows += QStringLiteral("%1,%2,").arg(k).arg(csvField(pieceLabel(pieces[k])));
            if (k < towards.size()) rows += QString::number(towards[k], 'g', 9);
            rows += u'\n';
        }
        return rows;
    }
    QString text = QStringLiteral("class,probability\n");
    for (std::size_t k = 0; k < m_probabilities.size(); ++k)
        text += QString("%1,%2\n")
                    .arg(csvField(m_classes.value(static_cast<int>(k), QString::number(k))))
                    .arg(m_probabilities[k], 0, 'g', 9);
    return text;
}

}  // namespace relascope::widgets
