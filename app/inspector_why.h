// SPDX-License-Identifier: GPL-3.0-or-later
// The panel Why of one inspector: asks for the origins of the cell that is shown, and follows it
// down the layers.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <QObject>
#include <QString>

#include "app/controllers/analysis_controller.h"
#include "widgets/inspector/inspector_view.h"

namespace relascope::widgets {
class RelationInspector;
class WhyPanel;
}  // namespace relascope::widgets

namespace relascope::app {

/// Owns its controller, and with it a session, from the first time the panel is opened.
class InspectorWhy : public QObject {
    Q_OBJECT
public:
    using Subject = std::function<std::optional<AnalysedSubject>(QString& problem)>;
    /// `subject` says what the inspector shows, or why that has no parts.
    InspectorWhy(widgets::RelationInspector& inspector, Subject subject, QObject* parent = nullptr);
    ~InspectorWhy() override;

    widgets::WhyPanel& panel() const;
    /// Opens the panel, or closes it. The keys stay where they are, to move the cell.
    void toggle();
    void close();
    /// What the inspector shows has changed.
    void follow();

Q_SIGNALS:
    /// All tables of the cell are to be shown.
    void tablesRequested();

private:
    struct Place {
        widgets::InspectorView view;
        QString text;  ///< "layer 1 relation 1 (2, 7)"
    };
    void open();
    void ask();
    void holdAgainst(int row, int column);
    void goDown(const MapLink& link);
    void goBack();
    void showTrail();

    widgets::RelationInspector& m_inspector;
    Subject m_subject;
    std::unique_ptr<AnalysisController> m_c;
    std::optional<widgets::InspectorView> m_at;  ///< that was asked about
    QString m_text;                              ///< of the cell that is shown
    std::vector<Place> m_trail;                  ///< the cells before it
    /// The cell and the options of the last question; nullopt: it is asked anew.
    std::optional<std::pair<MapCell, core::OptionValues>> m_asked;
    bool m_stepping = false;  ///< the trail itself moves the inspector
};

}  // namespace relascope::app
