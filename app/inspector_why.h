// SPDX-License-Identifier: GPL-3.0-or-later
// The panel Why of one inspector: asks for the origins of the cell that is shown, and follows it
// down the layers.
#pragma once

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include <QObject>
#include <QString>

#include "app/controllers/looker.h"
#include "app/controllers/subject.h"
#include "widgets/inspector/inspector_view.h"

namespace relascope::widgets {
class RelationInspector;
class WhyPanel;
}  // namespace relascope::widgets

namespace relascope::app {

/// It asks in the session of the inspector, which has the weights open.
class InspectorWhy : public QObject {
    Q_OBJECT
public:
    using Asks = std::function<std::optional<Subject>(QString& problem)>;
    /// `subject` says what the inspector shows, or why that has no parts; `looker` is that of the
    /// inspector.
    InspectorWhy(widgets::RelationInspector& inspector, Looker& looker, Asks subject,
                 QObject* parent = nullptr);

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
    Looker& m_looker;
    Asks m_subject;
    LongTask m_task;
    std::optional<widgets::InspectorView> m_at;  ///< the view that was asked about
    QString m_text;                              ///< name of the cell that is shown
    std::vector<Place> m_trail;                  ///< the cells before it
    std::optional<wire::Asked> m_asked;          ///< the last question; nullopt: it is asked anew
    bool m_stepping = false;                     ///< the trail itself moves the inspector
};

}  // namespace relascope::app
