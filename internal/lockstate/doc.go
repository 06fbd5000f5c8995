// Package lockstate puts together what a client knows of its locks and what it does with them.
//
// A [State] is opened, follows the changes of the topology, counts, and is shut down. Package
// rlock is the public API on top of it: it checks what callers pass, adds the call and the
// lock's name to errors, and has the contracts. What happens is in the packages below, each of
// which imports only what stands under it:
//
//	acquire   calls that want a lock, and their attempts
//	extend    Extend
//	unlock    unlocks, forced unlocks, what is given back, and what is sent again
//	state     names, owners, holds, and until when they are trusted
//	waiting   who waits for a name: queues, subscriptions, places on the server
//	section   the critical section in which all of it happens
//
// The decisions that need no client are pure packages beside them: waitqueue (who tries, and
// when, and when to leave room for others), release (how an unlock goes), lease (what holds
// need together) and kind (what tells one lock object from another: scripts, replies, keys, and
// the script of a renewal, which package renew sends).
//
// # Servers
//
// Every command names the slot of its key, and a topology says which node has it. The topology
// also reports when slots have moved and when a server may have lost data; State.changed
// handles that. Package renew cuts a batch of leases by node.
package lockstate
