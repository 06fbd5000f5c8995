package topology

import "time"

// A Sentinel's epoch never falls, except if it begins anew: it was restarted without its
// configuration, or an operator removed the master and had it monitored again. If most
// Sentinels did so, earlier epochs mean nothing.

// named is the newest epoch that a Sentinel named, and when it last answered.
type named struct {
	epoch int64
	at    time.Time
	stale time.Time // when most others began anew without it; zero: they did not
	anew  time.Time // when it was asked what first showed that it began anew, since which earlier questions' answers don't count; zero: nothing did
}

// fell tells whether a Sentinel names an older epoch than it did. Its answer to an earlier question
// may come behind that to a later one, and shows nothing.
func (n named) fell(t testimony) bool {
	return t.err == nil && t.epoch < n.epoch && t.asked.After(n.at)
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
		if c.named[t.from].fell(t) {
			fell++
		}
	}
	return 2*fell > all && fell > 0
}

// stale records that most Sentinels begin anew. The others, such as one that is restarted a
// moment later, still name the newest epoch, and the former master with it. They are not
// believed until they begin anew, too.
func (c *choice) stale(now time.Time) {
	for from, n := range c.named {
		n.stale = now
		c.named[from] = n
	}
}

// names records what the Sentinels name.
func (c *choice) names(said []testimony, now time.Time) {
	for _, t := range said {
		if t.err != nil || t.asked.Before(c.named[t.from].anew) {
			continue
		}
		if c.named == nil {
			c.named = map[string]named{}
		}
		before := c.named[t.from]
		if !before.stale.IsZero() && before.fell(t) {
			before = named{anew: t.asked} // with the others or later
		}
		c.named[t.from] = named{max(t.epoch, before.epoch), now, before.stale, before.anew}
	}
}
