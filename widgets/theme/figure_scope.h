// SPDX-License-Identifier: GPL-3.0-or-later
// Views drawn for a file: in the light theme unless the user wants the window's, and without what
// belongs to the window only.
#pragma once

#include <QPalette>

class QWidget;

namespace relascope::widgets {

struct Theme;

/// While it lives, Theme::current() is the light theme where that is asked for, `view` and its
/// children have its palette, and no focus ring is drawn. Nothing is seen of it on the screen as
/// long as the event loop does not run.
class FigureScope {
public:
    explicit FigureScope(bool light, QWidget* view = nullptr);
    ~FigureScope();
    FigureScope(const FigureScope&) = delete;
    FigureScope& operator=(const FigureScope&) = delete;

    static bool active();

private:
    const Theme* m_before;
    QWidget* m_view = nullptr;  ///< has another palette meanwhile
    QPalette m_palette;
    bool m_own = false;  ///< the palette was set, not inherited
};

}  // namespace relascope::widgets
