// Package chaos is the folder of the programs that play at random for a long time and judge what they saw: torture has Go
// and Java on the same locks under faults, on one server and on sets, with owners that processes share among them; failover
// has masters that are killed, silenced and replaced. What they are made of is in internal. `make test-all` runs them at length.
package chaos
