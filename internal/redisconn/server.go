package redisconn

import (
	"cmp"
	"fmt"
	"net"
	"strconv"

	"github.com/gomodule/redigo/redis"
)

// Server is what a server answers to HELLO and ROLE about itself. A field is empty
// if an ACL or an old version does not allow the question.
type Server struct {
	Addr string // where it was reached; DecodeServer leaves it empty
	Mode string // standalone, sentinel or cluster
	Role string // master, slave or sentinel

	// Of a replica.
	Master string // its master's address
	Up     bool   // its connection to the master is up
	link   string // the state of that connection, for an error
}

// named is the server's name in an error.
func (s Server) named() string { return cmp.Or(s.Addr, "the server") }

// ReplicaError says that a connection leads to a replica: writes need the master.
type ReplicaError struct {
	Server Server // what the replica says about itself
}

// Error says whose replica it is, and what to use.
func (e *ReplicaError) Error() string {
	of := ""
	if e.Server.Master != "" {
		of = fmt.Sprintf(" of %s (link %s)", e.Server.Master, e.Server.link)
	}
	return fmt.Sprintf("%s is a replica%s; use the master", e.Server.named(), of)
}

// Usable tells whether a client of one server can work with s. It returns a
// [*ReplicaError] if s is a replica, an error with [ErrTopology] if s is no single
// server, and nil for a master and for a server that does not say.
func (s Server) Usable() error {
	switch {
	case s.Mode == "sentinel" || s.Role == "sentinel":
		return TopologyError(s.named() + " is a Sentinel, whose URL is redis+sentinel://[user:password@]host:port,host:port/master-name")
	case s.Mode == "cluster":
		return TopologyError(s.named() + " is a node of a cluster, whose URL is redis+cluster://[user:password@]host:port,host:port")
	case s.Role == "slave" || s.Role == "replica":
		return &ReplicaError{s}
	}
	return nil
}

// DecodeServer reads the answers to HELLO and ROLE. Either may be a refusal. An
// error says that one of them can't come from a Redis server.
func DecodeServer(hello any, helloErr error, role any, roleErr error) (Server, error) {
	var s Server
	if !IsRefusal(helloErr) {
		pairs, err := redis.Values(hello, helloErr)
		if err != nil || len(pairs)%2 != 0 {
			return s, fmt.Errorf("no Redis: HELLO was answered with a Go %T: %w", hello, err)
		}
		for i := 0; i < len(pairs); i += 2 {
			switch label, _ := redis.String(pairs[i], nil); label {
			case "mode":
				s.Mode, _ = redis.String(pairs[i+1], nil)
			case "role":
				s.Role, _ = redis.String(pairs[i+1], nil)
			}
		}
	}
	if IsRefusal(roleErr) {
		return s, nil
	}
	said, err := redis.Values(role, roleErr)
	if err != nil || len(said) == 0 {
		return s, fmt.Errorf("no Redis: ROLE was answered with a Go %T: %w", role, err)
	}
	if s.Role, err = redis.String(said[0], nil); err != nil {
		return s, fmt.Errorf("no Redis: ROLE was answered with an array that begins with a Go %T", said[0])
	}
	var host, link string
	var port int
	if _, err := redis.Scan(said[1:], &host, &port, &link); s.Role == "slave" && err == nil {
		s.Master, s.Up, s.link = net.JoinHostPort(host, strconv.Itoa(port)), link == "connected", cmp.Or(linkStates[link], "down")
	}
	return s, nil
}

// linkStates maps ROLE's words for a replica's connection to its master to those of
// Server.link. Any other word means down.
var linkStates = map[string]string{"connected": "up", "sync": "syncing"}
