package redisserver

import (
	"bytes"
	"crypto/rand"
	"errors"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/ory/dockertest/v3"
	"github.com/ory/dockertest/v3/docker"
)

// ContainerServer is Redis in its own Docker container, on its own bridge network.
//
// It is reached by the container's own address, not by a published port. A published port ends in a proxy process of
// the engine, which closes its connections when the network is cut, so a client would notice at once. At the
// container's own address a cut is silent, as in a real network.
type ContainerServer struct {
	t       testing.TB
	pool    *dockertest.Pool
	box     *dockertest.Resource
	network *dockertest.Network
	ip      string
}

var _ Server = (*ContainerServer)(nil)

// Container starts a container. It and its network are removed when the test ends.
func Container(t testing.TB) *ContainerServer {
	t.Helper()
	s := &ContainerServer{t: t, pool: engine(t)}
	name := "rlock-" + strings.ToLower(rand.Text()[:12])
	s.makeNetwork(name)
	t.Cleanup(func() {
		if err := s.pool.RemoveNetwork(s.network); err != nil {
			t.Errorf("redisserver: removing the network: %v", err)
		}
	})
	// dockertest would pull an image that is missing, and a test must not depend on a network.
	_, err := s.pool.Client.InspectImage("redis:7")
	s.check("find redis:7, which integration/kit/docker/with-engine.sh makes, for", err)
	s.box, err = s.pool.RunWithOptions(&dockertest.RunOptions{
		Name:       name,
		Repository: "redis",
		Tag:        "7",
		// The same command works for the image made here and for the official one, whose entry point runs it unchanged.
		// With protected mode, a server without a password refuses clients from outside its container.
		Cmd:       []string{"redis-server", "--protected-mode", "no"},
		NetworkID: s.network.Network.ID,
		Labels:    map[string]string{"rlock": "test"},
	}, func(host *docker.HostConfig) { host.PublishAllPorts = false })
	s.check("run", err)
	t.Cleanup(func() {
		if err := s.pool.Purge(s.box); err != nil {
			t.Errorf("redisserver: removing the container: %v", err)
		}
	})
	s.ip = s.box.GetIPInNetwork(s.network)
	// Reconnect with this address requested: an address that the engine chose may change after a cut.
	s.CutNetwork()
	s.ReconnectNetwork()
	return s
}

// engine connects to a Docker engine: the one that DOCKER_HOST names, or the system's.
func engine(t testing.TB) *dockertest.Pool {
	t.Helper()
	host := os.Getenv("DOCKER_HOST")
	if host == "" {
		host = "unix:///var/run/docker.sock"
	}
	pool, err := dockertest.NewPool(host)
	if err == nil {
		t.Cleanup(pool.Client.HTTPClient.CloseIdleConnections)
		err = pool.Client.Ping()
	}
	if err != nil {
		t.Fatalf("redisserver: no Docker engine answers at %s; integration/kit/docker/with-engine.sh starts one: %v", host, err)
	}
	return pool
}

// URL is the server's redis:// URL.
func (s *ContainerServer) URL() string { return "redis://" + s.Addr() }

// Addr is the container's own address, with Redis's port.
func (s *ContainerServer) Addr() string { return net.JoinHostPort(s.ip, "6379") }

// CutNetwork disconnects the container's network. What is sent either way is lost silently, connections stay open, and
// new ones get no answer. The server itself runs on.
func (s *ContainerServer) CutNetwork() {
	s.t.Helper()
	s.check("cut the network of", s.pool.Client.DisconnectNetwork(s.network.Network.ID,
		docker.NetworkConnectionOptions{Container: s.box.Container.ID, Force: true}))
}

// ReconnectNetwork undoes CutNetwork, with the same address. Connections that neither side gave up go on when TCP next
// retransmits.
func (s *ContainerServer) ReconnectNetwork() {
	s.t.Helper()
	s.check("reconnect", s.pool.Client.ConnectNetwork(s.network.Network.ID, docker.NetworkConnectionOptions{
		Container:      s.box.Container.ID,
		EndpointConfig: &docker.EndpointConfig{IPAMConfig: &docker.EndpointIPAMConfig{IPv4Address: s.ip}},
	}))
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

// makeNetwork makes a bridge network. An address can be requested only in a network whose subnet was requested, so the
// engine first proposes a free subnet.
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
		// Another program may have taken that subnet meanwhile; await tries again.
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
