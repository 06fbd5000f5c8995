// Package chaos holds the programs that run at random for a long time and judge what they saw. Torture runs Go and Java on
// the same locks under faults, on one server and on sets, also with owners that processes share. Failover kills, silences
// and replaces masters. Folder internal holds the parts of both. `make test-all` runs them at length.
package chaos
