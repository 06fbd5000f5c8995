package pipeline

// server is what tells one server from another.
type server struct {
	run   string // its run id; empty where it is not asked, or does not say
	place string // what was dialled, or own on a connection of a pool; empty: unknown
	own   string // the address that it calls its own; empty: unknown
}

// another tells that s and o are known to be two: two processes, or two places
// where the process is not known. Two servers behind one dialled address differ in their own
// addresses. Equal own addresses prove nothing: two containers may have the same.
func (s server) another(o server) bool {
	if s.run != "" && o.run != "" {
		return s.run != o.run
	}
	return differ(s.place, o.place) || differ(s.own, o.own)
}

// differ tells that both are known, and not the same.
func differ(a, b string) bool { return a != "" && b != "" && a != b }
