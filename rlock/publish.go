package rlock

import (
	"errors"

	"github.com/rlock-go/redisson/internal/luasrc"
)

// Publish says which messages a release sends in a cluster; see WithClusterPublish.
type Publish uint8

const (
	// PublishBoth sends both kinds in one script, SPUBLISH and PUBLISH, and wakes
	// waiters of any Redisson. The server passes the second on to every node of
	// the cluster.
	PublishBoth Publish = iota

	// PublishSharded sends SPUBLISH alone. It wakes waiters of this package, and of Redisson
	// from 3.29 on unless its shardedSubscriptionMode is OFF. Other waiters look again when
	// the lease ends. Waiters may miss the message while the lock's slot is being moved.
	PublishSharded

	// PublishPlain sends PUBLISH alone, as Redisson does before 3.22 and with its
	// shardedSubscriptionMode OFF. It wakes no waiter that subscribed by SSUBSCRIBE alone,
	// as Redisson does from 3.29 on, and some earlier releases most of the time.
	PublishPlain
)

// announces has the script's argument for each Publish.
var announces = [...]luasrc.Arg{PublishBoth: luasrc.Both, PublishSharded: luasrc.SPublish, PublishPlain: luasrc.Publish}

var errPublish = errors.New("WithClusterPublish: it is for redis+cluster:// URLs")
