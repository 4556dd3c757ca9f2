package main

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// A tool is a load generator and how it is asked for a load.
type tool struct {
	name string
	path string // of the program; empty in the table, set where it was found
	// command is what makes the load on url, or nothing where the tool cannot make it.
	command func(l load, url string) command
	// read takes from the tool's output what only the tool can know; nil where nothing is
	// taken. All else is the server's and the kernel's account.
	read    func(output []byte) (reading, error)
	version []string // arguments with which the tool's first line names its version
	made    bool     // by bench: it takes part where a row names it
	source  []byte   // in C, of what is made; nil: it is dyno
}

// A command is how a program is called. One without arguments does not exist.
type command struct {
	args  []string
	stdin string
	env   []string
	file  string // what the file has whose path stands for scriptFile among args
}

const scriptFile = "SCRIPT"

// A reading is the values that one trial gave; what it cannot know is absent.
type reading map[metric]float64

// tools are all that bench knows.
var tools = []tool{
	{name: "dyno", command: dyno, read: readDyno, version: []string{"version"}, made: true},
	{name: "dyno-epoll", command: dynoOn("epoll"), read: readDyno, made: true},
	{name: "dyno-uring", command: dynoOn("uring"), read: readDyno, made: true},
	{name: "dyno-other", command: dyno, read: readDyno, version: []string{"version"}},
	{name: "dyno-fcgi", command: dynoFastCGI, read: readDyno, made: true},
	{name: "pacer", command: pacer, read: readPacer, made: true, source: pacerSource},
	{name: "bare-epoll", command: bare("epoll"), read: readBare, made: true, source: bareSource},
	{name: "bare-uring", command: bare("uring"), read: readBare, made: true, source: bareSource},
	{name: "wrk", command: wrk, read: readWrk, version: []string{"-v"}},
	{name: "ab", command: ab, read: readAB, version: []string{"-V"}},
	{name: "h2load", command: h2load, read: readH2load, version: []string{"--version"}},
	{name: "hey", command: hey, read: readHey},
	{name: "oha", command: oha, version: []string{"--version"}},
	{name: "bombardier", command: bombardier, version: []string{"--version"}},
	{name: "k6", command: k6, version: []string{"version"}},
	{name: "vegeta", command: vegeta, version: []string{"-version"}},
	{name: "go-meter", command: goMeter},
	{name: "wrk2", command: wrk2, read: readWrk, version: []string{"-v"}},
}

func toolNames() string {
	var names []string
	for _, t := range tools[1:] {
		names = append(names, t.name)
	}
	return strings.Join(names, ",")
}

// variable is the environment variable that names the tool's program.
func (t tool) variable() string {
	return strings.ToUpper(strings.ReplaceAll(t.name, "-", "_"))
}

// find returns the tools of others that are installed: where an environment variable like
// WRK2 or GO_METER says, else on PATH. Those that are wanted by name must be.
func find(wanted map[string]bool) ([]tool, error) {
	var found []tool
	for _, t := range tools {
		if t.made || len(wanted) > 0 && !wanted[t.name] {
			continue
		}
		program := os.Getenv(t.variable())
		required := program != "" || wanted[t.name]
		if program == "" {
			program = t.name
		}
		path, err := exec.LookPath(program)
		if err != nil && required {
			return nil, fmt.Errorf("%s is not installed ($%s can name the program): %w",
				t.name, t.variable(), err)
		}
		if err == nil {
			t.path = path
			found = append(found, t)
		}
	}
	return found, nil
}

func dyno(l load, url string) command {
	args := []string{"run", "-t", n(l.threads), "-c", n(l.connections), "-d", s(l),
		"--no-save", "-q", "--json", "-"}
	if l.rate > 0 {
		args = append(args, "-R", n(l.rate))
	}
	if l.close {
		args = append(args, "--reconnect", "always")
	}
	if l.pipeline > 1 {
		args = append(args, "--pipeline", n(l.pipeline))
	}
	if l.ring != "" {
		args = append(args, "--ring", l.ring)
	}
	if l.spin {
		args = append(args, "--spin")
	}
	if l.tls {
		args = append(args, "--insecure")
	}
	if l.streams > 0 {
		return command{args: append(args, "--http", "2", "--streams", n(l.streams), url)}
	}
	if l.tls { // else nginx would choose HTTP/2
		args = append(args, "--http", "1.1")
	}
	return command{args: append(args, url)}
}

// dynoOn is dyno that is told what to do its I/O with.
func dynoOn(ring string) func(l load, url string) command {
	return func(l load, url string) command {
		l.ring = ring
		return dyno(l, url)
	}
}

// dynoFastCGI is dyno that speaks FastCGI to a server that has both.
func dynoFastCGI(l load, url string) command { return dyno(l, viaFastCGI(url)) }

// bare is the least that a program can do, with one way of the kernel's.
func bare(way string) func(l load, url string) command {
	return func(l load, url string) command {
		if l.rate > 0 || l.close {
			return command{}
		}
		return command{args: []string{way, n(l.connections), n(l.seconds), n(max(l.pipeline, 1)),
			portOf(url)}}
	}
}

// portOf is the port of a URL without a path.
func portOf(url string) string { return strings.Trim(url[strings.LastIndex(url, ":")+1:], "/") }

func pacer(l load, url string) command {
	if l.rate == 0 {
		return command{}
	}
	return command{args: []string{n(l.rate), n(l.connections), n(l.seconds), portOf(url)}}
}

func wrk(l load, url string) command {
	if l.rate > 0 {
		return command{}
	}
	args := []string{"-t" + n(l.threads), "-c" + n(l.connections), "-d" + s(l), "--latency"}
	if l.close {
		args = append(args, "-H", "Connection: close")
	}
	if l.pipeline > 1 {
		return command{args: append(args, "-s", scriptFile, url), // it is read more than once
			file: fmt.Sprintf(wrkPipeline, l.pipeline)}
	}
	return command{args: append(args, url)}
}

// wrkPipeline has wrk send so many requests together.
const wrkPipeline = `
function init(args) together = wrk.format():rep(%d) end
function request() return together end
`

// wrk2 always has a rate; one that no server answers makes the load a closed one.
func wrk2(l load, url string) command {
	asked := l.rate
	if asked == 0 {
		asked = 10_000_000
	}
	l.rate = 0
	c := wrk(l, url)
	c.args = append([]string{"-R" + n(asked)}, c.args...)
	return c
}

// ab stops after 50,000 requests unless told otherwise, and holds memory for as many as it
// is told: a million a second is more than it makes.
func ab(l load, url string) command {
	if l.rate > 0 {
		return command{}
	}
	args := []string{"-q", "-c", n(l.connections), "-t", n(l.seconds),
		"-n", n(l.seconds * 1_000_000)}
	if !l.close {
		args = append(args, "-k")
	}
	return command{args: append(args, url)}
}

// h2load knows a rate for each connection, and keeps a log of its latencies.
func h2load(l load, url string) command {
	if l.close {
		return command{}
	}
	args := []string{"-t" + n(l.threads), "-c" + n(l.connections), "-D", n(l.seconds)}
	if l.streams > 0 {
		args = append(args, "-m", n(l.streams))
	} else {
		args = append(args, "--h1")
	}
	if l.rate > 0 {
		args = append(args, "--rps", l.rateEach(), "--log-file", "/dev/stdout")
	}
	return command{args: append(args, url)}
}

// rateEach is the rate of one connection.
func (l load) rateEach() string {
	return strconv.FormatFloat(float64(l.rate)/float64(l.connections), 'f', -1, 64)
}

// hey knows a rate for each connection.
func hey(l load, url string) command {
	args := []string{"-z", s(l), "-c", n(l.connections), "-cpus", n(l.threads)}
	if l.rate > 0 {
		args = append(args, "-q", l.rateEach())
	}
	if l.close {
		args = append(args, "-disable-keepalive")
	}
	return command{args: append(args, url)}
}

func oha(l load, url string) command {
	if l.rate > 0 {
		return command{}
	}
	args := []string{"-z", s(l), "-c", n(l.connections), "--no-tui"}
	if l.close {
		args = append(args, "--disable-keepalive")
	}
	return command{args: append(args, url)}
}

func bombardier(l load, url string) command {
	if l.rate > 0 {
		return command{}
	}
	args := []string{"-c", n(l.connections), "-d", s(l), "-p", "result"}
	if l.close {
		args = append(args, "-H", "Connection: close")
	}
	return command{args: append(args, url)}
}

func k6(l load, url string) command {
	if l.rate > 0 {
		return command{}
	}
	script := fmt.Sprintf(`import http from 'k6/http';
export const options = { discardResponseBodies: true, noConnectionReuse: %t };
export default function () { http.get(%q); }
`, l.close, url)
	return command{
		args:  []string{"run", "--no-usage-report", "-u", n(l.connections), "-d", s(l), "-"},
		stdin: script,
		env:   []string{"K6_AUTO_EXTENSION_RESOLUTION=false"}, // else it asks the Internet
	}
}

func vegeta(l load, url string) command {
	if l.rate > 0 {
		return command{}
	}
	c := n(l.connections)
	return command{
		args: []string{"attack", "-rate", "0", "-workers", c, "-max-workers", c,
			"-connections", c, "-duration", s(l), fmt.Sprintf("-keepalive=%t", !l.close),
			"-output", os.DevNull},
		stdin: "GET " + url + "\n",
	}
}

func goMeter(l load, url string) command {
	if l.rate > 0 || l.close {
		return command{}
	}
	return command{args: []string{"-t", n(l.threads), "-c", n(l.connections), "-d", s(l),
		"-u", url}}
}

func n(v int) string  { return strconv.Itoa(v) }
func s(l load) string { return strconv.Itoa(l.seconds) + "s" }
