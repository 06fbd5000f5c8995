module github.com/rlock-go/redisson

go 1.26.0

require (
	github.com/gomodule/redigo v1.9.3
	github.com/google/uuid v1.6.0
	golang.org/x/sys v0.49.0
)
