package pubsub_test

import (
	"context"
	"log"
	"sync"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

var server = sync.OnceValue(func() *redistest.Server { return redistest.Start(redistest.Examples) })

// dial is a DialFunc for the examples' server.
func dial(ctx context.Context) (redis.Conn, error) {
	return redis.DialURLContext(ctx, server().URL(),
		redis.DialReadTimeout(3*time.Second), redis.DialWriteTimeout(3*time.Second))
}

var publisher = sync.OnceValue(func() redis.Conn { return server().Dial(redistest.Examples) })

// publish sends a message as another process would.
func publish(channel, message string) {
	if _, err := publisher().Do("PUBLISH", channel, message); err != nil {
		log.Fatal(err)
	}
}
