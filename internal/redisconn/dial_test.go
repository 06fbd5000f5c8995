package redisconn

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"
)

// silent accepts connections and sends nothing.
func silent(t *testing.T) *Target {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return &Target{Address: l.Addr().String(), Name: "rlock"}
}

// The error must not speak of a context: a caller would take it for its own context's.
func TestDialThatTakesTooLongDoesNotSpeakOfAContext(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := silent(t).Dial(ctx, time.Minute)
	if ne, ok := errors.AsType[net.Error](err); !ok || !ne.Timeout() || strings.Contains(err.Error(), "context") {
		t.Errorf("got %v", err)
	}
}

func TestDialEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, err := silent(t).Dial(ctx, time.Minute); err == nil {
		t.Error("it connected")
	}
}
