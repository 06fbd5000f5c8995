package redisconn

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// A client's connections may dial one address at the same time.
func TestAddressIsNotDialledWhileAnyLateDialGoesOn(t *testing.T) {
	t.Parallel()
	var p punctual[io.Closer]
	ctx, cancel := context.WithCancel(t.Context())
	begun, ended := make(chan struct{}), make(chan error)
	gates := [2]chan struct{}{make(chan struct{}), make(chan struct{})}
	for _, gate := range gates {
		go func() {
			_, err := p.dial(ctx, "a", func(context.Context) (io.Closer, error) {
				begun <- struct{}{}
				<-gate
				return nil, errNoConn
			})
			ended <- err
		}()
		<-begun
	}
	cancel()
	for range gates {
		if err := <-ended; !errors.Is(err, errLate) {
			t.Errorf("got %v", err)
		}
	}
	for i, want := range []error{errLate, errNoConn} {
		close(gates[i])
		redistest.Becomes(t, "the dial has returned", func() bool {
			p.mu.Lock()
			defer p.mu.Unlock()
			return p.late["a"] < 2-i
		})
		_, err := p.dial(t.Context(), "a", func(context.Context) (io.Closer, error) { return nil, errNoConn })
		if !errors.Is(err, want) {
			t.Errorf("after %d of them: %v, want %v", i+1, err, want)
		}
	}
}
