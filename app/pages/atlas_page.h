// SPDX-License-Identifier: GPL-3.0-or-later
// The page Atlas: what the relations of the run that is shown tell of pairs of objects.
#pragma once

#include <optional>

#include <QByteArray>

#include "app/pages/analysis_window.h"
#include "widgets/inspector/inspector_view.h"

namespace relascope::app {

class Controllers;

/// Its subject are the weights at the time cursor and the data of that run, or an opened checkpoint
/// without a run.
class AtlasPage : public AnalysisWindow {
    Q_OBJECT
public:
    explicit AtlasPage(Controllers& controllers);

    /// How the room is divided, for the session.
    QByteArray panesState() const;
    void restorePanes(const QByteArray& state);

Q_SIGNALS:
    /// What was asked for is in the inspector of the Workbench.
    void workbenchRequested();

protected:
    void showEvent(QShowEvent* event) override;

private:
    std::optional<AnalysedSubject> subject() const;
    void refresh();

    Controllers& m_controllers;
    std::optional<widgets::InspectorView> m_wanted;  ///< once the example is there
};

}  // namespace relascope::app
