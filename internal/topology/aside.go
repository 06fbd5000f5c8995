package topology

import "github.com/rlock-go/redisson/internal/pipeline"

// A WAIT delays every command behind it on its connection, by a second while a
// replica is silent. Releases, undos and renewals must not be delayed by the WAIT of
// an acquire. So where WAIT is in use, a node has a second connection for them, made
// when it is first needed. Commands sent there "go aside"; a WAIT follows them too.
//
// No command may rely on the order of commands on two connections:
//   - A command of an owner for a lock is sent when the outcome of the one before it
//     is known.
//   - The undo of a lost acquire follows the kill barrier of the connection that
//     the acquire was written to.
//   - An acquire goes aside too, behind the release, if a release of the same name
//     went aside and is unanswered.
//   - A ForceUnlock goes where acquires go. While one may still run, no acquire of
//     its name goes aside.

// Aside returns the pipeline for commands that go aside. It is Pipe if no WAIT is in
// use or the second connection can't be had.
func (n *Node) Aside() *pipeline.Pipeline {
	if n.aside != nil && n.Pipe.Waits() && n.aside.Reachable() {
		return n.aside
	}
	return n.Pipe
}

// Flush writes what is queued on both pipelines. It may read replies from Pipe's
// connection for some milliseconds.
func (n *Node) Flush() {
	if n.aside != nil {
		n.aside.WakeWriter()
	}
	n.Pipe.Flush()
}

// WakeWriter is Flush without reading, for callers that must not block.
func (n *Node) WakeWriter() {
	for _, p := range n.pipes {
		p.WakeWriter()
	}
}

// Divided tells whether the node has a second pipeline.
func (n *Node) Divided() bool { return n.aside != nil }
