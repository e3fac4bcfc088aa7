// SPDX-License-Identifier: GPL-3.0-or-later
// The input of a text: a field that opens in place, and a menu of examples.
#pragma once

#include <QWidget>
#include <vector>

class QMenu;
class QPushButton;

namespace relascope::widgets {

class FieldNote;
class TextField;

/// An example text.
struct ExampleText {
    const char* name;
    const char* text;  ///< UTF-8
};
const std::vector<ExampleText>& exampleTexts();

class TextInput : public QWidget {
    Q_OBJECT
public:
    explicit TextInput(QWidget* parent = nullptr);

    /// These setters emit no signals.
    void setOpen(bool open);
    void setText(const QString& text);
    bool isOpen() const;
    QString text() const;
    /// "262 tokens are more than the model's 256"; empty if the text is valid.
    void setProblem(const QString& sentence);
    /// The message below the field: a problem, or the hint of an empty field.
    QString note() const;

    TextField* field() const { return m_field; }
    QPushButton* typeButton() const { return m_type; }
    QMenu* exampleMenu() const { return m_menu; }

Q_SIGNALS:
    void textTyped(QString text);  ///< on every change by the user, and when an example is chosen
    void opened();                 ///< by the user
    void closed();                 ///< by the user

private:
    void tell();
    void describe();

    QPushButton *m_type, *m_examples;
    QMenu* m_menu;
    TextField* m_field;
    FieldNote* m_note;
    QString m_problem;
};

}  // namespace relascope::widgets
