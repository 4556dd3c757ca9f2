package experiment

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"

	"dyno/internal/hole"
)

// debian maps programs to the Debian packages with other names.
var debian = map[string]string{
	"nginx": "nginx-light", "node": "nodejs", "npm": "npm", "go": "golang-go",
	"java": "default-jdk-headless", "javac": "default-jdk-headless", "php": "php-cli",
	"apache2": "apache2", "ruby": "ruby", "python3": "python3", "caddy": "caddy",
	"haproxy": "haproxy", "lighttpd": "lighttpd", "h2o": "h2o", "varnishd": "varnish",
	"gcc": "gcc", "make": "make", "cargo": "cargo", "perf": "linux-perf", "wrk": "wrk",
	"ab": "apache2-utils", "h2load": "nghttp2-client", "hey": "hey",
	"gunicorn": "gunicorn", "uvicorn": "uvicorn",
}

// Missing explains why v is not available on this machine: programs, variables and files that it
// needs and that are missing, whether it must be root, and whether --quick leaves it out. Programs
// that it starts or is built with are needed without being listed. If there are no reasons, v can
// be tried.
func Missing(v Variant) (reasons []string) {
	say := func(format string, args ...any) {
		if reason := fmt.Sprintf(format, args...); !slices.Contains(reasons, reason) {
			reasons = append(reasons, reason)
		}
	}
	if v.LeftOut {
		say("a quick run leaves it out")
		return reasons
	}
	for _, name := range v.Needs.Env {
		if os.Getenv(name) == "" {
			say("the environment variable %s is not set%s", name, installAdvice(v, ""))
		}
	}
	for _, name := range v.Sent().unsetVariables() {
		say("the environment variable %s, which its workload names, is not set", name)
	}
	for _, program := range slices.Concat(v.Needs.Programs, v.programs()) {
		if _, err := exec.LookPath(program); err == nil {
			continue
		}
		if filepath.Base(program) == program {
			say("%s is not on the PATH%s", program, installAdvice(v, program))
		} else {
			say("%s is not a program that can be started%s", program, installAdvice(v, program))
		}
	}
	for _, file := range v.Needs.Files {
		if found, _ := filepath.Glob(v.beside(file)); len(found) > 0 {
			continue
		}
		if _, err := os.Stat(v.beside(file)); err != nil {
			if why, is := errors.AsType[*fs.PathError](err); is {
				err = why.Err
			}
			say("%s cannot be read: %v%s", file, err, installAdvice(v, ""))
		}
	}
	root := os.Geteuid() == 0
	if v.Needs.Root && !root {
		say("it needs root; start dyno with sudo")
	}
	for _, p := range v.Processes {
		if p.User == "" || !root {
			continue // only root can start a process as another user
		}
		if _, err := user.Lookup(p.User); err != nil {
			say("there is no user %s", p.User)
		}
	}
	if len(v.Sysctl) > 0 && runtime.GOOS != "linux" {
		say("sysctl is for Linux, and this is %s", runtime.GOOS)
	}
	return reasons
}

// beside is the path of a file that the experiment file names.
func (v Variant) beside(file string) string {
	if file = filepath.FromSlash(file); filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(v.here, file)
}

// programs are those that v starts or is built with, as far as they are known before a trial. Those
// that are built, or lie in a run directory, are not among them.
func (v Variant) programs() (all []string) {
	commands := make([]Command, 0, len(v.Build)+len(v.Processes))
	for _, s := range v.Build {
		commands = append(commands, s.Cmd)
	}
	for _, p := range v.Processes {
		commands = append(commands, p.Cmd)
	}
	if v.Generator != nil {
		commands = append(commands, v.Generator.Cmd)
	}
	r := newRenderer(v, Values{})
	for _, c := range commands {
		early := !slices.ContainsFunc(c[0].mentions(), func(m hole.Mention) bool {
			_, isFactor := v.ValueOf(m.Word)
			return m.Word != "env" && m.Word != "dyno" && !isFactor
		})
		program, err := r.render(c[0])
		relative := filepath.Base(program) != program && !filepath.IsAbs(program)
		if early && err == nil && !relative {
			all = append(all, program)
		}
	}
	return all
}

// installAdvice says what to install.
func installAdvice(v Variant, program string) string {
	switch known := debian[filepath.Base(program)]; {
	case v.Needs.Packages != "":
		return "; install " + v.Needs.Packages
	case known != "":
		return " (Debian: apt install " + known + ")"
	}
	return ""
}
