package schedule

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"
)

// Sizes describe the run for which a schedule is drawn.
type Sizes struct {
	Duration        time.Duration
	Locks, Go, Java int
	Topology        string // "", Sentinel or Cluster
}

const (
	warmUp = time.Second
	// A calm stretch outlasts the leases of holds that the storm lost, and some faultless seconds more.
	calmLeast, calmMost   = 5 * time.Second, 6 * time.Second
	stormLeast, stormMost = 6 * time.Second, 9 * time.Second
	// Faults that void windows are rare: at most one per voidEvery of the run, and one in a shorter run.
	voidEvery = 20 * time.Second
	// A JVM takes seconds of a core to start.
	javaKillEvery = 40 * time.Second
)

// Draw returns the schedule of a seed, sorted by time. The run ends with a calm stretch.
func Draw(seed uint64, s Sizes) []Fault {
	d := &drawing{
		rng: rand.New(rand.NewPCG(seed, 0x70727475)), Sizes: s,
		voids: max(1, int(s.Duration/voidEvery)), javaKills: int(s.Duration / javaKillEvery),
	}
	for at := warmUp; ; {
		end := min(at+d.between(stormLeast, stormMost), s.Duration-calmLeast)
		if end <= at {
			break
		}
		d.storm(at, end)
		at = end + d.between(calmLeast, calmMost)
	}
	slices.SortStableFunc(d.faults, func(a, b Fault) int { return cmp.Compare(a.At, b.At) })
	return d.faults
}

type drawing struct {
	Sizes
	rng       *rand.Rand
	faults    []Fault
	voids     int // still to be drawn
	javaKills int
	lastVoid  time.Duration
}

func (d *drawing) between(least, most time.Duration) time.Duration {
	return (least + time.Duration(d.rng.Int64N(int64(most-least)))).Truncate(time.Millisecond)
}

// choice is a kind of fault with its weight and how long it may last.
type choice struct {
	weight      int
	kind        Kind
	least, most time.Duration
	command     bool // it hits one command
}

const ms = time.Millisecond

var network = []choice{
	{6, Cut, 0, 0, false},
	{4, CutBefore, 100 * ms, 500 * ms, true},
	{8, CutAfter, 100 * ms, 500 * ms, true},
	{8, DropReply, 100 * ms, 500 * ms, true},
	{6, HoldReply, 50 * ms, 400 * ms, true},
	{8, Withhold, 100 * ms, 2500 * ms, true},
	// An acquire that arrives after its own undo shows in a hold count only while its owner still holds.
	{8, WithholdReentry, 300 * ms, 1200 * ms, false},
	{3, Blackhole, 100 * ms, 500 * ms, true},
	{4, Freeze, 50 * ms, 2500 * ms, false},
	{3, Refuse, 100 * ms, 1500 * ms, false},
	{2, DeafDial, 100 * ms, 1500 * ms, false},
	{8, Refusal, 50 * ms, 1500 * ms, true},
}

var server = []choice{
	{6, KillSubscriptions, 0, 0, false},
	{3, KillAll, 0, 0, false},
	{4, PauseClients, 50 * ms, 1200 * ms, false},
	{5, StopServer, 50 * ms, 2200 * ms, false},
	{3, RestartServer, 0, 0, false},
	{3, CrashServer, 0, 0, false},
	{5, FlushScripts, 0, 0, false},
	{2, Force, 0, 0, false},
	{1, WipeServer, 0, 0, false},
	{1, FlushAll, 0, 0, false},
}

// A pause after which the Sentinels count a server as dead causes a failover.
var sentinel = []choice{
	{4, KillSubscriptions, 0, 0, false},
	{3, PauseClients, 50 * ms, 300 * ms, false},
	{3, FlushScripts, 0, 0, false},
	{2, Force, 0, 0, false},
	{1, FlushAll, 0, 0, false},
	{4, Failover, 0, 0, false},
	{4, KillMaster, 0, 0, false},
	{4, StopServer, 100 * ms, 2200 * ms, false},
}

var cluster = []choice{
	{4, KillSubscriptions, 0, 0, false},
	{3, PauseClients, 50 * ms, 1200 * ms, false},
	{3, FlushScripts, 0, 0, false},
	{2, Force, 0, 0, false},
	{1, FlushAll, 0, 0, false},
	{4, Failover, 0, 0, false},
	{3, KillMaster, 0, 0, false},
	{3, Forced, 0, 0, false},
	{3, TakenOver, 0, 0, false},
	{4, StopServer, 100 * ms, 2200 * ms, false},
	{8, MoveSlot, 50 * ms, 500 * ms, false},
}

// ofServers returns the faults of a topology's servers.
func ofServers(topology string) []choice {
	switch topology {
	case Sentinel:
		return sentinel
	case Cluster:
		return cluster
	}
	return server
}

// The replicas of a set come back. A single server has none.
var replicas = []choice{{1, ReplicaGoes, 100 * ms, 8 * time.Second, false}, {2, ReplicaLags, 100 * ms, 4 * time.Second, false}}

var process = []choice{
	{3, KillProcess, 0, 0, false},
	{5, StopProcess, 100 * ms, 3500 * ms, false},
	{6, Cancel, 0, 0, false},
}

// storm draws network, server, replica and process faults, independently of each other.
func (d *drawing) storm(from, to time.Duration) {
	for at := from; ; {
		at += d.between(50*ms, 500*ms)
		if at >= to {
			break
		}
		f := d.one(network, at, to)
		if f.Target, f.Row = d.process(); d.Topology != "" {
			f.Target = Node
		}
		d.add(f)
	}
	for at := from; ; {
		at += d.between(200*ms, 1500*ms)
		if at >= to {
			break
		}
		f := d.one(ofServers(d.Topology), at, to)
		if f.Kind == Force || d.Topology != "" {
			f.Lock = d.rng.IntN(d.Locks)
		}
		d.add(f)
		// A restart takes a while, and must be over before the server's next fault.
		at = f.End() + 300*ms
	}
	for at := from; d.Topology != ""; {
		at += d.between(200*ms, 3*time.Second)
		if at >= to {
			break
		}
		f := d.one(replicas, at, to)
		f.Target, f.Row, f.Lock = Replica, d.rng.IntN(2), d.rng.IntN(d.Locks)
		d.add(f)
		at = f.End() + 300*ms
	}
	free := map[[2]int]time.Duration{} // when a process's last fault is over
	for at := from; ; {
		at += d.between(200*ms, 1500*ms)
		if at >= to {
			break
		}
		f := d.one(process, at, to)
		f.Target, f.Row = d.process()
		who := [2]int{int(f.Target), f.Row}
		if free[who] > at {
			continue
		}
		d.add(f)
		free[who] = f.End() + 500*ms
	}
}

func (d *drawing) process() (Target, int) {
	if i := d.rng.IntN(d.Go + d.Java); i < d.Go {
		return GoProcess, i
	} else {
		return JavaProcess, i - d.Go
	}
}

func (d *drawing) one(choices []choice, at, to time.Duration) Fault {
	sum := 0
	for _, c := range choices {
		sum += c.weight
	}
	i := d.rng.IntN(sum)
	for _, c := range choices {
		if i -= c.weight; i >= 0 {
			continue
		}
		f := Fault{At: at, Kind: c.kind}
		if c.most > 0 {
			f.For = min(d.between(c.least, c.most), to-at)
		}
		if c.kind == WithholdReentry {
			f.Kind, f.Command = Withhold, Reenters
		}
		if c.command {
			commands := []Script{Acquires, Acquires, Reenters, Reenters, Releases, Releases, Renewals, AnyEval, Anything}
			f.Command = commands[d.rng.IntN(len(commands))]
		}
		return f
	}
	panic("schedule: weights do not add up")
}

// add schedules the fault unless its kind has been drawn often enough.
func (d *drawing) add(f Fault) {
	switch {
	case f.Kind == WipeServer || f.Kind == FlushAll:
		if d.voids == 0 || d.lastVoid != 0 && f.At-d.lastVoid < voidEvery/2 {
			return
		}
		d.voids--
		d.lastVoid = f.At
	case f.Kind == KillProcess && f.Target == JavaProcess:
		if d.javaKills == 0 {
			return
		}
		d.javaKills--
	}
	d.faults = append(d.faults, f)
}
