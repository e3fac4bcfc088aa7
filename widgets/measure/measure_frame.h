// SPDX-License-Identifier: GPL-3.0-or-later
// What the measuring views have in common: a head with the menu of the view, and below it the
// results or, as long as there are none, one sentence.
#pragma once

#include <QString>
#include <QWidget>

class QPainter;
class QStackedLayout;
class QVBoxLayout;

namespace relascope::widgets {

class EmptyState;
class PanelHead;
class ViewMenu;

class MeasureFrame : public QWidget {
    Q_OBJECT
public:
    /// `title` is that of the head, `name` the suggested name of files.
    MeasureFrame(const QString& title, const QString& name, QWidget* parent);

    /// Removes the results and shows a sentence in their place.
    virtual void clear(const QString& sentence);
    bool isEmpty() const;
    QString sentence() const { return m_sentence; }
    QString headText() const;
    ViewMenu* menu() const { return m_menu; }
    /// Run, step and sample, below figures.
    void setCaption(const QString& caption) { m_caption = caption; }

    /// The whole of the results as a figure, of figureSize(), in the colours of the current theme.
    virtual QSize figureSize() const = 0;
    virtual void paintFigure(QPainter& painter) = 0;
    virtual QString csv() const = 0;

protected:
    PanelHead* head() const { return m_head; }
    QVBoxLayout* content() const { return m_content; }
    void showResults();
    void paintEvent(QPaintEvent* event) override;

private:
    PanelHead* m_head;
    QStackedLayout* m_stack;
    EmptyState* m_empty;
    QWidget* m_results;
    QVBoxLayout* m_content;
    ViewMenu* m_menu;
    QString m_sentence, m_caption;
};

}  // namespace relascope::widgets
