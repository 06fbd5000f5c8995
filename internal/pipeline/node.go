package pipeline

import (
	"context"

	"github.com/rlock-go/redisson/internal/redisconn"
)

// Node answers a pipeline's questions about servers and takes the reports of its
// connections. Only Stays may block. All functions may queue requests, and may be nil.
type Node struct {
	// Usable returns nil if the pipeline may use a server. After an error with a
	// redisconn.ReplicaError the address is dialled again. Without it any master will do.
	Usable func(redisconn.Server) error

	// Stays asks the servers that could replace the master whether it still is the master;
	// gone are the replicas that it lost, if that was a moment ago. Nil means that it is;
	// an error says why that is not known. Stays blocks for a second at the most.
	// It must be set if Replicas.Known is.
	Stays func(ctx context.Context, gone []string) error

	// Elsewhere takes the key of a DEL if its slot has left the server.
	Elsewhere func(key any)

	// Connected reports where a connection leads, before a request is sent on it. moved
	// says that the connection before it led to another server, or was given up because
	// its server must not be used.
	Connected func(server string, moved bool)

	// Ended reports that a connection in use is over, unless Close ended it.
	Ended func()

	// Trouble reports why an attempt to connect failed, or that the server is silent, each
	// second.
	Trouble func(error)

	// Untracked reports why the server does not report changes, once for each
	// SetListener and connection.
	Untracked func(error)
}
