package topology

import (
	"crypto/tls"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/eventlog"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/internal/redisconn"
)

// Settings configure a client's connections, in every topology.
type Settings struct {
	Timeout     time.Duration                           // how long one command may take
	Lease       time.Duration                           // of renewed holds; 0: unknown
	Clock       clock.Clock                             // for the times of commands
	Log         *eventlog.Log                           // nil: silent
	Reconnected func(server string, down time.Duration) // called for each connection that replaces another; nil: not called
	Replicas    bool                                    // count them, for WAIT

	TLS            *tls.Config           // for URLs with TLS; nil: the system's roots
	Credentials    redisconn.Credentials // nil: those of the URL
	ConnectionName string                // for CLIENT SETNAME; empty: none
	Dialer         redisconn.Dialer      // for all servers and Sentinels; nil: the system's

	SentinelTLS         *tls.Config           // for Sentinels; nil: plain TCP
	SentinelCredentials redisconn.Credentials // for Sentinels; nil: no AUTH
	Publish             luasrc.Arg            // what announces a release in a cluster, see Topology.Publish; nil: luasrc.Both
}
