package main

import (
	"context"
	"errors"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/luasrc"
)

func newPool(addr string) *redis.Pool {
	return &redis.Pool{
		MaxIdle: poolSize, MaxActive: poolSize, Wait: true,
		Dial: func() (redis.Conn, error) { return redis.Dial("tcp", addr) },
	}
}

// openRaw opens a client that sends what rlock sends and does nothing else: no watchdog, no queue, no retries.
func openRaw(addr string) (client, error) {
	pool := newPool(addr)
	return client{func(name string) handle {
		h := &rawHandle{pool: pool, key: name, channel: codec.Channel(name), owner: "00000000-0000-4000-8000-000000000000:1"}
		return handle{h.lock, h.unlock}
	}, func() { pool.Close() }}, loadScripts(pool)
}

// loadScripts loads the scripts into the server, as they are after the first second of a client's life.
func loadScripts(pool *redis.Pool) (err error) {
	defer caught(&err)
	conn := pool.Get()
	defer conn.Close()
	for _, s := range luasrc.Scripts() {
		must(conn.Do("SCRIPT", "LOAD", s.Source))
	}
	return nil
}

type rawHandle struct {
	pool                *redis.Pool
	key, channel, owner string
	words               [luasrc.MaxArgs]any
}

func (h *rawHandle) do(ctx context.Context, call luasrc.Call) (reply any, err error) {
	defer caught(&err)
	conn := must(h.pool.GetContext(ctx))
	defer conn.Close()
	return conn.Do("EVALSHA", call.Args...)
}

func (h *rawHandle) lock(ctx context.Context) error {
	reply, err := h.do(ctx, luasrc.Lock(h.words[:0], h.key, h.owner, lease.Milliseconds()))
	if err != nil {
		return err
	}
	granted, _, err := luasrc.DecodeAcquire(reply)
	if err == nil && !granted {
		err = errors.New("taken")
	}
	return err
}

func (h *rawHandle) unlock(ctx context.Context) error {
	_, err := h.do(ctx, luasrc.UnlockTo(h.words[:0], h.key, h.channel, h.owner, lease.Milliseconds(), luasrc.Left{}, luasrc.Publish))
	return err
}
