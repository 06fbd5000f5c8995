package waitqueue

import (
	"hash/maphash"
	"time"
)

const (
	// A name gets a fair share after oftenCount releases by this client in a row, or after
	// oftenLong if the hold was at least oftenLongHold, since a count costs little
	// compared to such a hold. Releases are in a row if each hold began within oftenGap of
	// the release before.
	oftenCount    = 8
	oftenLong     = 3
	oftenGap      = time.Second
	oftenLongHold = 50 * time.Millisecond

	maxFairShares = 64 // per table; further names have none
	fairShareTTL  = 10 * time.Second
)

// Table has the fair shares of the names that this client releases often. Names come and
// go with each lock; fair shares stay longer. The zero Table is ready for use. It is not
// safe for concurrent use.
type Table struct {
	Shares   map[string]*FairShare // by key; only Released changes them
	counters [8]releaseCounter
}

// releaseCounter counts releases in a row of one name. Another name with the same place
// in the table replaces it.
type releaseCounter struct {
	tag   uint32
	count uint32
	last  time.Duration
}

// Released counts a release of a name that has no fair share, and that was held since the
// given instant. After many releases in a row it makes and returns a fair share, with the
// hold that ends counted as granted; else it returns nil.
func (t *Table) Released(key string, since, now time.Duration) *FairShare {
	hash := maphash.String(seed, key)
	c := &t.counters[hash%uint64(len(t.counters))]
	if tag := uint32(hash >> 32); c.tag != tag || since-c.last > oftenGap {
		*c = releaseCounter{tag: tag}
	}
	c.last = now
	c.count++
	if c.count < oftenCount && (c.count < oftenLong || now-since < oftenLongHold) {
		return nil
	}
	if t.Shares == nil {
		t.Shares = map[string]*FairShare{}
	}
	if len(t.Shares) >= maxFairShares/2 {
		for k, f := range t.Shares {
			if now-f.releasedAt > fairShareTTL {
				delete(t.Shares, k)
			}
		}
	}
	if len(t.Shares) >= maxFairShares {
		return nil // too many already
	}
	f := &FairShare{releasedAt: now}
	t.Shares[key] = f
	f.Granted(since)
	return f
}

var seed = maphash.MakeSeed()
