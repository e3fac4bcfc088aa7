// SPDX-License-Identifier: GPL-3.0-or-later
// A score (a relation before its activation, attention before its softmax) as a sum over pairs of
// parts of the streams of i and j: sum_ab scale <u_a(i), v_b(j)>, where u_a and v_b are parts
// through the held norm and the projection of queries or keys, rotated where the map rotates them.
// Of attention the field calls it QK attribution (Kamath et al. 2025).
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/parts/head_side.h"
#include "analysis/parts/stream_parts.h"
#include "interventions/relation_file.h"

namespace relascope::core {

enum class ScoreKind { Relation, RelationalAttention, SensoryAttention, Cross };

/// A map of scores, counted from 0.
struct ScoreMap {
    int stack = 0;  ///< index in ModelStreams::stacks()
    int layer = 0;  ///< in that stack
    ScoreKind kind = ScoreKind::Relation;
    int index = 0;
};

enum class ScoreSide { I, J };

/// The parts of one side, as vectors of the width k of the map.
struct SideParts {
    std::vector<StreamPart> parts;
    torch::Tensor values;    ///< [b, rows, parts, k]
    torch::Tensor recorded;  ///< what the model computed: [b, rows, k]
    torch::Tensor tokens;    ///< the split part by tokens: [b, rows, tokens, k]; undefined: none
};

/// Parts put together, and the sums of their vectors.
struct GroupedParts {
    std::vector<std::string> names;
    torch::Tensor values;  ///< [b, rows, groups, k]
};
/// By `grain`: "layers" (with "input"), "heads" (relational heads whole) or "all".
GroupedParts groupedParts(const SideParts& side, const std::string& grain);

/// The two sides of one map of a model, which must outlive it.
class ScoreParts {
public:
    /// Throws OptionError ("layer", "kind", "index", "model") for a map that is not there or whose
    /// scores are no inner products of a stream of parts.
    ScoreParts(const ModelStreams& streams, const ScoreMap& map);

    /// The sides of a relation that was fitted to a stream of the model: parts of the stream
    /// through A and B, the part "mean" of each place, and the number b as a bias on both sides,
    /// which has a term with itself alone. Throws OptionError("relation", ...) for one of another
    /// stream or width, and for a distance, which is also made of pairs of parts of one object.
    ScoreParts(const ModelStreams& streams, const RelationFile& relation, std::string name);

    const ScoreMap& map() const { return m_map; }
    const ModelOptions& options() const { return m_streams.options(); }
    const ModelStreams& streams() const { return m_streams; }
    double scale() const { return m_scale; }
    /// Scores become cap tanh(score / cap) behind all of their parts; 0: they stay.
    double cap() const { return m_cap; }
    /// Whether what follows is a softmax over j, which does not see what a row has in common.
    bool softmax() const { return m_softmax; }
    bool isCausal() const { return m_causal; }
    /// How many objects a side has for that input.
    std::int64_t size(ScoreSide side, const ModelInput& input) const;
    /// True where i does not see j: [b or 1, n, m]; undefined: everything is open.
    torch::Tensor closed(const ModelInput& input) const;
    /// The rows of a side that a pass must leave for some of its objects: undefined where it must
    /// leave all.
    torch::Tensor rowsToRead(ScoreSide side, const torch::Tensor& objects) const;
    std::vector<std::string> points(ScoreSide side) const;
    /// The points of the tokens of a part of that side.
    std::vector<std::string> tokenPoints(const StreamPart& part) const;

    /// Whether both sides are the same, as of symmetric relations.
    bool hasOneSide() const;
    /// The parts of the objects [rows] int64 of a side. `points`: as read for rowsToRead(). `mix`
    /// [kept, rows]: sums of rows that are kept in place of the rows; undefined: the rows.
    /// `edited`: edits may lie between the parts, and their sum is a part "edits".
    SideParts parts(ScoreSide side, const PointTensors& points, const torch::Tensor& objects,
                    const ModelInput& input, bool edited, const torch::Tensor& mix = {},
                    TokenSplit* split = nullptr) const;
    /// The parts of object `objects[r]` of example `examples[r]` for each r, as one example of that
    /// many rows; of maps whose sides have one place. `points`: whole.
    SideParts partsOfSome(ScoreSide side, const PointTensors& points, const torch::Tensor& examples,
                          const torch::Tensor& objects, const ModelInput& input, bool edited) const;
    /// What a side reads and how: the stream at `place`, behind `norm` (null: none), times `weight`
    /// [k, d], with `bias` [k] (undefined: none).
    struct Projection {
        StreamPlace place;
        NormImpl* norm = nullptr;
        torch::Tensor weight, bias;
        const HeadSide* head = nullptr;  ///< where vectors pass more than the projection
    };
    /// Throws OptionError("kind", ...) for a side that reads several streams, or none.
    Projection projection(ScoreSide side) const;
    /// What a fitted relation takes off the vectors of these objects [rows]: [1, rows, k],
    /// negative; undefined `objects`: the mean of its places, [1, 1, k]. Undefined: of a map of the
    /// model. Throws OptionError("relation", ...) for objects that it has no mean of.
    torch::Tensor centre(ScoreSide side, const torch::Tensor& objects) const;
    /// b of a fitted relation, which all of its scores have; 0 of maps of the model.
    double constant() const { return m_fittedBias.value_or(0.0); }
    /// Vectors [n, k] of a side as those of objects at that position.
    torch::Tensor atPosition(const torch::Tensor& vectors, std::int64_t position) const;
    /// What the keys of tokens [b, n] get beside their projection, from their stream [b, n, d]: [b,
    /// n, k]; undefined: nothing.
    torch::Tensor keyEmbedding(const torch::Tensor& stream, const torch::Tensor& tokens) const;
    /// "layer 2 relation 1".
    std::string text() const;
    /// The hook point of the scores, and whether it is [b, i, j, relation] and not [b, head, i, j].
    struct Point {
        std::string name;
        bool byRelation = false;
    };
    Point scorePoint() const;

private:
    struct Side {
        std::vector<StreamPlace> places;  ///< one after another along the objects
        NormImpl* norm = nullptr;
        int number = 1;
        torch::Tensor weight, bias;  ///< weight and bias of the projection: [k, d], [k]
        std::string point;           ///< hook point of what the projection gives; empty: none
        std::int64_t at = 0;         ///< which head or relation of that point
        bool messages = false;       ///< reads what message passing gives
        HeadSide head;               ///< `weight` and `bias` have its norm folded in
        torch::Tensor centre;  ///< -weight mean of each place, for fitted relations: [places, k]
    };
    const Side& of(ScoreSide side) const { return side == ScoreSide::I ? m_i : m_j; }
    const StreamStack& stack() const {
        return m_streams.stacks()[static_cast<std::size_t>(m_map.stack)];
    }
    void setRelation(const StreamBlock& block);
    void setAttention(const StreamBlock& block);
    void setCross(const StreamBlock& block);
    void setPairwise();
    void setAttention(AttentionImpl& attention);
    void setAttention(AbstractorAttentionImpl& attention);
    /// Takes the rows of head or relation `at` of a projection, of `heads` it has.
    void take(Side& side, const Linear& linear, std::int64_t at, std::int64_t heads,
              const std::string& point);
    void requireIndex(std::int64_t count, const char* what) const;
    [[noreturn]] void refuseKind() const;
    /// Values rotated as in a text of `length` tokens; 0: it ends with the objects.
    torch::Tensor rotated(const torch::Tensor& values, const torch::Tensor& objects,
                          std::int64_t length) const;
    /// The sums `mix` of the rotated products of coefficients [b, rows, parts] and vectors [parts,
    /// k]: [b, kept, parts, k].
    torch::Tensor mixedProducts(const torch::Tensor& coefficients, const torch::Tensor& vectors,
                                const torch::Tensor& objects, const torch::Tensor& mix,
                                std::int64_t length) const;
    /// The parts as parts() gives them, from the input at the objects, [b, rows, ...]; or whole,
    /// where sides have several places, and of images.
    SideParts partsOf(ScoreSide side, const PointTensors& points, const torch::Tensor& objects,
                      const torch::Tensor& input, std::int64_t length, bool edited,
                      const torch::Tensor& mix, TokenSplit* split) const;
    /// Adds a part that has terms with its like alone: of distances, or b of a fitted relation. Of
    /// objects and their sums `mix`.
    void addApart(ScoreSide side, SideParts& parts, const torch::Tensor& objects,
                  const torch::Tensor& mix) const;

    const ModelStreams& m_streams;
    ScoreMap m_map;
    Side m_i, m_j;
    double m_scale = 1.0, m_cap = 0.0;
    HeadDistance m_distance;
    std::optional<double> m_fittedBias;  ///< b of a fitted relation
    std::string m_name;                  ///< name of a fitted relation
    std::int64_t m_firstPlace = 0;
    bool m_softmax = false, m_causal = false, m_closesDiagonal = false;
    std::int64_t m_window = 0;
    std::optional<RotaryOptions> m_rotary;
    NanochatAttentionImpl* m_shared = nullptr;  ///< whose keys of relations have an embedding
};

/// The map that is named by words. `stack` empty: the layer counts as in the inspector. All counted
/// from 0. Throws OptionError.
ScoreMap scoreMap(const ModelStreams& streams, const std::string& stack, int layer,
                  const std::string& kind, int index);
/// The parts of the fitted relation in that file, or without one of the map of the model. Throws
/// OptionError("relation", ...).
ScoreParts scorePartsOf(const ModelStreams& streams, const std::string& relation,
                        const std::function<ScoreMap()>& map);
/// The names of kinds, in their order.
inline constexpr std::array kScoreKinds = {"relation", "attention-ra", "attention-sa", "cross"};
const char* scoreKindName(ScoreKind kind);

/// A head in words, as tables of parts have it: "layer 1 relational head 2 relation 3". `own`: the
/// stack whose name such words leave out. Throws OptionError(`option`, ...) for other words.
StreamPart partNamed(const ModelStreams& streams, std::string text, const std::string& own,
                     const char* option);

/// The vectors of both sides of the objects of a batch.
struct PartVectors {
    std::vector<std::string> namesI, namesJ;  ///< names of the groups of parts
    torch::Tensor u, v;                       ///< [b, objects, groups, k]
    torch::Tensor tokensI, tokensJ;           ///< a split part by tokens: [b, objects, tokens, k]
    std::string grain;                        ///< that it came to
};
/// `examples` [objects]: the example of each object, all of which are then one example of `u` and
/// `v`; undefined: the objects of every example. `grain` as in groupedParts(), or coarser where a
/// side has more than `most` groups. `pass` runs the model with the hooks that it gets.
PartVectors partVectors(const ScoreParts& parts, const ModelInput& input,
                        const torch::Tensor& objects, const torch::Tensor& examples, bool edited,
                        const std::string& grain, std::int64_t most, const StreamPart* split,
                        const std::function<void(Hooks&)>& pass);

/// Takes a term off the scores of a map.
class TermCut : public Hooks {
public:
    /// `terms` [b, n, n], of objects at `positions`, or from `starts` of each example on. They are
    /// taken off before the cap of the map.
    TermCut(const ScoreParts& parts, torch::Tensor terms, std::vector<std::int64_t> positions,
            std::vector<std::int64_t> starts)
        : m_point(parts.scorePoint()),
          m_index(parts.map().index),
          m_cap(parts.cap()),
          m_terms(std::move(terms)),
          m_positions(std::move(positions)),
          m_starts(std::move(starts)) {}
    bool takes(std::string_view prefix) const override { return m_point.name.starts_with(prefix); }
    torch::Tensor at(const HookPoint& point, const torch::Tensor& value) override;

private:
    ScoreParts::Point m_point;
    std::int64_t m_index;
    double m_cap;
    torch::Tensor m_terms;
    std::vector<std::int64_t> m_positions, m_starts;
};

/// One cell of one example, and what it is held against.
struct ScoreCell {
    enum class Against { None, Row, Cell };
    std::int64_t i = 0, j = 0;
    Against against = Against::None;  ///< Row: the mean over the open j of the row
    std::int64_t otherI = 0, otherJ = 0;
};

/// The terms of a cell: scale sum_r sign_r <u_a(r), v_b(r)>, over one or two cells.
struct ScoreTerms {
    SideParts i, j;       ///< parts of one example: values [1, cells, parts, k]
    torch::Tensor signs;  ///< [cells]
    double scale = 1.0;
    double value = 0.0;            ///< score or difference, from the queries and keys of the model
    std::optional<double> capped;  ///< what the cap of the map makes of it; empty: there is none

    /// Sums of terms, of vectors [cells, a, k] and [cells, b, k]: [a, b].
    torch::Tensor of(const torch::Tensor& u, const torch::Tensor& v) const;
    /// All terms, [parts of i, parts of j].
    torch::Tensor terms() const { return of(i.values[0], j.values[0]); }
    /// The terms of each token of the part that is split, without the part of distances: [tokens,
    /// parts of j], or [tokens, parts of i]. Of j only where the cell is held against nothing.
    /// Undefined: that side has none.
    torch::Tensor tokensOfI() const;
    torch::Tensor tokensOfJ() const;
};
/// `tokens`: the part that is split by tokens; null: none. Throws OptionError ("source", "to",
/// "against") for a cell that is not there or closed.
ScoreTerms scoreTerms(const ScoreParts& parts, ModelImpl& model, const ModelInput& input,
                      const ScoreCell& cell, bool edited, const StreamPart* tokens = nullptr);

}  // namespace relascope::core
