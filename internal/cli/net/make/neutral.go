//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/google/pprof/profile"
)

const text = `"(?:[^"\\]|\\.)*"` // in JSON

// neutralValues are what stands in place of what is of this machine, in compact JSON.
var neutralValues = []struct {
	of *regexp.Regexp
	is string
}{
	{regexp.MustCompile(`"kernel":` + text), `"kernel":"6.1.0"`},
	{regexp.MustCompile(`"cpu":` + text), `"cpu":"Some CPU"`},
	{regexp.MustCompile(`("name":"kernel command line","value":)` + text), `$1"quiet"`},
	{regexp.MustCompile(`("name":"mitigation of [^"]*","value":)` + text), `$1"Not affected"`},
}

// neutral is the file without what is of this machine, and, if it is JSON, without blanks. Readings
// of machine and processes, which are most of a trial, are left out unless they are to be kept.
func (m *maker) neutral(name string, b []byte, readings bool) ([]byte, error) {
	switch filepath.Ext(name) {
	case ".gz":
		return neutralProfile(b)
	case ".json":
		var compact bytes.Buffer
		if err := json.Compact(&compact, b); err != nil {
			return nil, err
		}
		b = compact.Bytes()
		for _, v := range neutralValues {
			b = v.of.ReplaceAll(b, []byte(v.is))
		}
		if !readings {
			b = withoutReadings(b)
		}
	}
	root, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	all := []string{m.tmp, "/srv/net", m.dyno, "/usr/bin/dyno", root, "/srv/dyno"}
	if host, err := os.Hostname(); err == nil && len(host) > 3 && host != "localhost" {
		all = append(all, host, "machine")
	}
	return []byte(strings.NewReplacer(all...).Replace(string(b))), nil
}

// withoutReadings is a trial, in compact JSON, without its readings.
func withoutReadings(b []byte) []byte {
	var trial struct{ Meanwhile json.RawMessage }
	if json.Unmarshal(b, &trial) != nil || len(trial.Meanwhile) == 0 {
		return b
	}
	return bytes.Replace(b, append([]byte(`"meanwhile":`), append(trial.Meanwhile, ',')...), nil, 1)
}

// neutralProfile is a profile without the paths of files.
func neutralProfile(b []byte) ([]byte, error) {
	p, err := profile.Parse(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	for _, f := range p.Function {
		f.Filename = "server.go"
	}
	for _, m := range p.Mapping {
		m.File, m.BuildID = "/srv/server", ""
	}
	var out bytes.Buffer
	err = p.Write(&out)
	return out.Bytes(), err
}
