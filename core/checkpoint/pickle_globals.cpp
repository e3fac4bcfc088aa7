// SPDX-License-Identifier: GPL-3.0-or-later
#include "checkpoint/pickle_globals.h"

#include <algorithm>
#include <array>

namespace relascope::core {
namespace {

// Interpreted by pickle.cpp and torch_archive.cpp. Sorted.
constexpr std::array<std::string_view, 19> kRead = {"_codecs.encode",
                                                    "collections.Counter",
                                                    "collections.OrderedDict",
                                                    "collections.defaultdict",
                                                    "numpy._core.multiarray.scalar",
                                                    "numpy.core.multiarray.scalar",
                                                    "numpy.dtype",
                                                    "torch.Size",
                                                    "torch.TypedStorage",
                                                    "torch.UntypedStorage",
                                                    "torch._utils._rebuild_parameter",
                                                    "torch._utils._rebuild_parameter_with_state",
                                                    "torch._utils._rebuild_tensor",
                                                    "torch._utils._rebuild_tensor_v2",
                                                    "torch._utils._rebuild_tensor_v3",
                                                    "torch.storage.TypedStorage",
                                                    "torch.storage.UntypedStorage",
                                                    "torch.storage._TypedStorage",
                                                    "torch.storage._UntypedStorage"};

// Plain types in files of Lightning and in numpy's random state. Sorted.
constexpr std::array<std::string_view, 13> kOpaque = {"argparse.Namespace",
                                                      "datetime.datetime",
                                                      "datetime.timedelta",
                                                      "numpy._core.multiarray._reconstruct",
                                                      "numpy.core.multiarray._reconstruct",
                                                      "numpy.ndarray",
                                                      "pathlib.Path",
                                                      "pathlib.PosixPath",
                                                      "pathlib.PurePosixPath",
                                                      "pathlib.WindowsPath",
                                                      "torch.device",
                                                      "torch.nn.parameter.Parameter",
                                                      "uuid.UUID"};

constexpr std::array<std::string_view, 15> kBuiltins = {
    "bool", "bytearray", "bytes", "complex", "dict",  "float", "frozenset", "int",
    "list", "object",    "range", "set",     "slice", "str",   "tuple"};

// Libraries with objects that Lightning stores next to the weights.
constexpr std::array<std::string_view, 6> kOpaquePrefixes = {
    "lightning.", "lightning_fabric.",  "lightning_utilities.",
    "omegaconf.", "pytorch_lightning.", "torch.optim."};

constexpr std::array<std::string_view, 12> kStorages = {
    "BFloat16", "Bool",  "Byte", "Char", "ComplexDouble", "ComplexFloat",
    "Double",   "Float", "Half", "Int",  "Long",          "Short"};

constexpr std::array<std::string_view, 35> kDtypes = {"bfloat16",
                                                      "bits16",
                                                      "bits8",
                                                      "bool",
                                                      "cfloat",
                                                      "chalf",
                                                      "complex128",
                                                      "complex32",
                                                      "complex64",
                                                      "double",
                                                      "float",
                                                      "float16",
                                                      "float32",
                                                      "float4_e2m1fn_x2",
                                                      "float64",
                                                      "float8_e4m3fn",
                                                      "float8_e4m3fnuz",
                                                      "float8_e5m2",
                                                      "float8_e5m2fnuz",
                                                      "float8_e8m0fnu",
                                                      "half",
                                                      "int",
                                                      "int16",
                                                      "int32",
                                                      "int64",
                                                      "int8",
                                                      "long",
                                                      "qint32",
                                                      "qint8",
                                                      "quint8",
                                                      "short",
                                                      "uint16",
                                                      "uint32",
                                                      "uint64",
                                                      "uint8"};

static_assert(std::ranges::is_sorted(kRead) && std::ranges::is_sorted(kOpaque) &&
              std::ranges::is_sorted(kBuiltins) && std::ranges::is_sorted(kStorages) &&
              std::ranges::is_sorted(kDtypes));

bool among(const auto& sorted, std::string_view name) {
    return std::binary_search(sorted.begin(), sorted.end(), name);
}

bool isTorchType(std::string_view name) {  // torch.FloatStorage, torch.float32
    constexpr std::string_view torch = "torch.", storage = "Storage";
    if (!name.starts_with(torch)) return false;
    name.remove_prefix(torch.size());
    if (among(kDtypes, name)) return true;
    if (!name.ends_with(storage)) return false;
    name.remove_suffix(storage.size());
    return among(kStorages, name);
}

}  // namespace

GlobalUse globalUse(std::string_view name) {
    if (among(kRead, name) || isTorchType(name)) return GlobalUse::Read;
    if (among(kOpaque, name)) return GlobalUse::Opaque;
    for (const std::string_view module : {"builtins.", "__builtin__."})
        if (name.starts_with(module) && among(kBuiltins, name.substr(module.size())))
            return GlobalUse::Opaque;
    for (const auto prefix : kOpaquePrefixes)
        if (name.starts_with(prefix)) return GlobalUse::Opaque;
    return GlobalUse::Refused;
}

}  // namespace relascope::core
