package rlock

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"
)

// Nobody is to make these values, but a field that was never set is one.
func TestZeroValuesAnswerWithErrors(t *testing.T) {
	for _, zero := range []any{new(Client), new(Lock), new(PermitSemaphore), new(Permits), new(Semaphore), new(CountDownLatch), new(Client).NewPermitSemaphore("seats"), new(Client).NewLock("orders"), new(Client).NewSpinLock("orders"), new(Hold), new(Owner), new(MultiLock), new(MultiHold)} {
		v := reflect.ValueOf(zero)
		for i := range v.NumMethod() {
			name := fmt.Sprintf("%T.%s", zero, v.Type().Method(i).Name)
			results := callWithSomething(t.Context(), v.Method(i))
			for _, r := range results {
				if err, ok := r.Interface().(error); ok && !errors.Is(err, ErrInvalidOption) {
					t.Errorf("%s: %v", name, err)
				}
			}
			// What may fail fails.
			if n := len(results); n > 0 && results[n-1].Type() == reflect.TypeFor[error]() && results[n-1].IsNil() {
				t.Errorf("%s: no error", name)
			}
		}
	}
}

// callWithSomething calls a method with arguments that are as good as any.
func callWithSomething(ctx context.Context, method reflect.Value) []reflect.Value {
	var args []reflect.Value
	for i := range method.Type().NumIn() {
		switch in := method.Type().In(i); {
		case in == reflect.TypeFor[context.Context]():
			args = append(args, reflect.ValueOf(ctx))
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
