package topology

import "time"

// OnlyLookWhenTold has the Sentinels asked for no reason but their own. It is
// called before the first use.
func (t *Sentinel) OnlyLookWhenTold() { t.lookAtLeast = 24 * time.Hour }

// OpenCluster is the opener of clusters.
var OpenCluster Opener = openCluster

// Tend does what a cluster does each lookAnyway.
func Tend(t Topology) { t.(*Cluster).tend() }

// IdleLooks is how often it finds a node unused before it gives it up.
const IdleLooks = idleLooks
