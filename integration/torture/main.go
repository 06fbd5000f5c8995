// Command torture runs Go and Java processes on the same locks of a redis-server, or of a set, under faults that are drawn from a
// seed, and judges the history of every call.
//
//	go run ./torture -duration 10m -html /tmp/torture.html
//
// With -topology sentinel or cluster they are on a set of servers, each behind a gate, whose masters fail over, die and are
// silenced, whose replicas lag, go and come back, and whose slots move; what replicas had acknowledged must outlive that.
//
// With -kind fair, readwrite, fenced, nonreentrant, permits, semaphore, latch or multi the locks are of that kind, and judged by its
// model. With multi each caller wants some of the locks together, in any order.
//
// It prints its seed first; the same seed with the same sizes plays the same faults at the same offsets. The exit status
// is 1 if anything was wrong. What is judged is in internal/checker, what faults there are in internal/schedule.
package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"github.com/rlock-go/redisson/integration/testbed"
	"github.com/rlock-go/redisson/integration/torture/internal/campaign"
	"github.com/rlock-go/redisson/integration/torture/internal/kind"
	"github.com/rlock-go/redisson/integration/torture/internal/schedule"
	"github.com/rlock-go/redisson/integration/torture/internal/worker"
)

func main() {
	worker.RunIfAsked()
	var c campaign.Config
	flag.Uint64Var(&c.Seed, "seed", 0, "seed of the schedule; 0 draws one")
	flag.DurationVar(&c.Sizes.Duration, "duration", time.Minute, "how long faults and load go on")
	flag.IntVar(&c.Sizes.Locks, "locks", 5, "locks")
	flag.IntVar(&c.Sizes.Go, "go", 3, "Go processes")
	flag.IntVar(&c.Sizes.Java, "java", 1, "Java processes")
	flag.IntVar(&c.Workers, "workers", 4, "goroutines or threads of each process")
	flag.DurationVar(&c.Watchdog, "watchdog", 1500*time.Millisecond, "watchdog timeout of both sides")
	flag.DurationVar(&c.CommandTimeout, "timeout", 200*time.Millisecond, "command timeout of the Go side")
	kindName := flag.String("kind", kind.All[0].Name, "kind of lock: "+kind.Names())
	flag.StringVar(&c.History, "history", "", "file for all acquisitions, one a line")
	flag.StringVar(&c.HTML, "html", "", "file for a timeline of the last minute")
	flag.StringVar(&c.Sizes.Topology, "topology", "", "sentinel or cluster; a single server by default")
	server := flag.String("server", "", "redis-server binary; default is that of PATH")
	list := flag.Bool("list", false, "print the schedule and do nothing")
	flag.Parse()
	if c.Sizes.Topology != "" {
		campaign.Slower(&c)
	}
	known := false
	c.Kind, known = kind.Named(*kindName)
	if !known || flag.NArg() > 0 || !slices.Contains([]string{"", schedule.Sentinel, schedule.Cluster}, c.Sizes.Topology) || c.Sizes.Duration <= 0 || c.Sizes.Locks < 1 || c.Sizes.Go < 1 || c.Sizes.Java < 0 || c.Workers < 1 {
		flag.Usage()
		os.Exit(2)
	}
	if c.Seed == 0 {
		c.Seed = rand.Uint64() >> 12
	}
	if *server != "" {
		os.Setenv("RLOCK_REDIS_SERVER", *server)
	}
	fmt.Printf("torture: -kind %s -topology %q -seed %d -duration %v -locks %d -go %d -java %d -workers %d\n",
		c.Kind.Name, c.Sizes.Topology, c.Seed, c.Sizes.Duration, c.Sizes.Locks, c.Sizes.Go, c.Sizes.Java, c.Workers)
	if *list {
		for _, f := range schedule.Draw(c.Seed, c.Sizes) {
			fmt.Println(f)
		}
		return
	}
	os.Exit(run(c))
}

// run runs as a test would, so that all ends with it.
func run(c campaign.Config) (status int) {
	p := &testbed.Program{Title: "torture"}
	defer p.End(&status)
	c.Logf = p.Logf
	r := campaign.Run(p, c)
	fmt.Print(r.Summary())
	if r.Failed() {
		status = 1
	}
	return status
}
