package redistest

// Front is the address of a proxy before a server. The server announces it as its own, so
// the other servers, the Sentinels and the clients reach the server there. The zero Front
// is none.
type Front struct {
	Args []string          // make the server announce Addr
	Addr string            // host:port
	Bus  string            // the port for the bus of a cluster; "" for the usual one
	Lead func(addr string) // gets the server's own address, before others use Addr
}

// at returns the address where others reach the server.
func (f Front) at(s *Server) string {
	if f.Addr == "" {
		return s.Addr()
	}
	return f.Addr
}

// lead makes the front pass on what it gets to the server.
func (f Front) lead(s *Server) {
	if f.Lead != nil {
		f.Lead(s.Addr())
	}
}

// Behind starts a server with a front, and returns where others reach it.
func (f Front) Behind(start func(args ...string) *Server, args ...string) (s *Server, addr string) {
	s = start(append(args[:len(args):len(args)], f.Args...)...)
	f.lead(s)
	return s, f.at(s)
}
