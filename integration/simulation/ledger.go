package simulation

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/rlock-go/redisson/rlock"
)

// object is the ledger of one object: who holds it, who waits for it, and what may be excused.
// All of it is guarded by the world's lock.
type object struct {
	Object
	p     *play
	holds []*hold
	calls []*call // that are open

	excused    map[string]Clause   // owners that may hold more than anybody knows
	lost       time.Time           // when a fault last took data, of which waiters do not hear
	emptyAt    time.Time           // when a fault last took its key, without a word to those who know that it is taken
	deleted    deletion            // the last one by which its data came to be with another server
	forcedAt   time.Time           // when it was last taken by ForceUnlock
	forcedBy   string              // whose host did it
	until      time.Time           // when its key will expire, as last seen
	sleepUntil time.Time           // waiters may sleep by a TTL that was made shorter
	freeAt     time.Time           // since when it is free and somebody waits; zero: it is not so
	at         server              // whose data counted at the last look
	here       bool                // its key is there
	flipped    time.Time           // when here last changed
	expired    bool                // that was because its key expired, of which the server tells nobody
	token      int64               // the highest that was seen
	count      count               // of a semaphore's permits, or of a latch
	setAt      time.Time           // when AddPermits last returned without an acknowledgement by a replica
	shared     string              // the text of an owner that several clients use
	lostOne    time.Time           // when a release of a lost hold of it returned last
	own        map[*life]*ownShare // owners that several callers of one client use
	total      int                 // permits; 0: not known
	enqueued   []string            // a fair lock's waiters in the order of their places
	revived    []string            // owners whose waiters had gone, and whose places an old server's data brought back
	emptied    time.Time           // when the last place went
	headAt     time.Time           // when the first of them last became it
	untold     time.Time           // since when the lock is free and nobody has told the first of them
	left       map[string]bool     // owners that left the queue and did not enter
	ghosts     map[string]int      // looks at which an unknown owner held
	undoing    map[*life]time.Time // when a client's call last ended whose attempt may still be undone, or a MultiLock's given back
	multi      bool                // it is a member of a multi-lock
	value      int64               // of a latch, as last seen
	downs      int                 // calls that count a latch down
	falls      []time.Time         // when its count fell by one
	acting     map[string]*acting  // owners of which a command ran
	news       map[string]news     // by host
	waiters    []*acting           // of those the last that were refused
	tries      int                 // refused attempts
}

// news is what a client heard last of a lock: that somebody has it, or that its own release has freed it.
type news struct {
	taken   bool
	takenAt time.Time // when a server last said so
	freeAt  time.Time // when its own release last ran, of which it may hear later
}

// ownShare is an owner whose text never leaves its client, and how many callers use it.
type ownShare struct {
	owner rlock.Owner
	users int
}

// hold is an entry of the ledger: somebody who was told that it holds.
type hold struct {
	o         *object
	who       string
	owner     string
	life      *life // nil: Java's, or a leader's, who is not told its owner and token
	reads     bool
	permits   int
	ids       []string    // of permits
	common    bool        // others may act as its owner, or several hold as it
	leftAlone *rlock.Hold // of the same owner, which nobody unlocks; nil: none
	sole      func() bool // of one of several holds of an owner: no other caller uses it; nil: another client may
	atLeast   time.Duration
	lease     time.Duration // 0: it is renewed, unless it has a MaxHold
	renewed   bool          // by the watchdog, and nothing makes its key's life shorter
	goneAt    time.Time     // since when its server lacks it, and it is trusted
	token     int64

	valid func() bool      // it trusts its hold; called without the world's lock
	until func() time.Time // when that ends without a renewal

	since     time.Duration
	began     time.Time // of the call that got it
	promotion int       // how many there had been
	ending    bool      // its release has begun
	endingAt  time.Time
	void      Clause // why others may hold too; empty: they may not
	now       chan struct{}
}

// field is the owner's name on the server.
func (h *hold) field() string {
	if h.o.Kind == ReadWrite && !h.reads {
		return h.owner + ":write"
	}
	return h.owner
}

// call is a call that is open.
type call struct {
	o         *object
	l         *life // nil: Java's
	who       string
	what      string
	host      string
	began     time.Time
	by        time.Time // when it must have returned; zero: whenever it likes
	grace     time.Duration
	wants     int  // permits
	reads     bool // a reader's
	waits     bool // until it gets what it wants
	ends      *context.CancelFunc
	until     time.Time // of a release: when the hold that it ends would have ended by itself
	refusedAt time.Time // when a server first said that its owner, which only it acts as now, does not get the lock
	as        string    // the owner that it acts as, if others may do so too
	token     int64     // the highest that was seen when it began
	sleeps    time.Time // of Java's lock: until when it was told to wait
}

// begin records that a call begins.
func (p *play) begin(c *call) {
	p.w.Mu.Lock()
	defer p.w.Mu.Unlock()
	c.began, c.token = time.Now(), c.o.token
	c.o.calls = append(c.o.calls, c)
	p.res.Calls++
	if t := p.traffic[c.host]; t != nil {
		t.calls++
	}
}

// end records that it has returned, and judges how long it took.
func (p *play) end(c *call, err error) {
	took := time.Since(c.began)
	p.w.Mu.Lock()
	defer p.w.Mu.Unlock()
	c.o.calls = slices.DeleteFunc(c.o.calls, func(o *call) bool { return o == c })
	p.res.Outcomes[c.what+": "+kindOf(err)]++
	if c.as != "" && p.promotedAt.After(c.began) {
		c.o.lostOne = time.Now() // it may give back a grant that the failover lost
	}
	if err != nil && givesBack(err) {
		c.o.undoing[c.l] = time.Now()
	}
	if err != nil {
		p.w.Note("%s %s: %v", c.who, c.what, err)
	}
	vain := errors.Is(err, rlock.ErrLeaseLost) && strings.HasSuffix(c.what, "Lock") // its grant is given back behind the call
	if c.as != "" && err != nil && (vain || maybe(err)) {
		c.o.doubt(c.as)
	}
	p.judgeAnswered(c, err)
	if late := time.Since(c.by); !c.by.IsZero() {
		p.longest("after its bound: "+c.what, late)
		if c.l != nil && c.l.closed { // Close leaves it no less time than itself
			late = min(late, time.Since(c.l.closesBy))
		}
		if late > 0 {
			p.violate("bound: %s of %s returned after %v, which is %v late: %v", c.what, c.who, took, late, err)
		}
	}
	p.wantsNothing(c.o)
}

// cancelled records that a call's context has ended, so that it must return soon.
func (p *play) cancelled(c *call) {
	p.w.Mu.Lock()
	defer p.w.Mu.Unlock()
	if by := time.Now().Add(c.grace); c.grace > 0 && (c.by.IsZero() || by.Before(c.by)) {
		c.by = by
	}
}

// voids marks holds that a fault, or somebody with the right to, has taken from their owners.
func (p *play) voids(o *object, why Clause, lost func(h *hold) bool) {
	for _, h := range o.holds {
		if h.void == "" && lost(h) {
			h.void = why
			p.allow(why)
		}
	}
}

// loses records that a server has lost all its data.
func (p *play) loses(s server) {
	for _, o := range p.objects {
		if p.site.master(o.Name) == s || o.Kind == Permits && s.Exists(timesOf(o.Name)) && p.site.master(timesOf(o.Name)) == s {
			p.voids(o, lostByServer, func(*hold) bool { return true })
			o.lost, o.emptyAt, o.freeAt, o.token = time.Now(), time.Now(), time.Time{}, 0
			clear(o.left)
			o.value = 0
			o.count.lost()
			if p.parted(o, s) {
				o.total = 0
			}
			p.look(o, s)
		}
	}
}

// parted reports whether another server has keys of an object too, since its slot moves. If the keys of permits are not of one time,
// nobody knows how many there are.
func (p *play) parted(o *object, s server) bool {
	return slices.ContainsFunc(p.site.masters(), func(m server) bool { return m != s && (m.Exists(o.Name) || m.Exists(timesOf(o.Name))) })
}

// promoted marks holds of which the next master does not know what the former one knew.
func (p *play) promoted(former, next server) {
	p.promotions++
	p.promotedAt = time.Now()
	for _, o := range p.objects {
		if p.site.master(o.Name) != next {
			continue
		}
		shorter := next.Until(o.Name).Before(former.Until(o.Name)) // Java does not look whether its last renewal is there
		p.voids(o, lostByServer, func(h *hold) bool { return !h.alike(former, next) || h.life == nil && shorter })
		for _, field := range next.Fields(o.Name) {
			owner := strings.TrimSuffix(field, ":write")
			had, _ := former.Field(o.Name, field)
			has, _ := next.Field(o.Name, field)
			switch {
			case had == "" && p.isJava(field): // it was released, and nobody in Java says so again
				o.excuse(owner, javaException)
			case had != has && owner == o.shared: // perhaps within a call, whose grant no replica acknowledged
				o.excuse(owner, sharedUnlock)
			}
		}
		o.lost, o.emptyAt, o.freeAt = time.Now(), time.Now(), time.Time{}
		clear(o.left)
		if time.Since(next.Followed()) > repeatedFor {
			o.revives(former.List(queueOf(o.Name)), next.List(queueOf(o.Name)))
		}
		was, _ := former.Value(o.Name)
		is, _ := next.Value(o.Name)
		strayed := is == "" && o.count.known && o.Kind != Latch // its key is at the server to which its slot was moving
		unset := o.setAt.After(next.Followed())                 // another one, which is sent again, may have made up for it in the number
		if p.site.torn() || strayed || unset || was != is || !slices.Equal(former.Members(timesOf(o.Name)), next.Members(timesOf(o.Name))) {
			p.allow(replicaLacks)
			o.count.lost()
		}
		if is, _ := next.Value(tokenOf(o.Name)); is != "" || o.token > 0 {
			o.token = min(o.token, number(is))
		}
		o.value = number(is)
		o.refalls(next.Followed())
		o.at = next
		p.look(o, next)
	}
}

// overruled marks holds of which an object's next server does not know. It was promoted before it heard that the object's slot had moved,
// and its claim to the slot prevails.
func (p *play) overruled(o *object, next server) {
	p.voids(o, lostByServer, func(h *hold) bool { return !h.there(next) })
	o.lost, o.emptyAt, o.freeAt, o.token, o.at = time.Now(), time.Now(), time.Time{}, 0, next
	clear(o.left)
	o.count.lost()
}

// isJava reports whether an owner is one of Java's.
func (p *play) isJava(owner string) bool {
	return slices.ContainsFunc(p.javas, func(j *java) bool { return j.id == clientOf(owner) })
}

// alike reports whether two servers know the same of a hold.
func (h *hold) alike(a, b server) bool {
	if h.o.Kind == Permits {
		is := b.Members(timesOf(h.o.Name))
		return !slices.ContainsFunc(h.ids, func(id string) bool { return !slices.Contains(is, raw(id)) })
	}
	was, _ := a.Field(h.o.Name, h.field())
	is, there := b.Field(h.o.Name, h.field())
	return there && was == is
}

// excuse records that a caller was told that an owner may hold more than it knows.
func (o *object) excuse(owner string, why Clause) {
	o.excused[owner] = why
	o.doubt(owner)
	o.p.allow(why)
}

// excuseOld excuses owners that held when the data was saved with which a server has begun anew. A holder's release frees the lock
// again, unless it ran before, for an owner that others use too.
func (o *object) excuseOld(s server) {
	if !o.Kind.lock() || o.p.site.master(o.Name) != s {
		return
	}
	for _, field := range s.Fields(o.Name) {
		owner := strings.TrimSuffix(field, ":write")
		releases := func(h *hold) bool { return h.field() == field && !(h.common && h.ending) }
		if owner != "mode" && !slices.ContainsFunc(o.holds, releases) {
			o.excuse(owner, lostByServer)
		}
	}
}

// knows reports whether an owner that the server has is somebody's: a holder's, one that is excused, or that of an open call which may
// hold before it returns, as a MultiLock's does, Lead and Java's.
func (o *object) knows(field string) bool {
	owner := strings.TrimSuffix(field, ":write")
	if o.excused[owner] != "" || o.p.closedOnes[clientOf(owner)] {
		return true
	}
	if slices.ContainsFunc(o.holds, func(h *hold) bool { return h.owner == owner }) {
		return true
	}
	return slices.ContainsFunc(o.calls, func(c *call) bool {
		return c.l != nil && (o.multi || c.what == "Lead") && c.l.id == clientOf(owner) || c.l == nil && c.who == owner
	})
}

// closes records that a client closes: its holds end, and their keys are left to expire.
func (p *process) closes(l *life, by time.Time) {
	l.closed, l.closesBy = true, by
	p.closedOnes[l.id] = true
	p.allow(closedKey)
	for _, o := range p.objects {
		o.freeAt = time.Time{}
	}
}

// clientOf is the first half of an owner.
func clientOf(owner string) string {
	id, _, _ := strings.Cut(owner, ":")
	return id
}

// deletion is that of a key whose slot moves, at the server that had it.
type deletion struct {
	by server
	at time.Time
}
