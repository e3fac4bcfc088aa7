// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <limits>

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QLayout>
#include <QSpinBox>

#include "app/pages/control_row.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::app {
namespace {

/// Widgets side by side, and below each other where there is no room.
class WrapLayout : public QLayout {
public:
    using QLayout::QLayout;
    ~WrapLayout() override { qDeleteAll(m_items); }
    void addItem(QLayoutItem* item) override { m_items << item; }
    int count() const override { return static_cast<int>(m_items.size()); }
    QLayoutItem* itemAt(int at) const override { return m_items.value(at); }
    QLayoutItem* takeAt(int at) override {
        return at < 0 || at >= m_items.size() ? nullptr : m_items.takeAt(at);
    }
    bool hasHeightForWidth() const override { return true; }
    int heightForWidth(int width) const override { return arrange({0, 0, width, 0}, false); }
    QSize sizeHint() const override { return minimumSize(); }
    QSize minimumSize() const override {
        QSize size;
        for (const auto* item : m_items) size = size.expandedTo(item->sizeHint());
        return size;
    }
    void setGeometry(const QRect& room) override {
        QLayout::setGeometry(room);
        arrange(room, true);
    }

private:
    /// Returns the height.
    int arrange(const QRect& room, bool apply) const {
        int x = 0, y = 0, line = 0;
        for (auto* item : m_items) {
            if (item->isEmpty()) continue;
            const QSize size = item->sizeHint();
            if (x > 0 && x + size.width() > room.width()) x = 0, y += line + kBetweenRows, line = 0;
            if (apply)
                item->setGeometry(
                    {room.topLeft() + QPoint(x, y), size.boundedTo({room.width(), size.height()})});
            x += size.width() + kBetweenControls;
            line = std::max(line, size.height());
        }
        return y + line;
    }

    static constexpr int kBetweenRows = 6, kBetweenControls = 20;
    QList<QLayoutItem*> m_items;
};

}  // namespace

QComboBox* choiceBox(const QString& name, QWidget* parent) {
    auto* box = new QComboBox(parent);
    box->setFont(widgets::smallFont());
    box->setAccessibleName(name);
    box->setMinimumWidth(110);
    return box;
}

QSpinBox* numberBox(const QString& name, double low, double high, QWidget* parent) {
    const auto whole = [](double value) {
        return static_cast<int>(std::clamp(value,
                                           -static_cast<double>(std::numeric_limits<int>::max()),
                                           static_cast<double>(std::numeric_limits<int>::max())));
    };
    auto* box = new QSpinBox(parent);
    box->setFont(widgets::smallFont());
    box->setAccessibleName(name);
    box->setRange(whole(low), whole(high));
    box->setGroupSeparatorShown(true);
    return box;
}

ControlRow::ControlRow(QWidget* parent) : QWidget(parent), m_all(new WrapLayout(this)) {
    m_all->setContentsMargins({});
}

void ControlRow::add(const QString& label, QWidget* control) {
    auto* text = widgets::mutedLabel(label, this);
    text->setBuddy(control);
    if (control->accessibleName().isEmpty()) control->setAccessibleName(label);
    add(text);
    add(control);
}

void ControlRow::add(QWidget* control) {
    if (!m_group) {
        m_group = widgets::rowOf(new QWidget(this), {}, 8);
        // A group of words alone stands in the middle of its line.
        m_group->parentWidget()->setMinimumHeight(QSpinBox().sizeHint().height());
        m_all->addWidget(m_group->parentWidget());
    }
    m_group->addWidget(control);
}

}  // namespace relascope::app
