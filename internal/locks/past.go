package locks

import (
	"slices"
	"time"

	"github.com/rlock-go/redisson/internal/topology"
)

const (
	// repeatedFor is the age up to which an unlock is repeated. Replicas lag by moments. But a
	// former master takes writes for some ten seconds after a Sentinel has promoted another,
	// and a cluster's master that is cut off takes them for its cluster-node-timeout, 15 s by
	// default.
	repeatedFor = 15 * time.Second

	// A shard remembers up to ownPast unlocks. A busy one remembers up to maxPast, while all
	// shards of the client together have at most sharedPast above what each has for itself. If more come
	// within repeatedFor, the oldest are dropped. A planned failover undoes about a second's
	// worth.
	ownPast    = 256
	maxPast    = 4096
	sharedPast = shardCount * (ownPast - ownChanges*changeSize)

	// repeatsAtOnce is how many repetitions a shard has under way at most.
	repeatsAtOnce = 16
)

// past is an unlock that a failover may undo.
type past struct {
	lock   *Lock
	owner  Owner
	due    bool          // to be sent again
	again  uint32        // the number of its latest repetition; 0: there was none
	sent   time.Duration // when it was sent
	until  time.Duration // not to be sent again after this
	on     uint64        // the connection on which it was last answered; 0: not known, or its server may lack it
	extras *pastExtras   // nil: none
}

// pastExtras are the fields that few unlocks need.
type pastExtras struct {
	keep   *keeping
	place  *placeTaken
	leaves bool // all that is repeated is that the owner leaves its place: it had no release, or a newer one follows it
}

// keeping is who has a lock after its release, and until when. Nobody acts as that owner.
type keeping struct {
	until time.Duration
	by    string
}

// memory is what a shard remembers of its past unlocks and changes. The shard's section guards
// it.
type memory struct {
	all     []past
	oldest  int           // the place in all that is used next
	next    int           // the place before which nothing in all is due, or it was skipped
	skipped bool          // something due was skipped, because its repetition is under way
	changes []*pastChange // the oldest first
	shared  int           // how many of them have room of Client.pastShared
	forgets bool          // a timer is set for them
	repeats int           // how many repetitions are under way
	again   []uint32      // the numbers of those of unlocks
	numbers uint32        // the highest number
}

// add remembers u. It takes the place of the oldest one if that is too old to be repeated, or if
// there is no room for another.
func (m *memory) add(u past) {
	if u.due {
		m.next = 0
	}
	if len(m.all) == 0 || u.sent-m.all[m.oldest].sent < repeatedFor && u.lock.Client.hasRoom(len(m.all)) {
		if m.oldest > 0 { // the newest is the last one again
			m.all, m.oldest, m.next = slices.Concat(m.all[m.oldest:], m.all[:m.oldest]), 0, 0
		}
		m.all = append(m.all, u)
		return
	}
	m.all[m.oldest] = u
	m.oldest = (m.oldest + 1) % len(m.all)
}

// hasRoom tells whether a shard with n unlocks may remember another. Shared room that a shard
// has taken is never given back.
func (c *Client) hasRoom(n int) bool {
	switch {
	case n < ownPast:
		return true
	case n >= maxPast || c.pastShared.Load() >= sharedPast:
		return false
	}
	c.pastShared.Add(1)
	return true
}

// each iterates over the unlocks that are remembered.
func (m *memory) each(yield func(*past) bool) {
	for i := range m.all {
		if !yield(&m.all[i]) {
			return
		}
	}
}

// counted names what an unlock took one from: the holds of an owner that the server counts together.
type counted struct {
	name  nameKey
	tally string
	owner Owner
}

// replaced is called when the server of these slots may have been replaced, or was: all that is not
// too old is due. Of the unlocks of one count only the newest is, since it leaves as many holds as
// the owner needs when it is sent. One break is reported several times. So what is due is not sent
// if the connection on which it was last answered is still in use when its turn comes.
func (m *memory) replaced(slots topology.Slots, was bool, now time.Duration) {
	newest := map[counted]*past{}
	for i := range m.all {
		u := &m.all[(m.oldest+len(m.all)-1-i)%len(m.all)] // the newest first
		u.due = u.due || slots.Has(u.lock.slot) && now-u.sent <= repeatedFor
		if was && u.due {
			u.on = 0
		}
		if !u.due || u.extras != nil && u.extras.leaves {
			continue
		}
		of := counted{u.lock.nameKey, u.lock.Traits.Tally, u.owner}
		if n := newest[of]; n == nil {
			newest[of] = u
		} else {
			u.followedBy(n)
		}
	}
	m.next = 0
	for _, u := range m.changes {
		u.due = u.due || slots.Has(u.slot) && now-u.sent <= repeatedFor
		if was && u.due {
			u.on = 0
		}
	}
}

// followedBy ends the repetition of u: newer, of its count, is sent again for as long as u would have
// been. What is left of u is its place, which a lock of another kind can't leave for it.
func (u *past) followedBy(newer *past) {
	newer.until = max(newer.until, u.until)
	if u.extras == nil || u.extras.place == nil {
		u.due = false
		return
	}
	u.extras = &pastExtras{place: u.extras.place, leaves: true}
}

// take is the next unlock to be repeated, which counts as under way from now on; nil: none may be.
func (m *memory) take(now time.Duration) *past {
	for m.next < len(m.all) {
		u := &m.all[m.next]
		if u.due && (m.repeats >= repeatsAtOnce || u.lock.Client.Closed()) {
			return nil
		}
		m.next++
		if u.due && slices.Contains(m.again, u.again) {
			m.skipped = true
			continue
		}
		due := u.due && !u.lock.Client.exec.Uses(u.lock.slot, u.on) // else its server is certain to have it
		u.due = false
		if due && (now < u.until || u.leavesOnly(now)) {
			m.numbers++
			u.again = m.numbers
			m.again = append(m.again, u.again)
			m.repeats++
			return u
		}
	}
	return nil
}

// leavesOnly tells whether all that is repeated is that the owner leaves its place: it had no release,
// or its lease is over by now, which the place outlives.
func (u *past) leavesOnly(now time.Duration) bool {
	return u.extras != nil && u.extras.place != nil && (u.extras.leaves || now >= u.until)
}

// ended is called when the repetition of u, which take returned, has ended, and was answered on a
// connection; 0: it was not. If u has become due meanwhile, it is due from now on: one that has not
// found a server yet goes to whichever serves by then, so another behind it would be a copy.
func (m *memory) ended(u past, on uint64) {
	for i := range m.all { // take returned it lately
		if last := &m.all[(m.next+2*len(m.all)-1-i)%len(m.all)]; last.again == u.again {
			last.on = on
			break
		}
	}
	m.repeats--
	m.again = slices.DeleteFunc(m.again, func(number uint32) bool { return number == u.again })
	if m.skipped {
		m.next, m.skipped = 0, false
	}
}
