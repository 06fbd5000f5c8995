package main

import (
	"errors"
	"fmt"
	"net"
	"os/exec"
	"syscall"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/deathsig"
)

// startServer starts a redis-server on 127.0.0.1 that keeps nothing.
func startServer(dir string) (url string, end func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	addr := l.Addr().(*net.TCPAddr)
	if err := l.Close(); err != nil {
		return "", nil, err
	}
	cmd := exec.Command("redis-server", "--bind", "127.0.0.1", "--port", fmt.Sprint(addr.Port), "--dir", dir, "--save", "")
	cmd.SysProcAttr = deathsig.Attr(syscall.SIGKILL)
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	end = func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	url = "redis://" + addr.String()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		c, err := redis.DialURL(url)
		if err == nil {
			return url, end, c.Close()
		}
	}
	end()
	return "", nil, errors.New("redis-server does not answer")
}
