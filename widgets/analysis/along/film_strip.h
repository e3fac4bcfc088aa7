// SPDX-License-Identifier: GPL-3.0-or-later
// A map at several kept steps, side by side on one scale.
#pragma once

#include <optional>
#include <vector>

#include <QObject>
#include <QString>
#include <QTimer>

#include "types/along.h"
#include "widgets/kit/map_strip.h"
#include "widgets/maps/color_map.h"
#include "widgets/theme/theme.h"

class QPainter;
class QRect;

namespace relascope::widgets {

// A map along training as pictures: which kept steps become frames, their common scale, and how a
// frame is drawn. No widget.

/// Indices of at most `count` steps, evenly spaced in log(step + 1), with the first and the last.
std::vector<int> frameSteps(const AlongTraining& along, int count);
/// The values of a step, with the edits if there are any.
MapValues frameValues(const AlongTraining& along, int at);
/// One scale for all steps, in the current theme: about zero for r, from zero for weights.
ColorScale filmScale(const AlongTraining& along);

/// "Layer 2, relation 1", "Layer 1, relational attention 3".
QString filmTitle(const AlongTraining& along);
/// "layer2_relation1", for names of files.
QString filmFileName(const AlongTraining& along);
/// "r_ij", with an underscore before a subscript.
QString filmSymbol(MapKind kind);

/// Draws a map of that size at `place`, and the box of the chosen cell where cells have 3 pixels.
void paintFrame(QPainter& painter, const QRect& place, const AlongTraining& along, int at,
                const ColorScale& scale);
/// The scale with its ends and what it shows, centred in a box 34 px high.
void paintFilmScale(QPainter& painter, const QRect& box, const ColorScale& scale,
                    const QString& caption);

// Writes a map along training as one picture a kept step, for a film.

/// Writes one picture each time the window is idle, which takes some milliseconds. Deletes itself
/// at its end.
class FrameFiles : public QObject {
    Q_OBJECT
public:
    /// Names are FOLDER/NAME_step000096.png; pictures have the theme of figures (export.h).
    FrameFiles(AlongTraining along, const QString& folder, const QString& name, QObject* parent);

    int count() const { return static_cast<int>(m_along.steps.size()); }
    QString path(int at) const;

Q_SIGNALS:
    void written(int count);
    void finished(const QString& folder);
    void failed(const QString& sentence);

private:
    void next();

    AlongTraining m_along;
    QString m_folder, m_name;
    int m_at = 0;
    QTimer m_timer;
};

class FilmStrip : public MapStrip {
    Q_OBJECT
public:
    static constexpr int kFrames = 12;

    explicit FilmStrip(QWidget* parent = nullptr);

    void setAlong(const AlongTraining& along);
    /// The step that is inspected: its frame, or none, is marked.
    void setCurrentStep(std::optional<qint64> step);
    /// Indices into AlongTraining::steps.
    const std::vector<int>& frames() const { return m_frames; }
    /// The height of one row of frames, or of two where a cell would have less than two pixels.
    int heightFor(int width) const { return tiles().filmHeight(width); }

    QSize minimumSizeHint() const override { return {320, 120}; }
    QSize sizeHint() const override { return {960, heightFor(960)}; }

Q_SIGNALS:
    void stepChosen(qint64 step);

protected:
    void paintFooter(QPainter& painter, const QRect& room) const override;
    int cursor() const override;
    QString description() const override;
    void resizeEvent(QResizeEvent* event) override;

private:
    const AlongStep& at(int frame) const;
    QString frameText(int frame) const;  ///< "step 96: r = +1.283"
    /// In the theme of the moment, as a figure has its own.
    ColorScale scale() const { return {m_scale.kind(), m_scale.limits(), Theme::current()}; }

    AlongTraining m_along;
    ColorScale m_scale;
    std::vector<int> m_frames;
    std::optional<qint64> m_step;
};

}  // namespace relascope::widgets
