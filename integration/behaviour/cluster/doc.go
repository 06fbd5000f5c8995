// Package cluster runs the library on real clusters: holds are renewed by one
// script for each slot and outlive resharding by redis-cli, and a master that comes
// back alone lets nobody in.
//
// It also reaches servers in unusual ways: only by TLS and by host name, by IPv6,
// or where CLUSTER SLOTS and MOVED don't name the host.
package cluster
