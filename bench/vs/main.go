// Command vs runs dyno vs again and again on servers of which it is known how they differ, and
// counts what it says. Run it when nothing else is at work on the machine:
//
//	go run ./bench/vs -runs 20
//
// Cases: same, two copies of a Go server, for which at most one run in ten should call a measure
// different; slower, one of two that needs 10 % more CPU time for a request, which cpu should find
// in nine runs of ten; nginx-caddy, both with the same page, if they are installed.
package main

import (
	"errors"
	"flag"
	"fmt"
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
	if err := measure(*runs, *only, *keep); err != nil {
		fmt.Fprintln(os.Stderr, "vs:", err)
		os.Exit(1)
	}
}

func measure(runs int, only, keep string) error {
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
		if err := repeat(dyno, c, runs, filepath.Join(keep, c.name)); err != nil {
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
	nginx := fmt.Sprintf("sed s/PORT/{port}/ %s >{dir}/nginx.conf && exec nginx -p {dir} -c "+
		"{dir}/nginx.conf", conf)
	caddy := fmt.Sprintf("caddy file-server --root %s --listen 127.0.0.1:{port}", page)
	return []trialCase{
		{name: "same", args: []string{start(1000), start(1000)}},
		{name: "slower", args: []string{start(1000), start(1105)}},
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

// A tally is what the runs say of one measure.
type tally struct{ different, same, open, self int }

// repeat runs a case so many times, and prints each and the sum.
func repeat(dyno string, c trialCase, runs int, dir string) error {
	fmt.Printf("%s: dyno vs '%s'\n", c.name, strings.Join(c.args, "' '"))
	found, order := map[string]*tally{}, []string{}
	for run := range runs {
		at := filepath.Join(dir, fmt.Sprintf("run%02d", run+1))
		began := time.Now()
		code, said, err := runOnce(dyno, at, c.args)
		if err != nil {
			return fmt.Errorf("%w\n%s", err, said)
		}
		r, err := lab.ReadRecord(at)
		if err != nil {
			return fmt.Errorf("exit code %d: %w\n%s", code, err, said)
		}
		fmt.Printf("  run %2d: exit code %d after %2.0f s, %d trials:", run+1, code,
			time.Since(began).Seconds(), len(r.Trials))
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

// runOnce runs dyno vs with its result in a folder, and returns the exit code and what it printed.
func runOnce(dyno, dir string, args []string) (code int, said []byte, err error) {
	cmd := exec.Command(dyno, append([]string{"vs", "-o", dir}, args...)...)
	said, err = cmd.CombinedOutput()
	if exit, is := errors.AsType[*exec.ExitError](err); is {
		return exit.ExitCode(), said, nil
	}
	return 0, said, err
}
