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

// archive packs the classes into a jar, since a JVM archives none out of a folder, and has a JVM that finds no server
// leave what it loaded in an archive. A JVM that starts from it takes half the time. One that can't use it, as after
// another JDK was installed, starts without.
func (b built) archive(ctx context.Context) error {
	java, err := tool("java")
	if err != nil {
		return err
	}
	if err := b.pack(); err != nil {
		return fmt.Errorf("javapeer: packing the classes: %w", err)
	}
	// Nothing listens on port 1. The JVM archives what it has when it leaves, with whatever status.
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
