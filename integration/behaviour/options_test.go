package behaviour

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// What an object can't have must not compile: permits have no owner to share, those of a Semaphore have no lease either, and
// only TrySetPermits sets an end.
func TestOptionsThatDoNotFitDoNotCompile(t *testing.T) {
	t.Parallel()
	const fits, doesNot = "fits", "does not fit"
	uses := []struct{ want, code string }{
		{fits, `_, _ = lock.Lock(ctx, rlock.As(owner), rlock.Lease(1e9), rlock.Wait(1e9), rlock.AtLeast(1e9))`},
		{fits, `_, _ = lock.TryLock(ctx, rlock.MaxHold(1e9))`},
		{fits, `_, _ = lock.Lock(ctx, []rlock.AcquireOption{rlock.Lease(1e9), rlock.Wait(1e9)}...)`},
		{fits, `_, _ = permits.Acquire(ctx, 1, rlock.Lease(1e9), rlock.Margin(1e8), rlock.Wait(1e9))`},
		{fits, `_ = permits.Do(ctx, 1, nil, []rlock.PermitOption{rlock.Lease(1e9)}...)`},
		{fits, `_ = semaphore.Acquire(ctx, 1, rlock.Wait(1e9))`},
		{fits, `_, _ = semaphore.TrySetPermits(ctx, 1, rlock.Expire(1e9))`},
		{doesNot, `_, _ = permits.Acquire(ctx, 1, rlock.As(owner))`},
		{doesNot, `_, _ = permits.TryAcquire(ctx, 1, rlock.MaxHold(1e9))`},
		{doesNot, `_ = permits.Do(ctx, 1, nil, rlock.AtLeast(1e9))`},
		{doesNot, `_ = semaphore.Acquire(ctx, 1, rlock.Lease(1e9))`},
		{doesNot, `_ = semaphore.Acquire(ctx, 1, rlock.Margin(1e9))`},
		{doesNot, `_ = semaphore.Do(ctx, 1, nil, rlock.As(owner))`},
		{doesNot, `_ = semaphore.Acquire(ctx, 1, rlock.MaxHold(1e9))`},
		{doesNot, `_, _ = semaphore.TrySetPermits(ctx, 1, rlock.Lease(1e9))`},
		{doesNot, `_, _ = lock.Lock(ctx, rlock.Expire(1e9))`},
		{doesNot, `_ = semaphore.Acquire(ctx, 1, []rlock.AcquireOption{rlock.Wait(1e9)}...)`},
	}
	program := []string{`package main`, `import ("context"; "github.com/rlock-go/redisson/rlock")`,
		`func _(ctx context.Context, lock *rlock.Lock, permits *rlock.PermitSemaphore, semaphore *rlock.Semaphore, owner rlock.Owner) {`}
	first := len(program) + 1
	for _, use := range uses {
		program = append(program, use.code)
	}
	program = append(program, `}`, `func main() {}`)
	file := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(file, []byte(strings.Join(program, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "build", "-gcflags=-e", "-o", os.DevNull, file).CombinedOutput()
	if err == nil {
		t.Fatal("all of it compiles")
	}
	refused := map[string]bool{}
	for _, at := range regexp.MustCompile(`main\.go:(\d+):`).FindAllSubmatch(out, -1) {
		refused[string(bytes.TrimSpace(at[1]))] = true
	}
	for i, use := range uses {
		got := fits
		if refused[fmt.Sprint(first+i)] {
			got = doesNot
		}
		if got != use.want {
			t.Errorf("%s: %s, want %q\n%s", use.code, got, use.want, out)
		}
	}
}
