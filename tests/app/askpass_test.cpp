// SPDX-License-Identifier: GPL-3.0-or-later
// What ssh asks: which words are questions for Yes and No, and what the dialog answers.
#include "app/askpass.h"

#include <gtest/gtest.h>

#include <QDialogButtonBox>
#include <QLabel>
#include <QLineEdit>
#include <QProcess>
#include <QPushButton>
#include <QTest>

#include "support/rooms.h"
#include "tests/widgets/child.h"

namespace relascope {
namespace {

const QString kUnknownKey = QStringLiteral(
    "The authenticity of host 'gpu1 (192.0.2.7)' can't be established.\n"
    "ED25519 key fingerprint is SHA256:p2QAMXNIC1TJYWeIOttrVc98/R1BUFWu3/LiyKgUfQM.\n"
    "This key is not known by any other names.\n"
    "Are you sure you want to continue connecting (yes/no/[fingerprint])? ");

TEST(Askpass, TellsQuestionsFromSecrets) {
    EXPECT_EQ(questionOf(kUnknownKey, {}), SshQuestion::YesNo);
    EXPECT_EQ(questionOf(QStringLiteral("Replace it (yes/no)? "), {}), SshQuestion::YesNo);
    EXPECT_EQ(questionOf(QStringLiteral("Allow use of key gpu?"), "confirm"), SshQuestion::YesNo);
    EXPECT_EQ(questionOf(QStringLiteral("Confirm user presence for key"), "none"),
              SshQuestion::Notice);
    for (const char* words : {"anna@gpu1's password: ", "Enter passphrase for key '/h/.ssh/id': ",
                              "(anna@gpu1) Verification code: ", "Say (yes/no)? or your code: "})
        EXPECT_EQ(questionOf(QString::fromLatin1(words), {}), SshQuestion::Secret) << words;
}

TEST(Askpass, AsksForASecretThatIsNotShown) {
    AskpassDialog dialog(QStringLiteral("<b>anna</b>@gpu1's password: "), SshQuestion::Secret);
    dialog.show();
    EXPECT_EQ(dialog.words()->textFormat(), Qt::PlainText);
    EXPECT_TRUE(dialog.words()->textInteractionFlags() & Qt::TextSelectableByMouse);
    ASSERT_TRUE(dialog.field());
    EXPECT_EQ(dialog.field()->echoMode(), QLineEdit::Password);
    QTest::keyClicks(dialog.field(), QStringLiteral("a secret"));
    QTest::keyClick(dialog.field(), Qt::Key_Return);
    EXPECT_EQ(dialog.result(), QDialog::Accepted);
    EXPECT_EQ(dialog.answer(), "a secret");
}

TEST(Askpass, AnswersYesNoOrNothing) {
    AskpassDialog yes(kUnknownKey, SshQuestion::YesNo);
    yes.show();
    EXPECT_FALSE(yes.field());
    EXPECT_EQ(yes.words()->text(), kUnknownKey);
    QTest::mouseClick(child<QPushButton>(yes, "Yes"), Qt::LeftButton);
    EXPECT_EQ(yes.result(), QDialog::Accepted);
    EXPECT_EQ(yes.answer(), "yes");

    AskpassDialog no(kUnknownKey, SshQuestion::YesNo);
    no.show();
    QTest::keyClick(&no, Qt::Key_Return);  // does not say yes
    EXPECT_EQ(no.result(), QDialog::Accepted);
    EXPECT_EQ(no.answer(), "no");

    AskpassDialog cancelled(kUnknownKey, SshQuestion::YesNo);
    cancelled.show();
    QTest::keyClick(&cancelled, Qt::Key_Escape);
    EXPECT_EQ(cancelled.result(), QDialog::Rejected);
}

TEST(Askpass, ShowsAllWordsHoweverManyThereAre) {
    AskpassDialog dialog(QStringLiteral("a line of a server\n").repeated(500), SshQuestion::Secret);
    dialog.show();
    EXPECT_LE(dialog.height(), dialog.screen()->availableGeometry().height());
    EXPECT_GE(dialog.words()->height(), 500 * dialog.words()->fontMetrics().height());
    EXPECT_TRUE(dialog.field()->isVisible());
}

TEST(Askpass, TheProgramAsksInsteadOfOpeningItsWindow) {
    const QString program = QStringLiteral(RELASCOPE_BIN "/relascope");
    if (!QFile::exists(program)) GTEST_SKIP() << "the window is not built";
    QProcess process;
    auto environment = QProcessEnvironment::systemEnvironment();
    environment.insert(QStringLiteral("RELASCOPE_ASKPASS"), QStringLiteral("1"));
    environment.insert(QStringLiteral("QT_QPA_PLATFORM"), QStringLiteral("offscreen"));
    process.setProcessEnvironment(environment);
    // A word of ssh is no option of the program.
    process.start(program, {QStringLiteral("--version")});
    ASSERT_TRUE(process.waitForStarted());
    EXPECT_FALSE(process.waitForFinished(1500)) << process.readAll().toStdString();
    process.kill();
    process.waitForFinished();
}

}  // namespace
}  // namespace relascope
