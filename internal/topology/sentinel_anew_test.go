package topology

import (
	"cmp"
	"testing"
	"time"
)

func TestSentinelsThatBeganAnewAreBelieved(t *testing.T) {
	t.Parallel()
	say := func(from, master string, epoch int64) testimony {
		return testimony{from: from, master: master, epoch: epoch}
	}
	all := func(master string, epoch int64) []testimony {
		return []testimony{say("x", master, epoch), say("y", master, epoch), say("z", master, epoch)}
	}
	silent := testimony{err: errDown}
	late := func(said []testimony) []testimony {
		for i := range said {
			said[i].asked = time.Unix(1, 0) // before any round
		}
		return said
	}
	for name, row := range map[string]struct {
		rounds [][]testimony // a second apart
		want   string        // of the last
	}{
		"all":                                      {[][]testimony{all("a", 3), all("b", 0)}, "b"},
		"two, and one is silent":                   {[][]testimony{all("a", 3), {say("x", "b", 0), say("y", "b", 0), silent}}, "b"},
		"two, and one is not done":                 {[][]testimony{all("a", 3), {say("x", "b", 0), say("y", "b", 0), say("z", "a", 3)}}, "b"},
		"two, and one a moment later":              {[][]testimony{all("a", 3), {say("x", "b", 0), say("y", "b", 0), say("z", "a", 3)}, all("b", 0)}, "b"},
		"two, and one that was silent is not done": {[][]testimony{all("a", 3), {say("x", "b", 0), say("y", "b", 0), silent}, {say("x", "b", 0), say("y", "b", 0), say("z", "a", 3)}}, "b"},
		"one, and two are silent":                  {[][]testimony{all("a", 3), {say("x", "b", 0), silent, silent}}, ""},
		"two that never knew better":               {[][]testimony{{say("x", "b", 2), say("y", "b", 2), say("z", "a", 3)}, {say("x", "b", 2), say("y", "b", 2), silent}}, ""},
		"and a failover follows":                   {[][]testimony{all("a", 3), all("b", 0), {say("x", "b", 0), say("y", "b", 0), say("z", "c", 1)}}, "c"},
		"and two of them hear late of a failover":  {[][]testimony{all("a", 3), all("b", 0), {say("x", "b", 0), say("y", "b", 0), say("z", "c", 1)}, {say("x", "b", 0), say("y", "b", 0), silent}}, ""},
		"once more":                                {[][]testimony{all("a", 3), all("b", 0), all("c", 1), all("d", 0)}, "d"},
		"the first had been left for another":      {[][]testimony{all("a", 3), all("b", 4), all("a", 0)}, "a"},
		"their answers to an earlier question":     {[][]testimony{all("a", 3), late(all("b", 0))}, ""},
		"and some to a question from before that":  {[][]testimony{all("a", 3), all("b", 0), all("c", 1), late(all("b", 0))}, ""},
		"and their late answers from before it":    {[][]testimony{all("a", 3), all("b", 0), late(all("a", 3))}, ""},
		"which end nothing":                        {[][]testimony{all("a", 3), all("b", 0), late(all("a", 3)), all("b", 0)}, "b"},
		"those that were replaced are not counted": {[][]testimony{all("a", 3), {say("u", "a", 3)}, nil, {say("u", "b", 0)}}, "b"},
	} {
		t.Run(name, func(t *testing.T) {
			var c choice
			now := time.Now()
			var got testimony
			for _, said := range row.rounds {
				if now = now.Add(time.Second); said == nil {
					now = now.Add(seenFor - time.Second)
					continue
				}
				for i := range said {
					said[i].asked = cmp.Or(said[i].asked, now)
				}
				if best, err := c.believes(said, 3, now); err == nil {
					got = best
					c.believe(best, now)
				} else {
					got = testimony{}
				}
			}
			if got.master != row.want {
				t.Errorf("got %q, want %q", got.master, row.want)
			}
		})
	}
}
