//go:build linux

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

//go:embed labs
var labFiles embed.FS

// An experiment is a file below labs, or a command line of dyno vs.
type experiment struct {
	name   string
	vs     string        // its arguments; "": lab run
	killed time.Duration // 0: it runs to its end
}

var experiments = []experiment{
	{name: "grades"}, {name: "decided"}, {name: "screening"}, {name: "capacity"}, {name: "rates"},
	{name: "sensitivity"}, {name: "generators"}, {name: "bound"}, {name: "clients"},
	{name: "killed", killed: 15 * time.Second},
	{name: "vs", vs: "-d 1s --rounds 6 --warmup 100ms -c 4 --names fast,slow {slow-go}/ {four-go}/"},
	{name: "vs-open", vs: "-d 1s --rounds 2 --warmup 100ms -R 100 -c 4 --names one,other " +
		"{go}/ {go}/other"},
	{name: "vs-session", vs: "-d 1s --rounds 3 --warmup 100ms -c 2 --data users.csv " +
		"--names fast,slow shop.hurl {slow-go} {four-go}"},
}

func (m *maker) makeLabs() error {
	var all []error
	for _, e := range experiments {
		if !m.wants(e.name) {
			continue
		}
		if err := m.makeLab(e); err != nil {
			all = append(all, fmt.Errorf("%s: %w", e.name, err))
		}
	}
	return errors.Join(all...)
}

func (m *maker) makeLab(e experiment) error {
	dir, home := filepath.Join(m.tmp, "lab-"+e.name), "home-"+e.name
	var err error
	switch {
	case e.vs != "":
		args := []string{"vs", "-o", dir}
		for _, word := range strings.Fields(e.vs) {
			args = append(args, m.holes.Replace(word))
		}
		err = m.run(e.name, home, 0, args...)
	default:
		var text []byte
		if text, err = labFiles.ReadFile("labs/" + e.name + ".yaml"); err != nil {
			return err
		}
		file := e.name + ".yaml"
		err = os.WriteFile(filepath.Join(m.tmp, file), []byte(m.holes.Replace(string(text))), 0o600)
		if err == nil && e.killed > 0 {
			err = m.runKilled(home, e.killed, "lab", "run", "-o", dir, file)
		} else if err == nil {
			err = m.run(e.name, home, 0, "lab", "run", "-o", dir, file)
		}
	}
	if err != nil {
		return err
	}
	return m.keepLab(e.name, dir)
}

// runKilled runs dyno and kills it, so that it concludes nothing.
func (m *maker) runKilled(home string, after time.Duration, args ...string) error {
	c := m.command(home, args...)
	if err := c.Start(); err != nil {
		return err
	}
	time.Sleep(after)
	c.Process.Signal(syscall.SIGKILL)
	c.Wait()
	return nil
}

// keepLab stores what an experiment's report is made of, as an archive.
func (m *maker) keepLab(name, dir string) error {
	read := map[string]string{"decided": "r001", "grades": "r001-stubborn@c4.json"}[name]
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	archive, found := tar.NewWriter(z), 0
	for _, pattern := range []string{"experiment.json", "experiment.yaml", "vs.yaml",
		"trials/*.json", "profiles/*.gz"} {
		paths, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return err
		}
		for _, path := range paths {
			found++
			readings := read != "" && strings.HasPrefix(filepath.Base(path), read)
			rest, err := filepath.Rel(dir, path)
			if err == nil {
				err = m.pack(archive, path, name+"/"+filepath.ToSlash(rest), readings)
			}
			if err != nil {
				return err
			}
		}
	}
	if found == 0 {
		return errors.New("it stored nothing")
	}
	if err := errors.Join(archive.Close(), z.Close()); err != nil {
		return err
	}
	to := filepath.Join(m.out, "labs", name+".tar.gz")
	return errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.WriteFile(to, packed.Bytes(), 0o644))
}

// pack adds a file to an archive, without what is of this machine.
func (m *maker) pack(archive *tar.Writer, from, as string, readings bool) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if b, err = m.neutral(from, b, readings); err != nil {
		return err
	}
	err = archive.WriteHeader(&tar.Header{Name: as, Mode: 0o644, Size: int64(len(b))})
	if err == nil {
		_, err = archive.Write(b)
	}
	return err
}
