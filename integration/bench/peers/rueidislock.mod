module github.com/rlock-go/redisson/integration/bench

go 1.26.0

require (
	github.com/gomodule/redigo v1.9.3
	github.com/google/uuid v1.6.0
	github.com/redis/rueidis v1.0.79
	github.com/rlock-go/redisson v0.1.0
	github.com/rlock-go/redisson/integration v0.1.0
	golang.org/x/sys v0.49.0
)

replace (
	github.com/rlock-go/redisson => ../..
	github.com/rlock-go/redisson/integration => ../
)
