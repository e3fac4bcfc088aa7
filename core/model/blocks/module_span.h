// SPDX-License-Identifier: GPL-3.0-or-later
// The times at which modules compute, for the trace of a step (tests/bench/step_trace.h). Costs a
// test of a pointer where nobody traces.
#pragma once

#include <torch/nn/module.h>

namespace relascope::core {

/// Told when modules of this thread begin and end their forward pass, in nested order.
class ModuleSpans {
public:
    virtual ~ModuleSpans() = default;
    virtual void begin(const torch::nn::Module& module) = 0;
    virtual void end() = 0;
};

/// Makes `spans` current on this thread in its scope.
class ModuleSpansScope {
public:
    explicit ModuleSpansScope(ModuleSpans& spans);
    ~ModuleSpansScope();
    ModuleSpansScope(const ModuleSpansScope&) = delete;
    ModuleSpansScope& operator=(const ModuleSpansScope&) = delete;

private:
    ModuleSpans* m_previous;
};

/// Lies around the forward pass of a module.
class ModuleSpan {
public:
    explicit ModuleSpan(const torch::nn::Module& module);
    ~ModuleSpan();
    ModuleSpan(const ModuleSpan&) = delete;
    ModuleSpan& operator=(const ModuleSpan&) = delete;

private:
    ModuleSpans* m_spans;
};

}  // namespace relascope::core
