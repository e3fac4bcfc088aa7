// SPDX-License-Identifier: GPL-3.0-or-later
// The two subjects of the Duel page and their maps of one input. Each side has a feed with a
// session of its own, so that both are computed at the same time, each on the machine where it is.
// The input is an example of a run's data, or chosen by the user: a text in the tokens of each
// model, a picture, or a stored or random input of A.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>

#include <QObject>
#include <QString>

#include "app/controllers/inspector_feed.h"
#include "app/controllers/job_queue.h"
#include "types/edit.h"
#include "widgets/inspector/inspector_view.h"
#include "wire/requests.h"

namespace relascope::app {

/// "dat-occurs, step 250, edited: layer 2 relations zero"
QString titleOf(const wire::Asked& weights);

class DuelFeeds : public QObject {
    Q_OBJECT
public:
    explicit DuelFeeds(QObject* parent = nullptr);
    ~DuelFeeds() override;

    /// Sets the weights and edits of a side (weightsAt()); side 0 is A, side 1 is B. The data are
    /// A's, or B's if A is a checkpoint.
    void setSubject(std::size_t side, std::optional<wire::Asked> subject);
    /// Makes a path chosen in FarFileDialog the subject, once the files that the window needs are
    /// mirrored; emits notOpened() if that fails.
    void openFar(std::size_t side, const QString& path);
    /// Repeats requests that failed or were cancelled.
    void again();
    /// Reads the weights of a side again, as newer ones may be on the disk.
    void readAgain(std::size_t side);
    const std::optional<wire::Asked>& subject(std::size_t side) const { return m_subjects[side]; }
    /// The machine that the weights of a side are on; empty for this machine.
    QString host(std::size_t side) const;
    /// What a side shows of its input, without its map, as it can be asked again; nullopt without
    /// an answer, and where the other side makes the input.
    std::optional<wire::Asked> shown(std::size_t side) const;
    bool complete() const { return m_subjects[0] && m_subjects[1]; }
    /// The data of the examples; null while they are read, or if neither subject is a run.
    const std::shared_ptr<const wire::OpenedData>& data() const { return m_data; }
    const std::string& split() const { return m_split; }
    qint64 example() const { return m_example; }
    void chooseExample(const std::string& split, qint64 example);
    /// Makes both sides read this input: an example of the data, or an input of the user's.
    void choose(const Question& input);
    /// Makes both sides read a text that is being typed; an empty text is ignored.
    void chooseText(const QString& text);
    /// The input that is read instead of an example; nullopt if an example is read.
    const std::optional<Question>& own() const { return m_customInput; }
    /// The inputs that A accepts if it is a checkpoint, once its weights have been opened.
    const widgets::InputOffer& offer() const { return m_sides[0].feed.offer(); }
    /// The task that loads and computes a side.
    LongTask& task(std::size_t side) { return m_sides[side].feed.task(); }
    /// The task of openFar() for a side.
    LongTask& opening(std::size_t side) { return m_sides[side].opening; }
    /// The question whose maps a side shows; without a path before the first ones.
    const wire::Asked& asked(std::size_t side) const { return m_sides[side].feed.shown(); }
    /// The last result of a side; null until it has arrived.
    const std::shared_ptr<const ProbeResult>& answer(std::size_t side) const {
        return m_sides[side].result;
    }
    /// The hook points of a side's model; null until its first result.
    const Points& points(std::size_t side) const { return m_sides[side].points; }
    LongTask& task() { return m_task; }
    /// Why edits of A or B were refused; their results are computed without the edits. Empty if no
    /// edits were refused.
    QString problems() const;

Q_SIGNALS:
    void subjectsChanged();
    /// data() is known, or offer() if there are no data.
    void dataRead();
    /// Emitted with the problem of the typed text; empty if the text is valid.
    void textProblem(const QString& sentence);
    /// Both results have arrived: `inspected` is B, with A pinned.
    void answered(const relascope::widgets::Inspected& inspected);
    /// There is nothing to show, for this reason.
    void refused(const QString& sentence);
    /// openFar() has failed for this reason; the subjects stay as they are.
    void notOpened(const QString& sentence);

private:
    struct Side {
        Looker looker;
        InspectorFeed feed{looker};
        std::shared_ptr<const ProbeResult> result;
        Points points;
        QString problem;  ///< why the result is without its edits
        LongTask opening;
    };
    /// The run whose data are read; empty: there is none.
    QString dataRun() const;
    bool inputMissing() const { return m_dataRun.isEmpty() ? !m_customInput : !m_data; }
    void readData();
    void keepWithinData();
    void nameExample(wire::Asked& asked) const;
    void connectSide(std::size_t side);
    /// Drops the result and the input of a side, and cancels its task.
    void forget(std::size_t side);
    void forgetBoth();
    void ask();
    void ask(std::size_t side);
    /// Asks a side whose model is open, where the input needs that.
    void inspect(std::size_t side);
    void take(std::size_t side, const widgets::Inspected& inspected);
    void answer();
    /// The side whose result contains the input for the other side, because its model makes the
    /// input or only its machine has the data. nullopt if each side gets the input directly.
    std::optional<std::size_t> inputOwner() const;
    bool waitsForInput(std::size_t side) const { return inputOwner().value_or(side) != side; }

    std::array<std::optional<wire::Asked>, 2> m_subjects;
    std::array<Side, 2> m_sides;
    std::optional<Question> m_customInput;
    QString m_dataRun;  ///< run whose data are or were read
    std::shared_ptr<const wire::OpenedData> m_data;
    std::string m_split = "validation";
    qint64 m_example = 0;
    bool m_offered = false;  ///< dataRead() was emitted for the weights of A
    LongTask m_task;         ///< reads the data
};

}  // namespace relascope::app
