// SPDX-License-Identifier: GPL-3.0-or-later
// How a Markdown document looks: fonts, tables, code and anchors of headings in the current theme.
#pragma once

#include <QString>

class QTextDocument;

namespace relascope::widgets {

/// The first heading of a Markdown text; empty when there is none.
QString markdownTitle(const QString& markdown);

/// The anchor that Markdown renderers give a heading: "2. Relational attention (`RA`)" becomes
/// "2-relational-attention-ra".
QString headingAnchor(const QString& heading);

/// Gives a document that was filled by setMarkdown() the fonts and colours of the current theme,
/// and every heading its anchor.
void formatMarkdown(QTextDocument& document);

/// Gives every picture the size of its resource, which may have changed. One picture a paragraph.
void fitPictures(QTextDocument& document);

}  // namespace relascope::widgets
