// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/other_starts.h"

#include <QApplication>

#include "app/controllers/controllers.h"
#include "app/later.h"
#include "app/main_window.h"
#include "app/one_window.h"
#include "app/opener.h"
#include "widgets/tour/tour_overlay.h"

namespace relascope::app {
namespace {

constexpr int kLookAgainMs = 200;

// Under a dialog the pages must not change.
void openWithoutDialog(MainWindow& window, const QStringList& paths, bool said = false) {
    if (QApplication::activeModalWidget()) {
        if (!said)
            window.controllers().messages.info(
                QStringLiteral("The files of the second start are opened when the dialog is "
                               "closed"));
        later(kLookAgainMs, &window, [&window, paths] { openWithoutDialog(window, paths, true); });
        return;
    }
    // The tour covers the window.
    if (auto* tour = window.findChild<widgets::TourOverlay*>()) tour->end();
    window.opener().openAll(paths);
}

}  // namespace

void serveOtherStarts(MainWindow& window, OneWindow& others) {
    QObject::connect(&others, &OneWindow::asked, &window, [&window](const Handover& handover) {
        bringToFront(window, handover.activation);
        if (!handover.paths.isEmpty()) openWithoutDialog(window, handover.paths);
    });
    QObject::connect(&window, &MainWindow::closing, &others, &OneWindow::close);
}

}  // namespace relascope::app
