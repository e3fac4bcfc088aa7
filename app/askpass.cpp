// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/askpass.h"

#include <QApplication>
#include <QDialogButtonBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QScreen>
#include <QScrollArea>
#include <QVBoxLayout>
#include <cstdio>

#include "widgets/theme/controls.h"
#include "widgets/theme/icons.h"
#include "widgets/theme/theme.h"

namespace relascope::app {

bool isAskpass() {
    return qEnvironmentVariableIsSet("RELASCOPE_ASKPASS");
}

SshQuestion questionOf(const QString& words, const QByteArray& hint) {
    if (hint == "confirm") return SshQuestion::YesNo;
    if (hint == "none") return SshQuestion::Notice;
    for (const char* end : {"(yes/no/[fingerprint])?", "(yes/no)?"})
        if (words.trimmed().endsWith(QLatin1String(end))) return SshQuestion::YesNo;
    return SshQuestion::Secret;
}

AskpassDialog::AskpassDialog(const QString& words, SshQuestion question, QWidget* parent)
    : QDialog(parent), m_words(new QLabel(words, this)) {
    setWindowTitle(QStringLiteral("Relascope: ssh asks"));
    // The question may contain text from another machine.
    m_words->setTextFormat(Qt::PlainText);
    m_words->setWordWrap(true);
    m_words->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    m_words->setFocusPolicy(Qt::ClickFocus);
    auto* column = widgets::columnOf(this, {20, 16, 20, 16}, 12);
    constexpr int kWidth = 580;  // a fingerprint in one line
    const int most = screen()->availableGeometry().height() / 2;
    if (const int height = m_words->heightForWidth(kWidth); height > most) {
        auto* area = new QScrollArea(this);
        area->setWidget(m_words);
        area->setWidgetResizable(true);
        area->setFrameShape(QFrame::NoFrame);
        area->setMinimumSize(kWidth, most);
        column->addWidget(area, 1);
    } else {
        m_words->setMinimumSize(kWidth, height);
        column->addWidget(m_words, 1);
    }
    auto* buttons = new QDialogButtonBox(this);
    const auto add = [&](const char* text, QDialogButtonBox::ButtonRole role,
                         const QString& answer) {
        auto* button = buttons->addButton(QLatin1String(text), role);
        connect(button, &QPushButton::clicked, this, [this, answer] {
            m_answer = m_field ? m_field->text() : answer;
            accept();
        });
        return button;
    };
    if (question == SshQuestion::Secret) {
        m_field = new QLineEdit(this);
        m_field->setEchoMode(QLineEdit::Password);
        m_field->setAccessibleName(QStringLiteral("Answer"));
        m_field->setFocus();
        column->addWidget(m_field);
        auto* ok = add("OK", QDialogButtonBox::AcceptRole, {});
        ok->setProperty("primary", true);
        ok->setDefault(true);
    } else if (question == SshQuestion::YesNo) {
        // Return does not answer "yes", so that the question is read.
        add("Yes", QDialogButtonBox::YesRole, QStringLiteral("yes"))->setAutoDefault(false);
        auto* no = add("No", QDialogButtonBox::NoRole, QStringLiteral("no"));
        no->setDefault(true);
        no->setFocus();
    }
    auto* cancel = buttons->addButton(question == SshQuestion::Notice ? QDialogButtonBox::Close
                                                                      : QDialogButtonBox::Cancel);
    cancel->setAutoDefault(false);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    column->addWidget(buttons);
}

QString AskpassDialog::answer() const {
    return m_answer;
}

int runAskpass(int argc, char** argv) {
    qputenv("QT_XCB_GL_INTEGRATION", "none");  // as for the window
    int count = 1;  // the arguments of ssh must not be parsed as options of Qt
    QApplication application(count, argv);
    application.setDesktopFileName(QStringLiteral("org.relascope.Relascope"));
    widgets::applyTheme(application, widgets::ThemeMode::System);
    application.setWindowIcon(widgets::applicationIcon());
    const QString words = argc > 1 ? QString::fromLocal8Bit(argv[1]) : QStringLiteral("Password: ");
    AskpassDialog dialog(words, questionOf(words, qgetenv("SSH_ASKPASS_PROMPT")));
    dialog.show();
    dialog.raise();
    dialog.activateWindow();
    if (dialog.exec() != QDialog::Accepted) return 1;
    const QByteArray answer = dialog.answer().toUtf8() + '\n';
    const bool written = std::fwrite(answer.constData(), 1, std::size_t(answer.size()), stdout) ==
                             std::size_t(answer.size()) &&
                         std::fflush(stdout) == 0;
    return written ? 0 : 1;
}

}  // namespace relascope::app
