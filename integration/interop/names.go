package interop

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/integration/javapeer"
	"github.com/rlock-go/redisson/rlock"
)

// On one server Java locks and unlocks all of these, though some could not be unlocked in a cluster.
var oddNames = []string{
	"with a space", " at both ends ", "Größe 鍵 🔒", "cr\r\nlf", "\ttab\x00nul", "%s \"quoted\" \\ *?[a]",
	"{tag}:rest", "rest:{tag}", "{a}{b}", "a{b", "a}b", "}b", "{}a", "{", "}", strings.Repeat("long", 300),
}

func names(s *scene) {
	for _, name := range oddNames {
		if s.clustered() && !codec.SlotSafe(name) {
			continue // neither side could unlock it
		}
		s.Run(fmt.Sprintf("%.20q", name), func(t *testing.T) {
			s := s.scene(t)
			s.name, s.lock = name, s.client.NewLock(name)
			s.meet(s.client.NewLock(name), s.java, name)
		})
	}
}

// meet shows that a Go lock and a Java name are the lock whose key is the scene's name: each side's holder keeps the
// other's out and wakes it.
func (s *scene) meet(lock *rlock.Lock, java *javapeer.Peer, javaName string) {
	ctx, t1 := s.Context(), java.Thread("t1")
	hold := s.got(lock.Lock(ctx))
	s.serverHas(map[string]string{hold.Owner().String(): "1"})
	javaEntered := background(func() (javapeer.Reply, error) { return t1.Lock(ctx, javaName, javapeer.Watchdog) })
	s.javaParked(t1)
	stillWaits(s, javaEntered)
	s.must(hold.Unlock(ctx))
	await(s, javaEntered)
	s.serverHas(map[string]string{s.ok(t1.Owner(ctx)).Text(): "1"})

	goEntered := goWaits(s, 1, func() (*rlock.Hold, error) { return lock.Lock(ctx) })
	s.ttlIn(stale, 30*time.Second)
	s.ok(t1.Unlock(ctx, javaName))
	hold = await(s, goEntered)
	s.serverHas(map[string]string{hold.Owner().String(): "1"})
	s.must(hold.Unlock(ctx))
	s.serverHas(nil)
}

// withoutNameMapper is the one release that has none.
const withoutNameMapper = javapeer.Oldest

// prefixed is a NameMapper.
type prefixed string

func (p prefixed) Map(name string) string { return string(p) + name }

func nameMapper(s *scene) {
	for _, prefix := range []string{"app 1:", "{app}:"} {
		s.Run(prefix, func(t *testing.T) {
			s := s.scene(t)
			lock := s.open(t, rlock.WithNameMapper(prefixed(prefix))).NewLock("orders")
			s.name = prefix + "orders"
			// A Java without the mapper names the key.
			s.meet(lock, s.java, s.name)
			if s.version != withoutNameMapper {
				mapped := javapeer.Start(t, s.version, s.server.URL(), javapeer.NamePrefix(prefix))
				s.meet(lock, mapped, "orders")
			}
			if lock.Name() != "orders" {
				t.Errorf("the lock's name became %q", lock.Name())
			}
		})
	}
}
