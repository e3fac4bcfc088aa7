// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/measure/measure_figure.h"

#include "widgets/export/export.h"
#include "widgets/measure/ablation_view.h"
#include "widgets/measure/along_view.h"
#include "widgets/measure/attribution_view.h"
#include "widgets/measure/lens_view.h"
#include "widgets/measure/patch_map_view.h"

namespace relascope::widgets {
namespace {

bool write(MeasureFrame& view, const QString& caption, const QString& path, QString* error) {
    view.setCaption(caption);
    view.resize(1180, 760);
    view.ensurePolished();
    return view.menu()->write(path, error);
}

}  // namespace

bool renderAblation(const AblationTable& table, const QString& caption, const QString& path,
                    QString* error) {
    AblationView view;
    view.setTable(table);
    return write(view, caption, path, error);
}

bool renderPatching(const PatchResult& result, const QStringList& positions, const QString& caption,
                    const QString& path, QString* error) {
    PatchMapView view;
    view.setPositions(positions);
    view.setResult(result);
    return write(view, caption, path, error);
}

bool renderLens(const LensResult& result, const QString& caption, const QString& path,
                QString* error) {
    LensView view;
    view.setResult(result);
    return write(view, caption, path, error);
}

bool renderAttribution(const Attribution& result, const QString& caption, const QString& path,
                       QString* error) {
    AttributionView view;
    view.setResult(result);
    return write(view, caption, path, error);
}

bool renderAlong(const AlongTraining& along, const QString& caption, const QString& path,
                 QString* error) {
    AlongView view;
    view.setAlong(along);
    return write(view, caption, path, error);
}

}  // namespace relascope::widgets
