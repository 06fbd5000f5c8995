package rlock

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// A caller whose context ends while its answer comes gets an error that names call and lock, as any other does.
func TestContextThatEndsWithTheAnswerIsNamed(t *testing.T) {
	n := &name{l: &Lock{name: "orders"}}
	for _, cause := range []error{context.Canceled, context.DeadlineExceeded} {
		w := &waiter{n: n, ended: true, err: wrap("acquire", "orders", ErrLocked)}
		err := w.giveUp(cause)
		if !errors.Is(err, cause) || !errors.Is(err, ErrLocked) {
			t.Errorf("%v", err)
		}
		if text := err.Error(); !strings.HasPrefix(text, `rlock: acquire "orders": `) || strings.Count(text, "rlock:") != 1 {
			t.Errorf("%q", text)
		}
	}
}
