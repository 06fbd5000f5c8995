package virtual_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/rlock-go/redisson/rlock"
	"github.com/rlock-go/redisson/rlocktest/simnet"
)

// A call that makes one attempt waits for a command timeout and an eighth altogether: whatever its command waits for first, such as a
// connection, a server that says that it is busy, or the command of another caller, is part of that.
func TestOneAttemptTakesOneCommandTimeout(t *testing.T) {
	const timeout = time.Second
	one := map[string]func(c *rlock.Client) error{
		"TryLock": func(c *rlock.Client) error {
			_, err := c.NewLock("orders").TryLock(context.Background())
			return err
		},
		"TryLock as an owner": func(c *rlock.Client) error {
			_, err := c.NewLock("orders").TryLock(context.Background(), rlock.As(c.NewOwner()))
			return err
		},
		"TryAcquire": func(c *rlock.Client) error { return c.NewSemaphore("seats").TryAcquire(context.Background(), 1) },
		"TryAcquire of permits": func(c *rlock.Client) error {
			_, err := c.NewPermitSemaphore("permits").TryAcquire(context.Background(), 1)
			return err
		},
	}
	for name, trouble := range map[string]func(r *rig, after time.Duration){
		// There is a connection in the last moment, and the server stands still as soon as the command has come.
		"down, then silent": func(r *rig, after time.Duration) {
			r.server.Kill(false)
			r.world.After(after, func() { r.server.Start(true) })
			r.server.Refuse = func(args []string) string {
				r.server.Paused = r.server.Paused || args[0] == "EVALSHA"
				return ""
			}
		},
		// The server refuses the command for a while, and then can't be reached.
		"busy, then cut off": func(r *rig, after time.Duration) {
			r.server.Busy = true
			r.world.After(after, func() { r.cut(true) })
		},
	} {
		for call, try := range one {
			t.Run(name+"/"+call, func(t *testing.T) {
				for after := timeout / 2; after < timeout; after += timeout / 16 {
					inBubble(t, func(r *rig) {
						c := r.open(rlock.WithCommandTimeout(timeout))
						r.at(func() { trouble(r, after) })
						began := time.Now()
						err := try(c)
						if took := time.Since(began); took > timeout+timeout/8 {
							r.Errorf("%v before a command timeout was over, it returned after %v: %v", timeout-after, took, err)
						}
						if err != nil && !errors.Is(err, rlock.ErrUncertain) && !errors.Is(err, rlock.ErrUnavailable) && !errors.Is(err, rlock.ErrNoPermits) {
							r.Errorf("it returned %v", err)
						}
						r.at(func() {
							r.cut(false)
							r.server.Refuse, r.server.Busy = nil, false
							if r.server.Paused {
								r.server.Resume()
							}
							r.world.Between(host(1), address).Slow = 0
						})
						r.pass(10 * timeout)
						r.at(func() {
							if r.server.Exists("orders") {
								r.Error("what the call took was not given back")
							}
						})
					})
				}
			})
		}
	}
}

// cut cuts the first client off and breaks its connections, or ends that. It is called with the world's lock held.
func (r *rig) cut(off bool) {
	r.world.Block(host(1), address, off)
	if off {
		for _, c := range r.world.Conns(func(*simnet.Conn) bool { return true }) {
			c.Break()
		}
	}
}
