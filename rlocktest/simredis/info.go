package simredis

import (
	"fmt"
	"net"
	"strings"
	"time"
)

func split(addr string) (host, port string) {
	host, port, _ = net.SplitHostPort(addr)
	return host, port
}

func hostOf(addr string) string {
	host, _ := split(addr)
	return host
}

func (s *Server) info(a []string) any {
	has := func(section string) bool {
		if len(a) == 0 {
			return true
		}
		for _, name := range a {
			if strings.EqualFold(name, section) || strings.EqualFold(name, "all") || strings.EqualFold(name, "default") || strings.EqualFold(name, "everything") {
				return true
			}
		}
		return false
	}
	var b strings.Builder
	section := func(name string) {
		if b.Len() > 0 {
			b.WriteString("\r\n")
		}
		b.WriteString("# " + name + "\r\n")
	}
	if has("server") {
		section("Server")
		mode := "standalone"
		if s.sentinel != nil {
			mode = "sentinel"
		}
		if s.cluster != nil {
			mode = "cluster"
		}
		_, port := split(s.Addr)
		fmt.Fprintf(&b, "redis_version:%s\r\nredis_mode:%s\r\nprocess_id:1\r\nrun_id:%s\r\ntcp_port:%s\r\n", s.Version, mode, s.runID, port)
	}
	if has("clients") {
		section("Clients")
		fmt.Fprintf(&b, "connected_clients:%d\r\n", len(s.peers))
	}
	if has("stats") {
		section("Stats")
		fmt.Fprintf(&b, "total_connections_received:%d\r\n", s.nextID)
	}
	if has("replication") && s.sentinel == nil {
		section("Replication")
		s.infoReplication(&b)
	}
	return b.String()
}

func (s *Server) infoReplication(b *strings.Builder) {
	if m := s.master; m != nil {
		host, port := split(m.Addr)
		status, ago := "down", -1
		if s.link.online {
			status, ago = "up", int(time.Since(s.link.talked).Seconds())
		}
		fmt.Fprintf(b, "role:slave\r\nmaster_host:%s\r\nmaster_port:%s\r\nmaster_link_status:%s\r\nmaster_last_io_seconds_ago:%d\r\nmaster_sync_in_progress:%d\r\n"+
			"slave_read_repl_offset:%d\r\nslave_repl_offset:%d\r\n", host, port, status, ago, bit(s.link.bulk), s.offset, s.offset)
		if !s.link.online {
			fmt.Fprintf(b, "master_link_down_since_seconds:%d\r\n", -1)
		}
		b.WriteString("slave_priority:100\r\nslave_read_only:1\r\nreplica_announced:1\r\n")
	} else {
		b.WriteString("role:master\r\n")
	}
	fmt.Fprintf(b, "connected_slaves:%d\r\n", len(s.replicas))
	if s.MinReplicas > 0 {
		fmt.Fprintf(b, "min_slaves_good_slaves:%d\r\n", s.good())
	}
	for i, l := range s.replicas {
		host, port := split(l.to.Addr)
		state := "wait_bgsave"
		switch {
		case l.online:
			state = "online"
		case l.bulk:
			state = "send_bulk"
		}
		fmt.Fprintf(b, "slave%d:ip=%s,port=%s,state=%s,offset=%d,lag=%d\r\n", i, host, port, state, l.acked, int(time.Since(l.heard).Seconds()))
	}
	former, till, active := s.former, s.formerTill+1, bit(s.backlogged)
	if former == "" {
		former, till = strings.Repeat("0", 40), -1
	}
	fmt.Fprintf(b, "master_failover_state:no-failover\r\nmaster_replid:%s\r\nmaster_replid2:%s\r\nmaster_repl_offset:%d\r\nsecond_repl_offset:%d\r\n"+
		"repl_backlog_active:%d\r\nrepl_backlog_size:1048576\r\nrepl_backlog_first_byte_offset:%d\r\nrepl_backlog_histlen:%d\r\n",
		s.history, former, s.offset, till, active, active, s.offset)
}
