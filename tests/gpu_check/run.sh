#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# One check of all that needs an NVIDIA GPU, of the programs that pack.sh has collected:
#
#     OUT=FOLDER bash .gpu/run.sh            # in the root of the checkout that pack.sh ran in
#
# The steps follow in the order of what they teach; none stops another, each has a time limit, and no more begin
# when BUDGET seconds (480) are over. Results, in FOLDER: summary.txt (a line a step), steps.log (all output),
# bench.jsonl and package.jsonl (figures), sanitizer.log.
# DEVICE=cpu rehearses the steps without a GPU, however long they take. ONLY="devices bench" runs these steps alone.
set -u
self=$(readlink -f "${BASH_SOURCE[0]}")
here=$(dirname "$self")
root=$(dirname "$here")
device=${DEVICE:-cuda:0}
export OUT=${OUT:-$here/out}
golden=$root/tests/fixtures/golden

# ---- one step, in a process of its own: run.sh --step NAME. Its last line "RESULT STATE TEXT" is the summary.

result() { echo "RESULT $*"; }
# The work folder is GPU_CHECK_WORK; programs find LibTorch and CUDA's libraries of python3's torch.
program() { LD_LIBRARY_PATH=$GPU_CHECK_LIBRARIES "$GPU_CHECK_WORK/bin/$1" "${@:2}"; }
cli() { program relascope-cli "$@"; }
last_words() { grep -v '^$' "$1" | tail -1 | cut -c1-300; }
need_gpu() {
    local reason=$GPU_CHECK_WORK/no_gpu
    [[ $device == cpu || ! -s $reason ]] && return
    result no-gpu "$(cat "$reason")"
    exit 0
}
# Seconds or steps: the first with a GPU, the second in a rehearsal on the CPU.
pick() { [[ $device == cpu ]] && echo "$2" || echo "$1"; }

step_link() {
    local file missing problems="" files=(bin/relascope-cli bin/relascope-bench bin/core_tests)
    [[ $device == cpu ]] || files+=(bin/librelascope_cuda.so bin/librelascope_cuda_graphs.so)
    for file in "${files[@]}"; do
        missing=$(LD_LIBRARY_PATH=$GPU_CHECK_LIBRARIES ldd "$GPU_CHECK_WORK/$file" 2>&1 | grep -E 'not found|not a dynamic')
        [[ -z $missing ]] && continue
        echo "$file:"$'\n'"$missing"
        problems+=" $file: $(awk '{print $1}' <<<"$missing" | sort -u | head -4 | tr '\n' ' ')"
    done
    source <(grep -E '^[a-z_]+=[^ ]*$' "$here/build.txt")
    local own
    own=$(sed -n "s/^__version__ = '\(.*\)'/\1/p; s/^git_version = '\(.*\)'/\1/p" "$GPU_CHECK_TORCH/version.py" | tr '\n' ' ')
    echo "LibTorch here: $own; of the build: $torch $torch_commit"
    [[ $own == "$torch $torch_commit " ]] || problems+=" LibTorch here is $own, the build's is $torch $torch_commit"
    getconf GNU_LIBC_VERSION
    [[ -z $problems ]] && result ok "all libraries found, LibTorch $torch is the build's" || result FAILED "missing:$problems"
}

step_devices() {
    nvidia-smi --query-gpu=name,driver_version,memory.total,compute_cap,clocks.sm,mig.mode.current --format=csv 2>&1
    local json=$GPU_CHECK_WORK/devices.json
    cli devices --json --threads 4 >"$json" 2>"$json.err" || { cat "$json.err"; result FAILED "$(last_words "$json.err")"; return; }
    cat "$json" "$json.err"
    python3 - "$json" "$GPU_CHECK_WORK/no_gpu" <<'PY'
import json, sys
gpus = [d for d in json.load(open(sys.argv[1])) if d["name"] != "cpu"]
g = gpus[0] if gpus else {"usable": False, "reason": "no entry"}
if not g["usable"]:
    open(sys.argv[2], "w").write(g["reason"])
    print("RESULT no-gpu", g["reason"])
else:
    problems = g.get("kernel_problems", []) + [p for p in (g["kernels_reason"], g["graphs_reason"]) if p]
    print("RESULT", "DIFFERS" if problems else "ok", f'{g["title"]}, {g.get("memory_total", 0) / 2**30:.1f} GiB, capability',
          g.get("capability", g.get("compute_capability")), "driver", g.get("driver"), "runtime", g.get("runtime"),
          "| own kernels for", " ".join(g["kernel_types"]) or "nothing", "|", "; ".join(problems) or "graphs")
PY
}

# Cases of verify in one process; the one that ends it is noted, and the others continue.
verify_all() {
    local log=$1 models=$2
    shift 2
    local folders=("$@") count more=()
    [[ -n $models ]] && more=(--models "$models")
    while ((${#folders[@]} > 0)); do
        stdbuf -oL env LD_LIBRARY_PATH="$GPU_CHECK_LIBRARIES" "$GPU_CHECK_WORK/bin/relascope-cli" \
            verify "${more[@]}" "${folders[@]}" --device "$device" --threads 4 >"$log.part" 2>&1
        cat "$log.part" >>"$log"
        count=$(grep -cE '^/.*: (NOT )?verified, ' "$log.part")
        ((count >= ${#folders[@]})) && break
        echo "ENDED ${folders[count]}: $(last_words "$log.part")" >>"$log"
        (($(grep -c ^ENDED "$log") > 12)) && break
        folders=("${folders[@]:count+1}")
    done
}
step_golden() {
    need_gpu
    local log=$GPU_CHECK_WORK/golden.txt folder
    local plain=() public=()
    while read -r folder; do
        [[ $folder == */public-interventions/* ]] && public+=("$folder") || plain+=("$folder")
    done < <(find "$golden" \( -name io.safetensors -o -name expected.json -o -name tokenizer_cases.json \) -printf '%h\n' | sort -u)
    ((${#plain[@]} > 0)) || { result FAILED "no cases in $golden"; return; }
    : >"$log"
    verify_all "$log" "" "${plain[@]}"
    verify_all "$log" "$golden/public" "${public[@]}"
    grep -E 'NOT OK|^ENDED|NOT verified' "$log"
    local good bad ended worst
    good=$(grep -c ': verified, ' "$log") bad=$(grep -c ': NOT verified, ' "$log") ended=$(grep -c '^ENDED' "$log")
    worst=$(sed -n 's|^/.*/\([^/]*\): .*largest difference \(.*\)$|\2 \1|p' "$log" | sort -g | tail -1)
    local state=ok
    ((bad + ended > 0)) && state=DIFFERS
    result $state "$good of $((${#plain[@]} + ${#public[@]})) golden cases agree on $device, $bad do not, $ended end in an error; largest difference $worst; $(grep -E '^ENDED|NOT verified' "$log" | sed 's|.*golden/||' | head -4 | tr '\n' ';')"
}

step_tests() {
    need_gpu
    # The fixtures' place is compiled in.
    source <(grep '^checkout=[^ ]*$' "$here/build.txt")
    if [[ ! -e $checkout/tests/fixtures ]]; then
        mkdir -p "$checkout/tests" 2>/dev/null && ln -sfn "$root/tests/fixtures" "$checkout/tests/fixtures"
    fi
    local log=$GPU_CHECK_WORK/tests.txt name
    cd "$GPU_CHECK_WORK" || return
    program core_tests --gtest_filter='Cuda.*:Devices.*' >"$log" 2>&1
    if ! grep -q 'tests ran' "$log"; then # one of them ended the program
        for name in $(program core_tests --gtest_list_tests --gtest_filter='Cuda.*' 2>/dev/null | grep '^  '); do
            timeout -k 5 60 bash "$self" --alone program core_tests --gtest_filter="Cuda.$name" >>"$log" 2>&1 ||
                echo "[  FAILED  ] Cuda.$name (ended)" >>"$log"
        done
    fi
    cat "$log"
    local good bad registered
    registered=$(sed -n 's/^CUDA tests: \([0-9]*\) registered.*/\1/p' "$log" | head -1)
    [[ $device == cpu || ${registered:-0} -gt 0 ]] || { result FAILED "no CUDA test was registered: $(last_words "$log")"; return; }
    good=$(grep '^\[       OK' "$log" | awk '{print $4}' | sort -u | wc -l)
    bad=$(grep '^\[  FAILED  \] [A-Z]' "$log" | awk '{print $4}' | sort -u | tr '\n' ' ')
    [[ -z $bad ]] && result ok "$good tests of core_tests passed" || result FAILED "$good tests passed; failed: $bad"
}

train() { # FOLDER ARGUMENTS...: quick, without the weights along training
    local folder=$GPU_CHECK_WORK/runs/$1
    shift
    mkdir -p "$GPU_CHECK_WORK/runs"
    cli train "$@" --out "$folder" --threads 4 --set train.keep_mib=0 >"$folder.txt" 2>&1
    local code=$?
    [[ $code == 0 ]] || { echo "train $* ended with $code:"; cat "$folder.txt"; }
    return $code
}
step_train() {
    need_gpu
    local steps few
    steps=$(pick 160 24) few=$(pick 40 12)
    local half=$((steps / 2)) runs=$GPU_CHECK_WORK/runs
    local quick=(quick --seed 1 --device "$device")
    train whole "${quick[@]}" --steps "$steps" &
    RELASCOPE_CUDA_GRAPHS=off train one-by-one "${quick[@]}" --steps "$steps" &
    RELASCOPE_CUDA_PLUGIN=off train libtorch "${quick[@]}" --steps "$few" --set model.dropout_rate=0 &
    train own "${quick[@]}" --steps "$few" --set model.dropout_rate=0 &
    train cpu quick --seed 1 --device cpu --steps "$few" --set model.dropout_rate=0 &
    (train parts "${quick[@]}" --steps "$half" && cli train --resume "$runs/parts" --steps "$steps" --threads 4) >/dev/null 2>&1 &
    wait
    python3 "$here/curves.py" "$runs" whole=one-by-one whole=parts own~cpu libtorch~cpu
    grep -h 'CUDA graph' "$runs"/*/events.jsonl | sort | uniq -c
}

# Models of every kind for a few steps, here and on the CPU: near losses, and whether their steps become a graph.
zoo='sort-argsort abstractor model.dropout_rate=0
sort-argsort dat model.dropout_rate=0
pairwise-order - model.dropout_rate=0
set predinet
rules-same-different esbn
rules-matching relation-network
rules-matching corelnet
math-linear-1d dat model.dropout_rate=0 model.decoder.dropout_rate=0
math-linear-1d abstractor-sinusoidal model.dropout_rate=0
select-relate relational
symbol-recovery robust-regression
relational-games-same dat-rca model.dropout_rate=0
relational-games-same abstractor
text dat-rca
text transformer'
zoo_run() { # DEVICE PRESET MODEL [SETTING]...
    local folder=zoo-${1%%:*}-$2-$3 more=() setting
    [[ $3 == - ]] || more+=(--model "$3")
    for setting in "${@:4}"; do more+=(--set "$setting"); done
    train "$folder" "$2" --device "$1" --seed 1 --steps 8 --set train.batch_size=16 --set data.train_size=256 \
        --set data.validation_size=32 --set data.test_size=32 --set train.evaluate_every=1000 "${more[@]}" ||
        echo "ENDED $2 $3 on $1: $(last_words "$GPU_CHECK_WORK/runs/$folder.txt")"
}
step_zoo() {
    need_gpu
    local preset model setting names=() running=0
    while read -r preset model setting; do
        (zoo_run "$device" "$preset" "$model" $setting; [[ $device == cpu ]] || zoo_run cpu "$preset" "$model" $setting) &
        names+=("zoo-${device%%:*}-$preset-$model~zoo-cpu-$preset-$model")
        ((++running % 8 == 0)) && wait
    done <<<"$zoo"
    wait
    grep -h 'not repeated as a CUDA graph' "$GPU_CHECK_WORK"/runs/zoo-cuda-*/events.jsonl 2>/dev/null
    local eager
    eager=$(grep -l 'not repeated as a CUDA graph' "$GPU_CHECK_WORK"/runs/zoo-cuda-*/events.jsonl 2>/dev/null | sed 's|.*/zoo-cuda-||; s|/events.*||' | tr '\n' ' ')
    python3 "$here/curves.py" "$GPU_CHECK_WORK/runs" --short "without a graph: ${eager:-none}" "${names[@]}"
}

step_text() {
    need_gpu
    local runs=$GPU_CHECK_WORK/runs
    local text=(text --seed 1 --set train.evaluate_every=1000 --set data.validation_size=8)
    train text "${text[@]}" --device "$device" --steps "$(pick 300 6)" &
    train text-again "${text[@]}" --device "$device" --steps "$(pick 100 6)" &
    [[ $device == cpu ]] || train text-bf16 "${text[@]}" --device "$device" --steps 300 --set train.precision=bfloat16 &
    train text-cpu "${text[@]}" --device cpu --steps "$(pick 20 6)" &
    wait
    local where
    for where in "$device" cpu; do
        {
            cli generate "$runs/text" --prompt "The " --tokens 120 --temperature 0 --threads 4 --device "$where" >"$runs/said-${where%%:*}.txt"
            cli generate "$runs/text" --prompt "The " --tokens 120 --temperature 0 --threads 4 --device "$where" --bf16 >"$runs/said-bf16-${where%%:*}.txt"
            cli inspect "$runs/text" --text "a model of a state" --layer 2 --kind relation --index 1 --device "$where" --out "$runs/map-${where%%:*}.csv"
            cli eval "$runs/text" --device "$where" --threads 4 --json >"$runs/eval-${where%%:*}.json"
        } 2>&1 &
    done
    wait
    cat "$runs"/said-*.txt "$runs"/eval-*.json
    python3 "$here/curves.py" "$runs" text~text-cpu "text?text-again" $([[ -d $runs/text-bf16 ]] && echo text-bf16~text-cpu) \
        files:said-"${device%%:*}".txt,said-cpu.txt files:said-bf16-"${device%%:*}".txt,said-bf16-cpu.txt \
        csv:map-"${device%%:*}".csv,map-cpu.csv json:eval-"${device%%:*}".json,eval-cpu.json
}

# The language model of 343 million parameters in a real run: estimate, bfloat16, graph, checkpoint, resume.
step_large() {
    need_gpu
    [[ $device == cpu ]] && { result skipped "in a rehearsal"; return; }
    local folder=$GPU_CHECK_WORK/runs/large
    train large lm-343m --device "$device" --steps 24 --set train.batch_size=8 --set train.tokens_per_step=0 \
        --set data.validation_size=8 --set train.evaluate_every=1000 --set train.checkpoint_every=1000 --set train.warmup_steps=4
    local code=$?
    cat "$folder.txt" "$folder/events.jsonl"
    ((code == 0)) || { result FAILED "$(last_words "$folder.txt")"; return; }
    python3 "$here/curves.py" "$GPU_CHECK_WORK/runs" "speed:large,8192"
}

# Figures of relascope-bench, a process for each workload. SETTING=off as a second attempt where the first fails.
bench() { # NAME SECONDS [VARIABLE=VALUE]
    local log=$GPU_CHECK_WORK/bench-$1.txt
    env ${3:-GPU_CHECK=1} LD_LIBRARY_PATH="$GPU_CHECK_LIBRARIES" "$GPU_CHECK_WORK/bin/relascope-bench" \
        "$1" --device "$device" --seconds "$2" --json >"$log" 2>"$log.err"
    local code=$?
    cat "$log" "$log.err"
    ((code == 0)) && python3 -c 'import json, sys; print(json.dumps(json.load(open(sys.argv[1]))))' "$log" >>"$OUT/bench.jsonl" && return 0
    echo "bench $1 ${3:-} ended with $code: $(last_words "$log.err")" | tee -a "$GPU_CHECK_WORK/bench.failed"
    return 1
}
bench_result() {
    local failed=$GPU_CHECK_WORK/bench.failed count notes
    notes=$(grep -hs '^relascope: ' "$GPU_CHECK_WORK"/bench-*.txt.err | sort -u | tr '\n' ';' | cut -c1-400)
    count="$(wc -l <"$OUT/bench.jsonl") workloads in bench.jsonl${notes:+; $notes}"
    [[ -s $failed ]] && result FAILED "$count; $(tr '\n' ';' <"$failed" | cut -c1-600)" || result ok "$count"
}
step_bench_large() {
    need_gpu
    [[ $device == cpu ]] && { result skipped "in a rehearsal"; return; }
    # A kernel that ends the process leaves no figures at all; LibTorch's then still tell.
    bench lm_dat_343m 3 || bench lm_dat_343m 3 RELASCOPE_CUDA_PLUGIN=off
    bench generate_343m 2
    bench_result
}
step_bench() {
    need_gpu
    local name
    for name in relgames_dat lm_dat_512 lm_dat_512_dropout mathematics cifar_vidat relgames_transformer lm_transformer_512 lm_dat_1024 generate_256; do
        bench "$name" "$(pick 1.5 0.1)"
        [[ $device == cpu && $name == lm_dat_512 ]] && break
    done
    bench_result
}

step_package() {
    need_gpu
    local wheel
    wheel=$(echo "$here"/dual_attention-*.whl)
    [[ -f $wheel ]] || { result skipped "the package was not packed"; return; }
    local reason
    reason=$(python3 -c 'import torch' 2>&1 | tail -1)
    [[ -z $reason ]] || { result impossible "python3 cannot import torch: $reason"; return; }
    local names=(lm_dat_343m relgames_dat lm_dat_512 lm_dat_512_dropout cifar_vidat relgames_transformer lm_transformer_512 lm_dat_1024)
    [[ $device == cpu ]] && names=(relgames_dat lm_dat_512)
    PYTHONPATH=$wheel${PYTHONPATH:+:$PYTHONPATH} python3 "$here/package.py" "$device" "$(pick 1.5 0.1)" "$OUT/bench.jsonl" \
        "${names[@]}" >>"$OUT/package.jsonl"
    cat "$OUT/package.jsonl"
    grep -q problem "$OUT/package.jsonl" && result FAILED "$(grep -h problem "$OUT/package.jsonl" | tr '\n' ' ' | cut -c1-300)" ||
        result ok "$(wc -l <"$OUT/package.jsonl") workloads in package.jsonl"
}
step_compiled() { # the same by torch.compile, as far as the time suffices
    need_gpu
    local wheel
    wheel=$(echo "$here"/dual_attention-*.whl)
    [[ -f $wheel && $device != cpu ]] || { result skipped "no package, or a rehearsal"; return; }
    PYTHONPATH=$wheel python3 "$here/package.py" "$device" 1.5 "$OUT/bench.jsonl" lm_dat_512+compile lm_dat_343m+compile >>"$OUT/package.jsonl"
    local problems
    problems=$(grep '"compiled": true' "$OUT/package.jsonl" | grep problem | cut -c1-300 | tr '\n' ' ')
    [[ -z $problems ]] && result ok "torch.compile in package.jsonl" || result FAILED "$problems"
}

# Our kernels alone, in the small problems by which `devices` checks them: both kinds, forward and backward.
sanitize() { # TOOL LOG ARGUMENTS...; without the filter of kernels where its option has another name
    local tool=$1 log=$2 options
    shift 2
    for options in "--kernel-regex kns=relascope --print-limit 20" ""; do
        [[ $tool == memcheck ]] && options+=" --report-api-errors no"
        LD_LIBRARY_PATH=$GPU_CHECK_LIBRARIES timeout -k 5 80 compute-sanitizer --tool "$tool" $options \
            "$GPU_CHECK_WORK/bin/relascope-cli" "$@" >"$log" 2>&1
        grep -qiE '(unrecogni[sz]ed|invalid|unknown).*option' "$log" || break
    done
}
step_sanitizer() {
    need_gpu
    [[ $device == cpu ]] && { result skipped "in a rehearsal"; return; }
    command -v compute-sanitizer >/dev/null || { result impossible "compute-sanitizer is not installed"; return; }
    export PYTORCH_NO_CUDA_MEMORY_CACHING=1 RELASCOPE_CUDA_GRAPHS=off
    local what words found="" state=ok tools=(memcheck racecheck synccheck initcheck)
    for what in "${tools[@]}"; do
        sanitize "$what" "$GPU_CHECK_WORK/$what.txt" devices --threads 2 &
    done
    wait
    for what in "${tools[@]}"; do
        { echo "== $what"; tail -c 200000 "$GPU_CHECK_WORK/$what.txt"; } >>"$OUT/sanitizer.log"
        words=$(grep -hE 'ERROR SUMMARY|RACECHECK SUMMARY' "$GPU_CHECK_WORK/$what.txt" | tail -1 | sed 's/=//g')
        found+=" $what:${words:- $(last_words "$GPU_CHECK_WORK/$what.txt")};"
        grep -qE '(ERROR SUMMARY: 0 errors|RACECHECK SUMMARY: 0 hazards)' "$GPU_CHECK_WORK/$what.txt" || state=DIFFERS
    done
    result $state "$found"
}

step_memory() {
    need_gpu
    local runs=$GPU_CHECK_WORK/runs
    mkdir -p "$runs"
    # Refused by the estimate, before anything is allocated.
    cli train lm-343m --device "$device" --steps 1 --set train.batch_size=65536 --set train.precision=float32 --out "$runs/refused" >"$runs/refused.txt" 2>&1
    local refused=$?
    cat "$runs/refused.txt"
    [[ $device == cpu ]] && { result ok "refused with $refused: $(last_words "$runs/refused.txt")"; return; }
    # The allocator is given a hundredth of the memory, which the estimate does not see; the run ends with advice.
    PYTORCH_CUDA_ALLOC_CONF=per_process_memory_fraction:0.01 train short text --device "$device" --steps 20 --set train.batch_size=512
    local short=$?
    cli train --resume "$runs/short" --steps 4 --threads 4 >"$runs/resumed.txt" 2>&1
    local resumed=$?
    cat "$runs/short.txt" "$runs/resumed.txt"
    local state=ok
    [[ $refused != 0 && $short != 0 && $resumed == 0 ]] || state=FAILED
    result $state "refused: $(last_words "$runs/refused.txt") | in the run ($short): $(last_words "$runs/short.txt") | resumed: $resumed"
}

# NCCL before version 2.30 refuses two ranks on one GPU: what can be seen is that it is found, meets, and says so.
step_ranks() {
    need_gpu
    local runs=$GPU_CHECK_WORK/runs rank
    mkdir -p "$runs"
    export WORLD_SIZE=2 LOCAL_WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=29617 TORCHELASTIC_RUN_ID=gpu-check NCCL_MULTI_RANK_GPU_ENABLE=1
    for rank in 1 0; do
        RANK=$rank LOCAL_RANK=$rank cli train quick --device "$device" --steps 4 --threads 4 --rank-timeout 30 --out "$runs/ranks" >"$runs/ranks-$rank.txt" 2>&1 &
    done
    wait
    cat "$runs"/ranks-?.txt
    if grep -q '"state": "done"' "$runs/ranks/run.json" 2>/dev/null; then
        result ok "two ranks on one device trained"
    elif grep -hE 'NCCL' "$runs"/ranks-?.txt | tail -1 >"$runs/nccl.txt" && [[ -s $runs/nccl.txt ]]; then
        result impossible "two ranks on one GPU: $(cat "$runs/nccl.txt")"
    else
        result FAILED "$(last_words "$runs/ranks-0.txt")"
    fi
}

if [[ ${1:-} == --alone ]]; then
    shift
    "$@"
    exit
fi
if [[ ${1:-} == --step ]]; then
    "step_$2"
    exit
fi

# ---- the whole check

mkdir -p "$OUT" && OUT=$(readlink -f "$OUT")
rm -f "$OUT"/{summary.txt,steps.log,bench.jsonl,package.jsonl,sanitizer.log}
touch "$OUT/bench.jsonl" "$OUT/package.jsonl"
export GPU_CHECK_WORK
GPU_CHECK_WORK=$(mktemp -d "${TMPDIR:-/tmp}/gpu_check.XXXXXX")
deadline=$((SECONDS + ${BUDGET:-$(pick 480 7200)}))

python3 -c 'import sys, tarfile; tarfile.open(sys.argv[1]).extractall(sys.argv[2])' "$here/programs.tar.xz" "$GPU_CHECK_WORK" 2>/dev/null ||
    tar -C "$GPU_CHECK_WORK" -xJf "$here/programs.tar.xz" || { echo "the programs cannot be unpacked"; exit 1; }
export GPU_CHECK_TORCH
GPU_CHECK_TORCH=$(python3 -c 'import importlib.util as u; print(u.find_spec("torch").submodule_search_locations[0])') ||
    { echo "python3 has no torch, whose libraries are needed"; exit 1; }
libraries=$GPU_CHECK_TORCH/lib
for folder in "$GPU_CHECK_TORCH"/../nvidia/*/lib; do libraries+=:$folder; done
export GPU_CHECK_LIBRARIES=$libraries:$GPU_CHECK_WORK/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export GOMP_SPINCOUNT=1000 # as the programs set it themselves, by starting anew
export PYTHONUNBUFFERED=1

collect() {
    local name
    for name in link devices golden tests train zoo text bench_large package bench sanitizer large memory ranks compiled; do
        [[ -f $GPU_CHECK_WORK/$name.log ]] && echo "==== $name" && tail -c 1500000 "$GPU_CHECK_WORK/$name.log"
    done >"$OUT/steps.log"
}
finish() {
    local process # of steps that a signal has cut short
    for process in /proc/[0-9]*; do
        [[ ${process#/proc/} == "$$" ]] || ! grep -qsz "^GPU_CHECK_WORK=$GPU_CHECK_WORK\$" "$process/environ" || kill "${process#/proc/}" 2>/dev/null
    done
    collect
    {
        echo
        cat "$OUT/summary.txt"
        python3 "$here/summary.py" "$OUT"
    } 2>&1 | tee "$OUT/summary.new"
    mv "$OUT/summary.new" "$OUT/summary.txt"
    rm -rf "$GPU_CHECK_WORK"
}
trap 'exit 143' TERM INT
trap finish EXIT

step() { # NAME LIMIT
    [[ -z ${ONLY:-} || " link devices $ONLY " == *" $1 "* ]] || return 0
    local begin=$SECONDS left=$((deadline - SECONDS)) log=$GPU_CHECK_WORK/$1.log limit
    limit=$(pick "$2" 1800)
    if ((left < 10)); then
        printf '%-12s %-10s %4s s  %s\n' "$1" skipped 0 "no time was left" | tee -a "$OUT/summary.txt"
        return
    fi
    timeout -k 5 "$((limit < left ? limit : left))" bash "$self" --step "$1" >"$log" 2>&1
    local code=$? line state words
    line=$(grep '^RESULT ' "$log" | tail -1)
    read -r _ state words <<<"$line"
    if [[ -z $line ]]; then
        state=crashed words="exit $code: $(last_words "$log")"
        ((code == 124 || code == 137)) && state=late words="not done within its time: $(last_words "$log")"
    fi
    printf '%-12s %-10s %4s s  %s\n' "$1" "$state" $((SECONDS - begin)) "$words" | tee -a "$OUT/summary.txt"
}
together() {
    local name
    for name in "$@"; do step "$name" 120 & done
    wait
    collect
}

step link 30
step devices 60
together golden tests train
together zoo
step bench_large 100
step package 60
collect
step bench 110
collect
together text memory ranks
step sanitizer 100
collect
step large 80
step compiled 80
