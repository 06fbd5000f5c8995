package simredis

import (
	"fmt"
	"strings"
)

// flags say when a command is refused, as COMMAND INFO does.
type flags uint16

const (
	writes   flags = 1 << iota
	grows          // it may need memory
	loads          // it runs while the server loads its data
	busy           // it runs while a script does
	anybody        // it needs no password and no permission
	pubsub         // it runs on a connection that listens
	manyKeys       // each argument is a key
	noKeys
	channel // its first argument is a channel
)

// command is one that the server knows.
type command struct {
	least int // arguments
	most  int // 0: any number, or none if least is 0 too
	flags flags
	run   func(s *Server, a []string) any // scripts may send it
	conn  func(c *client, a []string) any // it is a connection's
}

// commands has all of them; a subcommand stands behind a bar.
var commands = map[string]command{}

// containers have subcommands only.
var containers = map[string]bool{}

func register(all map[string]command) {
	for name, d := range all {
		commands[name] = d
		if d.run != nil {
			commands[strings.ToLower(name)] = d // as scripts write it
		}
		if container, _, ok := strings.Cut(name, "|"); ok {
			containers[container] = true
		}
	}
}

func (d command) takes(n int) bool {
	return n >= d.least && (n <= d.most || d.most == 0 && d.least > 0)
}

// keys returns the keys among the arguments.
func (d command) keys(a []string) []string {
	switch {
	case d.flags&noKeys != 0 || len(a) == 0:
		return nil
	case d.flags&manyKeys != 0:
		return a
	}
	return a[:1]
}

type noReply struct{}

// none is the reply of a command that sends what it has to say by itself, or later.
var none = noReply{}

// find looks a command up. Without one the error is the reply.
func find(args []string) (name string, d command, a []string, err any) {
	name, a = args[0], args[1:]
	d, ok := commands[name]
	if !ok || d.run != nil { // which is there in small letters too
		name = strings.ToUpper(name)
		d, ok = commands[name]
	}
	if !ok && containers[name] {
		if len(a) == 0 {
			return name, d, a, wrongNumber(name)
		}
		name += "|" + strings.ToUpper(a[0])
		if d, ok = commands[name]; !ok {
			return name, d, a, Error("ERR unknown subcommand '" + a[0] + "'. Try " + strings.ToUpper(args[0]) + " HELP.")
		}
		a = a[1:]
	}
	switch {
	case !ok:
		return name, d, a, unknown(args)
	case !d.takes(len(a)):
		return name, d, a, wrongNumber(name)
	}
	return name, d, a, nil
}

func wrongNumber(name string) Error {
	return Error("ERR wrong number of arguments for '" + strings.ToLower(name) + "' command")
}

func unknown(args []string) Error {
	var begin strings.Builder
	for _, a := range args[1:] {
		if begin.Len() >= 128 {
			break
		}
		fmt.Fprintf(&begin, "'%.*s' ", 128-begin.Len(), a)
	}
	return Error(fmt.Sprintf("ERR unknown command '%.128s', with args beginning with: %s", args[0], begin.String()))
}

func (c *client) run(args []string) any {
	s := c.s
	if s.sentinel != nil {
		return s.sentinel.run(c, args)
	}
	name, d, a, err := find(args)
	if err != nil {
		return err
	}
	if err := c.refused(name, d, a); err != nil {
		return err
	}
	if d.conn != nil {
		return d.conn(c, a)
	}
	reply := d.run(s, a)
	if d.flags&writes == 0 {
		c.read(d.keys(a))
	}
	return reply
}
