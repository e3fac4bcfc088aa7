// SPDX-License-Identifier: GPL-3.0-or-later
// The Python names that a checkpoint may refer to.
#include <algorithm>
#include <array>
#include <cctype>

#include "checkpoint/pickle.h"

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
constexpr std::array<std::string_view, 33> kOpaque = {
    "argparse.Namespace",
    "collections.Counter",
    "collections.defaultdict",
    "collections.deque",
    "datetime.datetime",
    "datetime.timedelta",
    "numpy._core.multiarray._reconstruct",
    "numpy.core.multiarray._reconstruct",
    "numpy.ndarray",
    "pathlib.Path",
    "pathlib.PosixPath",
    "pathlib.PurePosixPath",
    "pathlib.WindowsPath",
    "torch.Tensor",
    "torch._tensor._rebuild_from_type_v2",
    "torch._utils._rebuild_device_tensor_from_cpu_tensor",
    "torch._utils._rebuild_device_tensor_from_numpy",
    "torch._utils._rebuild_meta_tensor_no_storage",
    "torch._utils._rebuild_nested_tensor",
    "torch._utils._rebuild_qtensor",
    "torch._utils._rebuild_sparse_csr_tensor",
    "torch._utils._rebuild_sparse_tensor",
    "torch._utils._rebuild_wrapper_subclass",
    "torch.device",
    "torch.nn.parameter.Parameter",
    "torch.nn.parameter.UninitializedBuffer",
    "torch.nn.parameter.UninitializedParameter",
    "torch.per_channel_affine",
    "torch.per_channel_affine_float_qparams",
    "torch.per_tensor_affine",
    "torch.serialization._get_layout",
    "types.SimpleNamespace",
    "uuid.UUID"};

constexpr std::array<std::string_view, 16> kBuiltins = {
    "bool", "bytearray", "bytes",  "complex", "dict", "float", "frozenset", "int",
    "list", "long",      "object", "range",   "set",  "slice", "str",       "tuple"};

// Libraries with objects that Lightning stores next to the weights.
constexpr std::array<std::string_view, 7> kOpaquePrefixes = {
    "lightning.",         "lightning_fabric.", "lightning_utilities.", "omegaconf.",
    "pytorch_lightning.", "torch.masked.",     "torch.optim."};

// Modules whose names are no plain data of a training script: those of an attack, and PyTorch's
// own, of which the lists above say what is read. Sorted.
constexpr std::array<std::string_view, 40> kDenied = {"__builtin__",
                                                      "_ctypes",
                                                      "_io",
                                                      "_pickle",
                                                      "_posixsubprocess",
                                                      "_thread",
                                                      "asyncio",
                                                      "bdb",
                                                      "builtins",
                                                      "cloudpickle",
                                                      "code",
                                                      "codecs",
                                                      "codeop",
                                                      "collections",
                                                      "commands",
                                                      "copyreg",
                                                      "ctypes",
                                                      "dill",
                                                      "importlib",
                                                      "io",
                                                      "marshal",
                                                      "multiprocessing",
                                                      "nt",
                                                      "numpy",
                                                      "operator",
                                                      "os",
                                                      "pdb",
                                                      "pickle",
                                                      "pip",
                                                      "platform",
                                                      "posix",
                                                      "pty",
                                                      "runpy",
                                                      "shutil",
                                                      "socket",
                                                      "subprocess",
                                                      "sys",
                                                      "torch",
                                                      "types",
                                                      "webbrowser"};

constexpr std::array<std::string_view, 17> kStorages = {
    "BFloat16", "Bool",     "Byte",     "Char",   "ComplexDouble", "ComplexFloat",
    "Double",   "Float",    "Half",     "Int",    "Long",          "QInt32",
    "QInt8",    "QUInt2x4", "QUInt4x2", "QUInt8", "Short"};

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

static_assert(std::ranges::is_sorted(kDenied) && std::ranges::is_sorted(kRead) &&
              std::ranges::is_sorted(kOpaque) && std::ranges::is_sorted(kBuiltins) &&
              std::ranges::is_sorted(kStorages) && std::ranges::is_sorted(kDtypes));

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
    // The classes of a training script and its libraries: nothing of them is imported or called.
    const auto module = name.substr(0, name.find('.'));
    const bool plain = !module.empty() && std::ranges::all_of(name, [](unsigned char c) {
        return std::isalnum(c) || c == '_' || c == '.';
    });
    return plain && !among(kDenied, module) ? GlobalUse::Opaque : GlobalUse::Refused;
}

}  // namespace relascope::core
