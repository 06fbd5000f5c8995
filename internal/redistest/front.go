package redistest

// Front is an address before a server, which the server announces as its own:
// the other servers of its set, the Sentinels and the clients reach it there.
// The zero Front is none.
type Front struct {
	Args []string          // that have the server announce it
	Addr string            // host:port
	Bus  string            // its port for a cluster's servers, "" if it is none
	Lead func(addr string) // is told where the server is, before anybody asks
}

// at is where others reach the server.
func (f Front) at(s *Server) string {
	if f.Addr == "" {
		return s.Addr()
	}
	return f.Addr
}

// lead starts passing on what comes to the front.
func (f Front) lead(s *Server) {
	if f.Lead != nil {
		f.Lead(s.Addr())
	}
}

// Behind starts a server with a front.
func (f Front) Behind(start func(args ...string) *Server, args ...string) (s *Server, addr string) {
	s = start(append(args[:len(args):len(args)], f.Args...)...)
	f.lead(s)
	return s, f.at(s)
}
