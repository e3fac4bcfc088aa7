// SPDX-License-Identifier: GPL-3.0-or-later
// The documentation that is built into the program, in its own window.
#pragma once

#include <QString>
#include <vector>

#include "widgets/help/document_viewer.h"

namespace relascope::app {

/// The documents of `resources/docs`: first the index, then the others in the order of its links.
std::vector<widgets::HelpDocument> documents();

/// Shows the one window of the documentation that `parent` has, at `link` ("models.md#...") where
/// one is given.
widgets::DocumentViewer* showDocuments(QWidget* parent, const QString& link = {});

}  // namespace relascope::app
