package schedule

import (
	"fmt"
	"time"
)

type Kind string

// Faults of one process's connections, in its proxy.
const (
	Cut             Kind = "cut connections"
	CutBefore       Kind = "cut before a command"
	CutAfter        Kind = "cut before a reply"
	DropReply       Kind = "drop a reply"
	HoldReply       Kind = "delay a reply"
	Withhold        Kind = "withhold a command"
	WithholdReentry Kind = "withhold a re-entry" // drawn as Withhold on a re-entry
	Blackhole       Kind = "swallow a command and what follows"
	Freeze          Kind = "network stands still"
	Refuse          Kind = "port closed"
	DeafDial        Kind = "new connections unanswered"
	Refusal         Kind = "refuse some commands"
)

// Faults of the server.
const (
	KillSubscriptions Kind = "CLIENT KILL TYPE pubsub"
	KillAll           Kind = "CLIENT KILL TYPE normal"
	PauseClients      Kind = "CLIENT PAUSE"
	StopServer        Kind = "server SIGSTOP"
	RestartServer     Kind = "server restart with AOF"
	CrashServer       Kind = "server SIGKILL and restart with AOF"
	WipeServer        Kind = "server restart without data"
	FlushAll          Kind = "FLUSHALL"
	FlushScripts      Kind = "SCRIPT FLUSH"
	Force             Kind = "forced unlock"
)

// Faults of a set of servers.
const (
	Failover   Kind = "planned failover"
	KillMaster Kind = "master SIGKILL, failover"
	MoveSlot   Kind = "slot moved"
	Forced     Kind = "forced failover"
	TakenOver  Kind = "takeover"
)

// Faults of replicas.
const (
	ReplicaGoes Kind = "replica SIGKILL, and back"
	ReplicaLags Kind = "replica SIGSTOP"
)

// The topologies. "" is a single server.
const (
	Sentinel = "sentinel"
	Cluster  = "cluster"
)

// Faults of a process.
const (
	KillProcess Kind = "process SIGKILL"
	StopProcess Kind = "process SIGSTOP"
	Cancel      Kind = "cancel all waits"
)

// Target is what a fault hits.
type Target int

// The targets.
const (
	Server Target = iota
	GoProcess
	JavaProcess
	Node // all connections to one master of a set
	Replica
)

// Script is the command that a network fault waits for.
type Script string

// The commands that a network fault can wait for.
const (
	Acquires Script = "acquire"
	Reenters Script = "re-entry" // an acquire by an owner that acquired a moment ago
	Releases Script = "release"
	Renewals Script = "renewal"
	AnyEval  Script = "any script"
	Anything Script = "any command"
)

type Fault struct {
	At      time.Duration // from the start of the run
	Kind    Kind
	Target  Target
	Row     int           // which process
	For     time.Duration // how long it lasts; 0 if it is over at once
	Command Script        // for faults that hit one command
	Lock    int           // for Force and MoveSlot; in a cluster, the lock whose master or replica is hit
}

func (f Fault) End() time.Duration { return f.At + f.For }

// String returns the fault's line in the printed schedule.
func (f Fault) String() string {
	s := fmt.Sprintf("%7.3fs %s", f.At.Seconds(), f.Kind)
	switch f.Target {
	case GoProcess:
		s += fmt.Sprintf(" Go%d", f.Row)
	case JavaProcess:
		s += fmt.Sprintf(" Java%d", f.Row)
	case Node:
		s += fmt.Sprintf(" master %d", f.Row)
	}
	if f.Command != "" {
		s += " on " + string(f.Command)
	}
	if f.Kind == Force || f.Kind == MoveSlot {
		s += fmt.Sprintf(" of lock %d", f.Lock)
	}
	if f.For > 0 {
		s += " for " + f.For.String()
	}
	return s
}
