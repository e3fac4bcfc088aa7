// SPDX-License-Identifier: GPL-3.0-or-later
// Applies edits to a forward pass.
#pragma once

#include <torch/types.h>
#include <array>
#include <map>
#include <string>
#include <vector>

#include "interventions/projection.h"
#include "model/hooks/hooks.h"
#include "types/edit.h"

namespace relascope::core {

/// The enabled edits of a list, in force while a HookScope is open. Differentiable: numbers that
/// are put in place of others stop the gradient. After every edit the cells that the model closes
/// are closed again. Edits that take values of other runs (references()) need them first.
class Editor : public Hooks {
public:
    /// The edits must have been checked against the model (check_edits.h). Throws FileError for a
    /// file of a relation that cannot be read.
    explicit Editor(const EditList& list);

    bool takes(std::string_view prefix) const override;
    torch::Tensor at(const HookPoint& point, const torch::Tensor& value) override;
    torch::Tensor factors(const std::string& point, Axis axis, const torch::Tensor& like) override;
    /// Plans edits that put values or multiply whole entries; false if there are others.
    bool plan(const HookPoint& point, const torch::Tensor& like, PointPlan& steps) override;

    /// The enabled edits whose operation takes values of another pass, as indices of the list.
    const std::vector<std::size_t>& references() const { return m_references; }
    const Edit& edit(std::size_t index) const { return m_list.edits[index]; }
    const EditList& list() const { return m_list; }
    /// Sets the values of such an edit: the whole tensor of the point, in the order of its axes; a
    /// batch of 1 serves every example. Means over offsets have no axis `i`, and 2 `offsets` + 1
    /// values along `j`.
    void setValues(std::size_t index, torch::Tensor values, std::int64_t offsets = -1);
    /// Forgets the values of all edits.
    void clearValues() { m_values.clear(); }
    /// Skips edits whose values are not known, instead of throwing.
    void skipUnknownValues() { m_skipsUnknown = true; }
    /// Copies the values of an edit of another editor, if it has them.
    void copyValues(std::size_t index, const Editor& other, std::size_t from);

    void setOrigin(std::int64_t position) override { m_origin = position; }
    torch::Tensor streamAfter(const std::string& block) override;
    bool hasValues(std::size_t index) const { return m_values.contains(index); }
    /// Streams of a pass without edits on the same input, by block ("blocks.0"): blocks before the
    /// first edited point of `points` are not run again. None: all blocks run.
    void keepStreams(std::map<std::string, torch::Tensor> streams,
                     const std::vector<PointInfo>& points);
    /// Sets how many tokens the prompt of a text has, for edits of one part of a text.
    void setPrompt(std::int64_t tokens) { m_prompt = tokens; }

private:
    struct Values {
        torch::Tensor tensor;
        std::int64_t offsets = -1;
    };
    /// The places that an edit takes along each dimension, relative to the tensor.
    struct Region {
        std::vector<torch::Tensor> places;  ///< undefined: the whole dimension
        /// Which of the selected places these are, counted along the selection.
        std::vector<torch::Tensor> ordinals;
        bool empty = false;
        torch::Tensor of(const torch::Tensor& value) const;
        torch::Tensor replaced(const torch::Tensor& value, const torch::Tensor& part) const;
    };
    Region regionOf(const Edit& edit, const HookPoint& point, const torch::Tensor& value) const;
    /// Appends what an edit does; false if that depends on the tensor.
    bool planned(std::size_t index, const HookPoint& point, const torch::Tensor& like,
                 PointPlan& steps) const;
    torch::Tensor changed(std::size_t index, const HookPoint& point, const torch::Tensor& value);
    torch::Tensor partOf(std::size_t index, const HookPoint& point, const torch::Tensor& value,
                         const Region& region) const;
    /// Values of another run or numbers, for the region.
    torch::Tensor taken(std::size_t index, const HookPoint& point, const torch::Tensor& value,
                        const Region& region) const;
    torch::Tensor numbers(const Edit& edit, const HookPoint& point, const torch::Tensor& part,
                          const Region& region) const;
    /// The values of a mean by offset, for the region: `value` has no axis i, and 2 offsets + 1
    /// values along j.
    torch::Tensor offsetNumbers(const Edit& edit, const HookPoint& point,
                                const torch::Tensor& value, const Region& region) const;

    EditList m_list;
    std::map<std::string, std::vector<std::size_t>, std::less<>> m_byPoint;
    std::vector<std::size_t> m_references;
    std::map<std::size_t, Values> m_values;
    std::map<std::size_t, StreamProjection> m_projections;  // for Project, by index of the edit
    std::map<std::string, torch::Tensor> m_streams;  // streams after blocks that need not run
    std::int64_t m_origin = 0, m_prompt = 0;
    bool m_skipsUnknown = false;
};

/// Keeps the tensors of some points, as they are in the forward pass.
class PointReader : public Hooks {
public:
    /// Reads the named points; without names every point.
    explicit PointReader(std::vector<std::string> names = {});

    bool takes(std::string_view prefix) const override;
    bool takesValues() const override { return m_keeps; }
    torch::Tensor at(const HookPoint& point, const torch::Tensor& value) override;
    bool plan(const HookPoint& point, const torch::Tensor& like, PointPlan& steps) override;

    /// The tensors by the name of their point; points that the pass did not meet are absent.
    const std::map<std::string, torch::Tensor>& tensors() const { return m_tensors; }
    std::map<std::string, torch::Tensor> take() { return std::move(m_tensors); }
    /// All points met, in order.
    const std::vector<PointInfo>& points() const { return m_points; }
    /// Only notes the points and keeps no tensor.
    void recordNamesOnly() { m_keeps = false; }
    /// Keeps these rows alone, of each tensor: along its axis `position`, or `i`. [rows] int64.
    void keepRows(torch::Tensor rows) { m_rows = std::move(rows); }

private:
    std::vector<std::string> m_names;  // sorted
    std::map<std::string, torch::Tensor> m_tensors;
    std::vector<PointInfo> m_points;
    torch::Tensor m_rows;
    bool m_keeps = true;
};

/// One editor or reader after another on the same pass: the second gets the tensors that the first
/// returns.
class HookChain : public Hooks {
public:
    HookChain(Hooks* first, Hooks* second) : m_hooks{first, second} {}
    bool takes(std::string_view prefix) const override {
        return m_hooks[0]->takes(prefix) || m_hooks[1]->takes(prefix);
    }
    torch::Tensor at(const HookPoint& point, const torch::Tensor& value) override {
        return m_hooks[1]->at(point, m_hooks[0]->at(point, value));
    }
    bool takesValues() const override {
        return m_hooks[0]->takesValues() || m_hooks[1]->takesValues();
    }
    torch::Tensor factors(const std::string& point, Axis axis, const torch::Tensor& like) override;
    bool plan(const HookPoint& point, const torch::Tensor& like, PointPlan& steps) override;
    void setOrigin(std::int64_t position) override {
        for (auto* hooks : m_hooks) hooks->setOrigin(position);
    }
    /// The streams that the second keeps are of a pass with the first in force.
    torch::Tensor streamAfter(const std::string& block) override {
        return m_hooks[1]->streamAfter(block);
    }

private:
    std::array<Hooks*, 2> m_hooks;
};

/// Makes `hooks` current while it exists, after the current hooks: edits that a run trains with
/// stay in force below.
class InterventionScope {
public:
    explicit InterventionScope(Hooks* hooks)
        : m_chain(activeHooks(), hooks), m_scope(activeHooks() ? &m_chain : hooks) {}

private:
    HookChain m_chain;
    HookScope m_scope;
};

}  // namespace relascope::core
