package main

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/rlock-go/redisson/integration/kit/commandstats"
	"github.com/rlock-go/redisson/integration/kit/javapeer"
)

// slice is the result of one turn of a cast.
type slice struct {
	processes []performance
	took      time.Duration      // the part that counts
	turns     int64              // all turns, including those that do not count
	commands  commandstats.Calls // for all turns
}

// performance is the result of one process.
type performance struct {
	side  side
	count int64           // acquisitions in time
	waits []time.Duration // of those, and of workers still waiting at the end
}

// judge counts what was granted from begin to end, and checks that no two were inside at once.
func judge(all []process, turns [][]javapeer.Turn, begin, end int64) (slice, error) {
	r := slice{took: time.Duration(end - begin)}
	var every []javapeer.Turn
	for i, p := range all {
		pf := performance{side: p.side}
		for _, t := range turns[i] {
			switch {
			case t.Granted < begin:
			case t.Granted < end:
				pf.count++
				pf.waits = append(pf.waits, time.Duration(t.Granted-t.Asked))
			case t.Asked < end:
				pf.waits = append(pf.waits, time.Duration(end-t.Asked))
			}
		}
		r.processes = append(r.processes, pf)
		every = append(every, turns[i]...)
	}
	r.turns = int64(len(every))
	return r, overlap(every)
}

// overlap returns an error if two held the lock at once.
func overlap(turns []javapeer.Turn) error {
	slices.SortFunc(turns, func(a, b javapeer.Turn) int { return cmp.Compare(a.Granted, b.Granted) })
	for i := 1; i < len(turns); i++ {
		if a, b := turns[i-1], turns[i]; b.Granted < a.Releasing {
			return fmt.Errorf("two held the lock at once: from %d to %d, and from %d to %d", a.Granted, a.Releasing, b.Granted, b.Releasing)
		}
	}
	return nil
}

func (s slice) count() (n int64) {
	for _, p := range s.processes {
		n += p.count
	}
	return n
}

// rate is acquisitions a second.
func (s slice) rate() float64 { return float64(s.count()) / s.took.Seconds() }

// sent counts the commands that clients sent, without those of scripts: EVALSHA and others that only clients send, and
// DEL minus the one in each final unlock.
func (s slice) sent() (n int64) {
	for _, kind := range []string{"evalsha", "eval", "script|load", "subscribe", "unsubscribe", "pubsub|numsub", "ping", "del"} {
		n += s.commands[kind]
	}
	return n - s.turns
}
