// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/source/text_input.h"

#include <QHBoxLayout>
#include <QMenu>
#include <QPushButton>
#include <QVBoxLayout>

#include "widgets/text/text_field.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/icons.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {

const std::vector<ExampleText>& exampleTexts() {
    // Written for this program. The first holds "model" and "state" many times, as the text of the
    // paper's figure does.
    static const std::vector<ExampleText> all = {
        {"Finite-state machine",
         "In computer science, a finite-state machine is a model of a device that remembers very "
         "little: of all that has happened to it, it keeps one entry of a fixed list, called its "
         "state. Each input moves the model from the present state to the next one, as a table of "
         "rules says. A turnstile is the usual example. Its first state is locked; a coin leads to "
         "the unlocked state, and a push leads back. Since no state holds more than its name, the "
         "whole model can be drawn as circles, one for each state, joined by arrows."},
        {"Short story",
         "Once upon a time there was a little girl named Lily. She had a red ball. One day, Lily "
         "and her brother Tom went to the park. Tom saw a dog with a blue ball. The dog wanted to "
         "play. Lily gave the red ball to Tom, and Tom threw the red ball to the dog. The dog was "
         "happy. It gave the blue ball to Lily. \u201CThank you, dog,\u201D said Lily. Then Lily, "
         "Tom and the dog played with both balls until it was dark."},
        {"Logical puzzle",
         "Anna, Ben and Carl each own one pet: a cat, a parrot or a fish. Anna is allergic to fur. "
         "The owner of the fish lives next door to Ben. Carl cannot stand birds. Anna does not "
         "live next door to Ben.\nQuestion: Who owns the cat?\nAnswer: Carl owns the fish, since "
         "he lives next door to Ben. Anna cannot own the cat, so Anna owns the parrot. Therefore "
         "the cat belongs to"},
        {"Code",
         "def count_words(text):\n    counts = {}\n    for word in text.split():\n        word = "
         "word.lower()\n        if word in counts:\n            counts[word] += 1\n        else:\n"
         "            counts[word] = 1\n    return counts\n"},
    };
    return all;
}

TextInput::TextInput(QWidget* parent)
    : QWidget(parent),
      m_type(new QPushButton(icon("pencil"), QStringLiteral("Type text"), this)),
      m_examples(new QPushButton(QStringLiteral("Examples"), this)),
      m_menu(new QMenu(m_examples)),
      m_field(new TextField(3, this)),
      m_note(new FieldNote(this)) {
    auto* column = columnOf(this, {}, 4);
    auto* row = new QHBoxLayout;
    row->setSpacing(4);
    for (QPushButton* button : {m_type, m_examples}) {
        button->setProperty("compact", true);
        button->setFont(smallFont());
        row->addWidget(button);
    }
    row->addStretch(1);
    column->addLayout(row);
    column->addWidget(m_field);
    column->addWidget(m_note);
    m_type->setCheckable(true);
    m_type->setToolTip(QStringLiteral("Inspect your own text; press again for the data"));
    m_examples->setToolTip(QStringLiteral("Example texts"));
    m_examples->setMenu(m_menu);
    m_field->setAccessibleName(QStringLiteral("Text to inspect"));
    m_field->setPlaceholderText(QStringLiteral("Type or paste a text"));
    m_field->hide();
    for (const ExampleText& example : exampleTexts())
        connect(m_menu->addAction(QString::fromUtf8(example.name)), &QAction::triggered, this,
                [this, &example] {
                    setOpen(true);
                    setText(QString::fromUtf8(example.text));
                    tell();
                });
    connect(m_type, &QPushButton::clicked, this, [this](bool on) {
        setOpen(on);
        if (on)
            Q_EMIT opened();
        else
            Q_EMIT closed();
        if (!on) return;
        m_field->setFocus();
        m_field->selectAll();  // typing replaces the text; an arrow key keeps it
    });
    connect(m_field, &TextField::edited, this, &TextInput::tell);
}

void TextInput::setOpen(bool open) {
    m_type->setChecked(open);
    m_field->setVisible(open);
    describe();
}
bool TextInput::isOpen() const {
    return m_type->isChecked();
}
QString TextInput::text() const {
    return m_field->toPlainText();
}
QString TextInput::note() const {
    return m_note->text();
}

void TextInput::setText(const QString& text) {
    m_field->showText(text);
    setProblem({});
}

void TextInput::setProblem(const QString& sentence) {
    m_problem = sentence;
    m_field->setProblem(!sentence.isEmpty());
    describe();
}

void TextInput::tell() {
    setProblem({});  // clears the problem of the previous text
    Q_EMIT textTyped(text());
}

void TextInput::describe() {
    if (!isOpen())
        m_note->setHint({});
    else if (!m_problem.isEmpty())
        m_note->setProblem(m_problem);
    else if (text().isEmpty())
        m_note->setHint(QStringLiteral("Nothing typed yet: the text below is from the data."));
    else
        m_note->setHint({});
}

}  // namespace relascope::widgets
