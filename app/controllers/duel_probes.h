// SPDX-License-Identifier: GPL-3.0-or-later
// The two subjects of the page Duel, and their maps of one input: a session each, so that both
// answer at the same time, each on the machine where it is. The input is an example of the data of
// a run, or one of the user: a text in the tokens of each, a picture, or what A reads at random.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>

#include <QObject>
#include <QString>

#include "app/controllers/inspection.h"
#include "app/controllers/job_queue.h"
#include "types/edit.h"
#include "widgets/inspector/inspector_view.h"
#include "wire/requests.h"

namespace relascope::app {

/// What is compared: weights, with edits or without.
struct DuelSubject {
    QString path;                ///< a run folder or a checkpoint
    std::optional<qint64> step;  ///< of a run; none: its newest weights
    EditList edits = {};
    /// "dat-occurs, step 250, edited: layer 2 relations zero"
    QString name() const;
    /// The machine that it is on; empty: this one.
    QString host() const;
    bool operator==(const DuelSubject&) const = default;
};

class DuelProbes : public QObject {
    Q_OBJECT
public:
    explicit DuelProbes(QObject* parent = nullptr);
    ~DuelProbes() override;

    /// A is 0, B is 1; the data are those of A, or where A is a checkpoint, of B.
    void setSubject(std::size_t side, std::optional<DuelSubject> subject);
    /// Chooses what FarFileDialog has chosen, once what the window needs of it is mirrored.
    void openFar(std::size_t side, const QString& path);
    /// Asks again for what failed or was cancelled.
    void again();
    /// Reads a side again, which may have newer weights.
    void readAgain(std::size_t side);
    const std::optional<DuelSubject>& subject(std::size_t side) const { return m_subjects[side]; }
    bool complete() const { return m_subjects[0] && m_subjects[1]; }
    /// Null while they are read, or where neither has any.
    const std::shared_ptr<const wire::OpenedData>& data() const { return m_data; }
    const std::string& split() const { return m_split; }
    qint64 example() const { return m_example; }
    void chooseExample(const std::string& split, qint64 example);
    /// Both read this in place of an example.
    void chooseInput(const InputRequest& request);
    /// The same for a text that is being typed.
    void chooseText(const QString& text);
    /// Without a value an example is read.
    const std::optional<InputRequest>& own() const { return m_customInput; }
    /// What a checkpoint that is A reads, once that is known.
    const widgets::InputOffer& offer() const { return m_sides[0].session->offer(); }
    /// Loading and computing of a side.
    LongTask& task(std::size_t side) { return m_sides[side].session->task(); }
    /// openFar() of a side.
    LongTask& opening(std::size_t side) { return m_sides[side].opening; }
    /// The last answer of a side; null while it is awaited.
    const std::shared_ptr<const ProbeResult>& answer(std::size_t side) const {
        return m_sides[side].result;
    }
    LongTask& task() { return m_task; }
    /// Edits that were refused: the answers are without them. Empty: none was.
    QString problems() const;

Q_SIGNALS:
    void subjectsChanged();
    /// The data, or without data offer(), are known.
    void dataRead();
    /// What is wrong with the typed text; empty: nothing.
    void textProblem(const QString& sentence);
    /// B with A pinned.
    void answered(const relascope::widgets::Inspected& inspected);
    /// Why there is nothing to show.
    void refused(const QString& sentence);
    /// Why openFar() has chosen nothing; the subjects stay.
    void notOpened(const QString& sentence);

private:
    struct Side {
        Looker looker;
        std::unique_ptr<Inspection> session;
        std::shared_ptr<const ProbeResult> result;
        QString problem;  ///< why its edits are not in the result
        LongTask opening;
    };
    /// The run whose data are read; empty: there is none.
    QString dataRun() const;
    bool inputMissing() const { return m_dataRun.isEmpty() ? !m_customInput : !m_data; }
    void readData();
    /// Drops the answer of a side, and what it is computing or reading.
    void forget(std::size_t side);
    void ask();
    void ask(std::size_t side);
    void inspect(std::size_t side, wire::Input input);
    void answer();
    /// The side whose answer has the input that the other one reads: its model makes it, or the
    /// data are on its machine alone. Without a value each gets its own.
    std::optional<std::size_t> inputOwner() const;
    bool waitsForInput(std::size_t side) const { return inputOwner().value_or(side) != side; }

    std::array<std::optional<DuelSubject>, 2> m_subjects;
    std::array<Side, 2> m_sides;
    std::optional<InputRequest> m_customInput;
    std::optional<ProbeSample>
        m_ownersInput;  ///< what the side that waitsForInput() was asked with
    QString m_dataRun;  ///< whose data are read, or were
    std::shared_ptr<const wire::OpenedData> m_data;
    std::string m_split = "validation";
    qint64 m_example = 0;
    LongTask m_task;  ///< reads the data
};

}  // namespace relascope::app
