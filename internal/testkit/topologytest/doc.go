// Package topologytest has a topology of several servers, for tests only. It shows that
// nothing outside a topology knows how many servers there are.
//
// [Cluster] is a set of real servers with cluster-enabled. A test moves their slots, with
// the keys, while they are in use. The servers answer MOVED, ASK and TRYAGAIN themselves;
// nothing is simulated. [Several] is the topology of such servers, for URLs with the
// scheme [Scheme]. It learns from CLUSTER SLOTS and from redirections which server has
// which slots.
//
// Several is not meant for real clusters: it reads no replicas, follows no failover, and
// supports PUBLISH only.
package topologytest
