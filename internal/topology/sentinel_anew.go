package topology

import "time"

// A Sentinel's epoch never falls, except if it begins anew: it was restarted without its
// configuration, or an operator removed the master and had it monitored again. If most
// Sentinels did so, earlier epochs mean nothing.

// named is the newest epoch that a Sentinel named, and when it last answered.
type named struct {
	epoch int64
	at    time.Time
}

// anew tells whether most Sentinels that have answered lately name an older epoch than they
// named themselves.
func (c *choice) anew(said []testimony, now time.Time) bool {
	all, fell := 0, 0
	for _, n := range c.named {
		if now.Sub(n.at) < seenFor {
			all++
		}
	}
	for _, t := range said {
		if t.err == nil && t.epoch < c.named[t.from].epoch {
			fell++
		}
	}
	return 2*fell > all && fell > 0
}

// names records what the Sentinels name.
func (c *choice) names(said []testimony, now time.Time) {
	for _, t := range said {
		if t.err != nil {
			continue
		}
		if c.named == nil {
			c.named = map[string]named{}
		}
		c.named[t.from] = named{max(t.epoch, c.named[t.from].epoch), now}
	}
}
