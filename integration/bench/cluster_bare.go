package main

import (
	"fmt"
	"slices"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/luasrc"
)

// bareMasters sends rlock's commands ahead to several servers at the same time, as limit does to one. It shows what
// three masters cost a client without rlock. Each server has depth commands in flight, for as many names in its slots.
func bareMasters(c *clusterServers, depth int, publish luasrc.Arg) (_ loader, err error) {
	defer caught(&err)
	var each []loader
	for i, s := range c.masters {
		check(loadAll(s.addr))
		var names []string
		for k := 0; len(names) < depth; k++ {
			name := fmt.Sprint(prefixFor("cluster", bareP), k)
			if int(codec.Slot(name))*len(c.masters)/16384 == i {
				names = append(names, name)
			}
		}
		each = append(each, newLimitOf(s.addr, depth, names, publish).load)
	}
	return func(s spec) (loaded, error) { return together(each, slices.Repeat([]spec{s}, len(each))) }, nil
}
