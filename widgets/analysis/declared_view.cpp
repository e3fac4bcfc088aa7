// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/analysis/declared_view.h"

#include <algorithm>
#include <utility>

#include <QPushButton>
#include <QSplitter>
#include <QVBoxLayout>

#include "widgets/analysis/declared_parts.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
using core::Layout;
using core::Seen;

namespace {

Layout layoutOf(const core::Analysis& analysis) {
    auto layout = analysis.layout ? analysis.layout() : core::tablesLayout();
    if (layout.file.empty()) layout.file = analysis.name;
    return layout;
}

}  // namespace

DeclaredView::DeclaredView(const core::Analysis& analysis, QWidget* parent)
    : AnswerView(shownText(analysis.title), shownText(layoutOf(analysis).file), parent),
      m_layout(layoutOf(analysis)),
      m_twoModels(analysis.twoModels) {
    QSplitter* split = nullptr;
    if (m_layout.split != Layout::Below) {
        const bool across = m_layout.split == Layout::Across;
        content()->addWidget(split = new QSplitter(across ? Qt::Horizontal : Qt::Vertical, this),
                             1);
    }
    int at = 0;  // above the lines below all
    for (const auto& element : m_layout.elements) {
        auto* part = makePart(element);
        part->place = element.place;
        m_rules.push_back(nullptr);
        if (element.place == Layout::Place::Figure) {
            part->widget->hide();
        } else if (split) {
            split->addWidget(part->widget);
            split->setStretchFactor(split->count() - 1, element.stretch);
        } else {
            if (m_layout.ruled && at > 0)
                content()->insertWidget(at++, m_rules.back() = horizontalLine(this));
            content()->insertWidget(at++, part->widget, element.stretch);
        }
        m_parts.push_back(part);
    }
    split ? split->setChildrenCollapsible(false) : content()->insertStretch(at);
    if (const auto& button = m_layout.button; button.request) {
        m_button = new QPushButton(shownText(button.text), this);
        m_button->setToolTip(shownText(button.tip));
        addControl(m_button);
        connect(m_button, &QPushButton::clicked, this,
                [this] { ask(m_layout.button.request(seen())); });
    }
    AnswerView::clear(shownText(m_layout.empty));
}

bool DeclaredView::setPlace(const AnalysisPlace& place) {
    if (!m_twoModels || std::exchange(m_subjects, place.run) == place.run) return true;
    clear(shownText(m_layout.empty));
    return false;
}

void DeclaredView::fill(const Answer& answer) {
    m_chosen.assign(m_parts.size(), {});
    fillFrom(0);
    made(m_layout.heads, seen());
    if (!answer.tables.empty()) head()->setSubText(made(m_layout.about, seen()));
}

void DeclaredView::fillFrom(std::size_t first) {
    for (std::size_t k = first; k < m_parts.size(); ++k) {
        const bool shown = m_parts[k]->fill(seen(), k > 0);
        m_chosen[k] = m_parts[k]->chosen();
        m_parts[k]->widget->setVisible(shown && m_parts[k]->place != Layout::Place::Figure);
        if (m_rules[k]) m_rules[k]->setVisible(shown && !m_parts[k - 1]->widget->isHidden());
    }
    if (m_button) m_button->setVisible(made(m_layout.button.request, seen()).index() > 0);
}

void DeclaredView::choose(const Part* part, const GridPlace& place) {
    const auto at = std::size_t(std::ranges::find(m_parts, part) - m_parts.begin());
    m_chosen[at] = place;
    fillFrom(at + 1);
}

void DeclaredView::ask(const core::Request& request) {
    if (const auto* map = std::get_if<MapLink>(&request))
        Q_EMIT mapRequested(map->kind, map->layer, map->index);
    else if (const auto* one = std::get_if<core::ExampleRequest>(&request))
        Q_EMIT exampleRequested(one->example, one->cell);
    else if (const auto* texts = std::get_if<core::TextsRequest>(&request))
        Q_EMIT textsRequested(shownText(texts->text), shownText(texts->second));
    else if (const auto* at = std::get_if<core::PositionRequest>(&request))
        Q_EMIT positionRequested(at->position);
    else if (const auto* edits = std::get_if<core::EditsRequest>(&request))
        Q_EMIT editsRequested(edits->edits, shownText(edits->what));
    else if (const auto* option = std::get_if<core::OptionRequest>(&request))
        Q_EMIT optionChosen(shownText(option->name), option->value);
}

void DeclaredView::changeEvent(QEvent* event) {
    AnswerView::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        for (auto* part : m_parts) part->restyle();
}

int DeclaredView::figureWidth() const {
    int width = m_layout.figureWidth;
    for (const auto* part : m_parts) width = std::max(width, part->figureWidth());
    return width;
}

void DeclaredView::draw(FigureLines& lines) const {
    const Theme& t = Theme::current();
    const QString about = headText();
    if (!m_layout.heads)
        lines.title(accessibleName() +
                    (about.isEmpty() ? QString() : QStringLiteral(": ") + about));
    for (const auto& one : made(m_layout.heads, seen()))
        if (one.kind == Layout::Heading::Title)
            lines.title(shownText(one.text));
        else
            lines.sentences(shownText(one.text),
                            one.kind == Layout::Heading::Note ? t.muted : t.text);
    for (const auto* part : m_parts)
        if (part->place != Layout::Place::Window) part->draw(lines);
}

}  // namespace relascope::widgets
