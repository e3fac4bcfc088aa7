// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <QApplication>
#include <QStandardPaths>
#include <QTemporaryDir>

#include "support/rooms.h"
#include "widgets/theme/theme.h"

// The window without a screen, its runs and settings in a folder that goes with the tests.
int main(int argc, char** argv) {
    qputenv("QT_QPA_PLATFORM", "offscreen");
    const QTemporaryDir folder;
    qputenv("RELASCOPE_RUNS", (folder.path() + "/runs").toUtf8());
    qputenv("HF_HUB_CACHE", (folder.path() + "/hub").toUtf8());
    qputenv("RELASCOPE_STUDIES", (folder.path() + "/studies").toUtf8());
    qputenv("XDG_CONFIG_HOME", (folder.path() + "/config").toUtf8());
    qputenv("XDG_RUNTIME_DIR", folder.path().toUtf8());
    QCoreApplication::setOrganizationName(QStringLiteral("Relascope"));
    QCoreApplication::setApplicationName(QStringLiteral("Relascope"));
    QApplication application(argc, argv);
    relascope::applyTheme(application, relascope::ThemeMode::Light);
    ::testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
