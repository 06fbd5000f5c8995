package pipeline

// server identifies a server.
type server struct {
	run   string // its run id; empty if it was not asked or does not say
	place string // the dialled address, or own on a connection of a pool; empty: unknown
	own   string // the address that the server itself reports; empty: unknown
}

// another tells whether s and o are known to differ: in their run ids or, if one of these
// is unknown, in their places. Two servers behind one dialled address differ in their own
// addresses. Equal own addresses prove nothing: two containers may have the same.
func (s server) another(o server) bool {
	if s.run != "" && o.run != "" {
		return s.run != o.run
	}
	return differ(s.place, o.place) || differ(s.own, o.own)
}

// differ tells whether both are known and not the same.
func differ(a, b string) bool { return a != "" && b != "" && a != b }
