#include "model/one_head.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "model/message_passing.h"

namespace relascope {
namespace {

std::vector<std::int64_t> mapWidths(std::int64_t in, std::int64_t width, std::int64_t out) {
    return {in, width, width, out};
}

std::int64_t mapParameters(std::int64_t in, std::int64_t width, std::int64_t out) {
    return (in + 1) * width + (width + 1) * width + (width + 1) * out;
}

// Of a head whose feature maps are that wide.
std::int64_t headParameters(const ModelOptions& o, const char* architecture, std::int64_t width) {
    const auto map = [&](std::int64_t out) { return mapParameters(o.object_dim, width, out); };
    const std::string kind = architecture;
    std::int64_t count = 2 * map(o.keyDim());
    if (kind == "SensoryHead") return count + map(o.out_dim);
    count += (o.n_objects - 1 + o.out_dim) * o.symbolDim();
    if (kind == "RelationalHead")
        count += 2 * map(o.n_relations * o.rel_proj_dim) + o.out_dim * o.n_relations;
    return count;
}

}  // namespace

std::int64_t featureWidth(const ModelOptions& o) {
    if (o.is("RelationalHead")) return o.d_model;
    const auto wanted = headParameters(o, "RelationalHead", o.d_model);
    const auto has = [&](std::int64_t width) {
        return headParameters(o, o.architecture.c_str(), width);
    };
    // The count grows with the width: the first that has as many, or the one before.
    std::int64_t below = 1, enough = 2;
    while (has(enough) < wanted) below = enough, enough *= 2;
    while (enough - below > 1) {
        const auto middle = (below + enough) / 2;
        (has(middle) < wanted ? below : enough) = middle;
    }
    return wanted - has(below) < has(enough) - wanted ? below : enough;
}

OneHeadImpl::OneHeadImpl(const ModelOptions& o)
    : m_scale(1.0 / std::sqrt(static_cast<double>(o.keyDim()))), m_relations(o.n_relations) {
    const auto width = featureWidth(o), dim = o.object_dim;
    const auto map = [&](const char* name, std::int64_t out) {
        return register_module(name, Mlp(mapWidths(dim, width, out)));
    };
    query = map("query", o.keyDim());
    key = map("key", o.keyDim());
    if (o.is("SensoryHead")) {
        value = map("value", o.out_dim);
        return;
    }
    if (o.is("RelationalHead")) {
        rel_query = map("rel_query", o.n_relations * o.rel_proj_dim);
        rel_key = map("rel_key", o.n_relations * o.rel_proj_dim);
        const double bound = 1.0 / std::sqrt(static_cast<double>(o.n_relations));
        wr = register_parameter("wr", newParameter({o.out_dim, o.n_relations}, [&](auto& weight) {
                                    weight.uniform_(-bound, bound);
                                }));
    }
    symbols = register_parameter("symbols", newNormal({o.n_objects - 1, o.symbolDim()}));
    wv = register_module("wv", Linear(o.symbolDim(), o.out_dim, false));
}

torch::Tensor OneHeadImpl::forward(const torch::Tensor& objects) {
    const auto x = objects.slice(1, 0, 1), y = objects.slice(1, 1);  // [b, 1, dim], [b, n, dim]
    const auto scores = torch::matmul(query(x), key(y).transpose(1, 2)) * m_scale;
    const auto alpha = torch::softmax(scores, -1);  // [b, 1, n]
    auto* recorder = activeRecorder();
    // On the screens a row of all objects, of which x sends nothing to itself.
    if (recorder) recorder->scores(path, torch::constant_pad_nd(alpha, {1, 0}).unsqueeze(1));
    if (!value.is_empty()) return torch::matmul(alpha, value(y)).squeeze(1);
    auto sent = wv(symbols).unsqueeze(0);  // [1, n, out]
    if (!rel_query.is_empty()) {
        const auto split = [&](const torch::Tensor& t) {  // [b, k, r * p] -> [b, r, k, p]
            return t.unflatten(2, {m_relations, -1}).transpose(1, 2);
        };
        const auto r = torch::matmul(split(rel_query(x)), split(rel_key(y)).transpose(2, 3));
        const auto related = torch::matmul(r.squeeze(2).transpose(1, 2), wr.t());  // [b, n, out]
        sent = sent + related;
        if (recorder)
            recorder->relations(path, torch::constant_pad_nd(sent, {0, 0, 1, 0}).unsqueeze(1));
    }
    return torch::matmul(alpha, sent.expand({objects.size(0), -1, -1})).squeeze(1);
}

OneHeadModelImpl::OneHeadModelImpl(const ModelOptions& o) : m_options(o) {
    o.check();
    head = register_module("head", OneHead(o));
}

torch::Tensor OneHeadModelImpl::forward(const ModelInput& input) {
    requireObjects(input.x, m_options);
    return head(input.x);
}

InnerProductRelationImpl::InnerProductRelationImpl(const ModelOptions& o) : m_options(o) {
    o.check();
    const auto widths = mapWidths(o.object_dim, o.d_model, o.rel_proj_dim);
    left = register_module("left", Mlp(widths));
    right = register_module("right", o.symmetric_rels ? left : Mlp(widths));
    relation = register_module("relation", Similarity(false));
}

torch::Tensor InnerProductRelationImpl::forward(const ModelInput& input) {
    requireObjects(input.x, m_options);
    const auto r = relation(left(input.x), right(input.x));  // [b, 2, 2]
    return r.select(1, 0).slice(1, 1);                       // of the first to the second
}

}  // namespace relascope
