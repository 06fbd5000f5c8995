// Package topology knows which server serves which slot.
//
// A [Topology] returns the [Node] that serves a slot, and reports when that changes.
// It is asked for each command, subscription and renewal, so nothing outside a
// topology's files knows how many servers there are. [Single] is one server, or a
// pool of connections to one. [Sentinel] is one master that Sentinels name and may
// replace: it has one Node, whose connections start by asking for the master and end
// when the master changes. [Replicated] is the same without Sentinels: it asks a master
// and its replicas for their roles. [Cluster] has a Node for each master of a Redis Cluster.
//
// A Node is what a client has of one server: a pipeline for commands, a hub for
// subscriptions, and limits on renewals. Nodes share none of these, so trouble with
// one server does not delay the others. The pipelines of one node share the count of
// its server's replicas.
//
// A slot moves in two ways. A server may answer with a redirection: the executor of
// package command asks [Topology.Redirect] where the command goes, and sends it
// again. Or the topology itself learns of the move, and reports it to holders and
// waiters by [Topology.Changes].
//
// [Open] chooses the topology by the scheme of a URL.
package topology
