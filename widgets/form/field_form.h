// SPDX-License-Identifier: GPL-3.0-or-later
// The fields of a dialog below each other: a label, the field, and a note that says what is wrong
// with it.
#pragma once

#include <initializer_list>

#include <QGridLayout>
#include <QScrollArea>

class QDialog;
class QHBoxLayout;
class QPushButton;

namespace relascope::widgets {

class FieldNote;

class FieldForm : public QGridLayout {
public:
    /// `owner` has the widgets of the form; the layout itself is added by the caller.
    explicit FieldForm(QWidget* owner);

    /// The label names the field for screen readers, too, unless the field has a name. A field
    /// with a layout keeps the fonts of its parts.
    FieldNote* add(const QString& label, QWidget* field, const QString& help = {});
    /// Shows or hides a field with its label.
    void setShown(QWidget* field, bool shown);

private:
    QWidget* m_owner;
};

/// Controls that scroll where the screen is too low for all of them: the part of a dialog above its
/// buttons, or rows of options above what they are about.
class DialogBody : public QScrollArea {
public:
    explicit DialogBody(QWidget* parent);
    /// Gets the layout of the fields.
    QWidget* inside() const { return widget(); }
    bool hasHeightForWidth() const override { return true; }
    int heightForWidth(int width) const override;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
};

/// The last row of a dialog: Cancel and these buttons, of which the last one is the primary one.
QHBoxLayout* dialogButtons(QDialog* dialog, std::initializer_list<QPushButton*> buttons);
/// Makes a dialog as high as its notes need, but not higher than the screen, afterwards: the
/// minimum size of a layout does not count the second line of a wrapped one.
void growToFit(QDialog* dialog);

/// Asks for a file, or for the folder that is listed. `folderTip`: what such a folder holds.
/// Returns an empty path if the user cancels.
QString chooseFileOrFolder(QWidget* parent, const QString& title, const QString& start,
                           const QString& filter, const QString& folderTip);

}  // namespace relascope::widgets
