package topology

import (
	"context"
	"fmt"
	"sync"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/redisconn"
)

// oneMaster is the common part of topologies whose one master may be replaced by another
// server. It has one node, whichever server is the master. Each connection starts by
// looking for the master, and ends when another server is found to be it.
type oneMaster struct {
	oneNode
	s  Settings
	to *redisconn.Target // how to reach a master, but for its address

	nodesAt sync.Map // by address, *redisconn.Target: the masters so far, and the connections to them
}

// reach connects to the master at addr. stays is asked once there is a connection: it
// returns why the master was left meanwhile, or nil. ctx must have a deadline.
func (t *oneMaster) reach(ctx context.Context, addr string, stays func() error) (redis.Conn, error) {
	target, _ := t.nodesAt.LoadOrStore(addr, t.to.At(addr))
	conn, err := target.(*redisconn.Target).Dial(ctx, t.s.Timeout)
	// Checked only now: move ends a dial, and a connection that is open, but none in between.
	left := stays()
	switch {
	case left != nil:
		err = left
	case err != nil:
		return nil, err
	default: // a server that does not say its role, since the account may not ask, counts as a master
		hello, helloErr := redisconn.Do(ctx, conn, "HELLO")
		role, roleErr := redisconn.Do(ctx, conn, "ROLE")
		var s redisconn.Server
		if s, err = redisconn.DecodeServer(hello, helloErr, role, roleErr); err == nil {
			err = s.Usable()
		}
	}
	if err == nil {
		return conn, nil
	}
	if conn != nil {
		conn.(interface{ Interrupt() }).Interrupt()
		_ = conn.Close() // the error is the one that counts
	}
	return nil, fmt.Errorf("connect to %s: %w", addr, err)
}

// move ends all connections to the former master, for cause, since the one at now has
// taken its place. names are the former one's addresses; by is the Sentinel that named the
// other one first, empty if there is none.
func (t *oneMaster) move(names []string, now, by string, cause error) {
	t.s.Log.MasterChanged(names[0], now, by)
	t.moving.Store(true)
	for _, name := range names {
		if known, ok := t.nodesAt.Load(name); ok { // not deleted: a dial under way adds its connection to it
			target := known.(*redisconn.Target)
			target.Sever(fmt.Errorf("%w: %s instead of %s", cause, now, names[0]))
		}
	}
	t.moving.Store(false)
	t.Tell(Change{Slots: AllSlots, From: t.node, To: t.node, NewMaster: true, FormerAddr: names[0], Addr: now})
	t.node.Retry()
}

// FailsOver is true.
func (t *oneMaster) FailsOver() bool { return true }
