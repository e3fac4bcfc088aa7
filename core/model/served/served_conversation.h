// SPDX-License-Identifier: GPL-3.0-or-later
// One forward pass of a served model: what the current hooks and recorder want of it, and what
// they make of its answers.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "model/hooks/hooks.h"
#include "model/served/served_model.h"

namespace relascope::core {

class ServedConversation {
public:
    ServedConversation(ServedModelImpl& model, const torch::Tensor& x);
    torch::Tensor run();

private:
    /// Who gets the next tensor of a point.
    struct Taker {
        Hooks* reader = nullptr;  ///< looks at it
        bool exchanges = false;   ///< the hooks' at() gives the tensor to continue with
        bool records = false;     ///< the recorder gets it
        bool mends = false;       ///< rows of a pattern without an open cell become zeros
        bool gradient = false;
    };
    HookPoint hookPoint(std::size_t index, std::int64_t rows, std::int64_t columns) const;
    /// The point's sizes, where they are known before the pass, as a tensor without memory.
    torch::Tensor sizesOf(const ServedPoint& point) const;
    void ask(std::size_t index);
    void askHooks(std::size_t index, const torch::Tensor& like, bool records);
    void add(const ServedPoint& point, ServedAction action, Taker taker);
    std::optional<ServedTensor> met(const std::string& name, const ServedTensor& value, bool wait);
    bool records(const ServedPoint& point) const;
    void record(const ServedPoint& point, const torch::Tensor& value) const;

    ServedModelImpl& m_model;
    const ServedDeclaration& m_declared;
    torch::Tensor m_x;
    Hooks* m_hooks;
    Recorder* m_recorder;
    ServedPass m_pass;
    std::int64_t m_length = -1;  ///< positions of the input; -1: unknown
    std::map<std::string, std::deque<Taker>> m_takers;
    std::string m_mended;  ///< the pattern behind scores that hooks replace; empty: none
    std::vector<std::pair<std::string, torch::Tensor>> m_leaves;  ///< that gradients go to
    /// What the recorder gets once the pass is done: it may let other requests be answered then,
    /// which need the process.
    std::vector<std::pair<const ServedPoint*, torch::Tensor>> m_recorded;
};

}  // namespace relascope::core
