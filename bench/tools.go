package main

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// A tool is a load generator, and how it is called.
type tool struct {
	name string
	path string // of the program; empty in the table, set where it was found
	// command is what makes the load on url, or nothing where the tool cannot make it.
	command func(l load, url string) command
	// parseOutput takes from the tool's output what only the tool can know; nil where nothing is
	// taken. All else is the server's and the kernel's account.
	parseOutput func(output []byte) (reading, error)
	version     []string // arguments with which the tool's first line names its version
	builtHere   bool     // by bench: used only where a row names it
	source      []byte   // in C, of what is made; nil: it is dyno
}

// A command is a program's call. One without arguments does not exist.
type command struct {
	args   []string
	stdin  string
	env    []string
	file   string // what the file has whose path stands for scriptFile among args
	suffix string // of that file's name
}

const scriptFile = "SCRIPT"

// A reading has the values of one trial; unknown ones are absent.
type reading map[metric]float64

// tools are all tools that bench knows.
var tools = []tool{
	{name: "dyno", command: dynoCommand, parseOutput: parseDynoResult, version: []string{"version"},
		builtHere: true},
	{name: "dyno-epoll", command: dynoWithRing("epoll"), parseOutput: parseDynoResult,
		builtHere: true},
	{name: "dyno-uring", command: dynoWithRing("uring"), parseOutput: parseDynoResult,
		builtHere: true},
	{name: "dyno-other", command: dynoCommand, parseOutput: parseDynoResult,
		version: []string{"version"}},
	{name: "dyno-fixed", command: dynoFixedCommand, parseOutput: parseDynoResult, builtHere: true},
	{name: "dyno-thread", command: dynoThreadCommand, parseOutput: parseDynoResult,
		builtHere: true},
	{name: "dyno-fcgi", command: dynoFastCGICommand, parseOutput: parseDynoResult, builtHere: true},
	{name: "pacer", command: pacerCommand, parseOutput: parsePacerResult, builtHere: true,
		source: pacerSource},
	{name: "bare-epoll", command: bareCommand("epoll"), parseOutput: parseBareResult, builtHere: true,
		source: bareSource},
	{name: "bare-uring", command: bareCommand("uring"), parseOutput: parseBareResult, builtHere: true,
		source: bareSource},
	{name: "wrk", command: wrkCommand, parseOutput: parseWrkOutput, version: []string{"-v"}},
	{name: "ab", command: abCommand, parseOutput: parseABOutput, version: []string{"-V"}},
	{name: "h2load", command: h2loadCommand, parseOutput: parseH2loadOutput,
		version: []string{"--version"}},
	{name: "hey", command: heyCommand, parseOutput: parseHeyOutput},
	{name: "oha", command: ohaCommand, version: []string{"--version"}},
	{name: "bombardier", command: bombardierCommand, version: []string{"--version"}},
	{name: "k6", command: k6Command, version: []string{"version"}},
	{name: "vegeta", command: vegetaCommand, version: []string{"-version"}},
	{name: "go-meter", command: goMeterCommand},
	{name: "gcannon", command: gcannonCommand, parseOutput: parseGcannonOutput},
	{name: "shb", command: shbCommand, parseOutput: parseShbOutput, version: []string{"--version"}},
	{name: "wrk2", command: wrk2Command, parseOutput: parseWrkOutput, version: []string{"-v"}},
}

func toolNames() string {
	var names []string
	for _, t := range tools[1:] {
		names = append(names, t.name)
	}
	return strings.Join(names, ",")
}

// envVariable returns the environment variable that names the tool's program.
func (t tool) envVariable() string {
	return strings.ToUpper(strings.ReplaceAll(t.name, "-", "_"))
}

// findInstalled returns the installed tools: as an environment variable such as WRK2 or GO_METER
// says, else on PATH. Tools that are wanted by name must be installed.
func findInstalled(wanted map[string]bool) ([]tool, error) {
	var found []tool
	for _, t := range tools {
		if t.builtHere || len(wanted) > 0 && !wanted[t.name] {
			continue
		}
		program := os.Getenv(t.envVariable())
		required := program != "" || wanted[t.name]
		if program == "" {
			program = t.name
		}
		path, err := exec.LookPath(program)
		if err != nil && required {
			return nil, fmt.Errorf("%s is not installed ($%s can name the program): %w",
				t.name, t.envVariable(), err)
		}
		if err == nil {
			t.path = path
			found = append(found, t)
		}
	}
	return found, nil
}

func dynoCommand(l load, url string) command {
	args := []string{"run", "-t", decimal(l.threads), "-c", decimal(l.connections), "-d", inSeconds(l),
		"--no-save", "-q", "--json", "-"}
	if l.rate > 0 {
		args = append(args, "-R", decimal(l.rate))
	}
	if l.close {
		args = append(args, "--reconnect", "always")
	}
	if l.pipeline > 1 {
		args = append(args, "--pipeline", decimal(l.pipeline))
	}
	if l.ring != "" {
		args = append(args, "--ring", l.ring)
	}
	if l.spin {
		args = append(args, "--spin")
	}
	if l.linger > 0 {
		args = append(args, "--linger", decimal(l.linger)+"us")
	}
	if l.tls {
		args = append(args, "--insecure")
	}
	if l.streams > 0 {
		version := "2"
		if l.http3 {
			version = "3"
		}
		return command{args: append(args, "--http", version, "--streams", decimal(l.streams), url)}
	}
	if l.tls { // else nginx would choose HTTP/2
		args = append(args, "--http", "1.1")
	}
	return addDynoContent(command{args: append(args, url)}, l.content, url)
}

// dynoWithRing returns dyno's command with a given ring.
func dynoWithRing(ring string) func(l load, url string) command {
	return func(l load, url string) command {
		l.ring = ring
		return dynoCommand(l, url)
	}
}

// dynoThreadCommand has dyno use one thread.
func dynoThreadCommand(l load, url string) command {
	l.threads = 1
	return dynoCommand(l, url)
}

// dynoFastCGICommand has dyno use FastCGI with a server that speaks both.
func dynoFastCGICommand(l load, url string) command { return dynoCommand(l, fastCGIURL(url)) }

// bareCommand runs the minimal program in C, with one interface of the kernel.
func bareCommand(way string) func(l load, url string) command {
	return func(l load, url string) command {
		if l.rate > 0 || l.close {
			return command{}
		}
		return command{args: []string{way, decimal(l.connections), decimal(l.seconds),
			decimal(max(l.pipeline, 1)),
			portOf(url)}}
	}
}

// portOf returns the port of a URL without a path.
func portOf(url string) string { return strings.Trim(url[strings.LastIndex(url, ":")+1:], "/") }

func pacerCommand(l load, url string) command {
	if l.rate == 0 {
		return command{}
	}
	return command{args: []string{decimal(l.rate), decimal(l.connections), decimal(l.seconds),
		portOf(url)}}
}

func wrkCommand(l load, url string) command {
	if l.rate > 0 {
		return command{}
	}
	args := []string{"-t" + decimal(l.threads), "-c" + decimal(l.connections), "-d" + inSeconds(l),
		"--latency"}
	if l.close {
		args = append(args, "-H", "Connection: close")
	}
	if l.pipeline > 1 {
		return command{args: append(args, "-s", scriptFile, url), // it is read more than once
			file: fmt.Sprintf(wrkPipeline, l.pipeline)}
	}
	if l.content != sameContent {
		script, can := wrkContent[l.content]
		if !can {
			return command{}
		}
		return command{args: append(args, "-s", scriptFile, url), file: script}
	}
	return command{args: append(args, url)}
}

// wrkPipeline has wrk send so many requests at a time.
const wrkPipeline = `
function init(args) together = wrk.format():rep(%d) end
function request() return together end
`

// wrk2Command: wrk2 always has a rate; one that no server reaches makes the load closed.
func wrk2Command(l load, url string) command {
	asked := l.rate
	if asked == 0 {
		asked = 10_000_000
	}
	l.rate = 0
	c := wrkCommand(l, url)
	c.args = append([]string{"-R" + decimal(asked)}, c.args...)
	return c
}

// abCommand: ab stops after 50,000 requests by default, and allocates memory for the number that
// it is given. A million a second is more than it makes.
func abCommand(l load, url string) command {
	if l.rate > 0 {
		return command{}
	}
	args := []string{"-q", "-c", decimal(l.connections), "-t", decimal(l.seconds),
		"-n", decimal(l.seconds * 1_000_000)}
	if !l.close {
		args = append(args, "-k")
	}
	return command{args: append(args, url)}
}

// h2loadCommand: h2load takes a rate for each connection, and logs its latencies.
func h2loadCommand(l load, url string) command {
	if l.close || l.http3 {
		return command{}
	}
	args := []string{"-t" + decimal(l.threads), "-c" + decimal(l.connections), "-D",
		decimal(l.seconds)}
	if l.streams > 0 {
		args = append(args, "-m", decimal(l.streams))
	} else {
		args = append(args, "--h1")
	}
	if l.rate > 0 {
		args = append(args, "--rps", l.ratePerConnection(), "--log-file", "/dev/stdout")
	}
	return command{args: append(args, url)}
}

// ratePerConnection returns the rate of one connection.
func (l load) ratePerConnection() string {
	return strconv.FormatFloat(float64(l.rate)/float64(l.connections), 'f', -1, 64)
}

// heyCommand: hey takes a rate for each connection.
func heyCommand(l load, url string) command {
	args := []string{"-z", inSeconds(l), "-c", decimal(l.connections), "-cpus", decimal(l.threads)}
	if l.rate > 0 {
		args = append(args, "-q", l.ratePerConnection())
	}
	if l.close {
		args = append(args, "-disable-keepalive")
	}
	return command{args: append(args, url)}
}

// shbCommand: shb verifies no certificate, and lets completions gather for 500 µs if it is not told
// for how long, until there are half as many as streams, at most 32.
func shbCommand(l load, url string) command {
	if l.rate > 0 || l.close || l.pipeline > 1 || l.content != sameContent {
		return command{}
	}
	args := []string{"-t", decimal(l.threads), "-c", decimal(l.connections), "-z", inSeconds(l),
		"--json"}
	if l.linger > 0 {
		args = append(args, "--batch-linger", decimal(l.linger))
	}
	if l.streams > 0 {
		version := "--http2"
		if l.http3 {
			version = "--http3"
		}
		args = append(args, version, "-p", decimal(l.streams))
	}
	return command{args: append(args, url)}
}

func ohaCommand(l load, url string) command {
	if l.rate > 0 {
		return command{}
	}
	args := []string{"-z", inSeconds(l), "-c", decimal(l.connections), "--no-tui"}
	if l.close {
		args = append(args, "--disable-keepalive")
	}
	return command{args: append(args, url)}
}

func bombardierCommand(l load, url string) command {
	if l.rate > 0 {
		return command{}
	}
	args := []string{"-c", decimal(l.connections), "-d", inSeconds(l), "-p", "result"}
	if l.close {
		args = append(args, "-H", "Connection: close")
	}
	return command{args: append(args, url)}
}

func k6Command(l load, url string) command {
	if l.rate > 0 {
		return command{}
	}
	script := fmt.Sprintf(`import http from 'k6/http';
import { check } from 'k6';
export const options = { discardResponseBodies: %t, noConnectionReuse: %t };
const url = %q;
let n = 0, state;
export default function () { %s; }
`, !l.content.looksAtBodies(), l.close, url, k6Content[l.content])
	return command{
		args: []string{"run", "--no-usage-report", "-u", decimal(l.connections), "-d", inSeconds(l),
			"-"},
		stdin: script,
		env:   []string{"K6_AUTO_EXTENSION_RESOLUTION=false"}, // else it asks the Internet
	}
}

func vegetaCommand(l load, url string) command {
	if l.rate > 0 {
		return command{}
	}
	c := decimal(l.connections)
	return command{
		args: []string{"attack", "-rate", "0", "-workers", c, "-max-workers", c,
			"-connections", c, "-duration", inSeconds(l), fmt.Sprintf("-keepalive=%t", !l.close),
			"-output", os.DevNull},
		stdin: "GET " + url + "\n",
	}
}

func goMeterCommand(l load, url string) command {
	if l.rate > 0 || l.close {
		return command{}
	}
	return command{args: []string{"-t", decimal(l.threads), "-c", decimal(l.connections), "-d",
		inSeconds(l),
		"-u", url}}
}

func decimal(v int) string    { return strconv.Itoa(v) }
func inSeconds(l load) string { return strconv.Itoa(l.seconds) + "s" }
