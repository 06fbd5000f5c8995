package main

import (
	"context"
	"strings"

	"github.com/rlock-go/redisson/integration/javapeer"
)

// javaNote goes beside Redisson's numbers. Its own default of 64 connections is kept; subscriptions are left at 5 × 50.
const javaNote = "Redisson " + javapeer.Newest + ", one JVM (Java 17, serial collector, 512 MB), one thread a caller, 64 connections, 50 for subscriptions, its defaults; warmed up"

// startJava starts a JVM with Redisson's own sizes of pools, which the tests' peers make smaller.
func startJava(addr string) (*javapeer.Peer, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*grace)
	defer cancel()
	pool := javapeer.ConnectionPoolSize(64)
	if strings.Contains(addr, "redis+cluster://") {
		pool = javapeer.Setting("masterConnectionPoolSize", "64")
	}
	return javapeer.Launch(ctx, javapeer.Newest, addr,
		javapeer.JVMArgs("-Xmx512m"), javapeer.WholeJIT(), pool, javapeer.SubscriptionPoolSize(50))
}

// javaLoader is a JVM as a loader.
type javaLoader struct {
	p    *javapeer.Peer
	kind javapeer.Kind
}

func openJava(addr string) (javaLoader, error) {
	p, err := startJava(addr)
	return javaLoader{p: p}, err
}

func (j javaLoader) load(s spec) (loaded, error) {
	ctx, cancel := context.WithTimeout(context.Background(), s.length+grace)
	defer cancel()
	r, err := j.p.Pairs(ctx, javapeer.Pairs{Prefix: s.prefix, Kind: j.kind, Workers: s.callers, Shared: s.shared, For: s.length})
	if err != nil {
		if ctx.Err() != nil {
			err = errHang
		}
		return loaded{}, err
	}
	if r.Total == 0 {
		return loaded{}, errNoPair
	}
	return loaded{pairs: r.Total, grants: r.Total + r.Late, handoffs: r.Handoffs, took: r.Took}, nil
}

func (j javaLoader) close() { j.p.Quit() }
