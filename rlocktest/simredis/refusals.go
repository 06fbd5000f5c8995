package simredis

import "strings"

// refusals are the reasons for which a server refuses commands. They may change at any time.
type refusals struct {
	Full        bool   // no memory is left
	Broken      bool   // its last snapshot failed
	Loading     bool   // it reads its data
	Busy        bool   // a script runs, and was let run too long
	Password    string // of user default; empty: none
	MinReplicas int    // that a write needs; 0: none
	MaxClients  int    // 0: any number
	NoChannels  bool   // user default may not use any channel

	// Forbids is asked about each command of user default, by its name in capitals, with a
	// subcommand behind a bar; nil: all may run.
	Forbids func(name string, inScript bool) bool

	denied map[string]bool // commands, "client" or "client|kill"
}

// Deny forbids user default a command or a subcommand, such as "client|kill", or allows it
// again.
func (s *Server) Deny(name string, denied bool) {
	if s.denied == nil {
		s.denied = map[string]bool{}
	}
	s.denied[strings.ToUpper(name)] = denied
}

func (s *Server) denies(name string, inScript bool) bool {
	if s.Forbids != nil && s.Forbids(name, inScript) {
		return true
	}
	if len(s.denied) == 0 {
		return false
	}
	if denied, ok := s.denied[name]; ok {
		return denied
	}
	container, _, ok := strings.Cut(name, "|")
	return ok && s.denied[container]
}

const (
	errAuth       = Error("NOAUTH Authentication required.")
	errFull       = Error("OOM command not allowed when used memory > 'maxmemory'.")
	errBroken     = Error("MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk. Commands that may modify the data set are disabled, because this instance is configured to report errors during writes if RDB snapshotting fails (stop-writes-on-bgsave-error option). Please check the Redis logs for details about the RDB error.")
	errReplicas   = Error("NOREPLICAS Not enough good replicas to write.")
	errReadOnly   = Error("READONLY You can't write against a read only replica.")
	errLoading    = Error("LOADING Redis is loading the dataset in memory")
	errBusy       = Error("BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.")
	errChannels   = Error("NOPERM this user has no permissions to access one of the channels used as arguments")
	errNoScript   = Error("NOSCRIPT No matching script. Please use EVAL.")
	errScriptACL  = Error("ERR The user executing the script can't run this command or subcommand")
	errScriptChan = Error("ERR The user executing the script can't publish to the channel mentioned in the command")
)

// refused returns the error with which a command is refused before it runs; nil: it runs.
func (c *client) refused(name string, d command, a []string) any {
	s := c.s
	switch {
	case d.flags&anybody != 0:
	case !c.authed:
		return errAuth
	case s.denies(name, false):
		return Error("NOPERM this user has no permissions to run the '" + strings.ToLower(name) + "' command")
	case s.NoChannels && d.flags&channel != 0:
		return errChannels
	}
	if s.cluster != nil {
		if err := s.cluster.route(name, d, a, c.asks, c.readonly); err != nil {
			return err
		}
	}
	if s.Full && d.flags&grows != 0 && s.master == nil {
		return errFull
	}
	if err := s.unwritable(d, name == "PING"); err != nil {
		return err
	}
	switch {
	case len(c.channels)+len(c.shards) > 0 && d.flags&pubsub == 0:
		return Error("ERR Can't execute '" + strings.ToLower(name) + "': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context")
	case s.Loading && d.flags&loads == 0:
		return errLoading
	case s.Busy && d.flags&busy == 0:
		return errBusy
	}
	return nil
}

// unwritable returns why a write is refused; nil: it is not.
func (s *Server) unwritable(d command, ping bool) any {
	switch {
	case d.flags&writes == 0 && !ping:
	case s.Broken && s.master == nil:
		return errBroken
	case ping:
	case s.MinReplicas > 0 && s.master == nil && s.good() < s.MinReplicas:
		return errReplicas
	case s.master != nil:
		return errReadOnly
	}
	return nil
}

func init() {
	register(map[string]command{
		"AUTH": {1, 2, anybody | loads | busy, nil, func(c *client, a []string) any {
			if len(a) == 1 && c.s.Password == "" {
				return Error("ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?")
			}
			return c.auth(append([]string{"default"}, a...)[len(a)-1:])
		}},
		"ACL|SETUSER": {1, 0, loads | noKeys, nil, func(c *client, a []string) any {
			for _, rule := range a[1:] {
				switch rest := rule[1:]; {
				case rule == "resetchannels" || rule == "allchannels":
					if c.s.NoChannels = rule == "resetchannels"; c.s.NoChannels {
						c.s.killAll(func(o *client) bool { return o.sort() == "pubsub" }, c)
					}
				case rule == "+@all":
					clear(c.s.denied)
				case rule[0] == '-' || rule[0] == '+':
					c.s.Deny(rest, rule[0] == '-')
				default:
					return errSyntax
				}
			}
			return Status("OK")
		}},
		"CONFIG|SET": {2, 2, loads | noKeys, nil, func(c *client, a []string) any { return c.s.configure(a[0], a[1]) }},
	})
}

// auth takes a user and a password.
func (c *client) auth(a []string) any {
	if a[0] != "default" || c.s.Password != "" && a[1] != c.s.Password {
		return Error("WRONGPASS invalid username-password pair or user is disabled.")
	}
	c.authed = true
	return Status("OK")
}

// configure takes the settings that refusals have, for comparisons with a real server.
func (s *Server) configure(name, value string) any {
	n, _ := integer(value)
	switch strings.ToLower(name) {
	case "maxmemory":
		s.Full = n > 0
	case "min-replicas-to-write":
		s.MinReplicas = int(n)
	case "maxclients":
		s.MaxClients = int(n)
	case "requirepass":
		s.Password = value
	default:
		return Error("ERR Unknown option or number of arguments for CONFIG SET - '" + name + "'")
	}
	return Status("OK")
}
