package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
	"github.com/tetratelabs/wazero/sys"

	"github.com/rlock-go/redisson/integration/simulation"
)

// host plays plans in a WebAssembly machine. It has one thread, and no other source of time and chance than those that
// the host gives it, so a play comes out the same each time.
type host struct {
	runtime wazero.Runtime
	module  wazero.CompiledModule
}

// newHost compiles the simulation as it is in the checkout, with the files that an overlay replaces. The folder keeps
// compiled code.
func newHost(ctx context.Context, root, folder, overlay string) (*host, error) {
	binary := filepath.Join(folder, fmt.Sprintf("simulation-%d.wasm", os.Getpid()))
	defer os.Remove(binary)
	if err := build(ctx, root, binary, overlay, "GOOS=wasip1", "GOARCH=wasm", "GOFLAGS="+os.Getenv("GOFLAGS")+" -trimpath"); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	compiled, err := compiledCode(folder)
	if err != nil {
		return nil, err
	}
	runtime := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().WithCompilationCache(compiled))
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, runtime); err != nil {
		return nil, err
	}
	module, err := runtime.CompileModule(experimental.WithCompilationWorkers(ctx, 4), text)
	if err != nil {
		return nil, err
	}
	return &host{runtime, module}, nil
}

// compiledCode returns the cache of machine code. Each build of the simulation adds 60 MB, so those of other days go.
func compiledCode(folder string) (wazero.CompilationCache, error) {
	old, err := filepath.Glob(filepath.Join(folder, "wazero-*", "*"))
	if err != nil {
		return nil, err
	}
	for _, file := range old {
		if info, err := os.Stat(file); err == nil && time.Since(info.ModTime()) > 24*time.Hour {
			_ = os.Remove(file)
		}
	}
	return wazero.NewCompilationCacheWithDir(folder)
}

// play plays a plan. The runtime's own choices, such as which of two goroutines runs first in one instant, are drawn
// from the plan's seed and the number of a schedule.
func (h *host) play(ctx context.Context, plan simulation.Plan, schedule uint64) (*simulation.Result, error) {
	request, err := json.Marshal(plan)
	if err != nil {
		return nil, err
	}
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], plan.Seed)
	binary.LittleEndian.PutUint64(key[8:], schedule)
	var clock int64
	var printed bytes.Buffer
	config := wazero.NewModuleConfig().WithName("").
		WithArgs("simulation", "-test.run", "^TestReplay$", "-test.timeout", "30m").WithEnv("GOGC", "400").
		WithStdin(bytes.NewReader(request)).WithStdout(&printed).WithStderr(&printed).
		WithRandSource(rand.NewChaCha8(key)).
		// Time goes on by a microsecond with each look at it, and jumps to the end of each sleep.
		WithNanotime(func() int64 { clock += 1000; return clock }, sys.ClockResolution(1)).
		WithWalltime(func() (int64, int32) { return clock / 1e9, int32(clock % 1e9) }, sys.ClockResolution(1)).
		WithNanosleep(func(ns int64) { clock += ns })
	instance, err := h.runtime.InstantiateModule(ctx, h.module, config)
	if instance != nil {
		_ = instance.Close(ctx)
	}
	if exit, exited := errors.AsType[*sys.ExitError](err); err != nil && !exited {
		return nil, err
	} else if exited && exit.ExitCode() != 0 {
		return crashed(plan, printed.Bytes()), nil
	}
	return answer(printed.Bytes())
}
