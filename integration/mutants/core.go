package main

import (
	"slices"
	"strings"
)

// core are the invariants and parts that are about faults, order, leases and repetitions. The simulation is there for
// them. The others are what each kind of object does without trouble, shares of a crowd, logs, errors' texts and options.
var core = strings.Split("A2,A3,A4,A5,A6,A7,H1,H2,H3,H4,H5,H6,R1,R2,R3,R4,R5,P1,P2,P3,E1,E2,AtLeast,Lead,Sentinels,availability,"+
	"count of replicas,counts over failovers,failover,fair,fates,hand-off,hub's references,kill barrier,life of a release,moved slots,"+
	"nobody is online,order of one connection,order of two connections,owner's count,pipeline,queue's actions,renewals of a cluster,"+
	"resend rules,script and WAIT,second connection,told at once,topology,watchdog's generations,watchdog's pace,what is used again,"+
	"word on a loss", ",")

func (d defect) core() bool {
	return slices.ContainsFunc(strings.Split(d.guards, ", "), func(guards string) bool { return slices.Contains(core, guards) })
}
