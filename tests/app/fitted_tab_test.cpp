// SPDX-License-Identifier: GPL-3.0-or-later
// What the tab of fitted relations offers: facts of the data, and data for a checkpoint.
#include <gtest/gtest.h>

#include <QApplication>
#include <QComboBox>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollBar>
#include <QUndoStack>

#include "analysis/analysis.h"
#include "app/pages/analysis_tab.h"
#include "app/pages/analysis_window.h"
#include "support/rooms.h"
#include "tests/app/subject_at.h"
#include "widgets/form/field_form.h"

using namespace relascope;
using namespace relascope::app;

namespace {

using core::analysisNamed;

class FittedTab : public testing::Test {
protected:
    QUndoStack history;
    Measurements measurements;
    AnalysisWindow page{{&analysisNamed("fit-relation")}, history, measurements};
    AnalysisTab* tab = page.tab("fit-relation");
};

TEST_F(FittedTab, OffersFactsThatCanBeFitted) {
    const auto facts = [&](Subject subject) {
        page.setSubject(std::move(subject));
        QStringList all;
        for (auto* box : tab->findChildren<QComboBox*>())
            for (int k = 0; box->isEditable() && k < box->count(); ++k) all << box->itemText(k);
        return all;
    };
    // What the place says alone is no fact to fit.
    EXPECT_EQ(facts(subjectAt("/runs/a", {"same(colour)", "same row", "same column"})),
              QStringList({"same object", "same colour"}));
    auto masked = subjectAt("/runs/b", {"same row", "same column"});
    auto data = std::make_shared<wire::OpenedData>(*masked.data);
    data->splits.front().maskFacts = {"same object", "same kind"};
    masked.setData(std::move(data));
    EXPECT_EQ(facts(std::move(masked)), QStringList({"same object", "same kind"}));
}

TEST_F(FittedTab, MeasuresACheckpointOnDataThatAreChosen) {
    page.setSubject(subjectAt("/runs/a", {}));
    QLineEdit* line = nullptr;
    for (auto* one : tab->findChildren<QLineEdit*>())
        if (one->accessibleName() == "Data") line = one;
    ASSERT_NE(line, nullptr);
    tab->setUnfolded(true);
    EXPECT_FALSE(line->isVisibleTo(tab)) << "a run has data";
    Subject checkpoint;
    checkpoint.model().path = "/models/dinov2";
    checkpoint.name = "dinov2";
    page.setSubject(checkpoint);
    EXPECT_TRUE(line->isVisibleTo(tab));
    EXPECT_FALSE(tab->runButton()->isEnabled());
    line->setText("/pictures");
    line->setModified(true);
    Q_EMIT line->editingFinished();
    EXPECT_TRUE(tab->runButton()->isEnabled());
    const auto asked = tab->question();
    EXPECT_EQ(asked.text("data"), "/pictures");
    EXPECT_EQ(asked.text("split"), "");
    // They are those of all analyses of this checkpoint, and of no other one.
    AnalysisWindow other({&analysisNamed("ablate")}, history, measurements);
    other.setSubject(checkpoint);
    EXPECT_EQ(other.tab("ablate")->question().text("data"), "/pictures");
    line->setText("/others");
    line->setModified(true);
    Q_EMIT line->editingFinished();
    EXPECT_EQ(other.tab("ablate")->question().text("data"), "/others");
    checkpoint.model().path = "/models/clip";
    other.setSubject(checkpoint);
    EXPECT_EQ(other.tab("ablate")->question().text("data"), "");
}

TEST_F(FittedTab, ScrollsItsOptionsWhereTheWindowIsLow) {
    page.setSubject(subjectAt("/runs/a", {}));
    tab->setUnfolded(true);
    widgets::DialogBody* options = nullptr;
    for (auto* area : tab->findChildren<QScrollArea*>())
        if (auto* body = dynamic_cast<widgets::DialogBody*>(area)) options = body;
    ASSERT_NE(options, nullptr);
    page.resize(600, 240);
    page.show();
    const auto hidden = [&] {
        QApplication::processEvents();
        return options->verticalScrollBar()->maximum();
    };
    EXPECT_GT(hidden(), 0) << page.height() << " " << options->height();
    page.resize(1400, 900);
    EXPECT_EQ(hidden(), 0);
    EXPECT_LT(options->height(), 250) << "no higher than its rows";
}

TEST_F(FittedTab, SavesUnderANameForEachModel) {
    page.setSubject(subjectAt("/runs/a", {}));
    tab->setValues({{"save", std::string("same.safetensors")}, {"examples", std::int64_t{300}}});
    EXPECT_EQ(tab->question().text("save"), "same.safetensors");
    page.setSubject(subjectAt("/runs/b", {}));
    EXPECT_EQ(tab->question().text("save"), "") << "the file of the other run stays";
    EXPECT_EQ(tab->question().value<std::int64_t>("examples"), 300);
}

}  // namespace
