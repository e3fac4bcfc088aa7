// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/inspector/source_objects.h"

#include <QBoxLayout>

#include "widgets/source/patch_view.h"
#include "widgets/source/sides.h"
#include "widgets/source/text_pair.h"
#include "widgets/source/tile_view.h"
#include "widgets/source/token_strip.h"

namespace relascope::widgets {
namespace {

constexpr int tallestChips = 84;  ///< of receivers above an image; more of them scroll

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
    connect(m_tiles, &TileView::laidOut, this, &SourceObjects::fitTiles);
    // A short text gets its preferred height, so that related content is directly below.
    connect(m_strip, &TokenStrip::contentResized, this,
            [this] { m_strip->setMaximumHeight(qMax(40, m_strip->contentHeight())); });
}

std::vector<LinkedView*> SourceObjects::senders() const {
    return {m_pair->sender(), m_strip, m_tiles, m_patches};
}

void SourceObjects::setResult(const ProbeResult& result, const QString& label) {
    m_image = result.grid.tokens() > 0;
    m_patches->setImage(result.sample.image, result.grid);
    m_patches->setVisible(m_image);
    m_patches->setLabel(label);
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

}  // namespace relascope::widgets
