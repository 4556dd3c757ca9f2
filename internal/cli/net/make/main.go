//go:build linux

// Command make stores the inputs of the net (package net): it runs a dyno against servers on this
// machine, and keeps what that dyno stored. Who runs it again has other figures, so it is for more
// inputs, and not for making those that are there anew.
//
//	go build -o dyno ./cmd/dyno
//	go run ./internal/cli/net/make -dyno ./dyno -o internal/cli/net/testdata/stored -only NAME,NAME
//
// What is of the machine is replaced (neutral.go): its names for kernel, CPU and host, and paths.
//
//	fleet.go      loads by two agents
//	inputs.go     the table of runs, searches and sweeps
//	labs.go       experiments, whose files are in labs
//	main.go       runs a dyno
//	neutral.go    takes the machine out of what is stored
//	servers.go    the servers
package main

import (
	"bytes"
	"embed"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

//go:embed files
var files embed.FS

// tries is how often a load is made that a busy machine must not have disturbed.
const tries = 10

// A maker runs dyno in a folder of its own.
type maker struct {
	dyno   string // the program
	out    string // where the inputs are stored
	only   []string
	tmp    string
	holes  *strings.Replacer // servers in command lines and files
	failed int
}

func main() {
	m := maker{}
	only := flag.String("only", "", "names of the inputs to make, with commas (all)")
	flag.StringVar(&m.dyno, "dyno", "./dyno", "the dyno that makes them")
	flag.StringVar(&m.out, "o", "internal/cli/net/testdata/stored", "folder to store them in")
	flag.Parse()
	if *only != "" {
		m.only = strings.Split(*only, ",")
	}
	if err := m.makeAll(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func (m *maker) makeAll() (err error) {
	if m.dyno, err = filepath.Abs(m.dyno); err != nil {
		return err
	}
	if m.tmp, err = os.MkdirTemp("", "net"); err != nil {
		return err
	}
	defer os.RemoveAll(m.tmp)
	if err := m.copyFiles(); err != nil {
		return err
	}
	places, stop, err := m.startServers()
	if err != nil {
		return err
	}
	defer stop()
	m.holes = strings.NewReplacer(places...)
	for _, i := range inputs {
		m.note(i.name, m.makeInput(i))
	}
	m.note("fleet", m.makeFleet())
	m.note("series", m.makeSeries())
	m.note("labs", m.makeLabs())
	if m.failed > 0 {
		return fmt.Errorf("%d inputs were not made", m.failed)
	}
	return nil
}

func (m *maker) note(name string, err error) {
	if err != nil {
		m.failed++
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
	}
}

func (m *maker) wants(name string) bool {
	return len(m.only) == 0 || slices.Contains(m.only, name)
}

// copyFiles writes the files that command lines name to the folder where dyno runs.
func (m *maker) copyFiles() error {
	return fs.WalkDir(files, "files", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := files.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(m.tmp, filepath.Base(path)), b, 0o600)
	})
}

// command is dyno with a home.
func (m *maker) command(home string, args ...string) *exec.Cmd {
	c := exec.Command(m.dyno, args...)
	c.Dir = m.tmp
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // if make is killed
	c.Env = append(os.Environ(), "DYNO_HOME="+filepath.Join(m.tmp, home), "NO_COLOR=1")
	return c
}

// run runs dyno until it ends, and interrupts it after that time, unless that is 0. How a load ends
// is no error here: many have to fail.
func (m *maker) run(name, home string, after time.Duration, args ...string) error {
	c := m.command(home, args...)
	var said bytes.Buffer
	c.Stdout, c.Stderr = &said, &said
	if err := c.Start(); err != nil {
		return err
	}
	if after > 0 {
		defer time.AfterFunc(after, func() { c.Process.Signal(syscall.SIGINT) }).Stop()
	}
	err := c.Wait()
	fmt.Printf("%s: exit code %d\n", name, c.ProcessState.ExitCode())
	if _, ended := errors.AsType[*exec.ExitError](err); ended {
		err = nil
	}
	if c.ProcessState.ExitCode() == 2 {
		err = fmt.Errorf("%s: %s", strings.Join(args, " "), said.Bytes())
	}
	return err
}

// makeInput makes a result, a search or a sweep.
func (m *maker) makeInput(i input) error {
	if !m.wants(i.name) {
		return nil
	}
	json, verb, after := filepath.Join(m.tmp, i.name+".json"), "", time.Duration(0)
	var args []string
	for n, word := range strings.Fields(i.line) {
		if n == 0 {
			verb, args = word, []string{word, "-q", "--json", json}
			continue
		}
		args = append(args, m.holes.Replace(strings.ReplaceAll(word, "␣", " ")))
	}
	if i.name == "interrupted" {
		after = interrupted
	}
	for range tries {
		if err := m.run(i.name, "home-"+i.name, after, args...); err != nil {
			return err
		}
		b, err := os.ReadFile(json)
		if err != nil {
			return err
		}
		anyDo := !strings.Contains(calm, " "+i.name+" ")
		if anyDo || bytes.Contains(b, []byte(`"verdict": "ok"`)) {
			break
		}
	}
	return m.keep(json, filepath.Join(verb+"s", i.name+".json"))
}

// keep stores a file without what is of this machine.
func (m *maker) keep(from, as string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if b, err = m.neutral(from, b, false); err != nil {
		return err
	}
	to := filepath.Join(m.out, as)
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, b, 0o644)
}
