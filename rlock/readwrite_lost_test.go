package rlock

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// replyLoss is a dialer whose connection breaks before the reply to a command that contains text.
type replyLoss struct {
	text atomic.Pointer[string] // nil: no reply gets lost
	lost atomic.Int32
}

func (d *replyLoss) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, addr)
	return &losingConn{Conn: conn, d: d}, err
}

type losingConn struct {
	net.Conn
	d     *replyLoss
	armed atomic.Bool
}

func (c *losingConn) Write(b []byte) (int, error) {
	if text := c.d.text.Load(); text != nil && strings.Contains(string(b), *text) && c.d.text.CompareAndSwap(text, nil) {
		c.armed.Store(true)
	}
	return c.Conn.Write(b)
}

func (c *losingConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if c.armed.Load() {
		c.d.lost.Add(1)
		c.Conn.Close()
		return 0, io.EOF
	}
	return n, err
}

// loseNext loses the reply to the next run of a script.
func (d *replyLoss) loseNext(s *luasrc.Script) { d.text.Store(&s.SHA1) }

// An acquire whose reply is lost is undone and tried again, and an unlock is repeated. Each takes or gives back one hold.
func TestLostRepliesOfAReadWriteLock(t *testing.T) {
	t.Parallel()
	var beside redistest.Parts
	defer beside.Wait()
	for _, tc := range []struct {
		name         string
		lock, unlock *luasrc.Script
	}{
		{"read", luasrc.ReadLockScript, luasrc.ReadUnlockScript},
		{"write", luasrc.WriteLockScript, luasrc.WriteUnlockScript},
	} {
		for _, writes := range []bool{false, true} { // whether the owner holds the write lock, too
			beside.Run(t, fmt.Sprintf("%s, its owner writes %v", tc.name, writes), func(t *testing.T) {
				s := redistest.Start(t)
				var loss replyLoss
				c := open(t, s, WithDialer(loss.dial))
				read, write := both(c, "doc")
				l := map[string]*Lock{"read": read, "write": write}[tc.name]
				outer := lockOf(t, write)
				var as []AcquireOption
				if writes {
					as = append(as, As(outer.Owner()))
				} else {
					mustUnlock(t, outer)
				}
				mustUnlock(t, lockOf(t, l, as...)) // the server knows the scripts
				before := 0
				if writes && tc.name == "write" {
					before = 1
				}
				loss.loseNext(tc.lock)
				h := lockOf(t, l, as...)
				o := h.Owner()
				counts(t, l, o, before+1)
				second := lockOf(t, l, As(o))
				for i, h := range []*Hold{second, h} {
					loss.loseNext(tc.unlock)
					mustUnlock(t, h)
					counts(t, l, o, before+1-i)
				}
				if n := loss.lost.Load(); n != 3 {
					t.Errorf("%d replies were lost", n)
				}
				if writes {
					mustUnlock(t, outer)
				}
				nothingLeft(t, s)
			})
		}
	}
}

func TestLostRenewalAndForceOfAReadWriteLock(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	conn := s.Dial(t)
	const timeout = 9 * time.Second // of which two thirds may pass on a slow machine
	var loss replyLoss
	c := open(t, s, WithDialer(loss.dial), WithWatchdogTimeout(timeout))
	read, write := both(c, "doc")
	h := lockOf(t, read)
	for i := range int32(3) {
		loss.loseNext(luasrc.ReadRenewScript)
		becomes(t, "a lost renewal", func() bool { return loss.lost.Load() == i+1 })
	}
	if err := h.Err(); err != nil {
		t.Fatal(err)
	}
	if ttls := holdTTLs(t, conn, "doc", h.Owner().String()); len(ttls) != 1 {
		t.Errorf("its hold has %v", ttls)
	}
	mustUnlock(t, h)
	for _, l := range []*Lock{read, write} {
		lockOf(t, l)
		if was, err := l.ForceUnlock(t.Context()); !was || err != nil { // the server knows the script
			t.Errorf("%v, %v", was, err)
		}
		h := lockOf(t, l)
		loss.loseNext(luasrc.ReadWriteForceScript)
		if was, err := l.ForceUnlock(t.Context()); was || !errors.Is(err, ErrUncertain) {
			t.Errorf("%v, %v", was, err)
		}
		if err := h.Err(); !errors.Is(err, ErrLeaseLost) {
			t.Errorf("%v", err)
		}
	}
	nothingLeft(t, s)
}
