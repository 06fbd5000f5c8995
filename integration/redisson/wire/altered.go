package wire

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/kit/javapeer"
	"github.com/rlock-go/redisson/internal/luasrc"
)

// Altered is a text that replaces one of the library's scripts.
type Altered struct {
	Role string // "lock", "unlock", "unlock once", "force" or "renew"; of a spin lock "spin: unlock" or "spin: force", of a fenced one "fenced: lock", of a non-reentrant one "nonreentrant: lock"
	Text string // the whole script
}

// Alter returns a library's script with old replaced by new, once. It fails the test if old is not in it.
func Alter(t testing.TB, role, old, new string) Altered {
	t.Helper()
	source := sources[role]
	if source == nil || !strings.Contains(source.Source, old) {
		t.Fatalf("wire: %q is not in a script %q", old, role)
	}
	return Altered{role, strings.Replace(source.Source, old, new, 1)}
}

// sources are the library's own scripts by role.
var sources = map[string]*luasrc.Script{
	"lock": luasrc.LockScript, "unlock": luasrc.UnlockScript, "force": luasrc.ForceUnlockScript, "renew": luasrc.RenewScript,
	titled(javapeer.Fenced, "lock"): luasrc.FencedLockScript, titled(javapeer.NonReentrant, "lock"): luasrc.NonReentrantLockScript,
	titled(javapeer.Spin, "unlock"): luasrc.SpinUnlockScript, titled(javapeer.Spin, "force"): luasrc.SpinForceUnlockScript,
}

func shaOf(text string) string {
	sum := sha1.Sum([]byte(text))
	return hex.EncodeToString(sum[:])
}

// alteredPool lends connections that call altered scripts instead of the library's. The server runs them.
type alteredPool struct {
	addr string
	shas map[string]string // the library's SHA-1 → the altered one
}

func newAlteredPool(r *rig, addr string, altered []Altered, id *identity) alteredPool {
	r.T.Helper()
	p := alteredPool{addr, map[string]string{}}
	known := maps.Clone(id.known)
	for _, s := range altered {
		r.Do("SCRIPT", "LOAD", s.Text)
		p.shas[sources[s.Role].SHA1] = shaOf(s.Text)
		known[shaOf(s.Text)] = untitled(s.Role)
	}
	id.known = known
	return p
}

func (p alteredPool) GetContext(ctx context.Context) (redis.Conn, error) {
	conn, err := redis.DialContext(ctx, "tcp", p.addr, redis.DialReadTimeout(patience), redis.DialWriteTimeout(patience))
	if err != nil {
		return nil, err
	}
	return alteredConn{conn.(wholeConn), p.shas}, nil
}

// wholeConn is what a connection of redigo's can do.
type wholeConn interface {
	redis.ConnWithTimeout
	redis.ConnWithContext
}

type alteredConn struct {
	wholeConn
	shas map[string]string
}

func (c alteredConn) Send(command string, args ...any) error {
	if command == "EVALSHA" {
		if sha := c.shas[fmt.Sprint(args[0])]; sha != "" {
			// The arguments belong to the caller.
			args = append([]any{sha}, args[1:]...)
		}
	}
	return c.wholeConn.Send(command, args...)
}
