package rlock

import (
	"errors"
	"fmt"

	"github.com/rlock-go/redisson/internal/topology"
)

// Publish is which messages a release sends in a cluster; see WithClusterPublish.
type Publish uint8

const (
	// PublishBoth sends both kinds in one script, SPUBLISH and PUBLISH, and wakes
	// waiters of any Redisson. The server passes the second on to every node of
	// the cluster.
	PublishBoth = Publish(topology.PublishBoth)

	// PublishSharded sends SPUBLISH alone, as Redisson does from 3.22 on, and
	// wakes no waiter of an older one: that one looks when the lease ends. While
	// the lock's slot is being moved the message may be missed.
	PublishSharded = Publish(topology.PublishSharded)

	// PublishPlain sends PUBLISH alone, as Redisson does before 3.22 and with its
	// shardedSubscriptionMode off, and wakes no waiter of any other.
	PublishPlain = Publish(topology.PublishPlain)
)

// WithClusterPublish sets which messages a release sends in a cluster. Waiters of
// this package hear all of them. A server that does not know SPUBLISH (Redis
// before 7), or does not let the account use it, is sent PUBLISH, whatever was
// set. With any other URL than redis+cluster://, or with a pool, it is
// ErrInvalidOption. Default is PublishBoth.
func WithClusterPublish(p Publish) Option {
	return func(s *settings) error {
		if p > PublishPlain {
			return fmt.Errorf("WithClusterPublish(%d): there is no such kind", p)
		}
		s.publish = p
		return s.once("WithClusterPublish")
	}
}

var errPublish = errors.New("WithClusterPublish: it is for redis+cluster:// URLs")
