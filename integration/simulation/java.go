package simulation

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/gomodule/redigo/redis"
)

// errException is what Redisson throws when a command gets no answer: what it changed stays.
var errException = errors.New("an exception in Java")

// javaLease is Redisson's watchdog timeout, which it renews each third of.
const javaLease = 30 * time.Second

// java is a JVM with one thread: what docs/dev/wire.md says that Redisson does. A command goes over
// one connection, messages come over another one.
type java struct {
	p    *play
	r    *rand.Rand
	host string
	id   string
	next int64 // number of its next owner

	conn     redis.Conn
	to       server        // that conn leads to
	sub      *subscription // guarded by the world's lock
	messages chan string   // of sub
}

func (p *play) newJava(index int, r *rand.Rand) *java {
	j := &java{p: p, r: r, host: fmt.Sprintf("10.2.0.%d", index+1)}
	j.id = fmt.Sprintf("%08x-0000-4000-8000-%012x", 0xabcdef00+index, r.Uint64()>>16)
	p.w.Mu.Lock()
	p.javas = append(p.javas, j)
	p.w.Mu.Unlock()
	return j
}

// javaScans is how soon Redisson hears that another server is the master.
const javaScans = 5 * time.Second

// dial connects to the server that clients are led to.
func (j *java) dial(key string) (redis.Conn, server, error) {
	j.p.w.Mu.Lock()
	to := j.p.site.master(key)
	j.p.w.Mu.Unlock()
	ctx, end := context.WithTimeout(context.Background(), commandTimeout)
	defer end()
	c, err := j.p.w.Dialer(j.host)(ctx, "tcp", to.Addr)
	if err != nil {
		return nil, nil, err
	}
	return redis.NewConn(c, commandTimeout, commandTimeout), to, nil
}

// atMaster reports whether the command connection leads to the master, and whether Redisson knows by now if it does not.
func (j *java) atMaster(key string) (is, known bool) {
	j.p.w.Mu.Lock()
	defer j.p.w.Mu.Unlock()
	return j.to == j.p.site.master(key), time.Since(j.p.promotedAt) > javaScans
}

// eval runs a script, and waits for replicas as Redisson does where there are some.
func (j *java) eval(script string, keys []string, args ...any) (any, error) {
	call := []any{script, len(keys)}
	for _, k := range keys {
		call = append(call, k)
	}
	return j.do(keys[0], true, "EVAL", append(call, args...)...)
}

func (j *java) do(key string, waits bool, name string, args ...any) (any, error) {
	if is, known := j.atMaster(key); !is && known {
		j.drop()
	}
	if j.conn == nil {
		c, to, err := j.dial(key)
		if err != nil {
			time.Sleep(between(j.r, 100*time.Millisecond, time.Second))
			return nil, fmt.Errorf("%w: %v", errException, err)
		}
		j.conn, j.to = c, to
	}
	waits = waits && j.p.site.replicated()
	_ = j.conn.Send(name, args...)
	if waits {
		_ = j.conn.Send("WAIT", 1, 1000)
	}
	_ = j.conn.Flush()
	reply, err := j.conn.Receive()
	var refused redis.Error
	if err != nil && !errors.As(err, &refused) {
		j.conn.Close()
		j.conn = nil
		return nil, fmt.Errorf("%w: %v", errException, err)
	}
	var acknowledged int64 = 1
	if waits {
		if acknowledged, _ = redis.Int64(j.conn.Receive()); j.conn.Err() != nil || err != nil {
			j.conn.Close()
			j.conn = nil
		}
	}
	switch {
	case err != nil:
		j.drop()
		return nil, fmt.Errorf("%w: %v", errException, err)
	case acknowledged == 0 && j.p.site.replicated():
		return reply, fmt.Errorf("%w: no replica has it", errException)
	}
	return reply, nil
}

// drop ends the command connection, after which the next command asks where the master is.
func (j *java) drop() {
	if j.conn != nil {
		j.conn.Close()
		j.conn = nil
	}
}

func (j *java) close() {
	j.unsubscribe()
	j.drop()
}

func isLockMessage(payload string) bool   { return payload == "0" || payload == "1" }
func isNumberMessage(payload string) bool { return number(payload) > 0 }
func isLatchMessage(payload string) bool  { return payload == "0" }

func (j *java) newOwner() string {
	j.next++
	return fmt.Sprintf("%s:%d", j.id, j.next)
}

func (j *java) now() int64 { return time.Now().UnixMilli() }

// newLatch is the key of one unlock.
func (j *java) newLatch(name string) string {
	return fmt.Sprintf("%s{%s}:%016x%016x", latchPrefix, name, j.r.Uint64(), j.r.Uint64())
}
