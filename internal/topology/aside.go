package topology

import "github.com/rlock-go/redisson/internal/pipeline"

// A WAIT holds up whatever stands behind it on its connection, for a second while
// a replica is silent. What ends or keeps a hold must not stand behind those of
// acquires. So where WAIT is in use a node has a second connection, made when it
// is first needed, on which releases, undos and renewals go aside; each has a WAIT
// of its own, as ever.
//
// No command may rely on the order of two connections. These do not:
//   - Commands of one owner for one lock go one after the other, each when the
//     outcome of the one before is known.
//   - The undo of a lost acquire follows the kill barrier of the connection that
//     the acquire was written to.
//   - An acquire that is queued while a release of its name is aside and has no
//     answer goes aside too, behind the release.
//   - A ForceUnlock goes where acquires go. While one may still run, no acquire of
//     its name goes aside.

// Aside is the pipeline of what goes aside. While none can be had for that, all go
// together.
func (n *Node) Aside() *pipeline.Pipeline {
	if n.aside != nil && n.Pipe.Waits() && n.aside.Reachable() {
		return n.aside
	}
	return n.Pipe
}

// Flush writes what is queued. It may read from the connection of what does not go
// aside.
func (n *Node) Flush() {
	if n.aside != nil {
		n.aside.WakeWriter()
	}
	n.Pipe.Flush()
}

// WakeWriter is Flush for those who must not block.
func (n *Node) WakeWriter() {
	for _, p := range n.pipes {
		p.WakeWriter()
	}
}

// Divided tells whether some commands may go aside.
func (n *Node) Divided() bool { return n.aside != nil }
