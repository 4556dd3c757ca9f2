//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// makeFleet makes loads by two agents on this machine, one of which is killed in some of them.
func (m *maker) makeFleet() error {
	for _, f := range []struct {
		name, onLoss string
		killed       time.Duration
	}{
		{"fleet", "abort", 0},
		{"fleet-lost", "continue", 2 * time.Second},
		{"fleet-aborted", "abort", 2 * time.Second},
	} {
		if !m.wants(f.name) {
			continue
		}
		if err := m.runFleet(f.name, f.onLoss, f.killed); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	return nil
}

// runFleet runs one load, with a hub and agents of its own.
func (m *maker) runFleet(name, onLoss string, killed time.Duration) error {
	home := "home-" + name
	hub := m.command(home, "fleet", "up", "--listen", "127.0.0.1:0")
	if err := hub.Start(); err != nil {
		return err
	}
	defer end(hub)
	if err := m.await(home, "fleet", "controller.json"); err != nil {
		return err
	}
	tokens := filepath.Join(m.tmp, name+"-tokens")
	out, err := m.command(home, "fleet", "token", "--count", "2", "-o", tokens).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	agents := make([]*exec.Cmd, 2)
	for i, agent := range []string{"one", "two"} {
		token := "@" + filepath.Join(tokens, strconv.Itoa(i))
		agents[i] = m.command(home, "agent", "--join", token, "--name", agent)
		if err := agents[i].Start(); err != nil {
			return err
		}
		defer end(agents[i])
		if err := m.await(home, "agents", agent+".json"); err != nil {
			return err
		}
	}
	time.Sleep(time.Second) // until they are on the bus
	json, seconds := filepath.Join(m.tmp, name+".json"), "2s"
	if killed > 0 {
		seconds = "9s"
		defer time.AfterFunc(killed+time.Second, func() { agents[1].Process.Kill() }).Stop()
	}
	err = m.run(name, home, 0, "run", "-q", "--loose-start", "--fleet", "one,two", "-R", "200",
		"-c", "4", "-d", seconds, "--on-agent-loss", onLoss, "--json", json, m.holes.Replace("{target}/"))
	if err != nil {
		return err
	}
	return m.keep(json, filepath.Join("runs", name+".json"))
}

// end ends a process, and waits for its end.
func end(c *exec.Cmd) {
	c.Process.Signal(syscall.SIGTERM)
	defer time.AfterFunc(5*time.Second, func() { c.Process.Kill() }).Stop()
	c.Wait()
}

// await waits until a file of a home is there.
func (m *maker) await(home string, path ...string) error {
	file := filepath.Join(append([]string{m.tmp, home}, path...)...)
	for range 600 {
		if _, err := os.Stat(file); err == nil {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return fmt.Errorf("there is no %s after a minute", file)
}
