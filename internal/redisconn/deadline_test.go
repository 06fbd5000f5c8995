package redisconn

import (
	"context"
	"errors"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
)

func TestOwnDeadlineIsNotTheCallers(t *testing.T) {
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	_, err := (&net.Dialer{}).DialContext(ctx, "tcp", "127.0.0.1:1")
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("the dialler's error is %v", err)
	}
	err = fmt.Errorf("connect: %w: %w: %w", err, ErrPoolSize, redis.Error("BUSY"))
	hidden := OwnDeadline(err)
	if errors.Is(hidden, context.DeadlineExceeded) {
		t.Error("it is still told as the caller's")
	}
	if _, ok := errors.AsType[redis.Error](hidden); !ok || !errors.Is(hidden, ErrPoolSize) || hidden.Error() != err.Error() {
		t.Errorf("something else was hidden: %v", hidden)
	}
	if other := errors.New("other"); OwnDeadline(other) != other || OwnDeadline(nil) != nil {
		t.Error("an error that is no deadline was changed")
	}
}
