package locks

import (
	"errors"
	"testing"

	"github.com/gomodule/redigo/redis"
)

func TestListeners(t *testing.T) {
	t.Parallel()
	if n, err := listeners([]any{[]byte("channel"), int64(3)}, nil); n != 3 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	refused := redis.Error("NOPERM this user has no permissions")
	if _, err := listeners(nil, refused); !errors.Is(err, refused) {
		t.Errorf("a refusal is told as %v", err)
	}
	for what, reply := range map[string]any{"no pair": []any{[]byte("channel")}, "no array": int64(3), "no number": []any{[]byte("channel"), []byte("many")}} {
		if n, err := listeners(reply, nil); err == nil {
			t.Errorf("%s: %d", what, n)
		}
	}
}
