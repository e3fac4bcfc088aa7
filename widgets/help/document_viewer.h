// SPDX-License-Identifier: GPL-3.0-or-later
// The documentation window: documents at the left, the text at the right.
#pragma once

#include <vector>

#include <QByteArray>
#include <QDialog>
#include <QHash>
#include <QList>
#include <QString>
#include <QTextCursor>
#include <QUrl>

class QLabel;
class QLineEdit;
class QListWidget;
class QTextBrowser;
class QToolButton;

namespace relascope::widgets {

/// The first heading of a Markdown text; empty when there is none.
QString markdownTitle(const QString& markdown);

/// The anchor of a heading as in Markdown renderers: "2. Relational attention (`RA`)" becomes
/// "2-relational-attention-ra".
QString headingAnchor(const QString& heading);

struct HelpDocument {
    QString name;      ///< name in links: "models.md"
    QString markdown;  ///< the first heading is the title in the list
};

/// Links between documents are followed, others are opened in the browser of the desktop. Ctrl+F
/// searches in the document, Alt+Left and Alt+Right go back and forward.
class DocumentViewer : public QDialog {
    Q_OBJECT
public:
    explicit DocumentViewer(QWidget* parent = nullptr);

    /// SVG pictures by the name used in the documents. Must be set before the documents.
    void setPictures(const QHash<QString, QByteArray>& svg);
    /// Sets the documents in the order of the list and shows the first.
    void setDocuments(const std::vector<HelpDocument>& documents);
    /// Appends a document to the list, or gives one of this name another text.
    void setDocument(const HelpDocument& document);
    /// "models.md", "models.md#4-dual-attention-and-its-blocks", or "#..." within the document
    /// shown. Returns false if there is no such document.
    bool open(const QString& link);
    QString current() const;  ///< the name of the document shown; empty without documents

    QListWidget* list() const { return m_list; }
    QTextBrowser* text() const;
    QLineEdit* searchField() const { return m_search; }
    int matches() const { return static_cast<int>(m_matches.size()); }

protected:
    void changeEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    class Browser;
    void onShown(const QUrl& url);
    void search();
    void goToMatch(int by);

    Browser* m_text;
    QListWidget* m_list;
    QLineEdit* m_search;
    QLabel* m_count;
    QToolButton *m_previous, *m_next;
    QList<QTextCursor> m_matches;
    int m_match = -1;
    QUrl m_url;
};

}  // namespace relascope::widgets
