module github.com/rlock-go/redisson/rlocktest

go 1.26.0

require (
	github.com/alicebob/miniredis/v2 v2.40.0
	github.com/gomodule/redigo v1.9.3
	github.com/rlock-go/redisson v0.1.0
	github.com/yuin/gopher-lua v1.1.1
)

require (
	github.com/google/uuid v1.6.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
)
