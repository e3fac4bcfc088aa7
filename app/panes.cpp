// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/panes.h"

#include <QApplication>
#include <algorithm>

#include "app/main_window.h"
#include "app/pages/workbench_page.h"
#include "widgets/bar/train_bar.h"
#include "widgets/curves/curve_panel.h"
#include "widgets/form/options_form.h"
#include "widgets/inspector/map_pane.h"
#include "widgets/inspector/relation_inspector.h"
#include "widgets/lists/sidebar.h"
#include "widgets/maps/map_view.h"

namespace relascope::app {
namespace {

bool takesFocus(const QWidget* widget) {
    return widget->isVisible() && widget->isEnabled() && (widget->focusPolicy() & Qt::TabFocus);
}

}  // namespace

std::vector<QWidget*> panesOf(const MainWindow& window) {
    std::vector<QWidget*> panes{window.bar(), window.sidebar()};
    if (window.currentPage() == PageId::Workbench)
        panes.insert(panes.end(), {window.workbench()->inspector(), window.workbench()->curves()});
    else
        panes.push_back(window.page(window.currentPage()));
    if (!window.form()->collapsed()) panes.push_back(window.form());
    panes.push_back(window.log());
    std::erase_if(panes, [](const QWidget* pane) { return !pane->isVisible(); });
    return panes;
}

bool enterPane(QWidget* pane, QWidget* wanted) {
    QWidget* to = wanted ? wanted : pane->focusWidget();
    if (!to || !takesFocus(to)) {
        to = pane;
        do to = to->nextInFocusChain();
        while (to != pane && !(pane->isAncestorOf(to) && takesFocus(to)));
        if (to == pane) return false;
    }
    // A page that is shown again has its focus back already, as if nobody had asked for it: Space
    // would start a run instead of pressing the button.
    to->clearFocus();
    to->setFocus(Qt::TabFocusReason);
    // Qt draws where the keyboard is from the first Tab on, and to come here is as good as that.
    to->window()->setAttribute(Qt::WA_KeyboardFocusChange);
    to->update();
    return true;
}

void enterNextPane(const MainWindow& window, bool back) {
    auto panes = panesOf(window);
    if (back) std::reverse(panes.begin(), panes.end());
    const auto* now = QApplication::focusWidget();
    const auto at = std::find_if(panes.begin(), panes.end(), [now](const QWidget* pane) {
        return now && (pane == now || pane->isAncestorOf(now));
    });
    // From outside, the first.
    if (at != panes.end()) std::rotate(panes.begin(), at + 1, panes.end());
    std::any_of(panes.begin(), panes.end(), [](QWidget* pane) { return enterPane(pane); });
}

void enterPage(const MainWindow& window) {
    if (window.currentPage() != PageId::Workbench) {
        enterPane(window.page(window.currentPage()));
        return;
    }
    auto* inspector = window.workbench()->inspector();
    enterPane(inspector, inspector->mapPane()->map());
}

}  // namespace relascope::app
