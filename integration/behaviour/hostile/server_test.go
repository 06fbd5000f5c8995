package hostile

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rlock-go/redisson/internal/luasrc"
)

// server answers like a Redis where each lock that a caller asks about is held, until misbehave takes over.
type server struct {
	addr      string
	misbehave func(p *peer, cmd []string) (taken bool)
	hits      atomic.Int64 // counted by misbehave

	listener net.Listener
	serving  sync.WaitGroup

	mu     sync.Mutex // guards all fields below
	peers  map[*peer]bool
	loaded map[string]bool
	counts map[string]int // holds by key and owner
	closed bool
}

type peer struct {
	net.Conn
	s          *server
	subscribed int
}

func serve(t testing.TB, misbehave func(*peer, []string) bool) *server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{addr: l.Addr().String(), misbehave: misbehave, listener: l,
		peers: map[*peer]bool{}, loaded: map[string]bool{}, counts: map[string]int{}}
	s.serving.Go(s.accept)
	t.Cleanup(s.close)
	return s
}

func (s *server) accept() {
	for {
		c, err := s.listener.Accept()
		if err != nil {
			return
		}
		p := &peer{Conn: c, s: s}
		s.mu.Lock()
		s.peers[p] = true
		over := s.closed
		s.mu.Unlock()
		if over {
			c.Close()
			return
		}
		s.serving.Go(p.run)
	}
}

func (s *server) close() {
	s.mu.Lock()
	s.closed = true
	s.listener.Close()
	for p := range s.peers {
		p.Close()
	}
	s.mu.Unlock()
	s.serving.Wait()
}

func (p *peer) run() {
	defer func() {
		p.Close()
		p.s.mu.Lock()
		delete(p.s.peers, p)
		p.s.mu.Unlock()
	}()
	r := bufio.NewReader(p)
	for {
		cmd, err := readCommand(r)
		if err != nil {
			return
		}
		if p.s.misbehave(p, cmd) {
			continue
		}
		if _, err := io.WriteString(p, p.answer(cmd)); err != nil {
			return
		}
	}
}

// silent swallows the client's input until the client leaves.
func (p *peer) silent() { _, _ = io.Copy(io.Discard, p) }

// readCommand reads a command: an array of bulk strings.
func readCommand(r *bufio.Reader) ([]string, error) {
	n, err := readLength(r, '*')
	if err != nil {
		return nil, err
	}
	cmd := make([]string, n)
	for i := range cmd {
		size, err := readLength(r, '$')
		if err != nil {
			return nil, err
		}
		b := make([]byte, size+2)
		if _, err := io.ReadFull(r, b); err != nil {
			return nil, err
		}
		cmd[i] = string(b[:size])
	}
	return cmd, nil
}

func readLength(r *bufio.Reader, kind byte) (int, error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return 0, err
	}
	if line[0] != kind {
		return 0, fmt.Errorf("client sent %q", line)
	}
	return strconv.Atoi(strings.TrimSpace(line[1:]))
}

func bulk(s string) string { return fmt.Sprintf("$%d\r\n%s\r\n", len(s), s) }

// answer returns what Redis would answer.
func (p *peer) answer(cmd []string) string {
	word := strings.ToUpper(cmd[0])
	if word == "CLIENT" || word == "SCRIPT" {
		word += " " + strings.ToUpper(cmd[1])
	}
	switch word {
	case "AUTH", "SELECT":
		return "+OK\r\n"
	case "CLIENT ID":
		return ":7\r\n"
	case "CLIENT INFO":
		return bulk("id=7 addr=127.0.0.1:5 laddr=" + p.s.addr + "\n")
	case "CLIENT SETNAME":
		return "+OK\r\n"
	case "HELLO":
		return "*4\r\n" + bulk("mode") + bulk("standalone") + bulk("role") + bulk("master")
	case "ROLE":
		return "*3\r\n" + bulk("master") + ":0\r\n*0\r\n"
	case "PING":
		if p.subscribed > 0 {
			return "*2\r\n$4\r\npong\r\n$0\r\n\r\n"
		}
		return "+PONG\r\n"
	case "INFO":
		return bulk("# Replication\r\nrole:master\r\nconnected_slaves:1\r\nslave0:ip=127.0.0.1,port=6380,state=online,offset=1,lag=0\r\n")
	case "TYPE":
		return "+hash\r\n"
	case "HGET":
		return bulk("1")
	case "PTTL":
		return ":1000\r\n"
	case "SCRIPT LOAD":
		for _, s := range luasrc.Scripts() {
			if s.Source == cmd[2] {
				p.s.mu.Lock()
				p.s.loaded[s.SHA1] = true
				p.s.mu.Unlock()
				return bulk(s.SHA1)
			}
		}
		return "-ERR not one of ours\r\n"
	case "EVALSHA":
		return p.s.eval(cmd[1], cmd[3:])
	case "SUBSCRIBE", "UNSUBSCRIBE":
		var acks strings.Builder
		for _, channel := range cmd[1:] {
			if p.subscribed++; word != "SUBSCRIBE" {
				p.subscribed -= 2
			}
			fmt.Fprintf(&acks, "*3\r\n%s%s:%d\r\n", bulk(strings.ToLower(word)), bulk(channel), p.subscribed)
		}
		return acks.String()
	case "PUBSUB":
		return "*2\r\n" + bulk(cmd[2]) + ":0\r\n"
	case "CLIENT KILL", "WAIT", "DEL", "EXISTS", "HEXISTS":
		return ":1\r\n"
	}
	return "-ERR unknown command\r\n"
}

// eval answers the scripts. Another owner holds the locks whose names begin with "taken".
func (s *server) eval(sha string, args []string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.loaded[sha] {
		return "-NOSCRIPT No matching script. Please use EVAL.\r\n"
	}
	switch sha {
	case luasrc.LockScript.SHA1, luasrc.LockAgainScript.SHA1:
		if strings.HasPrefix(args[0], "taken") {
			return ":5000\r\n"
		}
		if sha == luasrc.LockAgainScript.SHA1 {
			s.counts[args[0]+args[2]], _ = strconv.Atoi(args[3])
			return "$-1\r\n"
		}
		s.counts[args[0]+args[2]]++
		return "$-1\r\n"
	case luasrc.UnlockScript.SHA1:
		if s.counts[args[0]+args[5]]--; s.counts[args[0]+args[5]] > 0 {
			return ":0\r\n"
		}
		return ":1\r\n"
	case luasrc.UnlockToScript.SHA1:
		left, _ := strconv.Atoi(args[5])
		if exactly := args[6] == "1"; !exactly {
			left = max(left, s.counts[args[0]+args[3]]-1)
		}
		if s.counts[args[0]+args[3]] = left; left > 0 {
			return ":0\r\n"
		}
		return ":1\r\n"
	case luasrc.RenewScript.SHA1:
		n := len(args) / 2
		return fmt.Sprintf("*%d\r\n", n) + strings.Repeat(":1\r\n", n)
	case luasrc.InfoScript.SHA1:
		return "*4\r\n:1000\r\n:1\r\n" + bulk("7d444840-9dc0-41d1-b245-5ffdce74fad2:1") + bulk("1")
	}
	return ":1\r\n"
}
