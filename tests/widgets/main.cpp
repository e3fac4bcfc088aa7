// SPDX-License-Identifier: GPL-3.0-or-later
// All widget tests share one application on the offscreen platform.
#include <gtest/gtest.h>

#include <QApplication>

#include "support/rooms.h"
#include "widgets/theme/theme.h"

int main(int argc, char** argv) {
    if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
    testing::InitGoogleTest(&argc, argv);
    QApplication application(argc, argv);
    relascope::applyTheme(application, relascope::ThemeMode::Light);
    return RUN_ALL_TESTS();
}
