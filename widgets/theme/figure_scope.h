// SPDX-License-Identifier: GPL-3.0-or-later
// Rendering of views to files: in the light theme unless the user chose that of the window, and
// without focus rings.
#pragma once

#include <QPalette>

class QWidget;

namespace relascope::widgets {

struct Theme;

/// During its lifetime Theme::current() is the light theme if requested, `view` and its children
/// have its palette, and no focus ring is drawn. Not visible on the screen as long as the event
/// loop does not run.
class FigureScope {
public:
    explicit FigureScope(bool light, QWidget* view = nullptr);
    ~FigureScope();
    FigureScope(const FigureScope&) = delete;
    FigureScope& operator=(const FigureScope&) = delete;

    static bool active();

private:
    const Theme* m_before;
    QWidget* m_view = nullptr;  ///< its palette is replaced temporarily
    QPalette m_palette;
    bool m_own = false;  ///< the palette was set, not inherited
};

}  // namespace relascope::widgets
