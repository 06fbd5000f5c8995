// Package topologytest has a topology of several servers, for tests only: it
// proves that nothing outside a topology knows how many servers there are.
//
// [Cluster] is a set of real servers with cluster-enabled, whose slots a test
// moves, keys and all, while they are in use. A server answers MOVED, ASK and
// TRYAGAIN by itself; nothing is played here. [Several] is the topology that a
// client uses them by, for URLs with the scheme [Scheme]: each server that has
// slots, its address and the slots it has at first. It learns the rest from
// CLUSTER SLOTS and from redirections.
//
// It is no client's way to a cluster: it reads no replicas, follows no failover,
// and knows PUBLISH only.
package topologytest
