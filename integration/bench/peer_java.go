package main

import (
	"context"
	"strings"

	"github.com/rlock-go/redisson/integration/kit/javapeer"
)

// javaNote is printed with Redisson's numbers: its default of 64 connections, and 50 with 5 subscriptions each.
const javaNote = "Redisson " + javapeer.Newest + ", one JVM (Java 17, serial collector, 512 MB), one thread a caller, 64 connections, 50 for subscriptions, its defaults; warmed up"

// startJava starts a JVM with Redisson's own pool sizes; the tests' peers have smaller pools.
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

// javaLoader runs loads in a JVM.
func javaLoader(p *javapeer.Peer, kind javapeer.Kind) loader {
	return func(s spec) (loaded, error) {
		ctx, cancel := context.WithTimeout(context.Background(), s.length+grace)
		defer cancel()
		r, err := p.Pairs(ctx, javapeer.Pairs{Prefix: s.prefix, Kind: kind, Workers: s.callers, Shared: s.shared, For: s.length})
		switch {
		case err != nil && ctx.Err() != nil:
			err = errHang
		case err == nil && r.Total == 0:
			err = errNoPair
		}
		return loaded{pairs: r.Total, grants: r.Total + r.Late, handoffs: r.Handoffs, took: r.Took}, err
	}
}

func openJava(addr string) (*contender, error) {
	p, err := startJava(addr)
	if err != nil {
		return nil, err
	}
	return &contender{name: javaP, load: javaLoader(p, javapeer.Plain), close: func() { p.Quit() }, usage: usageOf(p.PID)}, nil
}
