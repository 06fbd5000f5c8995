package codec_test

import (
	"context"
	"log"
	"sync"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/rlock"
)

var server = sync.OnceValue(func() *redistest.Server { return redistest.Start(redistest.Examples) })

// redisConn connects to the examples' server.
func redisConn() redis.Conn { return server().Dial(redistest.Examples) }

// lockClient is a client that takes the locks of the examples.
var lockClient = sync.OnceValue(func() *rlock.Client {
	client, err := rlock.Open(context.Background(), server().URL())
	if err != nil {
		log.Fatal(err)
	}
	redistest.Examples.Cleanup(func() { client.Close() })
	return client
})
