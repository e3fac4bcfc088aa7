// SPDX-License-Identifier: GPL-3.0-or-later
// The built-in documentation, in its own window.
#pragma once

#include <QString>
#include <vector>

#include "widgets/help/document_viewer.h"

namespace relascope::app {

/// The documents of `resources/docs`: first the index, then the others in the order of its links.
std::vector<widgets::HelpDocument> documents();

/// Shows the documentation window of `parent`, at `link` ("models.md#...") if it is not empty.
widgets::DocumentViewer* showDocuments(QWidget* parent, const QString& link = {});

}  // namespace relascope::app
