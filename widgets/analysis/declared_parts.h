// SPDX-License-Identifier: GPL-3.0-or-later
// The elements of a declared view: for its sources alone.
#pragma once

#include "widgets/analysis/declared_view.h"

namespace relascope::widgets {

/// What a function of a layout makes of an answer; nothing of one without tables.
template <class What>
What made(const core::Of<What>& of, const core::Seen& seen) {
    return of && !seen.answer.tables.empty() ? of(seen) : What();
}
inline QString made(const core::Of<std::string>& of, const core::Seen& seen) {
    return shownText(made<std::string>(of, seen));
}

/// An element in the window and in figures.
class DeclaredView::Part {
public:
    explicit Part(QWidget* of) : widget(of) {}
    virtual ~Part() = default;
    /// False: it shows nothing and is hidden. `anew`: something above it was chosen.
    virtual bool fill(const core::Seen& seen, bool anew) = 0;
    virtual void draw(FigureLines& lines) const = 0;
    virtual void restyle() {}
    virtual int figureWidth() const { return 0; }
    /// What is chosen after it was filled.
    virtual GridPlace chosen() const { return {}; }

    QWidget* const widget;
    core::Layout::Place place = core::Layout::Place::Everywhere;
};

}  // namespace relascope::widgets
