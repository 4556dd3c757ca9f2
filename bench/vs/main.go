// Command vs runs dyno vs again and again on servers of which it is known how they differ, and
// counts what it says. Run it when nothing else is at work on the machine:
//
//	go run ./bench/vs -runs 20
//	go run ./bench/vs -runs 20 -only same -- --rounds 8 -d 500ms --warmup 200ms
//
// What follows -- goes to each dyno vs. A run that the folder of -o has already is not made again,
// so that many runs can be made in parts.
//
// Cases: same, two copies of a Go server, for which at most one run in ten should call a measure
// different; slower, one of two that needs 10 % more CPU time for a request, which cpu should find
// in nine runs of ten; git, two revisions of a repository, of which the second needs 10 % more;
// urls, both servers running; nginx-caddy, both with the same page, if they are installed.
package main

import (
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"dyno/internal/lab"
	"dyno/internal/stats"
)

// A trialCase is a pair of servers.
type trialCase struct {
	name  string
	args  []string // of dyno vs
	needs []string // programs
	dir   string   // in which dyno vs is called; "": here
	start []string // commands of servers that run before
}

// nginxFile is nginx's configuration; PORT is replaced at each start.
const nginxFile = `daemon off; worker_processes 1; pid nginx.pid; error_log stderr crit;
events { worker_connections 1024; }
http { access_log off; client_body_temp_path b; proxy_temp_path p; fastcgi_temp_path f;
  uwsgi_temp_path u; scgi_temp_path s;
  server { listen 127.0.0.1:PORT; root ROOT; } }
`

func main() {
	runs := flag.Int("runs", 20, "runs of each case")
	only := flag.String("only", "", "cases, separated by commas (all)")
	keep := flag.String("o", "", "folder for the experiments (a temporary one, removed)")
	flag.Parse()
	if err := measure(*runs, *only, *keep, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "vs:", err)
		os.Exit(1)
	}
}

func measure(runs int, only, keep string, more []string) error {
	temporary, err := os.MkdirTemp("", "dyno-bench-vs-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temporary)
	if keep == "" {
		keep = temporary
	}
	dyno, server := filepath.Join(temporary, "dyno"), filepath.Join(temporary, "server")
	for program, source := range map[string]string{dyno: "./cmd/dyno", server: "./bench/vs/server"} {
		if out, err := exec.Command("go", "build", "-o", program, source).CombinedOutput(); err != nil {
			return fmt.Errorf("building %s: %w\n%s", source, err, out)
		}
	}
	all, err := cases(temporary, server)
	if err != nil {
		return err
	}
	for _, c := range all {
		if only != "" && !slices.Contains(strings.Split(only, ","), c.name) {
			continue
		}
		if missing := lacking(c.needs); missing != "" {
			fmt.Printf("%s: %s is not installed\n\n", c.name, missing)
			continue
		}
		c.args = append(c.args, more...)
		if err := c.repeat(dyno, runs, filepath.Join(keep, c.name)); err != nil {
			return err
		}
	}
	return nil
}

// cases are all cases, with their files in a folder.
func cases(dir, server string) ([]trialCase, error) {
	page := filepath.Join(dir, "page")
	conf := filepath.Join(dir, "nginx.conf")
	err := errors.Join(os.Mkdir(page, 0o755), os.Chmod(dir, 0o755),
		os.WriteFile(filepath.Join(page, "index.html"), []byte(strings.Repeat("hello\n", 100)), 0o644),
		os.WriteFile(conf, []byte(strings.ReplaceAll(nginxFile, "ROOT", page)), 0o644))
	start := func(work int) string {
		return fmt.Sprintf("%s -listen 127.0.0.1:{port} -work %d", server, work)
	}
	repository, wrong := sampleRepository(dir)
	ports, without := freePorts(2)
	err = errors.Join(err, wrong, without)
	url := func(i int) string { return "http://" + ports[i] + "/" }
	nginx := fmt.Sprintf("sed s/PORT/{port}/ %s >{dir}/nginx.conf && exec nginx -p {dir} -c "+
		"{dir}/nginx.conf", conf)
	caddy := fmt.Sprintf("caddy file-server --root %s --listen 127.0.0.1:{port}", page)
	return []trialCase{
		{name: "same", args: []string{start(1000), start(1000)}},
		{name: "slower", args: []string{start(1000), start(1105)}},
		{name: "git", dir: repository, args: []string{"--git", "main~1", "main", "--build",
			"go build -o {out}/srv .", "--run", "{out}/srv -listen 127.0.0.1:{port}"}},
		{name: "urls", args: []string{url(0), url(1)},
			start: []string{server + " -work 1000 -listen " + ports[0],
				server + " -work 1105 -listen " + ports[1]}},
		{name: "nginx-caddy", needs: []string{"nginx", "caddy"},
			args: []string{nginx, caddy, "--names", "nginx,caddy", "--allow", "all"}},
	}, err
}

// lacking is the first program that is not installed; "" if all are.
func lacking(programs []string) string {
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			return p
		}
	}
	return ""
}

// repeat runs a case so many times, and prints each and the sum.
func (c trialCase) repeat(dyno string, runs int, dir string) error {
	fmt.Printf("%s: dyno vs '%s'\n", c.name, strings.Join(c.args, "' '"))
	for _, command := range c.start {
		stop, err := startServer(command)
		if err != nil {
			return err
		}
		defer stop()
	}
	found, order := map[string]*tally{}, []string{}
	for run := range runs {
		r, line, err := c.runOnce(dyno, filepath.Join(dir, fmt.Sprintf("run%02d", run+1)))
		if err != nil {
			return err
		}
		fmt.Printf("  run %2d: %s, %d trials:", run+1, line, len(r.Trials))
		for _, v := range r.Verdicts {
			if found[v.Metric] == nil {
				found[v.Metric], order = new(tally), append(order, v.Metric)
			}
			found[v.Metric].add(v)
			if !v.Control {
				fmt.Printf("  %s %.3f [%.3f, %.3f] %s", v.Metric, v.Ratio, v.Low, v.High, v.Verdict)
			}
		}
		fmt.Println()
	}
	for _, metric := range order {
		n := found[metric]
		fmt.Printf("  %-10s different in %d of %d runs, equivalent or negligible in %d, "+
			"inconclusive in %d; A/A different in %d\n", metric, n.different, runs, n.same, n.open, n.self)
	}
	fmt.Println()
	return nil
}

// startServer starts a server, and waits until it listens.
func startServer(command string) (stop func(), err error) {
	words := strings.Fields(command)
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	stop = func() {
		cmd.Process.Kill()
		cmd.Wait()
	}
	for range 600 {
		if c, err := net.Dial("tcp", words[len(words)-1]); err == nil {
			c.Close()
			return stop, nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	stop()
	return nil, fmt.Errorf("%s does not listen", command)
}

// freePorts are addresses at which nothing listens.
func freePorts(n int) (all []string, err error) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return make([]string, n), err
		}
		defer l.Close()
		all = append(all, l.Addr().String())
	}
	return all, nil
}

// sampleRepository is a repository with two revisions of the server: main~1, and main, which needs
// 10 % more CPU time for a request.
func sampleRepository(dir string) (string, error) {
	source, err := os.ReadFile("bench/vs/server/main.go")
	if err != nil {
		return "", err
	}
	at := filepath.Join(dir, "repository")
	if err := os.Mkdir(at, 0o755); err != nil {
		return "", err
	}
	git := func(args ...string) error {
		cmd := exec.Command("git", append([]string{"-C", at, "-c", "user.name=a", "-c",
			"user.email=a@localhost"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("git %q: %w\n%s", args, err, out)
		}
		return nil
	}
	err = errors.Join(git("init", "-q", "-b", "main", "."),
		os.WriteFile(filepath.Join(at, "go.mod"), []byte("module server\n\ngo 1.24\n"), 0o644))
	for _, work := range []string{"1000", "1105"} {
		text := strings.Replace(string(source), `"work", 1000`, `"work", `+work, 1)
		err = errors.Join(err, os.WriteFile(filepath.Join(at, "main.go"), []byte(text), 0o644),
			git("add", "-A"), git("commit", "-q", "--allow-empty", "-m", work))
	}
	return at, err
}

// A tally is what the runs say of one measure.
type tally struct{ different, same, open, self int }

func (n *tally) add(v lab.Comparison) {
	switch {
	case v.Control && v.Verdict == stats.Different:
		n.self++
	case v.Control:
	case v.Verdict == stats.Different:
		n.different++
	case v.Verdict == stats.Inconclusive:
		n.open++
	default:
		n.same++
	}
}

// runOnce runs dyno vs with its result in a folder, unless that has one. It returns the result and
// how the run went, with the load of the machine before and after it.
func (c trialCase) runOnce(dyno, dir string) (r *lab.Record, line string, err error) {
	if r, err = lab.ReadRecord(dir); err == nil {
		return r, "made before", nil
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, "", err
	}
	cmd := exec.Command(dyno, append([]string{"vs", "-o", dir}, c.args...)...)
	cmd.Dir = c.dir
	began, before := time.Now(), loadAverage()
	said, err := cmd.CombinedOutput()
	if _, is := errors.AsType[*exec.ExitError](err); err != nil && !is {
		return nil, "", fmt.Errorf("%w\n%s", err, said)
	}
	line = fmt.Sprintf("exit code %d after %2.0f s, load %s to %s", cmd.ProcessState.ExitCode(),
		time.Since(began).Seconds(), before, loadAverage())
	if r, err = lab.ReadRecord(dir); err != nil {
		return nil, "", fmt.Errorf("%s: %w\n%s", line, err, said)
	}
	return r, line, nil
}

// loadAverage is how many threads ran, or were ready to, in the last minute; "?": not known.
func loadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "?"
	}
	first, _, _ := strings.Cut(string(text), " ")
	return first
}
