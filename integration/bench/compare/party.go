package main

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/rlock-go/redisson/integration/kit/javapeer"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

const (
	// short is the lease of most faults, so that rounds are short; long is Redisson's default, and rlock's.
	short, long = 3 * time.Second, 30 * time.Second
	// patience is how long every client waits for one reply of its server.
	patience = time.Second
)

// limit is how long a round waits for what may never come.
var limit = 4 * short

// lease is what all parties request, or renew for, in the faults that run now.
var lease = short

// opening says where and how a client connects.
type opening struct {
	addr      string   // of one server; or empty
	sentinels []string // addresses that know the master of redistest.MasterName
	cluster   []string // addresses of a cluster's servers
	pool      int      // number of connections; 0 means 64
}

func (o opening) size() int { return cmp.Or(o.pool, 64) }

// url is the address for rlock and a JVM.
func (o opening) url() string {
	switch {
	case o.sentinels != nil:
		return "redis+sentinel://" + strings.Join(o.sentinels, ",") + "/" + redistest.MasterName
	case o.cluster != nil:
		return "redis+cluster://" + strings.Join(o.cluster, ",")
	}
	return "redis://" + o.addr
}

// service is one client of a library, as one process uses it. Its functions are safe for concurrent use. Some libraries
// lack the optional ones.
type service struct {
	lock  func(ctx context.Context, name string) (hold, error) // waits until it has the lock or ctx ends
	close func()

	lockTied func(ctx context.Context, name string) (hold, error) // the context of the acquire also bounds renewals
	force    func(ctx context.Context, name string) error         // takes the lock from any holder

	// For a service in its own process.
	kill          func()
	pause, resume func() error
}

// hold is one grant.
type hold struct {
	unlock func(ctx context.Context) error
	// over reports whether the library, without a command, shows its holder that the lock is lost. nil: it can't.
	over func() bool
	// work makes a holder in another process work. nil: the holder is in this process.
	work func(d time.Duration) (deeds, error)
}

// deeds are the times of a holder's acts, on the machine's clock.
type deeds struct {
	Last int64 // the last act
	Woke int64 // the first act after a standstill; 0 if there was none, or it is unknown
	Told int64 // when it saw that it no longer holds the lock, and stopped; 0 if never
}

// party is one library in one mode.
type party struct {
	name   string
	note   string // version and settings
	open   func(o opening) (*service, error)
	key    func(name string) string
	renews bool // its key stays while its holder lives
	// lacks has what the party's own documentation does not promise, by promise, in words for its cells.
	lacks map[promise]string
	// absent says why the party can't be built in at all; empty: it can.
	absent string
}

// promise is a property that a fault may need and that some locks lack.
type promise string

const (
	notice  promise = "notice of a lost lock"
	renewal promise = "renewal"
	waiting promise = "waiting without polling"
)

const (
	ours      = "rlock"
	javaP     = "Redisson (Java)"
	redsyncP  = "redsync"
	extendedP = "redsync, extended"
	bsmP      = "redislock"
	rueidisP  = "rueidislock"
	rediP     = "redi.go"
)

// openers are of the parties of others, which build tags select.
var openers = map[string]func(opening) (*service, error){}

func plain(name string) string { return name }

func parties() []*party {
	return []*party{
		{name: ours, open: openOurs, renews: true, key: plain, note: "this commit; WithWatchdogTimeout 3 s, WithCommandTimeout 1 s; renews; `Hold.Done` tells"},
		{name: javaP, open: openJava, renews: true, key: plain, note: "Redisson " + javapeer.Newest + ", `RLock.lockInterruptibly` without a lease; lockWatchdogTimeout 3 s, timeout 1 s; a caller is a thread, driven over a pipe",
			lacks: map[promise]string{notice: "a holder may ask `isHeldByCurrentThread`"}},
		{name: redsyncP, open: openers[redsyncP], key: plain, note: "v4.18.1 on go-redis v9.23.0 (timeouts 1 s); WithExpiry 3 s, WithTries without end; a holder looks at `Until`",
			lacks: map[promise]string{notice: "a holder may look at `Until`", renewal: "the caller may extend", waiting: "it tries again each 50 to 250 ms"}},
		{name: extendedP, open: openers[extendedP], renews: true, key: plain, note: "the same, and a goroutine of the caller calls `ExtendContext` each second",
			lacks: map[promise]string{notice: "`ExtendContext` fails", waiting: "it tries again each 50 to 250 ms"}},
		{name: bsmP, open: openers[bsmP], key: plain, note: "bsm/redislock v0.9.4 on go-redis v9.23.0 (timeouts 1 s); TTL 3 s, LinearBackoff 100 ms",
			lacks: map[promise]string{notice: "a holder may ask `TTL`", renewal: "the caller may refresh", waiting: "it tries again if asked to"}},
		{name: rueidisP, open: openers[rueidisP], renews: true, key: func(name string) string { return "rueidislock:0:" + name },
			note: "rueidis v1.0.79; KeyMajority 1, KeyValidity 3 s, ExtendInterval 1 s, ConnWriteTimeout 1 s, TryNextAfter 1 s; renews; its context tells"},
		{name: rediP, note: "a Go client for Redisson's objects", absent: "the Go module proxy does not have github.com/linkerlin/redi.go: “This module version is not available”"},
	}
}

func findParty(name string) *party {
	for _, p := range parties() {
		if p.name == name {
			return p
		}
	}
	return nil
}
