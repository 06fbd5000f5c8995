// Command torture runs Go and Java processes on the same locks of a redis-server, or of a set, under faults that are drawn from a
// seed, and judges the history of every call.
//
//	go run ./chaos/torture -duration 10m
//
// With -topology sentinel or cluster the locks are on a set of servers, each behind a gate. Masters fail over, die and are
// silenced, replicas lag, die and come back, and slots move. What the replicas had acknowledged must survive that.
//
// With -kind shared several processes act as the same owners. Their holds are counted, and compared with what the server
// shows past all faults: `make endurance` does so for half an hour.
//
// With -kind fair, readwrite, fenced, nonreentrant, permits or multi the locks are of that kind, and judged by its
// model. With multi each call wants several locks at once, in any order.
//
// It prints its seed first; the same seed with the same duration plays the same faults at the same offsets. The exit status
// is 1 if anything was wrong. What is judged is in internal/checker, what faults there are in internal/schedule.
package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"github.com/rlock-go/redisson/integration/chaos/internal/kind"
	"github.com/rlock-go/redisson/integration/chaos/internal/schedule"
	"github.com/rlock-go/redisson/integration/chaos/internal/stage"
	"github.com/rlock-go/redisson/integration/chaos/internal/worker"
	"github.com/rlock-go/redisson/integration/kit/tablefile"
	"github.com/rlock-go/redisson/integration/kit/testbed"
)

func main() {
	worker.RunIfAsked()
	seed := flag.Uint64("seed", 0, "seed of the schedule; 0 draws one")
	duration := flag.Duration("duration", time.Minute, "how long faults and load go on")
	kindName := flag.String("kind", kind.All[0].Name, "kind of lock: "+kind.Names())
	write := flag.Bool("write", false, "put the summary into "+tablefile.Path(tableFile)+" if nothing was wrong")
	topology := flag.String("topology", "", "sentinel or cluster; a single server by default")
	flag.Parse()
	k, known := kind.Named(*kindName)
	if !known || flag.NArg() > 0 || !slices.Contains([]string{"", schedule.Sentinel, schedule.Cluster}, *topology) || *duration <= 0 {
		flag.Usage()
		os.Exit(2)
	}
	c := configured(k, *topology, *duration)
	if c.Seed = *seed; c.Seed == 0 {
		c.Seed = rand.Uint64() >> 12
	}
	fmt.Printf("torture: -kind %s -topology %q -seed %d -duration %v\n", k.Name, *topology, c.Seed, *duration)
	os.Exit(run(c, *write))
}

const tableFile = "endurance"

// run runs a campaign as a test would, so that all that it starts ends with it.
func run(c stage.Config, write bool) (status int) {
	p := &testbed.Program{Title: "torture"}
	defer p.End(&status)
	c.Logf = p.Logf
	r := campaign(p, c)
	fmt.Print(r.summary())
	if r.failed() {
		return 1
	}
	if write {
		if err := tablefile.Write(tableFile, "```text\n"+r.summary()+"```\n"); err != nil {
			p.Errorf("%v", err)
		}
	}
	return status
}
