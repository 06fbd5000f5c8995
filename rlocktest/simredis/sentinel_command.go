package simredis

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// sentinelTakes has the commands of a server that a Sentinel has too.
var sentinelTakes = []string{"PING", "CLIENT", "HELLO", "AUTH", "INFO", "SUBSCRIBE", "UNSUBSCRIBE", "PUBLISH", "QUIT", "ACL"}

func (s *Sentinel) run(c *client, args []string) any {
	switch name := strings.ToUpper(args[0]); {
	case name == "ROLE":
		names := []any{}
		if s.watched != nil {
			names = append(names, s.watched.name)
		}
		return []any{"sentinel", names}
	case name == "SENTINEL" && len(args) > 1:
		if err := c.refused("SENTINEL|"+strings.ToUpper(args[1]), command{flags: noKeys}, nil); err != nil {
			return err
		}
		return s.command(strings.ToUpper(args[1]), args[1:])
	case !slices.Contains(sentinelTakes, name):
		return unknown(args)
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
	return d.run(s.Server, a)
}

const errNoMaster = Error("ERR No such master with that name")

// command is SENTINEL. a begins with the subcommand as it was written.
func (s *Sentinel) command(sub string, a []string) any {
	m := s.watched
	known := m != nil && len(a) > 1 && a[1] == m.name
	switch sub {
	case "MYID":
		return s.id
	case "MASTERS":
		if m == nil {
			return []any{}
		}
		return []any{s.masterTable()}
	case "RESET":
		if len(a) < 2 {
			return wrongNumber("sentinel|reset")
		}
		if m == nil {
			return int64(0)
		}
		if ok, _ := path.Match(a[1], m.name); !ok {
			return int64(0)
		}
		m.failover, m.leader = failover{}, ""
		m.master, m.replicas, m.sentinels = newView(m.master.addr, true), nil, nil
		s.say("+reset-master", m.master, "")
		s.names()
		return int64(1)
	case "MONITOR":
		return s.monitor(a)
	case "IS-MASTER-DOWN-BY-ADDR":
		if len(a) != 5 {
			return wrongNumber("sentinel|is-master-down-by-addr")
		}
		epoch, _ := integer(a[3])
		candidate := a[4]
		if candidate == "*" {
			candidate = ""
		}
		down, leader, of := s.answers(a[1]+":"+a[2], epoch, candidate)
		if leader == "" {
			leader = "*"
		}
		return []any{bit(down), leader, of}
	case "GET-MASTER-ADDR-BY-NAME":
		switch {
		case len(a) != 2:
			return wrongNumber("sentinel|get-master-addr-by-name")
		case !known:
			return nilArray{}
		}
		host, port := split(m.masterAddr())
		return []string{host, port}
	case "MASTER", "SENTINELS", "REPLICAS", "SLAVES", "FAILOVER", "REMOVE", "CKQUORUM", "SET":
		switch {
		case len(a) < 2:
			return wrongNumber("sentinel|" + strings.ToLower(sub))
		case !known:
			return errNoMaster
		}
	}
	switch sub {
	case "MASTER":
		return s.masterTable()
	case "SENTINELS":
		all := []any{}
		for _, o := range m.sentinels {
			all = append(all, s.otherTable(o))
		}
		return all
	case "REPLICAS", "SLAVES":
		all := []any{}
		for _, v := range m.replicas {
			all = append(all, s.replicaTable(v))
		}
		return all
	case "FAILOVER":
		if m.state != noFailover {
			return Error("INPROG Failover already in progress")
		}
		if s.best() == nil {
			return Error("NOGOODSLAVE No suitable replica to promote")
		}
		s.startFailover()
		m.forced = true
		return Status("OK")
	case "REMOVE":
		s.say("-monitor", m.master, "")
		s.watched = nil
		s.names()
		return Status("OK")
	case "CKQUORUM":
		return s.quorum()
	case "SET":
		return s.set(a[2:])
	}
	return Error("ERR unknown subcommand '" + a[0] + "'. Try SENTINEL HELP.")
}

func (s *Sentinel) monitor(a []string) any {
	if len(a) != 5 {
		return wrongNumber("sentinel|monitor")
	}
	quorum, ok := integer(a[4])
	switch {
	case !ok:
		return Error("ERR Invalid quorum")
	case quorum <= 0:
		return Error("ERR Quorum must be 1 or greater.")
	case s.watched != nil:
		return Error("ERR Duplicate master name")
	}
	// A real one has these defaults too: what was set before is forgotten.
	s.watch(a[1], a[2]+":"+a[3], int(quorum), 30*time.Second, 3*time.Minute)
	s.say("+monitor", s.watched.master, "quorum "+a[4])
	s.names()
	return Status("OK")
}

func (s *Sentinel) set(a []string) any {
	for i := 0; i+1 < len(a); i += 2 {
		n, ok := integer(a[i+1])
		if !ok || n <= 0 {
			return Error("ERR Invalid argument '" + a[i+1] + "' for SENTINEL SET '" + a[i] + "'")
		}
		switch strings.ToLower(a[i]) {
		case "quorum":
			s.watched.quorum = int(n)
		case "down-after-milliseconds":
			s.watched.downAfter = time.Duration(n) * time.Millisecond
		case "failover-timeout":
			s.watched.failoverTimeout = time.Duration(n) * time.Millisecond
		default:
			return Error("ERR Unknown option or number of arguments for SENTINEL SET '" + a[i] + "'")
		}
	}
	return Status("OK")
}

func (s *Sentinel) quorum() any {
	m := s.watched
	usable := 1
	for _, o := range m.sentinels {
		usable += int(bit(!o.down))
	}
	if voters := len(m.sentinels) + 1; usable < m.quorum || usable < voters/2+1 {
		return Error(fmt.Sprintf("NOQUORUM %d usable Sentinels. Not enough available Sentinels to reach the specified quorum for this master", usable))
	}
	return Status(fmt.Sprintf("OK %d usable Sentinels. Quorum and failover authorization can be reached", usable))
}

func ago(t time.Time) string {
	return strconv.FormatInt(time.Since(t).Milliseconds(), 10)
}

// joined lists what a Sentinel thinks of an instance, in the order of a real one.
func joined(all ...string) string {
	return strings.Join(slices.DeleteFunc(all, func(f string) bool { return f == "" }), ",")
}

func when(on bool, flag string) string {
	if on {
		return flag
	}
	return ""
}

func row(name, addr, id, flags string, heard time.Time) []string {
	host, port := split(addr)
	return []string{"name", name, "ip", host, "port", port, "runid", id, "flags", flags, "link-pending-commands", "0", "link-refcount", "1",
		"last-ping-sent", "0", "last-ok-ping-reply", ago(heard), "last-ping-reply", ago(heard)}
}

func (s *Sentinel) masterTable() []string {
	m := s.watched
	v := m.master
	flags := joined(when(v.down, "s_down"), when(v.objective, "o_down"), "master", when(s.closed(v.addr), "disconnected"),
		when(m.state != noFailover, "failover_in_progress"), when(m.forced, "force_failover"))
	t := row(m.name, v.addr, v.runID, flags, v.heard)
	if v.down {
		t = append(t, "s-down-time", ago(v.downSince))
	}
	role := "master"
	if !v.isMaster {
		role = "slave"
	}
	return append(t, "down-after-milliseconds", strconv.FormatInt(m.downAfter.Milliseconds(), 10), "info-refresh", ago(v.info),
		"role-reported", role, "role-reported-time", ago(v.roleSince), "config-epoch", strconv.FormatInt(m.epoch, 10),
		"num-slaves", strconv.Itoa(len(m.replicas)), "num-other-sentinels", strconv.Itoa(len(m.sentinels)), "quorum", strconv.Itoa(m.quorum),
		"failover-timeout", strconv.FormatInt(m.failoverTimeout.Milliseconds(), 10), "parallel-syncs", "1")
}

// closed tells whether the Sentinel's connection to a server is.
func (s *Sentinel) closed(addr string) bool { return at(s.w, addr).down }

func (s *Sentinel) replicaTable(v *view) []string {
	flags := joined(when(v.down, "s_down"), "slave", when(s.closed(v.addr), "disconnected"), when(v == s.watched.promoted, "promoted"),
		when(v.reconf == reconfSent, "reconf_sent"), when(v.reconf == reconfGoing, "reconf_inprog"), when(v.reconf == reconfDone, "reconf_done"))
	t := row(v.addr, v.addr, v.runID, flags, v.heard)
	if v.down {
		t = append(t, "s-down-time", ago(v.downSince))
	}
	role, link, since := "slave", "ok", "0"
	if v.isMaster {
		role = "master"
	}
	if !v.linkUp {
		link, since = "err", ago(v.linkSince)
	}
	host, port := split(v.follows)
	return append(t, "down-after-milliseconds", strconv.FormatInt(s.watched.downAfter.Milliseconds(), 10), "info-refresh", ago(v.info),
		"role-reported", role, "role-reported-time", ago(v.roleSince), "master-link-down-time", since, "master-link-status", link,
		"master-host", host, "master-port", port, "slave-priority", "100", "slave-repl-offset", strconv.FormatInt(v.offset, 10), "replica-announced", "1")
}

func (s *Sentinel) otherTable(o *other) []string {
	t := row(o.id, o.addr, o.id, joined(when(o.down, "s_down"), "sentinel", when(s.closed(o.addr), "disconnected"), when(o.masterDown, "master_down")), o.heard)
	if o.down {
		t = append(t, "s-down-time", ago(o.heard))
	}
	leader := o.leader
	if leader == "" {
		leader = "?"
	}
	return append(t, "down-after-milliseconds", strconv.FormatInt(s.watched.downAfter.Milliseconds(), 10), "last-hello-message", ago(o.helloAt),
		"voted-leader", leader, "voted-leader-epoch", strconv.FormatInt(o.leaderEpoch, 10))
}
