package rlock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"
)

// Callers should not make these values, but a field that was never set is one.
func TestZeroValuesAnswerWithErrors(t *testing.T) {
	missing := typesWithMethods(t)
	for _, zero := range []any{
		new(Client), new(Lock), new(ReadWriteLock), new(PermitSemaphore), new(Permits), new(Semaphore), new(CountDownLatch), new(Hold), new(Owner), new(MultiLock), new(MultiHold), new(Subject),
		new(Client).NewPermitSemaphore("seats"), new(Client).NewLock("orders"), new(Client).NewSpinLock("orders"), new(ReadWriteLock).ReadLock(), new(Client).NewReadWriteLock("doc"),
	} {
		v := reflect.ValueOf(zero)
		delete(missing, v.Type().Elem().Name())
		for i := range v.NumMethod() {
			name := fmt.Sprintf("%T.%s", zero, v.Type().Method(i).Name)
			results := callWithSomething(t.Context(), v.Method(i))
			for _, r := range results {
				if err, ok := r.Interface().(error); ok && !errors.Is(err, ErrInvalidOption) {
					t.Errorf("%s: %v", name, err)
				}
			}
			// Methods that can fail return an error.
			if n := len(results); n > 0 && results[n-1].Type() == reflect.TypeFor[error]() && results[n-1].IsNil() {
				t.Errorf("%s: no error", name)
			}
		}
	}
	for name := range missing {
		t.Errorf("the zero %s is not tried", name)
	}
}

// typesWithMethods returns the exported types that have exported methods.
func typesWithMethods(t *testing.T) map[string]bool {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	found := map[string]bool{}
	method := regexp.MustCompile(`(?m)^func \((?:\w+ )?\*?([A-Z]\w*)\) [A-Z]`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, m := range method.FindAllSubmatch(text, -1) {
			found[string(m[1])] = true
		}
	}
	return found
}

// callWithSomething calls a method with arbitrary arguments.
func callWithSomething(ctx context.Context, method reflect.Value) []reflect.Value {
	var args []reflect.Value
	for i := range method.Type().NumIn() {
		switch in := method.Type().In(i); {
		case in == reflect.TypeFor[context.Context]():
			args = append(args, reflect.ValueOf(&ctx).Elem()) // which may be nil
		case in == reflect.TypeFor[time.Duration]():
			args = append(args, reflect.ValueOf(time.Second))
		case method.Type().IsVariadic() && i == method.Type().NumIn()-1:
		default:
			args = append(args, reflect.Zero(in))
		}
	}
	return method.Call(args)
}

func TestZeroHoldIsOver(t *testing.T) {
	var h Hold
	select {
	case <-h.Done():
	default:
		t.Error("Done is not closed")
	}
	ctx, cancel := h.Context(t.Context())
	defer cancel()
	if !errors.Is(context.Cause(ctx), ErrInvalidOption) {
		t.Errorf("its context ended with %v", context.Cause(ctx))
	}
}
