//go:build linux

package attack

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// neighbourRole is the argument by which the test binary is a local user who waits in the
// temporary directory for the run directories of root's servers.
const neighbourRole = "neighbour"

// A haul is what the neighbour did, and got.
type haul struct {
	Seen    int      // run directories
	Tried   int      // to plant something there, or to look into them
	Planted []string // what it could put there
	Read    []string // of files of root's that it could read, or list
	Known   []string // of files whose folder every user may search, which it could read by their names
}

// runNeighbour watches a folder until its stdin ends, and plants in each folder that is made there:
// links to what it would have root write, under names that root's servers have. It says in the
// end what came of it.
func runNeighbour(args []string) int {
	shared, victim := args[0], args[1]
	w, err := unix.InotifyInit1(unix.IN_CLOEXEC)
	if err == nil {
		_, err = unix.InotifyAddWatch(w, shared, unix.IN_CREATE|unix.IN_ONLYDIR)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	watch := os.NewFile(uintptr(w), "inotify")
	fmt.Println("ready")
	n := &thief{victim: victim, over: make(chan struct{})}
	go n.watchFolder(watch, shared)
	io.Copy(io.Discard, os.Stdin)
	close(n.over)
	n.at.Wait()
	n.mu.Lock()
	defer n.mu.Unlock()
	json.NewEncoder(os.Stdout).Encode(n.haul)
	return 0
}

// A thief is a neighbour at work.
type thief struct {
	victim string
	over   chan struct{}
	at     sync.WaitGroup
	mu     sync.Mutex
	haul
}

func (n *thief) watchFolder(events io.Reader, shared string) {
	for b := make([]byte, 64<<10); ; {
		size, err := events.Read(b)
		if err != nil {
			return
		}
		for at := 0; at < size; {
			e := (*unix.InotifyEvent)(unsafe.Pointer(&b[at]))
			name := strings.TrimRight(string(b[at+unix.SizeofInotifyEvent:at+unix.SizeofInotifyEvent+int(e.Len)]), "\x00")
			at += unix.SizeofInotifyEvent + int(e.Len)
			if strings.HasPrefix(name, "dyno-") {
				n.mu.Lock()
				n.Seen++
				n.mu.Unlock()
				n.at.Go(func() { n.stealFiles(filepath.Join(shared, name)) })
			}
		}
	}
}

// stealFiles tries one run directory, again and again until it is gone.
func (n *thief) stealFiles(dir string) {
	for {
		for _, in := range []string{dir, filepath.Join(dir, ".u1"), filepath.Join(dir, ".u2")} {
			n.plantFiles(in)
		}
		select {
		case <-n.over:
			return
		case <-time.After(500 * time.Microsecond):
		}
		if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
			return
		}
	}
}

func (n *thief) plantFiles(dir string) {
	link := func(name string) func() error {
		return func() error {
			return os.Symlink(filepath.Join(n.victim, filepath.Base(name)), filepath.Join(dir, name))
		}
	}
	for name, try := range map[string]func() error{
		"conf":        func() error { return os.Mkdir(filepath.Join(dir, "conf"), 0o777) },
		"conf/page":   link("conf/page"),  // a file of the experiment, in a folder of ours
		"site":        link("site"),       // a folder of the experiment
		"canary":      link("canary"),     // a file of the experiment
		"served.csv":  link("served.csv"), // what the server writes
		"app.sock":    link("app.sock"),   // where it listens
		"renamed":     func() error { return os.Rename(filepath.Join(dir, "canary"), filepath.Join(dir, "x")) },
		"unlinked":    func() error { return os.Remove(filepath.Join(dir, "canary")) },
		"rights":      func() error { return os.Chmod(dir, 0o777) },
		"supervisor":  link("supervisor.err"),
		"hidden name": func() error { return os.Mkdir(filepath.Join(dir, ".u1"), 0o777) },
	} {
		err := try()
		n.mu.Lock()
		if n.Tried++; err == nil {
			n.Planted = append(n.Planted, filepath.Base(dir)+": "+name)
		}
		n.mu.Unlock()
	}
	for _, name := range []string{"canary", "site/index", "conf/page"} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		n.mu.Lock()
		switch n.Tried++; {
		case err == nil && string(b) == open && !strings.HasPrefix(filepath.Base(dir), ".u"):
			n.Known = append(n.Known, filepath.Base(dir)+": "+name)
		case err == nil && (string(b) == secret || string(b) == open):
			n.Read = append(n.Read, filepath.Base(dir)+": "+name)
		}
		n.mu.Unlock()
	}
	entries, err := os.ReadDir(dir)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.Tried++; err == nil {
		n.Read = append(n.Read, fmt.Sprintf("%s: its %d names", filepath.Base(dir), len(entries)))
	}
}

// secret is what an experiment's files have in them; open is what those have that every user may
// read who knows their names, because a server of root's becomes another user by itself.
const (
	secret = "for the server's eyes only"
	open   = "for who knows its name"
)

// neighbours is an experiment of servers that write into their run directory: one of root's, one of
// another user's, and one of root's that will be another user's, beside one of such.
const neighbours = `version: 1
name: neighbours
design: {rounds: %d, aa: false, cooldown: 0s, measure: 100ms, warmup: {min: 0s, max: 0s}}
fairness: {mode: off}
levels: [{name: c1, connections: 1, threads: 1}]
variants:
  root: &root
    files: {canary: &text "` + secret + `", conf/page: *text, site/index: *text}
    processes:
      - {name: app, cmd: '{{dyno}} target --listen 127.0.0.1:{{port}} --log {{dir}}/served.csv'}
    url: http://127.0.0.1:{{port}}/
  daemon:
    <<: *root
    processes:
      - {name: app, user: daemon, cmd: '{{dyno}} target --listen 127.0.0.1:{{port}} --log {{dir}}/served.csv'}
  dropping:
    <<: *root
    files: {canary: &open "` + open + `", conf/page: *open, site/index: *open}
    processes:
      - {name: beside, user: daemon, cmd: '{{dyno}} target --listen 127.0.0.1:{{port "b"}} --log {{dir}}/served.csv'}
      - {name: app, drops_root: true, cmd: '{{dyno}} target --listen 127.0.0.1:{{port}} --log {{dir}}/served.csv'}
`

// trialCount is how many are attacked.
func trialCount(t *testing.T) int {
	t.Helper()
	n, err := strconv.Atoi(os.Getenv("DYNO_TRIALS"))
	if os.Getenv("DYNO_TRIALS") == "" {
		n, err = 12, nil
	}
	if err != nil || n < 12 {
		t.Fatalf("DYNO_TRIALS=%s: %d trials: 12 at least, %v", os.Getenv("DYNO_TRIALS"), n, err)
	}
	return n
}

// commonDir is a folder below /tmp as that is, and one of root's for what must not be touched.
func commonDir(t *testing.T) (shared, victim string) {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "attack-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	shared, victim = filepath.Join(dir, "t"), filepath.Join(dir, "victim")
	err = errors.Join(os.Chmod(dir, 0o755), os.Mkdir(shared, 0o777), os.Chmod(shared, 0o777|fs.ModeSticky),
		os.Mkdir(victim, 0o755), os.Mkdir(filepath.Join(victim, "site"), 0o755),
		os.WriteFile(filepath.Join(victim, "canary"), []byte("root's"), 0o600),
		os.WriteFile(filepath.Join(victim, "page"), []byte("root's"), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	return shared, victim
}

// A user of the same machine waits for the folders in which root's servers run, and plants links
// in them. Nothing is written through one, nothing can be planted, and nothing is read but what
// lies open to who knows its name.
func TestNeighbourPlantsLinks(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can be attacked as root, and start another user's processes")
	}
	shared, victim := commonDir(t)
	n := trialCount(t)
	file := filepath.Join(filepath.Dir(victim), "neighbours.yaml") // which the daemon can reach
	if err := os.WriteFile(file, fmt.Appendf(nil, neighbours, (n+2)/3), 0o644); err != nil {
		t.Fatal(err)
	}
	attack := startNeighbour(t, shared, victim)
	folder := filepath.Join(t.TempDir(), "out")
	ran := runDyno(t, []string{"TMPDIR=" + shared}, "lab", "run", "-o", folder, file)
	got := attack()
	stored, err := filepath.Glob(filepath.Join(folder, "trials", "*.json"))
	t.Logf("%d trials; the neighbour saw %d run directories and tried %d times; it planted %d, read %d, and %d by their names",
		len(stored), got.Seen, got.Tried, len(got.Planted), len(got.Read), len(got.Known))
	if err != nil || len(stored) < n || got.Seen < n || got.Tried < got.Seen || len(got.Known) == 0 {
		t.Errorf("nothing was shown: %d trials of %d, exit code %d, %v\n%s", len(stored), n, ran.code, err, ran.err)
	}
	if len(got.Planted)+len(got.Read) > 0 {
		t.Errorf("planted: %q; read: %q", firstOf(got.Planted, 12), firstOf(got.Read, 3))
	}
	if touched := changedFile(t, victim); touched != "" {
		t.Errorf("root wrote through links:\n%s", touched)
	}
	for _, name := range stored {
		b, err := os.ReadFile(name)
		switch text := string(b); {
		case err != nil:
			t.Error(err)
		case strings.Contains(text, `"reason": "no request completed"`):
			t.Logf("%s: its server ran, and the machine was too busy to answer in its short window",
				filepath.Base(name))
		case strings.Contains(text, `"failure"`):
			t.Errorf("%s failed:\n%.1000s", filepath.Base(name), b)
		}
	}
}

func firstOf(all []string, n int) []string { return all[:min(len(all), n)] }

// startNeighbour starts the neighbour, whom the function ends that it returns.
func startNeighbour(t *testing.T, shared, victim string) (end func() haul) {
	t.Helper()
	exe := filepath.Join(filepath.Dir(victim), "neighbour")
	self, err := os.Executable() // which only root may start
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("cp", self, exe).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.Command(exe, neighbourRole, shared, victim)
	cmd.Dir, cmd.Stderr = "/", os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534},
		Pdeathsig: syscall.SIGKILL}
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	words := json.NewDecoder(out)
	var ready [len("ready\n")]byte
	if _, err := io.ReadFull(out, ready[:]); err != nil {
		t.Fatal(err)
	}
	return func() (got haul) {
		in.Close()
		if err := errors.Join(words.Decode(&got), cmd.Wait()); err != nil {
			t.Fatal("the neighbour: ", err)
		}
		return got
	}
}

// changedFile is what has changed in root's folder.
func changedFile(t *testing.T, victim string) (changed string) {
	t.Helper()
	err := filepath.WalkDir(victim, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if string(b) != "root's" {
			changed += fmt.Sprintf("  %s: %.60q\n", strings.TrimPrefix(path, victim+"/"), b)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return changed
}
