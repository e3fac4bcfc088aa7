// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/form/field_form.h"

#include <algorithm>

#include <QDialog>
#include <QDialogButtonBox>
#include <QEvent>
#include <QFileDialog>
#include <QLabel>
#include <QPushButton>
#include <QScreen>
#include <QStyle>
#include <QVBoxLayout>

#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {

FieldForm::FieldForm(QWidget* owner) : m_owner(owner) {
    setHorizontalSpacing(16);
    setVerticalSpacing(10);
    setColumnStretch(1, 1);
}

FieldNote* FieldForm::add(const QString& label, QWidget* field, const QString& help) {
    auto* name = mutedLabel(label, m_owner);
    name->setContentsMargins(0, 4, 0, 0);
    name->setBuddy(field);
    if (!field->layout()) field->setFont(smallFont());
    if (field->accessibleName().isEmpty()) field->setAccessibleName(label);
    field->setToolTip(help);
    auto* note = new FieldNote(m_owner);
    auto* column = new QVBoxLayout;
    column->setSpacing(2);
    const bool narrow = field->maximumWidth() < QWIDGETSIZE_MAX;
    column->addWidget(field, 0, narrow ? Qt::AlignLeft : Qt::Alignment());
    column->addWidget(note);
    const int row = rowCount();
    addWidget(name, row, 0, Qt::AlignTop | Qt::AlignLeft);
    addLayout(column, row, 1);
    return note;
}

void FieldForm::setShown(QWidget* field, bool shown) {
    field->setVisible(shown);
    for (int row = 0; row < rowCount(); ++row)
        if (const auto* item = itemAtPosition(row, 0))
            if (auto* name = qobject_cast<QLabel*>(item->widget()); name->buddy() == field)
                name->setVisible(shown);
}

DialogBody::DialogBody(QWidget* parent) : QScrollArea(parent) {
    setWidgetResizable(true);
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::NoFocus);
    viewport()->setAutoFillBackground(false);
    auto* inside = new QWidget(this);
    setWidget(inside);
    inside->setAutoFillBackground(false);
}

int DialogBody::heightForWidth(int width) const {
    const auto* layout = inside()->layout();
    return layout ? layout->totalHeightForWidth(width) : 0;
}

QSize DialogBody::sizeHint() const {
    const QSize whole = inside()->sizeHint();
    return {whole.width(), std::max(whole.height(), heightForWidth(whole.width()))};
}

QSize DialogBody::minimumSizeHint() const {
    const QSize least = inside()->minimumSizeHint();
    return {least.width() + style()->pixelMetric(QStyle::PM_ScrollBarExtent, nullptr, this),
            std::min(120, least.height())};
}

bool DialogBody::eventFilter(QObject* watched, QEvent* event) {
    if (watched == inside() && event->type() == QEvent::LayoutRequest) updateGeometry();
    return QScrollArea::eventFilter(watched, event);
}

QHBoxLayout* dialogButtons(QDialog* dialog, std::initializer_list<QPushButton*> buttons) {
    auto* cancel = new QPushButton(QStringLiteral("Cancel"), dialog);
    cancel->setAutoDefault(false);
    QObject::connect(cancel, &QPushButton::clicked, dialog, &QDialog::reject);
    auto* row = new QHBoxLayout;
    row->setSpacing(8);
    row->addStretch(1);
    row->addWidget(cancel);
    for (auto* button : buttons) {
        button->setAutoDefault(false);
        row->addWidget(button);
    }
    (*std::prev(buttons.end()))->setProperty("primary", true);
    (*std::prev(buttons.end()))->setDefault(true);
    return row;
}

void growToFit(QDialog* dialog) {
    QMetaObject::invokeMethod(
        dialog,
        [dialog] {
            int needed = dialog->layout()->totalHeightForWidth(dialog->width());
            // The layout of the dialog asks a scroll area for its least height alone.
            for (const auto* body : dialog->findChildren<DialogBody*>())
                needed =
                    std::max(needed, dialog->height() - body->height() + body->sizeHint().height());
            constexpr int title = 40;  // px of the window's frame
            const int room = dialog->screen()->availableGeometry().height() - title;
            if (const int height = std::min(needed, room); height > dialog->height())
                dialog->resize(dialog->width(), height);
            const QRect screen = dialog->screen()->availableGeometry();
            if (const int below = dialog->geometry().bottom() - screen.bottom(); below > 0)
                dialog->move(dialog->x(), std::max(screen.top(), dialog->y() - below));
        },
        Qt::QueuedConnection);
}

QString chooseFileOrFolder(QWidget* parent, const QString& title, const QString& start,
                           const QString& filter, const QString& folderTip) {
    QFileDialog dialog(parent, title, start, filter);
    dialog.setFileMode(QFileDialog::ExistingFile);
    // The dialogs of desktops choose either files or folders.
    dialog.setOption(QFileDialog::DontUseNativeDialog);
    QString folder;
    auto* open = dialog.findChild<QDialogButtonBox*>()->addButton(
        QStringLiteral("Open this folder"), QDialogButtonBox::ActionRole);
    open->setToolTip(folderTip);
    open->setAutoDefault(false);
    QObject::connect(open, &QPushButton::clicked, &dialog, [&] {
        folder = dialog.directory().absolutePath();
        dialog.close();
    });
    if (dialog.exec() == QDialog::Accepted) return dialog.selectedFiles().value(0);
    return folder;
}

}  // namespace relascope::widgets
