// SPDX-License-Identifier: GPL-3.0-or-later
// Measurements of the window that take seconds to minutes. They continue whatever is shown,
// as many at once as the machine has cores to spare, and their results stay until the window ends.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <QElapsedTimer>
#include <QObject>
#include <QString>

#include "app/controllers/looker.h"
#include "app/controllers/subject.h"

namespace relascope::app {

/// An analysis that was asked for.
class Measurement : public QObject {
    Q_OBJECT
public:
    enum class State { Waiting, Running, Done, Failed, Cancelled };

    Measurement(quint64 number, const core::Analysis& analysis, wire::Asked asked, Subject subject)
        : number(number),
          analysis(analysis),
          asked(std::move(asked)),
          subject(std::move(subject)) {}

    const quint64 number;  ///< from 1, in the order in which they were asked for
    const core::Analysis& analysis;
    const wire::Asked asked;
    const Subject subject;
    /// Its progress; to be cancelled by Measurements::cancel().
    const std::shared_ptr<LongJob> job = std::make_shared<LongJob>();

    State state() const { return m_state; }
    bool active() const { return m_state == State::Waiting || m_state == State::Running; }
    /// The result, or a part of it; nullopt before the first part.
    const std::optional<Answer>& answer() const { return m_answer; }
    const QString& problem() const { return m_problem; }  ///< why there is no result
    /// Its end is known to the user.
    bool seen() const { return m_seen; }
    /// Seconds until it is done, judged by what is done; nullopt: not known yet.
    std::optional<double> secondsLeft() const;

Q_SIGNALS:
    void partial(const relascope::Answer& answer);
    void ended();

private:
    friend class Measurements;
    State m_state = State::Waiting;
    std::optional<Answer> m_answer;
    QString m_problem;
    QElapsedTimer m_began;
    bool m_seen = false;
    std::vector<std::string> m_relations;  ///< the files of fitted relations, as it read them
};

using MeasurementPtr = std::shared_ptr<Measurement>;

class Measurements : public QObject {
    Q_OBJECT
public:
    explicit Measurements(QObject* parent = nullptr);
    ~Measurements() override;

    /// Begins an analysis, or lets it wait for a place.
    MeasurementPtr begin(const core::Analysis& analysis, const wire::Asked& asked,
                         const Subject& subject);
    void cancel(Measurement& measurement);
    /// The file or folder that the model at a path is measured on, which has no data of its own;
    /// empty: none was chosen.
    QString dataOf(const std::string& model) const;
    void setDataOf(const std::string& model, const QString& file);
    /// Forgets those that have ended.
    void clear();
    /// The result of this analysis of this subject is shown, or why there is none.
    void see(const core::Analysis& analysis, const Subject& subject);
    /// All that ended are known to the user.
    void seeAll();
    /// In the order in which they were asked for, without those that were cancelled. Of those that
    /// have ended the last `kMostEnded` stay.
    const std::vector<MeasurementPtr>& all() const { return m_all; }
    int active() const;  ///< how many run or wait
    /// The newest of an analysis and this subject that runs or waits; null: none.
    MeasurementPtr active(const core::Analysis& analysis, const Subject& subject) const;
    /// The newest that has answered this question, however long it was given; null: none.
    MeasurementPtr done(const core::Analysis& analysis, const wire::Asked& asked) const;
    /// A session for short questions about these weights: one that has them, or else one that has
    /// nothing to do.
    Looker& lookerFor(const Model& weights);
    /// Ends the sessions that have nothing to do, which frees their weights.
    void rest();

    /// How many are measured at once; half of the cores, as each uses several.
    int places = 1;

    static constexpr std::size_t kMostEnded = 12;

Q_SIGNALS:
    void changed();  ///< the list, or a state in it
    void measured(const relascope::app::Measurement& measurement);
    void dataChosen(const std::string& model);  ///< by setDataOf()

private:
    /// A session, and what it measures.
    struct Desk {
        Looker looker{wire::Lane::Long};
        LongTask task;
        Model weights;  ///< the last weights that it opened
        MeasurementPtr measures;
        ~Desk();
    };
    Desk& deskFor(const Model& weights);
    void beginNext();
    void end(Desk& desk, Measurement::State state);

    std::vector<MeasurementPtr> m_all;
    std::vector<std::unique_ptr<Desk>> m_desks;
    quint64 m_number = 0;
    std::map<std::string, QString> m_data;  ///< by the path of the model
};

}  // namespace relascope::app
