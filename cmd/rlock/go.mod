module github.com/rlock-go/redisson/cmd/rlock

go 1.26.0

require (
	github.com/gomodule/redigo v1.9.3
	github.com/rlock-go/redisson v0.1.0
	github.com/spf13/cobra v1.10.2
	github.com/spf13/pflag v1.0.9
	golang.org/x/sys v0.49.0
)

require (
	github.com/creack/pty v1.1.24
	github.com/google/uuid v1.6.0
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
)
