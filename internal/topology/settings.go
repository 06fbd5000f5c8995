package topology

import (
	"crypto/tls"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/eventlog"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/internal/redisconn"
)

// Settings are what a client wants of its connections, whatever the topology.
type Settings struct {
	Timeout     time.Duration                           // how long one command may take
	Lease       time.Duration                           // of what is renewed; 0: nobody says
	Clock       clock.Clock                             // of the times of commands
	Log         *eventlog.Log                           // nil: silent
	Reconnected func(server string, down time.Duration) // told each connection that takes the place of another; nil: nobody counts
	Replicas    bool                                    // count them, for WAIT

	TLS            *tls.Config           // of URLs with TLS; nil: the system's roots
	Credentials    redisconn.Credentials // nil: those of the URL
	ConnectionName string                // for CLIENT SETNAME; empty: none
	Dialer         redisconn.Dialer      // of all servers and Sentinels; nil: the system's

	SentinelTLS         *tls.Config           // of Sentinels; nil: plain TCP
	SentinelCredentials redisconn.Credentials // of Sentinels; nil: no AUTH
	Publish             luasrc.Arg            // what announces a release in a cluster, see Topology.Publish; nil: luasrc.Both
}
