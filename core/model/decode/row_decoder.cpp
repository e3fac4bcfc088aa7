// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/decode/row_decoder.h"

#include "model/architecture.h"

#include <ATen/Parallel.h>
#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/attention/row_activation.h"
#include "model/blocks/dual_attention.h"
#include "model/decode/generate.h"
#include "model/decode/row_norm.h"
#include "model/shapes.h"

namespace relascope::core {
namespace {

MatrixRows rowsOf(const Linear& linear) {
    const auto& w = linear->weight;
    return {w.const_data_ptr(),
            linear->bias.defined() ? linear->bias.const_data_ptr<float>() : nullptr, w.size(0),
            w.size(1), rowType(w.scalar_type())};
}

// Row `index` of a table [rows, width] of a type that rows can have.
void addRow(const torch::Tensor& table, std::int64_t index, std::span<float> to) {
    const auto add = [&](const auto* from) {
        from += index * table.size(1);
        for (std::size_t i = 0; i < to.size(); ++i) to[i] += static_cast<float>(from[i]);
    };
    switch (rowType(table.scalar_type())) {
        case RowType::Float32:
            return add(table.const_data_ptr<float>());
        case RowType::BFloat16:
            return add(table.const_data_ptr<at::BFloat16>());
        case RowType::Float16:
            return add(table.const_data_ptr<at::Half>());
    }
}

// The heads of one module: their weights, and the location of their cached keys and values.
struct RowHeads {
    const torch::nn::Module* module = nullptr;
    std::int64_t heads = 0, keyHeads = 0, keyDim = 0, headDim = 0;
    MatrixRows query, key, value, out;
    RowNorm queryNorm, keyNorm;
    bool wholeNorm = false;  ///< the norm is over all heads as one vector
    bool turns = false;      ///< rotary positions
    bool local = false;      ///< turns as layers with a window do
    std::int64_t window = 0;
    float scale = 1.0f;  ///< factor of inner products
    std::vector<float> q, k, v;
    std::vector<float> weights;  ///< [heads, tokens]

    void sizes() {
        q.resize(static_cast<std::size_t>(query.out));
        k.resize(static_cast<std::size_t>(key.out));
        v.resize(static_cast<std::size_t>(value.out));
    }
    std::int64_t keyHead(std::int64_t head) const { return head / (heads / keyHeads); }
    void normQueriesAndKeys() {
        const auto width = [this](const std::vector<float>& x) {
            return wholeNorm ? static_cast<std::int64_t>(x.size()) : keyDim;
        };
        queryNorm.applyByGroups(q, width(q)), keyNorm.applyByGroups(k, width(k));
    }
};

// Writes x, [heads, width] of one token, into the buffer [1, heads, capacity, width] at `position`.
void keep(const torch::Tensor& room, std::int64_t position, std::span<const float> x) {
    const std::int64_t heads = room.dim() == 4 ? room.size(1) : 1, capacity = room.size(-2),
                       width = room.size(-1);
    auto* to = room.mutable_data_ptr<float>();
    for (std::int64_t head = 0; head < heads; ++head)
        std::copy_n(x.data() + head * width, width, to + (head * capacity + position) * width);
}
const float* rowsOfHead(const torch::Tensor& room, std::int64_t head) {
    return room.const_data_ptr<float>() + head * room.size(-2) * room.size(-1);
}

bool isPlain(const torch::Tensor& t, bool mayBeHalf) {
    return t.is_cpu() && t.is_contiguous() &&
           (t.scalar_type() == torch::kFloat || (mayBeHalf && isHalf(t)));
}

}  // namespace

struct RowDecoder::Layer {
    RowNorm norm1, norm2, behind1, behind2;
    double residualScale = 1.0;
    bool oneNorm = false;
    MatrixRows linear1, linear2, linear3;
    RowHeads sensory, relational;
    // Relational heads only.
    MatrixRows relationQuery, relationKey;
    torch::Tensor wr;  ///< [heads, head_dim, relations]
    bool symmetric = false;
    std::vector<float> qRel, kRel;
    std::vector<float> relations;  ///< [tokens, relations], or [heads, tokens] of disrca
    // Symbols: by attention to a library, by position (a table), or relative to it.
    MatrixRows symbolQuery;
    torch::Tensor features, library, table, projected;
    std::int64_t symbolHeads = 0, maxOffset = -1;
    float symbolScale = 0.0f;
    std::vector<float> symbolQ, symbolWeights, gate;
};

bool RowDecoder::takes(ModelImpl& model, const ModelOptions& o) {
    const auto* symbols = o.find<SymbolOptions>();
    if (o.input() != InputKind::Tokens || !canCache(o)) return false;
    if (!dynamic_cast<LanguageModelImpl*>(&model)) return false;  // nanochat's
    const auto* details = o.find<BlockDetails>();
    const auto* ends = o.find<EndDetails>();
    if (details && !hasRowForm(*details, ends ? *ends : EndDetails())) return false;
    if (symbols && symbols->symbol_retrieval == "rel_sym_attn") return false;
    // Relations lie beside one another for each token, so that a softmax over tokens has no row.
    if (const auto* block = o.find<BlockOptions>();
        symbols && block->ra_type == "relational_attention" && block->rel_activation == "softmax")
        return false;
    for (const auto& module : model.modules(false)) {
        const bool narrow = module->as<LinearImpl>() || module->as<EmbeddingImpl>();
        for (const auto& item : module->named_parameters(false)) {
            const bool weight = item.key() == "weight";
            if (!isPlain(item.value(), narrow && weight)) return false;
            if (narrow && weight && isHalf(item.value()) && item.value().size(1) % 2 != 0)
                return false;
        }
    }
    return true;
}

RowDecoder::~RowDecoder() = default;

RowDecoder::RowDecoder(ModelImpl& model, const ModelOptions& options)
    : m_options(options.get<TransformerLMOptions>()),
      m_model(dynamic_cast<LanguageModelImpl&>(model)) {
    const auto& o = m_options;
    const auto* symbols = options.find<SymbolOptions>();
    if (const auto* details = options.find<SymbolDetails>())
        m_normedSymbols = details->normed_symbols;
    std::int64_t symbolDim = o.d_model;
    const std::int64_t headDim = m_model.m_stack.headDim();
    const auto innerScale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(headDim)));
    auto* dual = dynamic_cast<DualAttnTransformerLMImpl*>(&model);
    const auto sensoryOf = [&](const AttentionImpl& a) {
        RowHeads heads;
        heads.module = &a;
        heads.heads = o.n_heads_sa;
        heads.keyHeads = o.sa_n_kv_heads > 0 ? o.sa_n_kv_heads : o.n_heads_sa;
        heads.keyDim = a.wq->weight.size(0) / heads.heads, heads.headDim = headDim;
        heads.query = rowsOf(a.wq), heads.key = rowsOf(a.wk), heads.value = rowsOf(a.wv);
        heads.out = rowsOf(a.wo);
        const auto& own = a.options();
        heads.queryNorm = RowNorm(a.q_norm), heads.keyNorm = RowNorm(a.k_norm);
        heads.wholeNorm = own.qk_norm == "all";
        heads.turns = own.rope, heads.window = own.window;
        heads.scale = static_cast<float>(own.scale());
        heads.local = own.rope && own.rotary != m_model.m_stack.details;
        if (heads.local) m_localRotary = own.rotary;
        heads.sizes();
        return heads;
    };
    std::size_t index = 0;
    for (const auto& block : *m_model.m_blocks) {
        auto layer = std::make_unique<Layer>();
        const auto common = [&](auto& b) {
            layer->norm1 = RowNorm(b.norm1), layer->norm2 = RowNorm(b.norm2);
            layer->linear1 = rowsOf(b.ff_block->linear1);
            layer->linear2 = rowsOf(b.ff_block->linear2);
            if (!b.ff_block->linear3.is_empty()) layer->linear3 = rowsOf(b.ff_block->linear3);
            layer->gate.resize(static_cast<std::size_t>(layer->linear3.out));
        };
        if (auto* plain = block->as<EncoderBlockImpl>()) {
            common(*plain);
            layer->oneNorm = plain->norm2.is_empty();
            layer->behind1 = RowNorm(plain->norm1_behind);
            layer->behind2 = RowNorm(plain->norm2_behind);
            layer->residualScale = plain->residualScale();
            layer->sensory = sensoryOf(*plain->self_attn);
        } else {
            auto& both = *block->as<DualAttnEncoderBlockImpl>();
            common(both);
            auto& attention = *both.dual_attn;
            if (!attention.self_attention.is_empty())
                layer->sensory = sensoryOf(*attention.self_attention);
            if (attention.relational_attention) {
                RowHeads& heads = layer->relational;
                auto& base = *attention.relational_attention;
                heads.module = &base;
                heads.heads = o.n_heads_ra;
                heads.keyHeads = o.ra_n_kv_heads > 0 ? o.ra_n_kv_heads : o.n_heads_ra;
                heads.headDim = headDim, heads.scale = innerScale, heads.turns = o.rotary();
                heads.value = rowsOf(base.wv), heads.out = rowsOf(base.wo);
                symbolDim = heads.value.in;
                if (auto* ra = dynamic_cast<RelationalAttentionImpl*>(&base)) {
                    heads.query = rowsOf(ra->wq_attn), heads.key = rowsOf(ra->wk_attn);
                    layer->relationQuery = rowsOf(ra->wq_rel);
                    layer->relationKey = rowsOf(ra->wk_rel);
                    layer->symmetric = o.symmetric_rels;
                    layer->wr = ra->wr;
                } else if (auto* dis = dynamic_cast<DisentangledCrossAttentionImpl*>(&base)) {
                    heads.query = rowsOf(dis->wq_attn), heads.key = rowsOf(dis->wk_attn);
                    layer->relationQuery = rowsOf(dis->wq_rel);
                    layer->relationKey = rowsOf(dis->wk_rel);
                } else {
                    auto& rca = dynamic_cast<RelationalCrossAttentionImpl&>(base);
                    heads.query = rowsOf(rca.wq), heads.key = rowsOf(rca.wk);
                }
                heads.keyDim = heads.query.out / heads.heads;
                heads.sizes();
                layer->qRel.resize(static_cast<std::size_t>(layer->relationQuery.out));
                layer->kRel.resize(static_cast<std::size_t>(layer->relationKey.out));
                auto& retriever = *dual->m_retrievers[index];
                if (auto* symbolic = dynamic_cast<SymbolicAttentionImpl*>(&retriever)) {
                    layer->symbolQuery = rowsOf(symbolic->q_proj);
                    layer->features = symbolic->template_features;
                    layer->library = symbolic->symbol_library;
                    layer->symbolHeads = symbols->symbol_heads;
                    const auto width = static_cast<double>(o.d_model / symbols->symbol_heads);
                    layer->symbolScale = static_cast<float>(
                        symbols->symbol_scale > 0 ? symbols->symbol_scale : 1.0 / std::sqrt(width));
                    layer->symbolQ.resize(static_cast<std::size_t>(o.d_model));
                    layer->symbolWeights.resize(
                        static_cast<std::size_t>(symbols->symbol_heads * layer->features.size(0)));
                } else if (auto* table = dynamic_cast<PositionalSymbolsImpl*>(&retriever)) {
                    layer->table = table->library(m_model.m_tokens->weight);
                } else {
                    layer->maxOffset = symbols->largestOffset(o.max_block_size);
                }
            }
        }
        m_layers.push_back(std::move(layer));
        ++index;
    }
    const auto width = static_cast<std::size_t>(o.d_model);
    const auto& first = *m_layers.front();
    m_x.resize(width), m_added.resize(width);
    m_stream.x.resize(width), m_normed.x.resize(width);
    m_symbol.x.resize(static_cast<std::size_t>(symbolDim));
    m_inner.x.resize(static_cast<std::size_t>(first.linear1.out));
    m_mixed.x.resize(static_cast<std::size_t>(first.sensory.heads * headDim));
    m_related.x.resize(static_cast<std::size_t>(first.relational.heads * headDim));
}

void RowDecoder::reserve(std::int64_t capacity) {
    if (capacity == m_capacity) return;
    m_capacity = capacity;
    m_rotaryTable.clear();
    for (auto& layer : m_layers) {
        for (auto* heads : {&layer->sensory, &layer->relational})
            heads->weights.resize(static_cast<std::size_t>(heads->heads * capacity));
        const auto& wr = layer->wr;
        const std::int64_t each = wr.defined() ? wr.size(2) : layer->relational.heads;
        layer->relations.resize(static_cast<std::size_t>(each * capacity));
    }
}

const float* RowDecoder::rotaryTable(std::int64_t width, bool local) {
    auto& turns = m_rotaryTable[{width, local}];
    if (turns.empty()) {
        const RotaryOptions& rotary = local ? m_localRotary : m_model.m_stack.details;
        const auto dims = rotary.dims(width);
        // (1, 0) turned by an angle is its cosine and sine, as the forward pass computes them.
        auto unit = torch::zeros({1, 1, m_capacity, width});
        if (rotary.rotary_halves)
            unit.slice(3, 0, dims / 2).fill_(1.0f);
        else
            unit.slice(3, 0, dims, 2).fill_(1.0f);
        const auto turned = RotaryPositions(rotary).rotate(unit).contiguous();
        const auto* from = turned.const_data_ptr<float>();
        turns.assign(from, from + turned.numel());
    }
    return turns.data();
}

// Pairs of every head turned by the position: (2i, 2i + 1), or (i, i + r/2) of the first r
// dimensions (layers.h).
void RowDecoder::rotate(std::span<float> heads, std::int64_t width, std::int64_t position,
                        bool local) {
    const auto& rotary = m_model.m_stack.details;
    const float* turn = rotaryTable(width, local) + position * width;
    const auto dims = rotary.dims(width);
    const std::int64_t step = rotary.rotary_halves ? 1 : 2,
                       partner = rotary.rotary_halves ? dims / 2 : 1,
                       end = rotary.rotary_halves ? dims / 2 : dims;
    for (std::size_t at = 0; at < heads.size(); at += static_cast<std::size_t>(width))
        for (std::int64_t i = 0; i < end; i += step) {
            float *first = heads.data() + at + i, *second = first + partner;
            const float real = *first * turn[i] - *second * turn[i + partner];
            *second = *first * turn[i + partner] + *second * turn[i];
            *first = real;
        }
}

void RowDecoder::projectSymbol(Layer& layer, DecodingCache& cache, std::int64_t past) {
    auto& heads = layer.relational;
    if (layer.maxOffset >= 0) return;  // the library is projected once
    auto& symbol = m_symbol.x;
    if (layer.table.defined()) {
        std::fill(symbol.begin(), symbol.end(), 0.0f);
        addRow(layer.table, past, symbol);
    } else {
        const std::int64_t d = m_options.d_model, width = d / layer.symbolHeads,
                           count = layer.features.size(0), all = layer.library.size(1),
                           own = all / layer.symbolHeads;
        const auto* features = layer.features.const_data_ptr<float>();
        const auto* library = layer.library.const_data_ptr<float>();
        at::parallel_for(0, layer.symbolHeads, 1, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t head = begin; head < end; ++head) {
                float* weights = layer.symbolWeights.data() + head * count;
                dotRows(layer.symbolQ.data() + head * width, features + head * width, count, width,
                        d, layer.symbolScale, weights);
                softmaxRow({weights, static_cast<std::size_t>(count)});
                mixRows(weights, library + head * own, count, own, all, symbol.data() + head * own);
            }
        });
    }
    if (heads.value.half()) m_symbol.split();
    const RowProduct product{heads.value, &m_symbol, heads.v.data()};
    multiplyRows({&product, 1});
    keep(cache.buffer(heads.module, 0), past, heads.v);
}

void RowDecoder::attend(Layer& layer, DecodingCache& cache, std::int64_t past) {
    const std::int64_t count = past + 1, capacity = cache.capacity();
    auto &sensory = layer.sensory, &relational = layer.relational;
    const auto& o = m_options;
    const bool hasRelations = layer.wr.defined();
    const torch::Tensor relationKeys =
        layer.relationKey.weight ? cache.buffer(relational.module, 2) : torch::Tensor();
    torch::Tensor sensoryKeys, sensoryValues, relationalKeys, symbols;
    if (sensory.heads > 0)
        sensoryKeys = cache.buffer(sensory.module, 0),
        sensoryValues = cache.buffer(sensory.module, 1);
    if (relational.heads > 0) {
        relationalKeys = cache.buffer(relational.module, 1);
        symbols = cache.buffer(relational.module, 0);
        if (layer.maxOffset >= 0) {
            if (!layer.projected.defined()) layer.projected = symbols.contiguous();
            symbols = layer.projected;
        }
    }
    // The first key that the window and the document leave open.
    const std::int64_t window = sensory.window,
                       open = std::max(m_open.first, window > 0 ? count - window : 0);
    const auto close = [&](std::span<float> row, float value) {
        for (const auto j : m_open.padding)
            if (j >= open) row[static_cast<std::size_t>(j - open)] = value;
    };
    constexpr float kClosed = -std::numeric_limits<float>::infinity();
    // Activations of a row; padding is closed, and a padding token sees nothing.
    const auto activate = [&](const std::string& activation, std::span<float> row) {
        if (m_open.none) return std::fill(row.begin(), row.end(), 0.0f);
        if (activation == "softmax") close(row, kClosed);
        activateRow(activation, row);
        close(row, 0.0f);
    };
    const auto scores = [&](RowHeads& heads, const torch::Tensor& keys, std::int64_t head) {
        float* weights = heads.weights.data() + head * capacity;
        dotRows(heads.q.data() + head * heads.keyDim,
                rowsOfHead(keys, heads.keyHead(head)) + open * heads.keyDim, count - open,
                heads.keyDim, heads.keyDim, heads.scale, weights);
        return std::span<float>(weights, static_cast<std::size_t>(count - open));
    };
    // Sensory heads, and the relations that all relational heads use next.
    constexpr std::int64_t kChunks = 4;
    const std::int64_t chunks = hasRelations ? kChunks : 0;
    at::parallel_for(0, sensory.heads + chunks, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t task = begin; task < end; ++task) {
            if (task < sensory.heads) {
                const auto weights = scores(sensory, sensoryKeys, task);
                activate("softmax", weights);
                mixRows(weights.data(),
                        rowsOfHead(sensoryValues, sensory.keyHead(task)) + open * sensory.headDim,
                        count - open, sensory.headDim, sensory.headDim,
                        m_mixed.x.data() + task * sensory.headDim);
                continue;
            }
            const std::int64_t chunk = task - sensory.heads, first = count * chunk / kChunks,
                               last = count * (chunk + 1) / kChunks, each = layer.wr.size(2),
                               width = layer.relationKey.out / each;
            float* r = layer.relations.data() + first * each;
            relateRows(layer.qRel.data(),
                       relationKeys.const_data_ptr<float>() + first * each * width, last - first,
                       each, width, static_cast<float>(1.0 / std::sqrt(static_cast<double>(width))),
                       r);
            activateRow(o.rel_activation, {r, static_cast<std::size_t>((last - first) * each)});
        }
    });
    at::parallel_for(0, relational.heads, 1, [&](std::int64_t begin, std::int64_t end) {
        std::vector<float> mixedRelation(hasRelations ? layer.wr.size(2) : 0);
        std::vector<float> symbol(static_cast<std::size_t>(relational.headDim));
        for (std::int64_t head = begin; head < end; ++head) {
            const auto weights = scores(relational, relationalKeys, head);
            activate(o.ra_type == "rca" ? o.rca_activation : "softmax", weights);
            float* out = m_related.x.data() + head * relational.headDim;
            if (o.ra_type == "disrca") {
                float* r = layer.relations.data() + head * capacity;
                dotRows(
                    layer.qRel.data() + head * relational.headDim,
                    rowsOfHead(relationKeys, relational.keyHead(head)) + open * relational.headDim,
                    count - open, relational.headDim, relational.headDim, relational.scale, r);
                const std::span<float> relation(r, weights.size());
                activate(o.rel_activation, relation);
                for (std::size_t j = 0; j < relation.size(); ++j) weights[j] *= relation[j];
            }
            // The symbols of the senders: by token j, or by offset j - i, where offsets below the
            // library use its first row.
            const float* rows = rowsOfHead(symbols, relational.keyHead(head));
            if (layer.maxOffset < 0) {
                mixRows(weights.data(), rows + open * relational.headDim, count - open,
                        relational.headDim, relational.headDim, out);
            } else {
                const std::int64_t beyond =
                    std::max<std::int64_t>(0, past - open - layer.maxOffset);
                const std::int64_t row = layer.maxOffset - (past - open - beyond);
                float before = 0.0f;
                for (std::int64_t j = 0; j < beyond; ++j)
                    before += weights[static_cast<std::size_t>(j)];
                mixRows(weights.data() + beyond, rows + row * relational.headDim,
                        count - open - beyond, relational.headDim, relational.headDim, out);
                for (std::int64_t i = 0; i < relational.headDim; ++i) out[i] += before * rows[i];
            }
            if (hasRelations) {
                const std::int64_t each = layer.wr.size(2);
                mixRows(weights.data(), layer.relations.data() + open * each, count - open, each,
                        each, mixedRelation.data());
                dotRows(mixedRelation.data(),
                        layer.wr.const_data_ptr<float>() + head * relational.headDim * each,
                        relational.headDim, each, each, 1.0f, symbol.data());
                for (std::int64_t i = 0; i < relational.headDim; ++i)
                    out[i] += symbol[static_cast<std::size_t>(i)];
            }
        }
    });
}

void RowDecoder::throughLayer(Layer& layer, DecodingCache& cache) {
    const auto& o = m_options;
    const std::int64_t past = cache.past();
    auto &sensory = layer.sensory, &relational = layer.relational;
    const bool parallel = m_model.m_stack.details.parallel_residual;
    const auto enter = [&](const RowNorm& norm) {
        if (o.norm_first)
            norm.apply(m_x, m_normed.x);
        else
            m_normed.x = m_x;
        m_normed.split();  // files may have some of the matrices in 16 bits
    };
    const auto leave = [&](const RowNorm& norm) {
        for (std::size_t i = 0; i < m_x.size(); ++i) m_x[i] += m_added[i];
        if (o.norm_first) return;
        norm.apply(m_x, m_added);
        std::swap(m_x, m_added);
    };
    enter(layer.norm1);
    std::vector<RowProduct> products;
    if (sensory.heads > 0) {
        products.push_back({sensory.query, &m_normed, sensory.q.data()});
        products.push_back({sensory.key, &m_normed, sensory.k.data()});
        products.push_back({sensory.value, &m_normed, sensory.v.data()});
    }
    if (relational.heads > 0) {
        products.push_back({relational.query, &m_normed, relational.q.data()});
        products.push_back({relational.key, &m_normed, relational.k.data()});
        if (layer.relationQuery.weight)
            products.push_back({layer.relationQuery, &m_normed, layer.qRel.data()});
        if (layer.relationKey.weight && !layer.symmetric)
            products.push_back({layer.relationKey, &m_normed, layer.kRel.data()});
        if (layer.symbolQuery.weight && m_normedSymbols) {
            products.push_back({layer.symbolQuery, &m_normed, layer.symbolQ.data()});
        } else if (layer.symbolQuery.weight) {  // symbols are retrieved from the stream
            m_stream.x = m_x;
            if (layer.symbolQuery.half()) m_stream.split();
            products.push_back({layer.symbolQuery, &m_stream, layer.symbolQ.data()});
        }
    }
    multiplyRows(products);
    for (auto* heads : {&sensory, &relational})
        if (heads->heads > 0) {
            heads->normQueriesAndKeys();
            if (!heads->turns) continue;
            rotate(heads->q, heads->keyDim, past, heads->local);
            rotate(heads->k, heads->keyDim, past, heads->local);
        }
    if (sensory.heads > 0) {
        keep(cache.buffer(sensory.module, 0), past, sensory.k);
        keep(cache.buffer(sensory.module, 1), past, sensory.v);
    }
    if (relational.heads > 0) {
        keep(cache.buffer(relational.module, 1), past, relational.k);
        if (layer.relationKey.weight)
            keep(cache.buffer(relational.module, 2), past,
                 layer.symmetric ? layer.qRel : layer.kRel);
        projectSymbol(layer, cache, past);
    }
    attend(layer, cache, past);

    products.clear();
    if (sensory.heads > 0) {
        if (sensory.out.half()) m_mixed.split();
        products.push_back({sensory.out, &m_mixed, m_added.data()});
    }
    if (relational.heads > 0) {
        if (relational.out.half()) m_related.split();
        products.push_back(
            {relational.out, &m_related, m_added.data() + sensory.heads * sensory.headDim});
    }
    multiplyRows(products);
    // What a sub-layer adds, of its output.
    const auto added = [&](const RowNorm& behind) {
        behind.applyByGroups(m_added, o.d_model);
        const auto scale = static_cast<float>(layer.residualScale);
        if (scale != 1.0f)
            for (float& each : m_added) each *= scale;
    };
    added(layer.behind1);
    if (parallel)
        m_attended = m_added;
    else
        leave(layer.norm1);

    if (!layer.oneNorm) enter(layer.norm2);
    auto& inner = m_inner.x;
    products.assign({{layer.linear1, &m_normed, inner.data()}});
    if (layer.linear3.weight) products.push_back({layer.linear3, &m_normed, layer.gate.data()});
    multiplyRows(products);
    activateRow(layer.linear3.weight ? gateActivation(o.activation) : o.activation, inner);
    for (std::size_t i = 0; i < layer.gate.size(); ++i) inner[i] *= layer.gate[i];
    if (layer.linear2.half()) m_inner.split();
    products.assign({{layer.linear2, &m_inner, m_added.data()}});
    multiplyRows(products);
    added(layer.behind2);
    if (parallel)
        for (std::size_t i = 0; i < m_x.size(); ++i) m_x[i] += m_attended[i];
    leave(layer.norm2);
}

void RowDecoder::readDocument(std::int64_t token, DecodingCache& cache) {
    m_open = {};
    const auto& documents = m_model.m_further.documents;
    if (!documents.closesCells()) return;
    const auto all = cache.append(&m_model, LanguageModelImpl::kTokenSlot,
                                  torch::full({1, 1, 1}, token, torch::kLong));
    const std::span<const std::int64_t> tokens(all.const_data_ptr<std::int64_t>(),
                                               static_cast<std::size_t>(all.numel()));
    m_open.none = token == documents.padding;
    for (std::size_t j = 0; j < tokens.size(); ++j) {
        if (tokens[j] == documents.document_start)
            m_open.first = static_cast<std::int64_t>(j), m_open.padding.clear();
        if (tokens[j] == documents.padding) m_open.padding.push_back(static_cast<std::int64_t>(j));
    }
}

void RowDecoder::read(std::int64_t token, DecodingCache& cache, std::span<float> logits) {
    if (m_model.beforePass) m_model.beforePass();
    const auto& o = m_options;
    reserve(cache.capacity());
    readDocument(token, cache);
    std::fill(m_x.begin(), m_x.end(), 0.0f);
    const auto& ends = m_model.m_further.ends;
    addRow(m_model.m_tokens->weight, token, m_x);
    if (ends.embed_scale != 1.0)
        for (float& each : m_x) each *= static_cast<float>(ends.embed_scale);
    if (o.pos_enc_type == "pos_emb")
        addRow(m_model.m_positions->weight, cache.past() + ends.position_offset, m_x);
    RowNorm(m_model.m_embedNorm).applyByGroups(m_x, o.d_model);
    for (auto& layer : m_layers) throughLayer(*layer, cache);
    cache.advance(1);
    RowNorm(m_model.m_norm).apply(m_x, m_normed.x);
    const auto out = rowsOf(m_model.m_out);
    if (out.half()) m_normed.split();
    const RowProduct product{out, &m_normed, logits.data()};
    multiplyRows({&product, 1});
    const auto& form = m_model.m_further.form;
    const auto scale = static_cast<float>(form.logit_scale),
               cap = static_cast<float>(form.soft_cap);
    if (scale != 1.0f)
        for (float& logit : logits) logit *= scale;
    if (cap > 0.0f)
        for (float& logit : logits) logit = std::tanh(logit / cap) * cap;
}

}  // namespace relascope::core
