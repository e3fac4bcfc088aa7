// SPDX-License-Identifier: GPL-3.0-or-later
// An inspector in a window of usual size; private to the tests of the widgets.
#pragma once

#include <gtest/gtest.h>

#include <QTest>

#include "support/rooms.h"
#include "tests/widgets/probe_fixture.h"
#include "widgets/inspector/relation_inspector.h"

namespace relascope {

class InspectorTest : public testing::Test {
protected:
    void SetUp() override {
        inspector.resize(1160, 460);
        inspector.show();
        QTest::qWait(1);
    }
    void give(const fixture::Shape& shape) {
        inspector.setResult(fixture::result(shape));
        QTest::qWait(1);
    }
    InspectorView view() const { return inspector.view(); }
    RelationInspector inspector;
};

}  // namespace relascope
