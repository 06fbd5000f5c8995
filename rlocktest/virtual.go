package rlocktest

import (
	"fmt"
	"sync/atomic"

	"github.com/rlock-go/redisson/rlocktest/simnet"
	"github.com/rlock-go/redisson/rlocktest/simredis"
)

// virtual is a model of Redis in memory. Each of its connections' delays and each
// lease's end is a timer of the bubble that it is made in.
type virtual struct {
	world   *simnet.World
	server  *simredis.Server
	clients int
}

// virtuals counts the servers of this process: each has an address of its own.
var virtuals atomic.Uint32

func newVirtual() *virtual {
	n := virtuals.Add(1)
	v := &virtual{world: simnet.New(1)}
	v.do(func() { v.server = simredis.New(v.world, fmt.Sprintf("10.%d.%d.1:6379", n>>8&0xff, n&0xff)) })
	return v
}

func (v *virtual) addr() string { return v.server.Addr }

func (v *virtual) dialer() dialer {
	v.clients++
	return v.world.Dialer(fmt.Sprintf("192.168.0.%d", v.clients))
}

func (v *virtual) stop() { v.do(func() { v.server.Kill(false) }) }

func (v *virtual) start() error {
	v.do(func() { v.server.Start(true) })
	return nil
}

// do runs fn with the lock of the world held.
func (v *virtual) do(fn func()) {
	v.world.Mu.Lock()
	defer v.world.Mu.Unlock()
	fn()
}
