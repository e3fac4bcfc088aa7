// SPDX-License-Identifier: GPL-3.0-or-later
// A guided tour of a window: highlights one part after another and explains it in a card.
#pragma once

#include <functional>
#include <vector>

#include <QWidget>

class QLabel;
class QPushButton;
class QVBoxLayout;

namespace relascope::widgets {

// A drawing of what a relational head computes: r_ij, i <- j and alpha.

/// One receiver i, three senders j and the arrows between them, in the colours of the theme: the
/// sign and size of r_ij as a colour, alpha_ij as the width of the arrow.
class RelationPrimer : public QWidget {
    Q_OBJECT
public:
    explicit RelationPrimer(QWidget* parent = nullptr);
    QSize sizeHint() const override;

    /// The explanation of the drawing.
    static QString text();

protected:
    void paintEvent(QPaintEvent* event) override;
};

struct TourStep {
    QString title;
    QString text;
    /// The part to highlight; null or hidden for a card in the middle of the window.
    std::function<QWidget*()> target = {};
    /// Creates a widget shown above the text; may be empty.
    std::function<QWidget*(QWidget* parent)> picture = {};
    /// Makes the part visible before the step is shown; may be empty.
    std::function<void()> prepare = {};
    /// The part can be used while the step is shown: it gets the mouse, and the keys after a click.
    bool usable = false;
};

/// Covers its parent and follows its size. Right and Return show the next step, Left the previous
/// one, Escape ends it. All cards have the same size, but for pictures, and their lower right
/// corner stays at the place where they cover least of the parts, so that Next does not move.
class TourOverlay : public QWidget {
    Q_OBJECT
public:
    TourOverlay(std::vector<TourStep> steps, QWidget* parent);

    int step() const { return m_step; }
    int steps() const { return static_cast<int>(m_steps.size()); }
    /// The rectangle of the highlighted part in the overlay; empty without one.
    QRect highlighted() const;
    QRect card() const;
    QPushButton* nextButton() const { return m_next; }

public Q_SLOTS:
    void next();
    void back();
    void end();
    /// Places the card anew, after the part that it is about has changed.
    void arrange() { place(); }

Q_SIGNALS:
    /// Finished or skipped; the overlay deletes itself.
    void ended();

protected:
    void paintEvent(QPaintEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool event(QEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void show(int step);
    void place();
    /// The part of a step in the overlay; empty without one.
    QRect part(int step) const;
    /// The lower right corner of the cards.
    QPoint corner() const;

    std::vector<TourStep> m_steps;
    int m_step = -1;
    int m_textHeight = 0;      ///< height of the longest text
    QSize m_usual, m_largest;  ///< sizes of cards without a picture, and of all shown
    QWidget* m_card;
    QVBoxLayout* m_column;
    QWidget* m_picture = nullptr;
    QLabel *m_title, *m_text, *m_count;
    QPushButton *m_skip, *m_back, *m_next;
};

}  // namespace relascope::widgets
