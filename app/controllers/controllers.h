// SPDX-License-Identifier: GPL-3.0-or-later
// Every controller of one window, connected to each other, in an order that allows destruction.
#pragma once

#include <memory>

#include "app/app_context.h"
#include "app/controllers/checkpoint_controller.h"
#include "app/controllers/device_monitor.h"
#include "app/controllers/experiment_controller.h"
#include "app/controllers/hosts_controller.h"
#include "app/controllers/inspector_edits.h"
#include "app/controllers/job_queue.h"
#include "app/controllers/looker.h"
#include "app/controllers/measurements.h"
#include "app/controllers/run_input.h"
#include "app/controllers/runs_controller.h"
#include "app/controllers/step.h"
#include "app/controllers/study_controller.h"
#include "app/controllers/training_controller.h"
#include "app/selection.h"

namespace relascope::app {

/// Members are destroyed in reverse order: those that send requests before those that serve them.
class Controllers : public QObject {
    Q_OBJECT
public:
    explicit Controllers(QObject* parent = nullptr);

    Messages messages;
    Selection selection;
    QUndoStack history;
    JobQueue disk;  ///< lists and metrics
    Looker looker;  ///< data sets, captures, finished runs and devices
    RunsController runs{disk};
    HostsController hosts;
    TrainingController training;
    DeviceMonitor device{training, looker};
    ExperimentController experiment{runs, training, history, disk, looker};
    RunInput runInput{runs, training, selection, looker};
    CheckpointController checkpoint;
    InspectorEdits runEdits{history, disk};         ///< edits on the Workbench
    InspectorEdits checkpointEdits{history, disk};  ///< edits on the Checkpoint page
    StudyController study;
    Measurements measurements;

    AppContext context() { return {runs, training, selection, messages}; }

private:
    QTimer m_recording;  ///< looks for news of the current run, which another program records
};

}  // namespace relascope::app
