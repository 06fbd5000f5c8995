package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/luasrc"
)

// rawClient sends what rlock sends and does nothing else: no watchdog, no queue, no retries.
type rawClient struct{ pool *redis.Pool }

func newPool(addr string) *redis.Pool {
	return &redis.Pool{
		MaxIdle: poolSize, MaxActive: poolSize, Wait: true,
		Dial: func() (redis.Conn, error) { return redis.Dial("tcp", addr) },
	}
}

func openRaw(addr string) (client, error) {
	pool := newPool(addr)
	return rawClient{pool}, loadScripts(pool)
}

func loadScripts(pool *redis.Pool) error {
	conn := pool.Get()
	defer conn.Close()
	for _, s := range luasrc.Scripts() {
		if _, err := conn.Do("SCRIPT", "LOAD", s.Source); err != nil {
			return fmt.Errorf("load %s: %w", s.Name, err)
		}
	}
	return nil
}

func (c rawClient) handle(name string) handle {
	return &rawHandle{pool: c.pool, key: name, channel: codec.Channel(name), owner: "00000000-0000-4000-8000-000000000000:1"}
}

func (c rawClient) close() { c.pool.Close() }

type rawHandle struct {
	pool                *redis.Pool
	key, channel, owner string
	words               [luasrc.MaxArgs]any
}

var errTaken = errors.New("taken")

func (h *rawHandle) lock(ctx context.Context) error {
	conn, err := h.pool.GetContext(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	reply, err := conn.Do("EVALSHA", luasrc.Lock(h.words[:0], h.key, h.owner, lease.Milliseconds()).Args...)
	if err != nil {
		return err
	}
	granted, _, err := codec.DecodeAcquire(reply)
	if err == nil && !granted {
		err = errTaken
	}
	return err
}

func (h *rawHandle) unlock(ctx context.Context) error {
	conn, err := h.pool.GetContext(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	call := luasrc.UnlockOnce(h.words[:0], h.key, h.channel, h.owner, lease.Milliseconds(), luasrc.Publish)
	_, err = conn.Do("EVALSHA", call.Args...)
	return err
}
