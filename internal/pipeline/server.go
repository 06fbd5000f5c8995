package pipeline

// server is what tells one server from another. Its own address does not: those
// of two containers may be the same.
type server struct {
	run   string // its run id; empty where it is not asked, or does not say
	place string // what was dialled, or the server's own address on a connection of a pool; empty: unknown
}

// another tells that s and o are known to be two: two processes, or two places
// where the process is not known.
func (s server) another(o server) bool {
	if s.run != "" && o.run != "" {
		return s.run != o.run
	}
	return s.place != "" && o.place != "" && s.place != o.place
}
