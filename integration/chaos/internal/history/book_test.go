package history

import (
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/kit/machineclock"
)

var proc = Process{Side: Go, Row: 1, Life: 2}

// told returns a book with these events of one process, and the book's first chapter.
func told(t *testing.T, events ...Event) (*Book, Chapter) {
	t.Helper()
	b := NewBook()
	b.Begin(proc)
	for _, e := range events {
		b.Add(proc, e)
	}
	return b, b.Turn()
}

func TestWindowEndsWithTheFirstOfUnlockLossAndTrust(t *testing.T) {
	begin := []Event{{At: 10, What: Called, Op: 1}, {At: 20, What: Held, Op: 1, Owner: "a", Until: 100}}
	unlocked := Event{At: 95, What: Unlocked, Op: 1, Kind: OK}
	for name, c := range map[string]struct {
		events []Event
		want   int64
	}{
		"unlock":               {[]Event{{At: 50, What: Unlock, Op: 1}, unlocked}, 50},
		"loss":                 {[]Event{{At: 40, What: Lost, Op: 1}, {At: 50, What: Unlock, Op: 1}, unlocked}, 40},
		"the loss, told twice": {[]Event{{At: 40, What: Lost, Op: 1}, {At: 45, What: Lost, Op: 1}, {At: 50, What: Unlock, Op: 1}, unlocked}, 40},
		"trust":                {[]Event{{At: 30, What: Trust, Op: 1, Until: 45}, {At: 50, What: Unlock, Op: 1}, unlocked}, 45},
		"trust that grew":      {[]Event{{At: 30, What: Trust, Op: 1, Until: 45}, {At: 31, What: Trust, Op: 1, Until: 70}, {At: 80, What: Unlock, Op: 1}, unlocked}, 70},
	} {
		_, ch := told(t, append(append([]Event(nil), begin...), c.events...)...)
		if len(ch.Acquisitions) != 1 {
			t.Fatalf("%s: %d acquisitions", name, len(ch.Acquisitions))
		}
		if from, to := ch.Acquisitions[0].Window(); from != 20 || to != c.want {
			t.Errorf("%s: from %d to %d, want from 20 to %d", name, from, to, c.want)
		}
	}
}

func TestKilledProcessIsTrustedToItsLastWord(t *testing.T) {
	b, _ := told(t, Event{At: 10, What: Called, Op: 1}, Event{At: 20, What: Held, Op: 1, Until: 100},
		Event{At: 30, What: Trust, Op: 1, Until: 130}, Event{At: 40, What: Called, Op: 2})
	b.End(proc)
	ch := b.Turn()
	if len(ch.Acquisitions) != 2 {
		t.Fatalf("%d acquisitions", len(ch.Acquisitions))
	}
	for _, a := range ch.Acquisitions {
		if from, to := a.Window(); a.Op == 1 && (from != 20 || to != 130) || a.Op == 2 && a.Held || a.Died == 0 {
			t.Errorf("%+v: from %d to %d", a, from, to)
		}
	}
	b.Add(proc, Event{At: 50, What: Called, Op: 3})
	if c := b.Turn(); len(c.Acquisitions) != 0 || c.Horizon < machineclock.Now()-time.Minute.Nanoseconds() {
		t.Errorf("after the end: %+v", c)
	}
}

func TestHorizonStopsAtWhatIsOpen(t *testing.T) {
	b, ch := told(t)
	if now := machineclock.Now(); ch.Horizon > now || ch.Horizon < now-time.Minute.Nanoseconds() {
		t.Errorf("nothing open: %d at %d", ch.Horizon, now)
	}
	now := machineclock.Now()
	b.Add(proc, Event{At: now + 1, What: Called, Op: 1})
	b.Add(proc, Event{At: now + 5, What: Tick})
	b.Add(proc, Event{At: now + 2, What: Called, Op: 2})
	b.Add(proc, Event{At: now + 3, What: Refused, Op: 2, Kind: "locked"})
	if ch := b.Turn(); ch.Horizon != now+1 || len(ch.Acquisitions) != 0 {
		t.Errorf("an acquire: %+v, want %d", ch, now+1)
	}
	b.Add(proc, Event{At: now + 4, What: Refused, Op: 1, Kind: "locked"})
	if ch := b.Turn(); ch.Horizon != now+5 || len(ch.Acquisitions) != 2 {
		t.Errorf("a sign of life: %+v, want 2 acquisitions to %d", ch, now+5)
	}
	b.Add(proc, Event{At: now + 1_000_000_000_000, What: Tick})
	done := b.Voiding(Every, "flush")
	ch = b.Turn()
	if ch.Horizon > machineclock.Now() || len(ch.Voids) > 0 {
		t.Errorf("a void: %+v", ch)
	}
	begun := ch.Horizon
	done()
	if ch = b.Turn(); len(ch.Voids) != 1 || ch.Voids[0].From != begun || ch.Voids[0].To < begun {
		t.Errorf("a void that is over: %+v", ch)
	}
}

func TestVoidThatIsNotOverKeepsBackWhatEndedInIt(t *testing.T) {
	b, _ := told(t)
	add := func(op, called, unlocked int64) {
		b.Add(proc, Event{At: called, What: Called, Op: op})
		b.Add(proc, Event{At: called + 1, What: Held, Op: op, Until: unlocked})
		b.Add(proc, Event{At: unlocked - 1, What: Unlock, Op: op})
		b.Add(proc, Event{At: unlocked, What: Unlocked, Op: op, Kind: NotHeld})
	}
	begun := machineclock.Now()
	b.Add(proc, Event{At: begun + time.Minute.Nanoseconds(), What: Tick})
	add(1, begun-50, begun-10)
	done := b.Voiding(Every, "flush")
	add(2, begun-40, machineclock.Now())
	add(3, begun-30, begun-5)
	if ch := b.Turn(); len(ch.Acquisitions) != 1 || ch.Acquisitions[0].Op != 1 || ch.Horizon != begun-40 {
		t.Errorf("while it lasts: %+v", ch)
	}
	done()
	if ch := b.Turn(); len(ch.Acquisitions) != 2 || len(ch.Voids) != 1 {
		t.Errorf("when it is over: %+v", ch)
	}
}

func TestVoidThatIsFoundOutLateBeginsWhenAllWasLastWell(t *testing.T) {
	b := NewBook()
	calm, done := b.VoidingSince(Every, "a failover", nil)
	first := b.Turn()
	calm()
	second := b.Turn()
	if first.Horizon >= second.Horizon || len(second.Voids) > 0 {
		t.Errorf("%+v, then %+v", first, second)
	}
	done()
	if ch := b.Turn(); len(ch.Voids) != 1 || ch.Voids[0].From != second.Horizon || ch.Voids[0].To < second.Horizon {
		t.Errorf("%+v, want one void from %d", ch, second.Horizon)
	}
}

func TestVoidHitsWhatIsHeldAndWhatIsOnItsWay(t *testing.T) {
	v := Void{From: 100, To: 110, Lock: 3}
	a := func(lock int, called, returned, unlock int64) *Acquisition {
		return &Acquisition{Lock: lock, Called: called, Returned: returned, Held: true, Until: 1000, Unlock: unlock}
	}
	for name, c := range map[string]struct {
		a    *Acquisition
		want bool
	}{
		"held":              {a(3, 10, 20, 200), true},
		"released before":   {a(3, 10, 20, 90), false},
		"on its way":        {a(3, 90, 105, 200), true},
		"across":            {a(3, 90, 150, 200), true},
		"called during":     {a(3, 105, 150, 200), true},
		"called after":      {a(3, 110, 150, 200), false},
		"of another lock":   {a(2, 10, 20, 200), false},
		"its trust is over": {&Acquisition{Lock: 3, Called: 10, Returned: 20, Held: true, Until: 99}, false},
	} {
		if got := v.Hits(c.a); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestVoidSparesWhomItCanNotHaveTaken(t *testing.T) {
	v := Void{From: 100, To: 110, Lock: Every, Spares: func(owner string, returned int64) bool { return owner == "kept" && returned == 20 }}
	for _, owner := range []string{"kept", "lost"} {
		a := &Acquisition{Owner: owner, Called: 10, Returned: 20, Held: true, Until: 1000}
		if v.Hits(a) != (owner == "lost") {
			t.Errorf("%s: %t", owner, v.Hits(a))
		}
	}
}
