package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	launchVerb = "launch"
	launchTime = 10 * time.Second // from fork to exec
)

// A launching is what the trampoline is told. The environment it has already.
type launching struct {
	Args       []string
	Dir, User  string
	NoFile     uint64
	CPUs       []int
	Supervisor int  // process id
	Client     bool // enter the namespace that is open as clientSpace
}

// startProcess starts a process in a process group of its own.
func (s *supervisor) startProcess(o ordered) (pid int, failure *Failure) {
	defer o.streams.close()
	p := *o.Process
	if r := p.Ready; r != nil && r.isTaken() {
		return 0, &Failure{Process: p.Name, Kind: PortTaken,
			Reason: "somebody already listens where " + r.URL + " leads"}
	}
	c := &child{id: o.ID, process: p, guest: o.Guest}
	err := s.ctx.Err()
	if err == nil {
		err = s.checkUnique(p.Name)
	}
	if err == nil {
		c.log, err = openLog(p.Output, p.sought())
	}
	if err == nil {
		err = s.forkProcess(c, o.streams)
	}
	if err != nil {
		return 0, &Failure{Process: p.Name, Kind: CannotStart, Reason: err.Error()}
	}
	return c.pid, nil
}

func (s *supervisor) checkUnique(name string) error {
	for _, c := range s.children {
		if c.process.Name == name && !c.ended {
			return fmt.Errorf("another process called %s is running", name)
		}
	}
	return nil
}

// forkProcess makes the trampoline and waits until it has become the program.
func (s *supervisor) forkProcess(c *child, given streams) error {
	p := c.process
	spec, err := json.Marshal(launching{p.Args, p.Dir, p.User, p.NoFile, p.CPUs, os.Getpid(),
		p.Client > 0})
	if err != nil {
		return err
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer null.Close()
	output, outputEnd, err := os.Pipe()
	if err != nil {
		return err
	}
	defer outputEnd.Close()
	// A server that has another user by now may open /dev/stderr, this pipe.
	if err := outputEnd.Chmod(0o666); err != nil {
		return errors.Join(err, output.Close())
	}
	status, statusEnd, err := os.Pipe()
	if err != nil {
		return errors.Join(err, output.Close())
	}
	defer status.Close()
	files := []uintptr{given.or(0, null), given.or(1, outputEnd), given.or(2, outputEnd),
		statusEnd.Fd()}
	if p.Client > 0 {
		files = append(files, s.clients[p.Client-1].Fd())
	}
	argv := append(slices.Clone(s.spec.Supervisor), launchVerb, string(spec))
	c.pid, err = syscall.ForkExec("/proc/self/exe", argv, &syscall.ProcAttr{
		Env: p.Env, Files: files,
		Sys: &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL},
	})
	statusEnd.Close()
	if err != nil {
		return errors.Join(fmt.Errorf("fork: %w", err), output.Close())
	}
	c.exit = Exit{Name: p.Name, PID: c.pid}
	c.drained = make(chan struct{})
	go c.drainOutput(output)
	s.children = append(s.children, c)
	s.reapAll()
	err = launched(status)
	c.failed = err != nil
	return err
}

// launched reads why the program could not be executed: nothing if it could,
// as exec closes the pipe.
func launched(status *os.File) error {
	if err := status.SetReadDeadline(time.Now().Add(launchTime)); err != nil {
		return err
	}
	text, err := io.ReadAll(io.LimitReader(status, 4<<10))
	if err != nil {
		return fmt.Errorf("start: %w", err)
	}
	if len(text) > 0 {
		return errors.New(string(text))
	}
	return nil
}

func (c *child) drainOutput(output *os.File) {
	io.Copy(c.log, output) // a log takes everything; a pipe ends
	output.Close()
	close(c.drained)
}

func (s streams) or(i int, file *os.File) uintptr {
	if s[i] != nil {
		file = s[i]
	}
	return file.Fd()
}

func (s streams) close() {
	for _, f := range s {
		if f != nil {
			f.Close()
		}
	}
}

// launch is the trampoline: it makes of this process what a server is to start
// in, and then the server.
func launch(spec string) error {
	runtime.LockOSThread()
	unix.CloseOnExec(inherited)
	status := os.NewFile(inherited, "supervisor")
	var l launching
	err := json.Unmarshal([]byte(spec), &l)
	if err == nil {
		err = l.execProgram()
	}
	_, unheard := io.WriteString(status, err.Error())
	return errors.Join(err, unheard)
}

// execProgram returns only if something could not be had.
func (l launching) execProgram() error {
	for _, set := range []func() error{l.enter, l.setCPUs, l.setFiles, l.setUser, l.tieToParent} {
		if err := set(); err != nil {
			return err
		}
	}
	if err := os.Chdir(l.Dir); err != nil {
		return l.explainError("working directory", err)
	}
	path, err := exec.LookPath(l.Args[0])
	if errors.Is(err, exec.ErrNotFound) && !strings.Contains(l.Args[0], "/") {
		return fmt.Errorf("program %q is not in PATH, which is %q", l.Args[0], os.Getenv("PATH"))
	}
	if err != nil && !errors.Is(err, exec.ErrDot) { // a dot in PATH is the user's wish
		return l.explainError("program", err)
	}
	return l.explainError("execute "+path, syscall.Exec(path, l.Args, os.Environ()))
}

func (l launching) explainError(what string, err error) error {
	err = fmt.Errorf("%s: %w", what, err)
	if l.User != "" && errors.Is(err, os.ErrPermission) {
		return fmt.Errorf("%w (as user %s, who must be able to search every directory on the way)",
			err, l.User)
	}
	if errors.Is(err, syscall.ENOEXEC) {
		return fmt.Errorf("%w (not a program of this machine; a script needs a first line #!)", err)
	}
	return err
}

func (l launching) setCPUs() error {
	if len(l.CPUs) == 0 {
		return nil
	}
	var set unix.CPUSet
	for _, cpu := range l.CPUs {
		set.Set(cpu)
	}
	err := unix.SchedSetaffinity(0, &set)
	var got unix.CPUSet
	if err == nil {
		err = unix.SchedGetaffinity(0, &got)
	}
	if err != nil {
		return fmt.Errorf("bind to CPUs %s: %w", FormatCPUs(l.CPUs), err)
	}
	if got != set {
		return fmt.Errorf("bind to CPUs %s: only %s of them are available to this process",
			FormatCPUs(l.CPUs), FormatCPUs(cpusOf(&got)))
	}
	return nil
}

// setFiles sets the soft and the hard limit: Go programs raise their soft one.
func (l launching) setFiles() error {
	if l.NoFile == 0 {
		return nil
	}
	// By package syscall: it puts its own limit back at exec unless asked there.
	err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: l.NoFile, Max: l.NoFile})
	if err == nil {
		return nil
	}
	var now syscall.Rlimit
	if err2 := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &now); err2 == nil && l.NoFile > now.Max {
		return fmt.Errorf("limit of open files %d is above the hard limit %d, which needs "+
			"CAP_SYS_RESOURCE to raise, and never above fs.nr_open: %w", l.NoFile, now.Max, err)
	}
	return fmt.Errorf("limit of open files %d: %w", l.NoFile, err)
}

func (l launching) setUser() error {
	if l.User == "" {
		return nil
	}
	id, err := lookUp(l.User)
	if err != nil {
		return err
	}
	if id.uid == os.Getuid() && id.gid == os.Getgid() {
		return nil
	}
	if os.Geteuid() != 0 {
		return fmt.Errorf("user %s: only root can start a process as another user", l.User)
	}
	if err := syscall.Setgroups(id.groups); err != nil {
		return fmt.Errorf("user %s: set its groups: %w", l.User, err)
	}
	if err := syscall.Setgid(id.gid); err != nil {
		return fmt.Errorf("user %s: set group %d: %w", l.User, id.gid, err)
	}
	if err := syscall.Setuid(id.uid); err != nil {
		return fmt.Errorf("user %s: set user %d: %w", l.User, id.uid, err)
	}
	return nil
}

// An identity is a user as the kernel knows one.
type identity struct {
	uid, gid int
	groups   []int
}

// lookUp reads "name", "uid", or either with ":group". A uid without a name has
// the group of the same number.
func lookUp(text string) (id identity, err error) {
	name, group, grouped := strings.Cut(text, ":")
	account, err := user.Lookup(name)
	if err != nil {
		if _, notNumber := strconv.ParseUint(name, 10, 31); notNumber != nil {
			return id, fmt.Errorf("user %s: %w", text, err)
		}
		if account, err = user.LookupId(name); err != nil {
			account = &user.User{Uid: name, Gid: name}
		}
	}
	if grouped {
		if found, err := user.LookupGroup(group); err == nil {
			group = found.Gid
		}
		account.Gid = group
	}
	uid, err1 := strconv.Atoi(account.Uid)
	gid, err2 := strconv.Atoi(account.Gid)
	if err := errors.Join(err1, err2); err != nil {
		return id, fmt.Errorf("user %s: no such user or group: %w", text, err)
	}
	id = identity{uid: uid, gid: gid, groups: []int{gid}}
	if account.Username == "" {
		return id, nil
	}
	others, err := account.GroupIds()
	if err != nil {
		return id, fmt.Errorf("user %s: its groups: %w", text, err)
	}
	for _, text := range others {
		if other, err := strconv.Atoi(text); err == nil && other != gid {
			id.groups = append(id.groups, other)
		}
	}
	return id, nil
}

// tieToParent makes the process die with the supervisor, which a change of user undoes,
// and gives back what a namespace made by an ordinary user had to lend.
func (l launching) tieToParent() error {
	err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
	if err != nil && err != unix.EINVAL { // older than ambient capabilities
		return fmt.Errorf("drop capabilities: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return fmt.Errorf("die with the supervisor: %w", err)
	}
	if os.Getppid() != l.Supervisor {
		return errors.New("the supervisor is dead")
	}
	return nil
}
