// SPDX-License-Identifier: GPL-3.0-or-later
// What reading tokens (dictionary.cpp) and patches or objects of sets (objects.cpp) have in common.
#pragma once

#include <torch/types.h>

#include <memory>
#include <string>

#include "analysis/dictionary/dictionary.h"
#include "analysis/edited_model.h"
#include "analysis/open_model.h"
#include "analysis/parts/weight_scores.h"
#include "analysis/run_analysis.h"
#include "answers/column_table.h"
#include "types/error.h"

namespace relascope::core {

class DictionaryRun {
public:
    DictionaryRun(AnalysisSubject& subject, const DictionaryOptions& options,
                  const Watch<Answer>& watch)
        : m_subject(subject),
          m_options(options),
          m_watch(watch),
          m_model(subject.model->edited({})),
          m_streams(m_model->model(), m_model->options()),
          m_parts(scorePartsOf(m_streams, options.relation, [&] {
              return scoreMap(m_streams, options.stack, static_cast<int>(options.layer) - 1,
                              options.kind, static_cast<int>(options.index) - 1);
          })) {
        const auto input = m_model->options().input();
        m_objects = input == InputKind::Images    ? "patches"
                    : input == InputKind::Objects ? "objects"
                                                  : "tokens";
        m_answer = dictionaryTables(m_objects, m_parts.softmax());
        const auto place = m_parts.projection(ScoreSide::I).place;
        set("map", m_parts.text());
        set("direct", place.layer > 0 || place.sub > 0);
        set("edits_left_out", subject.interventions.edits.anyEnabled() ||
                                  subject.model->trainingEdits().anyEnabled());
    }

protected:
    template <class Value>
    void set(const char* fact, const Value& value) {
        setFact(m_answer, fact, value);
    }
    void check(double done) const {
        if (m_watch.stop.stop_requested() || (m_watch.progress && !m_watch.progress(done)))
            throw Cancelled();
    }

    void requireSpread(const ScoreComponents& components) const {
        if (components.constant)
            throw Error(m_parts.text() + " is the same for every pair of " + m_objects +
                        ", up to rounding: it compares nothing");
    }

    void takeShares(const ScoreComponents& components) {
        set("deviation", components.deviation);
        set("receivers", components.receiverShare), set("senders", components.senderShare);
        set("pairs", components.pairShare);
        if (!components.oneSided) set("symmetric", components.symmetric);
    }

    /// The share of component c in the variance of the pair part.
    static double shareAt(const ScoreComponents& components, std::int64_t c) {
        return components.values[c].square().item<double>() /
               components.values.square().sum().item<double>();
    }

    AnalysisSubject& m_subject;
    const DictionaryOptions& m_options;
    const Watch<Answer>& m_watch;
    std::unique_ptr<EditedModel> m_model;
    ModelStreams m_streams;
    ScoreParts m_parts;
    Answer m_answer;
    std::string m_objects;  ///< "tokens", "patches" or "objects"
};

/// The answer about a model of images or of sets of objects.
Answer dictionaryOfObjects(AnalysisSubject& subject, const DictionaryOptions& options,
                           const Watch<Answer>& watch);

}  // namespace relascope::core
