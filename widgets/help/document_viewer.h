// SPDX-License-Identifier: GPL-3.0-or-later
// The documentation window: documents at the left, the text at the right.
#pragma once

#include <vector>

#include <QByteArray>
#include <QDialog>
#include <QHash>
#include <QString>

class QLabel;
class QLineEdit;
class QListWidget;
class QPushButton;
class QTextBrowser;
class QTextDocument;
class QToolButton;
class QUrl;

namespace relascope::widgets {

// Formatting of Markdown documents: fonts, tables, code and anchors of headings in the current
// theme.

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

struct HelpDocument {
    QString name;      ///< as links call it: "models.md"
    QString markdown;  ///< its first heading is the title in the list
};

/// Links between documents are followed, other links are emitted as a signal. Ctrl+F searches in
/// the document, Alt+Left and Alt+Right go back and forward.
class DocumentViewer : public QDialog {
    Q_OBJECT
public:
    explicit DocumentViewer(QWidget* parent = nullptr);

    /// SVG pictures by the name used in the documents. Must be set before the documents.
    void setPictures(const QHash<QString, QByteArray>& svg);
    /// Sets the documents in the order of the list and shows the first.
    void setDocuments(std::vector<HelpDocument> documents);
    /// "models.md", "models.md#4-dual-attention-and-its-blocks", or "#..." within the document
    /// shown. Returns false if there is no such document.
    bool open(const QString& link);
    QString current() const;  ///< the name of the document shown; empty without documents
    void back() { travel(-1); }
    void forward() { travel(1); }

    QListWidget* list() const { return m_list; }
    QTextBrowser* text() const { return m_text; }
    QLineEdit* searchField() const { return m_search; }
    int matches() const { return static_cast<int>(m_matches.size()); }

Q_SIGNALS:
    void externalLink(const QUrl& url);

protected:
    void changeEvent(QEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    struct Place {
        int document = -1;
        int scroll = 0;
    };
    int indexOf(const QString& name) const;
    void follow(const QUrl& url);
    void turnTo(int document, const QString& anchor);
    void render();
    void remember();
    void travel(int by);
    void search();
    void goToMatch(int by);
    void refresh();

    std::vector<HelpDocument> m_documents;
    std::vector<Place> m_history;
    int m_at = -1;  ///< in the history
    std::vector<int> m_matches;
    int m_match = -1;
    bool m_rendering = false;
    QListWidget* m_list;
    QTextBrowser* m_text;
    QLineEdit* m_search;
    QLabel* m_count;
    QToolButton *m_back, *m_forward, *m_previous, *m_next;
};

// What is new: the sections of the change log, as a page to scroll.

class NewsDialog : public QDialog {
    Q_OBJECT
public:
    NewsDialog(const QString& title, const QString& markdown, QWidget* parent = nullptr);

    QTextBrowser* text() const { return m_text; }
    QPushButton* documentsButton() const { return m_documents; }
    QPushButton* closeButton() const { return m_close; }

Q_SIGNALS:
    /// A link of the text, or the button: "models.md#..."; empty for the first document.
    void documentRequested(const QString& link);

protected:
    void changeEvent(QEvent* event) override;

private:
    void render();
    QString m_markdown;
    QTextBrowser* m_text;
    QPushButton *m_documents, *m_close;
    bool m_rendering = false;
};

}  // namespace relascope::widgets
