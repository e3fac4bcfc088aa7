// SPDX-License-Identifier: GPL-3.0-or-later
// What is new: the sections of the change log, as a page to scroll.
#pragma once

#include <QDialog>

class QPushButton;
class QTextBrowser;

namespace relascope::widgets {

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
