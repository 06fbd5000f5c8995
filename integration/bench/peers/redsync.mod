module github.com/rlock-go/redisson/integration/bench

go 1.26.0

require (
	github.com/go-redsync/redsync/v4 v4.18.1
	github.com/gomodule/redigo v1.9.3
	github.com/google/uuid v1.6.0
	github.com/redis/go-redis/v9 v9.23.0
	github.com/rlock-go/redisson v0.1.0
	github.com/rlock-go/redisson/integration v0.1.0
	golang.org/x/sys v0.49.0
)

require (
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	go.uber.org/atomic v1.12.0 // indirect
)

replace (
	github.com/rlock-go/redisson => ../..
	github.com/rlock-go/redisson/integration => ../
)
