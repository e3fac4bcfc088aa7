// SPDX-License-Identifier: GPL-3.0-or-later
// A sentence with buttons across the window, which stays until it is closed.
#pragma once

#include <QString>
#include <QWidget>

class QHBoxLayout;
class QPushButton;

namespace relascope::widgets {

class ElidedLabel;

class NoticeBar : public QWidget {
    Q_OBJECT
public:
    explicit NoticeBar(const QString& sentence, QWidget* parent = nullptr);
    /// Adds a button left of the cross, after those added before.
    QPushButton* addButton(const QString& text);
    QString sentence() const;

Q_SIGNALS:
    void closed();  ///< by its cross; the bar is hidden and deletes itself

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    ElidedLabel* m_label;
    QHBoxLayout* m_buttons;
};

}  // namespace relascope::widgets
