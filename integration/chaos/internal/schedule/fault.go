package schedule

import (
	"fmt"
	"time"
)

type Kind string

// What happens to one process's connections, in its proxy.
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

// What happens to the server.
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

// What happens to a set of servers.
const (
	Failover   Kind = "planned failover"
	KillMaster Kind = "master SIGKILL, failover"
	MoveSlot   Kind = "slot moved"
	Forced     Kind = "forced failover"
	TakenOver  Kind = "takeover"
)

// What happens to replicas.
const (
	ReplicaGoes Kind = "replica SIGKILL, and back"
	ReplicaLags Kind = "replica SIGSTOP"
)

// The topologies, "" is a single server.
const (
	Sentinel = "sentinel"
	Cluster  = "cluster"
)

// What happens to a process.
const (
	KillProcess Kind = "process SIGKILL"
	StopProcess Kind = "process SIGSTOP"
	Cancel      Kind = "cancel all waits"
)

// Target is whom a fault hits.
type Target int

// What a fault can meet.
const (
	Server Target = iota
	GoProcess
	JavaProcess
	Node // whoever is connected to one master of a set
	Replica
)

// Script is the command that a fault of the network waits for.
type Script string

// The commands that can be waited for.
const (
	Acquires Script = "acquire"
	Reenters Script = "re-entry" // an acquire of an owner that was seen to acquire a moment ago
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
	For     time.Duration // how long it lasts; 0 for what is over at once
	Command Script        // of faults that hit one command
	Lock    int           // of Force and MoveSlot; in a cluster, whose master or replica
}

func (f Fault) End() time.Duration { return f.At + f.For }

// String is the fault as the schedule prints it.
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
