// SPDX-License-Identifier: GPL-3.0-or-later
// A text of one's own to look at: a field that opens in place, and examples to begin with.
#pragma once

#include <QWidget>
#include <vector>

class QMenu;
class QPushButton;

namespace relascope::widgets {

class FieldNote;
class TextField;

/// A text worth looking into.
struct ExampleText {
    const char* name;
    const char* text;  ///< UTF-8
};
const std::vector<ExampleText>& exampleTexts();

class TextInput : public QWidget {
    Q_OBJECT
public:
    explicit TextInput(QWidget* parent = nullptr);

    /// Neither of these signals.
    void setOpen(bool open);
    void setText(const QString& text);
    bool isOpen() const;
    QString text() const;
    /// "262 tokens are more than the model's 256"; empty where all is well.
    void setProblem(const QString& sentence);
    /// The sentence below the field, a problem or the hint of an empty one.
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
