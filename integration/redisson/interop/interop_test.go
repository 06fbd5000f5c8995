package interop

import (
	"flag"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/kit/javapeer"
	"github.com/rlock-go/redisson/integration/kit/redisserver"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/integration/redisson/alike"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/testkit/topologytest"
)

var full = flag.Bool("full", false, "show the behaviours with all recorded releases, and count for longer")

func TestInterop(t *testing.T) {
	showAll(t, javapeer.Versions(*full), briefly, func(string) map[string][]Behaviour { return map[string][]Behaviour{"Plain": Behaviours} })
}

// TestKindsInterop shows the other kinds of locks. Each kind has a server and a JVM per release.
func TestKindsInterop(t *testing.T) {
	all, newestOrAll := []string{javapeer.Newest, "3.52.0", "3.21.3"}, []string{javapeer.Newest}
	if *full {
		all, newestOrAll = javapeer.Recorded, javapeer.Recorded
	}
	showAll(t, all, veryBriefly, func(version string) map[string][]Behaviour {
		kinds := map[string][]Behaviour{}
		for _, of := range []struct {
			name       string
			versions   []string
			behaviours []Behaviour
		}{
			{"Spin", javapeer.SpinVersions(*full), SpinBehaviours},
			{"Fair", javapeer.FairVersions(*full), FairBehaviours},
			{"Write", newestOrAll, WriteBehaviours}, // package javakinds has others
			{"Fenced", javapeer.FencedVersions(*full), FencedBehaviours},
			{"NonReentrant", []string{javapeer.Newest}, NonReentrantBehaviours}, // the other recorded releases have none
			{"AtLeast", javapeer.FairVersions(*full), AtLeastBehaviours},
			{"Multi", javapeer.Versions(*full), MultiBehaviours},
		} {
			if slices.Contains(of.versions, version) {
				kinds[of.name] = of.behaviours
			}
		}
		return kinds
	})
}

func showAll(t *testing.T, versions []string, counting time.Duration, kinds func(version string) map[string][]Behaviour) {
	t.Parallel()
	javapeer.Beside(t, versions, func(t *testing.T, version string) {
		for of, behaviours := range kinds(version) {
			t.Run(of, func(t *testing.T) {
				t.Parallel()
				w := NewWorld(t, version, redisserver.Local(t))
				if w.Counting = counting; *full {
					w.Counting = 30 * time.Second
				}
				for _, b := range behaviours {
					t.Run(b.Name, func(t *testing.T) { w.Show(t, b) })
				}
				w.CheckNothingIsLeft(t)
			})
		}
	})
}

// TestInteropBehindSentinels runs with -full only, like TestInteropInACluster; package javamatrix covers both, too.
func TestInteropBehindSentinels(t *testing.T) {
	showAt(t, func() string { return redistest.StartSentinels(t, redistest.SentinelPasswords{}).URL() })
}

func TestInteropInACluster(t *testing.T) {
	showAt(t, func() string { return topologytest.StartReplicated(t, 1, 1, 1).ClusterURL() })
}

func showAt(t *testing.T, start func() string) {
	if !*full {
		t.Skip("with -full only")
	}
	url := start()
	for _, version := range []string{javapeer.Newest, "3.21.3"} {
		t.Run(version, func(t *testing.T) {
			w := NewWorld(t, version, redisserver.Given(t, url))
			for of, behaviours := range map[string][]Behaviour{"": Behaviours, "Fenced": FencedBehaviours} {
				for _, b := range behaviours {
					if b.Brief {
						t.Run(of+b.Name, func(t *testing.T) { w.Show(t, b) })
					}
				}
			}
			w.CheckNothingIsLeft(t)
		})
	}
}

func TestMain(m *testing.M) {
	KeepIfAsked()
	testbed.Main(m, "5", func() {
		if toolFolder != "" {
			os.RemoveAll(toolFolder)
		}
	})
}

func TestMultiInteropBehindSentinels(t *testing.T) {
	if !*full {
		t.Skip("with -full only")
	}
	for _, version := range []string{javapeer.Newest, "3.21.3"} {
		t.Run(version, func(t *testing.T) {
			set := redistest.StartSentinels(t, redistest.SentinelPasswords{})
			w := NewWorld(t, version, redisserver.Given(t, set.URL()))
			for _, b := range MultiBehaviours {
				t.Run(b.Name, func(t *testing.T) { w.Show(t, b) })
			}
			w.CheckNothingIsLeft(t)
			t.Run("AMemberIsLostInAFailover", func(t *testing.T) { memberLostInAFailover(w.scene(t), set) })
		})
	}
}

// memberLostInAFailover deletes a held member on the replicas before a failover, as asynchronous replication may lose it.
func memberLostInAFailover(s *scene, set *redistest.SentinelSet) {
	base := s.Object
	s.several()
	failover := func() {
		s.Helper()
		former := set.Master()
		for _, n := range set.Nodes {
			if n == former {
				continue
			}
			conn := n.Dial(s.T)
			s.Becomes("on each replica", func() bool {
				there, err := conn.Do("EXISTS", base+"/1", base+"/2", base+"/3")
				return err == nil && there == int64(3)
			})
			for _, command := range [][]any{{"CONFIG", "SET", "replica-read-only", "no"}, {"DEL", base + "/2"}, {"CONFIG", "SET", "replica-read-only", "yes"}} {
				_, err := conn.Do(command[0].(string), command[1:]...)
				s.Must(err)
			}
		}
		set.Failover(set.Sentinels[0])
		set.AwaitMaster(former)
		set.AwaitSettled()
		s.Conn = set.Master().Dial(s.T)
	}
	s.Run("G a lock@ALL")
	hold := s.Sides["G"].(*alike.Go).Multi("a")
	failover()
	<-hold.Done()
	// The other members stay locked until Unlock.
	s.Run("locked $1 $3; J t1 trylock@ALL = false; G a unlock@ALL = not held; keys 0")

	s.Run("J t1 lock@ALL")
	failover()
	s.Run(`
		G a trylock@ALL = false; locked $1 $3; J t1 unlock@ALL = not held
		3.22+ J t1 :unlock@3
		keys 0; G a lock@ALL; G a unlock@ALL`)
}
