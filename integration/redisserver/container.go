package redisserver

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ory/dockertest/v3"
	"github.com/ory/dockertest/v3/docker"
)

// ContainerServer is Redis in a Docker container of its own, on a bridge network of its own.
//
// It is reached by the container's own address, not by a published port: a published port ends in a proxy process of
// the engine, which closes its connections when the network is cut, so a client would hear of it at once. Between this
// machine and the container's address a cut is what it is elsewhere, silence.
type ContainerServer struct {
	t       testing.TB
	pool    *dockertest.Pool
	box     *dockertest.Resource
	network *dockertest.Network
	ip      string
	data    string // the host's folder behind /data
	pass    string // what --requirepass set

	mu      sync.Mutex // guards the rest
	running bool
	paused  bool
	cut     bool
}

var _ Server = (*ContainerServer)(nil)

// Container runs a container with these further arguments to redis-server. It keeps its data over Restart, and it and
// its network are removed when the test ends.
func Container(t testing.TB, args ...string) *ContainerServer {
	t.Helper()
	pool := engine(t)
	s := &ContainerServer{t: t, pool: pool, data: t.TempDir()}
	if i := slices.Index(args, "--requirepass"); i >= 0 && i+1 < len(args) {
		s.pass = args[i+1]
	}
	repository, tag := image(t, pool)
	name := "rlock-" + strings.ToLower(rand.Text()[:12])
	s.makeNetwork(name)
	t.Cleanup(func() {
		if err := pool.RemoveNetwork(s.network); err != nil {
			t.Errorf("redisserver: removing the network: %v", err)
		}
	})
	var err error
	s.box, err = pool.RunWithOptions(&dockertest.RunOptions{
		Name:       name,
		Repository: repository,
		Tag:        tag,
		// The same command works for the image made here and for the official one, whose entry point runs it as it is.
		// Without protected-mode no, a server without a password refuses whoever comes from outside its container.
		Cmd:       append(append([]string{"redis-server", "--protected-mode", "no", "--dir", "/data"}, savesAtTheEnd()...), args...),
		NetworkID: s.network.Network.ID,
		Mounts:    []string{s.data + ":/data"},
		// Files in /data belong to whom the test may remove them as.
		User:   fmt.Sprintf("%d:%d", os.Getuid(), os.Getgid()),
		Labels: map[string]string{"rlock": "test"},
	}, func(host *docker.HostConfig) { host.PublishAllPorts = false })
	if err != nil {
		t.Fatalf("redisserver: running %s:%s: %v", repository, tag, err)
	}
	t.Cleanup(func() {
		if err := pool.Purge(s.box); err != nil {
			t.Errorf("redisserver: removing the container: %v", err)
		}
	})
	s.running = true
	s.ip = s.box.GetIPInNetwork(s.network)
	// Once more with this address asked for: one that the engine chose is not promised to be the same after a restart.
	s.disconnect()
	s.connect()
	s.awaitAnswer()
	return s
}

// URL has the password that --requirepass set.
func (s *ContainerServer) URL() string {
	u := url.URL{Scheme: "redis", Host: s.Addr()}
	if s.pass != "" {
		u.User = url.UserPassword("", s.pass)
	}
	return u.String()
}

// Addr is the container's own address, with Redis's port.
func (s *ContainerServer) Addr() string { return net.JoinHostPort(s.ip, "6379") }

// Kind is KindContainer.
func (s *ContainerServer) Kind() Kind { return KindContainer }

// Stop ends the server in an orderly way.
func (s *ContainerServer) Stop() {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stop()
}

// Restart stops the server if it runs and starts it again with its data.
func (s *ContainerServer) Restart() {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stop()
	s.start()
}

// Wipe restarts the server without its data.
func (s *ContainerServer) Wipe() {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stop()
	removeData(s.t, s.data)
	s.start()
}

// Pause freezes all of the container's processes.
func (s *ContainerServer) Pause() {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.paused {
		return
	}
	s.check("pause", s.pool.Client.PauseContainer(s.box.Container.ID))
	s.paused = true
}

// Resume undoes Pause.
func (s *ContainerServer) Resume() {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.resume()
}

// CutNetwork takes the container's network away: what is sent either way is lost in silence, connections stay, and new
// ones are answered by nobody. The server itself runs on.
func (s *ContainerServer) CutNetwork() {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cut {
		return
	}
	s.disconnect()
	s.cut = true
}

// ReconnectNetwork undoes CutNetwork, with the same address. Connections that neither side gave up go on when TCP next
// sends again what was lost.
func (s *ContainerServer) ReconnectNetwork() {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.cut {
		return
	}
	s.connect()
	s.cut = false
	if s.running && !s.paused {
		s.awaitAnswer()
	}
}

func (s *ContainerServer) stop() {
	s.t.Helper()
	if !s.running {
		return
	}
	s.resume()
	// Not StopContainer: dockertest gives its containers SIGWINCH for a stop signal, which Redis does not end by.
	s.check("stop", s.pool.Client.KillContainer(docker.KillContainerOptions{ID: s.box.Container.ID, Signal: docker.SIGTERM}))
	_, err := s.pool.Client.WaitContainer(s.box.Container.ID)
	s.check("stop", err)
	s.running = false
}

func (s *ContainerServer) start() {
	s.t.Helper()
	s.check("start", s.pool.Client.StartContainer(s.box.Container.ID, nil))
	s.running = true
	if !s.cut {
		s.awaitAnswer()
	}
}

func (s *ContainerServer) resume() {
	s.t.Helper()
	if !s.paused {
		return
	}
	s.check("resume", s.pool.Client.UnpauseContainer(s.box.Container.ID))
	s.paused = false
}

func (s *ContainerServer) disconnect() {
	s.t.Helper()
	s.check("cut the network of", s.pool.Client.DisconnectNetwork(s.network.Network.ID,
		docker.NetworkConnectionOptions{Container: s.box.Container.ID, Force: true}))
}

func (s *ContainerServer) connect() {
	s.t.Helper()
	s.check("reconnect", s.pool.Client.ConnectNetwork(s.network.Network.ID, docker.NetworkConnectionOptions{
		Container: s.box.Container.ID,
		EndpointConfig: &docker.EndpointConfig{
			IPAMConfig: &docker.EndpointIPAMConfig{IPv4Address: s.ip},
		},
	}))
}

// makeNetwork makes a bridge network. An address can only be asked for where the subnet was asked for, so the engine
// is made to name a free one first.
func (s *ContainerServer) makeNetwork(name string) {
	s.t.Helper()
	await(s.t, "a network", func() error {
		proposed, err := s.pool.CreateNetwork(name)
		if err != nil {
			return err
		}
		info, err := s.pool.Client.NetworkInfo(proposed.Network.ID)
		if err := errors.Join(err, s.pool.RemoveNetwork(proposed)); err != nil {
			return err
		}
		s.network, err = s.pool.CreateNetwork(name, func(o *docker.CreateNetworkOptions) {
			o.IPAM = &docker.IPAMOptions{Config: []docker.IPAMConfig{{Subnet: info.IPAM.Config[0].Subnet}}}
		})
		// Somebody else may have got that subnet in between.
		return err
	})
}

func (s *ContainerServer) awaitAnswer() {
	s.t.Helper()
	await(s.t, "an answer of the container at "+s.Addr(), func() error {
		err := answers(s.URL())
		if err == nil {
			return nil
		}
		if c, inspectErr := s.pool.Client.InspectContainer(s.box.Container.ID); inspectErr == nil && !c.State.Running {
			s.t.Fatalf("redisserver: the container ended: %s", s.log())
		}
		return err
	})
}

func (s *ContainerServer) log() string {
	var out bytes.Buffer
	err := s.pool.Client.Logs(docker.LogsOptions{
		Container: s.box.Container.ID, OutputStream: &out, ErrorStream: &out, Stdout: true, Stderr: true, Tail: "5",
	})
	if err != nil {
		return err.Error()
	}
	return out.String()
}

func (s *ContainerServer) check(what string, err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatalf("redisserver: %s the container: %v", what, err)
	}
}
