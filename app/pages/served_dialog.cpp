// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/pages/served_dialog.h"

#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QListWidget>
#include <QPushButton>
#include <QTimer>
#include <QVBoxLayout>
#include <utility>

#include "model/served/served_options.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::app {
namespace {

constexpr int kDoorPath = Qt::UserRole;
constexpr int kLookAgain = 2000;  // ms

QString doorText(const wire::FoundDoor& door) {
    const auto name = QString::fromStdString(door.name);
    if (!door.problem.empty())
        return name + QStringLiteral("\n") + QString::fromStdString(door.problem);
    const auto program = QFileInfo(QString::fromStdString(door.program)).fileName();
    const auto step = door.step < 0
                          ? QString()
                          : QStringLiteral(", step %1").arg(widgets::groupedNumber(door.step));
    return QStringLiteral("%1\n%2 of %3 parameters, by %4%5")
        .arg(name, QString::fromStdString(door.model), widgets::groupedNumber(door.parameters),
             program, step);
}

}  // namespace

ServedDialog::ServedDialog(QWidget* parent)
    : QDialog(parent),
      m_list(new QListWidget(this)),
      m_note(widgets::mutedLabel({}, this)),
      m_open(new QPushButton(QStringLiteral("Open"), this)),
      m_again(new QTimer(this)) {
    setWindowTitle(QStringLiteral("Open served model"));
    resize(560, 360);
    m_list->setAccessibleName(QStringLiteral("Served models"));
    m_list->setWordWrap(true);
    m_list->setSpacing(4);
    m_note->setWordWrap(true);
    m_note->setTextFormat(Qt::PlainText);
    m_note->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_open->setProperty("primary", true);
    m_open->setDefault(true);
    m_open->setEnabled(false);
    auto* cancel = new QPushButton(QStringLiteral("Close"), this);
    cancel->setAutoDefault(false);
    auto* buttons = new QHBoxLayout;
    buttons->setSpacing(8);
    buttons->addStretch(1);
    buttons->addWidget(cancel);
    buttons->addWidget(m_open);
    auto* column = widgets::columnOf(this, {20, 16, 20, 16}, 12);
    column->addWidget(m_list, 1);
    column->addWidget(m_note);
    column->addLayout(buttons);
    connect(cancel, &QPushButton::clicked, this, &QDialog::reject);
    connect(m_open, &QPushButton::clicked, this, &QDialog::accept);
    connect(m_list, &QListWidget::itemActivated, this, &QDialog::accept);
    connect(m_list, &QListWidget::currentItemChanged, this,
            [this](QListWidgetItem* item) { m_open->setEnabled(item != nullptr); });
    m_note->setText(QStringLiteral("Looking for programs that serve a model\u2026"));
    m_again->setSingleShot(true);
    connect(m_again, &QTimer::timeout, this, &ServedDialog::look);
    look();
}

QString ServedDialog::path() const {
    const auto* item = m_list->currentItem();
    return item ? item->data(kDoorPath).toString() : QString();
}

void ServedDialog::look() {
    const auto again = [this] { m_again->start(kLookAgain); };
    m_queue.post(
        this, [](const std::stop_token& stop) { return wire::servedDoors(stop); },
        [this, again](const std::vector<wire::FoundDoor>& doors) {
            fill(doors);
            again();
        },
        [this, again](const QString& sentence) {
            m_note->setText(sentence);
            again();
        });
}

void ServedDialog::fill(const std::vector<wire::FoundDoor>& doors) {
    QStringList texts;
    for (const auto& door : doors) texts << doorText(door);
    // What stays is not made again: it would scroll back, and lose the keyboard.
    if (texts == std::exchange(m_texts, texts) && !texts.isEmpty()) return;
    const auto chosen = path();
    m_list->clear();
    for (const auto& door : doors) {
        auto* item = new QListWidgetItem(doorText(door), m_list);
        item->setData(kDoorPath, QString::fromStdString(core::kServedPrefix + door.name));
        if (item->data(kDoorPath).toString() == chosen) m_list->setCurrentItem(item);
    }
    if (!m_list->currentItem() && m_list->count() > 0) m_list->setCurrentRow(0);
    m_note->setText(
        doors.empty()
            ? QStringLiteral("No program of yours serves a model. In the program that has it:\n"
                             "import relascope\n"
                             "served = relascope.serve(model, data)\n"
                             "One on a machine of Run > Machines: relascope served:NAME@MACHINE")
            : QStringLiteral("The model stays in its program, which answers between two steps of "
                             "its training, or two cells of a notebook."));
}

}  // namespace relascope::app
