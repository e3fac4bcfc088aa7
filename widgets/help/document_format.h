// SPDX-License-Identifier: GPL-3.0-or-later
// Formatting of Markdown documents: fonts, tables, code and anchors of headings in the current
// theme.
#pragma once

#include <QString>

class QTextDocument;

namespace relascope::widgets {

/// The first heading of a Markdown text; empty when there is none.
QString markdownTitle(const QString& markdown);

/// The anchor of a heading as in Markdown renderers: "2. Relational attention (`RA`)" becomes
/// "2-relational-attention-ra".
QString headingAnchor(const QString& heading);

/// Applies the fonts and colours of the current theme to a document filled by setMarkdown(), and
/// adds anchors to headings.
void formatMarkdown(QTextDocument& document);

/// Sets every picture to the size of its resource, which may have changed. One picture per
/// paragraph.
void fitPictures(QTextDocument& document);

}  // namespace relascope::widgets
