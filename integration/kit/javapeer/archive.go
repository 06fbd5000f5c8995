package javapeer

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// archive packs the classes into a jar, since a JVM does not archive classes from a folder. It then runs a JVM that
// finds no server and archives the classes that it loaded. A JVM that uses the archive starts in half the time. One
// that can't use it, for example after an upgrade of the JDK, starts without it.
func (b built) archive(ctx context.Context) error {
	java, err := tool("java")
	if err != nil {
		return err
	}
	if err := b.pack(); err != nil {
		return fmt.Errorf("javapeer: packing the classes: %w", err)
	}
	// Nothing listens on port 1. The JVM writes the archive at exit, whatever its status.
	cmd := exec.CommandContext(ctx, java, append(jvmArgs, "-XX:ArchiveClassesAtExit="+b.archived(), "-cp", b.classPath(),
		"rlock.peer.Peer", "redis://127.0.0.1:1", "retryAttempts=0")...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err = cmd.Run()
	if _, there := os.Stat(b.archived()); there != nil {
		return fmt.Errorf("javapeer: archiving the classes: %w\n%s", errors.Join(there, err, ctx.Err()), tail(out.Bytes()))
	}
	return nil
}

func (b built) pack() error {
	f, err := os.Create(b.peerJar())
	if err != nil {
		return err
	}
	defer f.Close()
	w := zip.NewWriter(f)
	if err := w.AddFS(os.DirFS(filepath.Join(b.dir, "classes"))); err != nil {
		return err
	}
	return errors.Join(w.Close(), f.Close())
}

func (b built) peerJar() string { return filepath.Join(b.dir, "peer.jar") }

func (b built) archived() string { return filepath.Join(b.dir, "peer.jsa") }
