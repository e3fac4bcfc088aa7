// SPDX-License-Identifier: GPL-3.0-or-later
// The residual stream at any place of a model as a sum of what its parts brought there, exactly:
// each norm on the way is held at the scale that it has for the whole stream (Elhage et al. 2021;
// models.md section 7). Works for norms before and after the parts, for several stacks, and for
// batches.
#pragma once

#include <torch/types.h>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "analysis/parts/block_parts.h"
#include "analysis/parts/model_part.h"
#include "model/model.h"

namespace relascope::core {

struct AbstractorAttentionImpl;
struct MessagePassingLayerImpl;

/// A part of a stream. `value` is not used.
struct StreamPart : AttributionPart {
    /// Stack of a part of another stack than that of the map: "encoder", "abstractor".
    std::string stack = {};
    /// "encoder layer 1 sensory head 2".
    std::string text() const {
        return (stack.empty() ? std::string() : stack + " ") + AttributionPart::text();
    }
    bool operator==(const StreamPart& other) const {
        return kind == other.kind && layer == other.layer && head == other.head &&
               relation == other.relation && where == other.where && stack == other.stack;
    }
};

/// Tensors by the names of their hook points.
using PointTensors = std::map<std::string, torch::Tensor>;

/// A sub-layer of a block: the norm around it, and the points of what it reads and adds.
struct SubLayer {
    enum class Kind { Attention, Middle, FeedForward };
    /// What its output is added to.
    enum class Onto { Stream, Objects, Nothing };
    Kind kind = Kind::Attention;
    NormImpl* norm = nullptr;  ///< before it, or after the sum
    int number = 1;            ///< number of the norm: "norm 1"
    std::string before, out;   ///< points: the stream before it, and its output
    std::string after;         ///< point: the stream after it
    Onto onto = Onto::Stream;
    NormImpl* behind = nullptr;  ///< norm of its output, before that is added; null: none
    double scale = 1.0;          ///< factor of what is added
};

/// A block of any of the models with streams.
struct StreamBlock {
    std::string hook;  ///< "blocks.0"
    std::string path;  ///< "encoder_blocks.0"
    bool normFirst = true;
    BlockParts parts;  ///< parts of a block of a Transformer or of dual attention
    /// Attention of an Abstractor: of the stream to itself, and among the objects or to them;
    /// `image...`: of an Abstractor for images.
    AbstractorAttentionImpl *self = nullptr, *middle = nullptr;
    AttentionImpl *imageSelf = nullptr, *imageMiddle = nullptr;
    bool relational = false;  ///< the middle relates the objects
    FeedForwardImpl* feedForward = nullptr;
    MessagePassingLayerImpl* messages = nullptr;
    std::vector<SubLayer> subs;

    /// The sub-layer of that kind; -1 where there is none.
    int find(SubLayer::Kind kind) const;
};

/// Where a stream is read: after `sub` sub-layers of the block `layer` of a stack.
struct StreamPlace {
    int stack = 0;
    std::size_t layer = 0, sub = 0;
};

/// A stack of blocks and the stream that it begins with.
struct StreamStack {
    std::string name;  ///< "blocks", "encoder", "decoder", "abstractor", "abstractor 2"; "objects"
    std::vector<StreamBlock> blocks;
    std::string start;     ///< prefix of hook_embed or hook_symbols: "", "encoder."
    bool symbols = false;  ///< begins with symbols
    bool raw = false;      ///< the input itself, without an embedding
    StreamPlace objects;   ///< place of what an Abstractor relates
    /// Places that each block of a decoder attends to, one after another.
    std::vector<std::vector<StreamPlace>> contexts;
};

/// What a pass has left of some rows of a stream.
struct StreamRows {
    PointTensors points;  ///< [b, rows, ...] of ModelStreams::points()
    torch::Tensor rows;   ///< [rows] int64: their positions
    torch::Tensor input;  ///< objects as the model reads them, [b, rows, features]; or undefined
};

/// All streams of a model. The model must outlive it.
class ModelStreams {
public:
    /// `features`: names of the numbers of an object (Dataset::featureNames()), else they have
    /// their numbers. Throws OptionError for a model without a stream of parts.
    ModelStreams(ModelImpl& model, const ModelOptions& options,
                 std::vector<std::string> features = {});

    const ModelOptions& options() const { return m_options; }
    ModelImpl& model() const { return m_model; }
    const std::vector<StreamStack>& stacks() const { return m_stacks; }
    const StreamBlock& block(const StreamPlace& place) const {
        return m_stacks[static_cast<std::size_t>(place.stack)].blocks[place.layer];
    }
    /// The points that the parts of the stream at a place are made of.
    std::vector<std::string> points(const StreamPlace& place) const;
    /// The stream at a place: [b, rows, d] in double.
    torch::Tensor stream(const StreamPlace& place, const StreamRows& rows) const;
    /// The positions that are added to the embedding of a stack: [b or 1, rows, d]; undefined:
    /// none.
    torch::Tensor positions(const StreamStack& stack, const StreamRows& rows) const;
    /// What embeddings are multiplied by.
    double embeddingScale() const;
    /// The norm of the stream that blocks begin with; null: none.
    NormImpl* embedNorm() const { return m_embedNorm; }
    /// What the type of tokens adds to every embedding, [d]; undefined: nothing.
    const torch::Tensor& tokenType() const { return m_tokenType; }
    /// x = first x + second embedding before each block; empty: blocks do not mix.
    const std::vector<std::pair<double, double>>& mixing() const { return m_mixes; }
    /// The linear layer that makes the embedding of objects: weight [d, features], bias; undefined
    /// where there is none, or more than 64 features.
    const torch::Tensor& featureWeight() const { return m_features; }
    const torch::Tensor& featureBias() const { return m_featureBias; }
    /// The name of a feature, or its number from 1.
    std::string featureName(std::int64_t feature) const {
        const auto at = static_cast<std::size_t>(feature);
        return at < m_featureNames.size() ? m_featureNames[at] : std::to_string(feature + 1);
    }

private:
    void addSubPoints(const StreamPlace& place, std::size_t sub,
                      std::vector<std::string>& names) const;

    ModelImpl& m_model;
    const ModelOptions& m_options;
    std::vector<StreamStack> m_stacks;
    std::vector<std::pair<double, double>> m_mixes;
    torch::Tensor m_features, m_featureBias, m_tokenType;
    NormImpl* m_embedNorm = nullptr;
    std::vector<std::string> m_featureNames;
};

/// The norm of rows x [b, n, d], held: y = (x / scale) weights + bias, where weights take the mean
/// out first.
struct HeldNorm {
    torch::Tensor weights;  ///< [d], or undefined: 1
    torch::Tensor bias;     ///< [d], or undefined: 0
    torch::Tensor scale;    ///< [b, n]; undefined: the norm changes nothing
    bool centres = false;
    /// The linear map m [k, d] behind the norm as one before it, without the scale.
    torch::Tensor back(const torch::Tensor& m) const;
};
HeldNorm heldNorm(const NormImpl& norm, const torch::Tensor& x);

/// The tokens that a part is split by: the tensors of whole points, and what of the part they give.
struct TokenSplit {
    StreamPart part;
    PointTensors points;        ///< whole, not only some rows
    torch::Tensor tokens = {};  ///< result: [b, rows, tokens, k], as the values of parts
};
/// The points that the tokens of a part are made of. Throws OptionError(`option`, ...) for a part
/// that does not attend.
std::vector<std::string> tokenPoints(const ModelStreams& streams, const StreamPart& part,
                                     const std::string& ownStack, const char* option);

inline constexpr std::int64_t kMostFeatures = 64;  ///< features of an object that are a part each

/// Follows a linear map back through the stream to the parts that it reads, last part first.
class StreamWalk {
public:
    /// Gets parts and their values [b, n, parts, k] under the map; returns what is kept of them.
    using Keep = std::function<torch::Tensor(const torch::Tensor& values)>;
    /// `Keep` for values that are products of coefficients [b, n, parts] and vectors [parts, k],
    /// which are not made where only sums over rows are kept.
    using KeepProducts = std::function<torch::Tensor(const torch::Tensor&, const torch::Tensor&)>;
    struct Chunk {
        std::vector<StreamPart> parts;
        torch::Tensor values;
    };

    /// `ownStack`: parts of other stacks have the name of theirs.
    StreamWalk(const ModelStreams& streams, const StreamRows& rows, std::string ownStack, Keep keep,
               TokenSplit* split = nullptr, KeepProducts keepProducts = {});

    /// Enters the parts of the stream at `place` under the map `m` [k, d], after `norm` (null:
    /// none), which is called "norm `number`" of `layer`.
    void follow(const StreamPlace& place, const torch::Tensor& m, NormImpl* norm = nullptr,
                int number = 1, int layer = -1);
    /// Enters the parts of what a layer of message passing gives its attention.
    void followMessages(const StreamPlace& place, const torch::Tensor& m);
    /// Enters a part of its own: values [b, rows, k], or [k].
    void enter(StreamPart part, const torch::Tensor& values);

    /// All parts, in the order of the forward pass.
    std::vector<Chunk> take();

private:
    /// The map in front of what follows, and the factor of each row [b, rows].
    struct Way {
        torch::Tensor m, scale;
    };
    /// The stack and the block that is passed.
    struct At {
        const StreamStack& stack;
        int layer;
    };
    StreamPart part(PartKind kind, const At& at, int head = -1, int relation = -1,
                    std::string where = {}) const;
    torch::Tensor point(const std::string& name) const;
    void put(std::vector<StreamPart> parts, const Way& way, const torch::Tensor& values);
    /// Enters rows [b, rows, d].
    void rows(const StreamPart& part, const Way& way, const torch::Tensor& x);
    void bias(const Way& way, const At& at, const std::string& where, const torch::Tensor& value,
              std::int64_t first = 0);
    Way through(NormImpl& norm, const torch::Tensor& x, const Way& way, const At& at, int number);
    Way through(const NormImpl& norm, const torch::Tensor& x, const Way& way, const At& at,
                const std::string& where);
    /// The way in front of a sub-layer, through what stands behind its output.
    Way behind(const SubLayer& sub, const Way& way, const At& at, const StreamBlock& block);
    /// Enters heads whose joined outputs `wo` maps to the stream from dimension `first` on.
    void heads(const Way& way, const At& at, PartKind kind, const std::string& hook,
               const torch::Tensor& wo, std::int64_t first = 0);
    void hadamard(const Way& way, const At& at, const HeadsOfShared& heads);
    void relational(const Way& way, const At& at, RelationalAttentionImpl& attention,
                    std::int64_t first);
    void attention(const Way& way, const At& at, const StreamBlock& block);
    void middle(const Way& way, const At& at, const StreamBlock& block);
    /// `way` of what is added, `inner` of the output.
    void feedForward(const Way& way, const Way& inner, const At& at, const StreamBlock& block);
    void start(const Way& way, const StreamStack& stack);
    /// Enters the parts that a stack begins with, in front of the norm of the embedding.
    void startAt(const Way& way, const StreamStack& stack);
    void back(const StreamPlace& place, Way way);
    /// Splits the part by tokens if it is one of the head: `g` [k, d_h] is the map behind it.
    void split(const Way& way, const At& at, PartKind kind, std::int64_t head,
               const torch::Tensor& g);

    const ModelStreams& m_streams;
    const StreamRows& m_rows;
    std::string m_own;
    Keep m_keep;
    KeepProducts m_keepProducts;
    TokenSplit* m_split;
    std::vector<Chunk> m_chunks;
};

}  // namespace relascope::core
