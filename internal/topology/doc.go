// Package topology says which server serves what.
//
// A [Topology] tells which [Node] serves a slot, and when that changed. Whoever
// sends a command, subscribes or renews asks it each time, so that nothing
// outside one topology's file knows how many servers there are. [Single] is the
// topology of one server, and of a pool of connections to one. [Sentinel] is that
// of one master whom Sentinels name, and may replace: one Node, whose connections
// each begin with the question who that is, and are ended when it is another.
//
// A Node is what a client has of one server: a pipeline for commands, a hub for
// subscriptions, and a limit on renewals, each of its own, so that the trouble
// of one node holds up no other. Script caches and counts of replicas are those
// of a pipeline's connections.
//
// Two things move a slot. A server's answer does ([Topology.Redirect]): the
// executor of package command, which alone sees it, asks where the command goes
// and sends it again. And the topology's own knowledge does: it tells all who
// hold or wait by [Topology.Changes].
//
// [Open] finds the topology by the scheme of a URL.
package topology
