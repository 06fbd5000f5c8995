// Package addresses runs the library on real clusters whose servers are reached in
// unusual ways: by TLS alone and by host name, by IPv6, or where CLUSTER SLOTS and
// MOVED don't tell the host.
package addresses
