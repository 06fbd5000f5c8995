package topology

// OpenCluster is the opener of clusters.
var OpenCluster Opener = openCluster

// Tend does what a cluster does each lookAnyway.
func Tend(t Topology) { t.(*Cluster).tend() }

// IdleLooks is how often it finds a node unused before it gives it up.
const IdleLooks = idleLooks
