package main

import (
	"fmt"
	"sync"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/luasrc"
)

// bareMasters sends rlock's commands ahead to several servers at the same time, as limit does to one: what three masters
// cost whoever uses them, without rlock.
type bareMasters []*limit

// openBare has so many commands in flight at each server. Their names are as many, and in the server's slots.
func openBare(c *clusterServers, depth int, publish luasrc.Arg) (b bareMasters, err error) {
	for i, s := range c.masters {
		if err := loadAll(s.addr); err != nil {
			return nil, err
		}
		var names []string
		for k := 0; len(names) < depth; k++ {
			name := fmt.Sprint(prefixFor("cluster", bareP), k)
			if int(codec.Slot(name))*len(c.masters)/16384 == i {
				names = append(names, name)
			}
		}
		b = append(b, newLimitOf(s.addr, depth, names, publish))
	}
	return b, nil
}

func (b bareMasters) load(s spec) (sum loaded, err error) {
	var mu sync.Mutex // guards sum and err
	var all sync.WaitGroup
	for _, l := range b {
		all.Go(func() {
			one, failed := l.load(s)
			mu.Lock()
			defer mu.Unlock()
			sum.pairs += one.pairs
			sum.grants += one.grants
			sum.took = max(sum.took, one.took)
			if failed != nil {
				err = failed
			}
		})
	}
	all.Wait()
	return sum, err
}

// close has nothing to do: each load has connections of its own.
func (b bareMasters) close() {}
