package javapeer

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
	"github.com/rlock-go/redisson/integration/internal/machineclock"
	"github.com/rlock-go/redisson/internal/redistest"
)

func TestHammerTellsEveryTurn(t *testing.T) {
	server := redistest.Start(t)
	redisConn := server.Dial(t)
	p := Start(t, Newest, server.Addr())
	if err := p.Warm(t.Context(), "warm", 1, 100); err != nil {
		t.Fatal(err)
	}
	if _, err := redisConn.Do("CONFIG", "RESETSTAT"); err != nil {
		t.Fatal(err)
	}
	start := machineclock.Now() + (100 * time.Millisecond).Nanoseconds()
	h := Hammer{Name: "n", Workers: 3, Hold: 3 * time.Millisecond, For: 500 * time.Millisecond, StartAt: start}
	turns, err := p.Hammer(t.Context(), h)
	if err != nil {
		t.Fatal(err)
	}
	published, err := redis.Int(redisConn.Do("EVAL", `return tonumber(string.match(redis.call('info', 'commandstats'), 'cmdstat_publish:calls=(%d+)'))`, 0))
	if err != nil {
		t.Fatal(err)
	}
	if len(turns) < 2 || published != len(turns) {
		t.Errorf("%d turns, %d releases", len(turns), published)
	}
	slices.SortFunc(turns, func(a, b Turn) int { return cmp.Compare(a.Granted, b.Granted) })
	end, late := start+h.For.Nanoseconds(), 0
	for i, turn := range turns {
		held := time.Duration(turn.Releasing - turn.Granted)
		switch {
		case turn.Asked < start || turn.Granted < turn.Asked:
			t.Errorf("begun at %d: %+v", start, turn)
		case turn.Granted >= end:
			late++
		case held < h.Hold:
			t.Errorf("held for %v: %+v", held, turn)
		}
		if i > 0 && turn.Granted < turns[i-1].Releasing {
			t.Errorf("two at once: %+v, %+v", turns[i-1], turn)
		}
	}
	if late > h.Workers {
		t.Errorf("%d of %d were late", late, len(turns))
	}
}

func TestHammerThinks(t *testing.T) {
	server := redistest.Start(t)
	p := Start(t, Newest, server.Addr())
	h := Hammer{Name: "n", Workers: 1, Think: 100 * time.Millisecond, For: 350 * time.Millisecond}
	turns, err := p.Hammer(t.Context(), h)
	if err != nil {
		t.Fatal(err)
	}
	if len(turns) == 0 || len(turns) > 4 {
		t.Errorf("%d turns in %v, %v apart", len(turns), h.For, h.Think)
	}
}
