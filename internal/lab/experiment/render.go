package experiment

import (
	"cmp"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/hole"
)

// Values are what templates are replaced by in one trial. Port and Socket are called when a name is
// first mentioned, and once for each name.
type Values struct {
	Dir         string // the private run directory, absolute
	Build       string // the directory for the output of build, absolute
	Here        string // the experiment file's folder; "": the experiment's own Here
	Dyno        string // path of the running dyno
	CPUs        int    // that the server may use
	Connections int    // of the level
	Threads     int    // of the generator, at the level
	Address     string // at which clients reach the server; "": 127.0.0.1
	Port        func(name string) (int, error)
	Socket      func(dir, name string) (string, error)
}

// An Instance is a variant in one trial, with all templates rendered.
type Instance struct {
	Processes []Running
	Folders   []Folder // to be filled before Processes start
	URL       string
	PProf     string  // "": it has none
	Served    string  // URL at which it reports how many requests it has answered; "": none
	Generator *Loader // nil: dyno
	Sysctl    Mapping[string]

	// DropsRoot is set if a process that is started as root becomes another user's.
	DropsRoot bool
}

// A Job is a command. Env is added to dyno's own environment.
type Job struct {
	Args []string
	Env  []string // K=V
	Dir  string   // absolute
}

// A Running is a process of a server.
type Running struct {
	Name string
	Job
	User   string
	NoFile uint64 // 0: dyno's own
	Ready  *Probe // nil: at once
	Signal string // that stops it, for example TERM
	Grace  time.Duration
}

// A Loader is the program that loads the server instead of dyno.
type Loader struct {
	Job
	Served string // URL at which the server reports how many requests it has answered
}

// A Probe is the request whose answer shows that a process is ready, or what it writes then.
type Probe struct {
	URL     string
	Log     string   // "": URL is asked
	Status  Statuses // none: any but those in which a gateway answers in the server's place
	Timeout time.Duration
}

// BuildStep is a command of a variant's build.
type BuildStep struct {
	Job
	Timeout time.Duration
}

// A renderer renders the templates of one variant, and keeps the first error.
type renderer struct {
	words   hole.Words
	here    string
	folders []Folder          // without their files
	sockets map[string]string // the folder of each socket that a process names
	made    int               // bytes
	err     error
}

func newRenderer(v Variant, x Values) *renderer {
	x.Here = cmp.Or(x.Here, v.here, x.Dir)
	if x.Address == "" {
		x.Address = "127.0.0.1"
	}
	words := hole.Words{"port": wordOf("port", memoize(x.Port)), "env": wordOf("env", environment),
		"build": hole.Text(x.Build), "here": hole.Text(x.Here), "dyno": hole.Text(x.Dyno),
		"cpus": hole.Int(x.CPUs), "connections": hole.Int(x.Connections),
		"threads": hole.Int(x.Threads), "address": hole.Text(x.Address)}
	for _, f := range v.declared {
		value, mentioned := v.ValueOf(f)
		if _, is := words[f]; is && !mentioned {
			continue // Read rejects such a name
		}
		words[f] = hole.Text(value)
	}
	r := &renderer{words: words, here: x.Here, folders: foldersOf(v, x.Dir)}
	r.enterFolder(x.Dir)
	r.sockets = r.socketFolders(v)
	words["socket"] = wordOf("socket", memoize(func(name string) (string, error) {
		return x.Socket(cmp.Or(r.sockets[name], r.folders[0].Path), name)
	}))
	return r
}

// memoize calls get once for each name; "" stands for no name.
func memoize[T any](get func(string) (T, error)) func([]string) (T, error) {
	known := map[string]T{}
	return func(names []string) (T, error) {
		name := strings.Join(names, "")
		if value, is := known[name]; is {
			return value, nil
		}
		value, err := get(name)
		if err == nil {
			known[name] = value
		}
		return value, err
	}
}

// maxMade is how many bytes the templates of a variant make at most: a short one can make much.
const maxMade = 64 << 20

func (r *renderer) renderText(t Template) string {
	s, err := r.render(t)
	if r.err == nil {
		r.err = err
	}
	return s
}

// render renders t, unless too much was rendered before.
func (r *renderer) render(t Template) (string, error) {
	if r.made > maxMade {
		return "", fmt.Errorf("the variant's templates make more than %d bytes", maxMade)
	}
	s, made, err := t.renderWith(r.words)
	r.made += made
	return s, err
}

func (r *renderer) renderJob(cmd Command, dir Template, envs ...Mapping[Template]) Job {
	j := Job{Dir: filepath.FromSlash(r.renderText(dir))}
	for _, word := range cmd {
		j.Args = append(j.Args, r.renderText(word))
	}
	var all Mapping[string]
	at := map[string]int{}
	for _, env := range envs {
		for _, e := range env {
			value := r.renderText(e.Value)
			if i, again := at[e.Name]; again {
				all[i].Value = value
				continue
			}
			at[e.Name] = len(all)
			all = append(all, Entry[string]{Name: e.Name, Value: value})
		}
	}
	for _, e := range all {
		j.Env = append(j.Env, e.Name+"="+e.Value)
	}
	if !filepath.IsAbs(j.Dir) {
		j.Dir = filepath.Join(r.here, j.Dir)
	}
	return j
}

// Render renders v with the values of one trial.
func Render(v Variant, x Values) (*Instance, error) {
	r := newRenderer(v, x)
	i := &Instance{URL: r.renderText(v.URL), PProf: r.renderText(v.PProf),
		Served: r.renderText(v.Served),
		Sysctl: v.Sysctl}
	for _, p := range v.Processes {
		r.enterFolder(r.userFolder(p.User))
		i.Processes = append(i.Processes, Running{Name: p.Name, User: p.User,
			Job: r.renderJob(p.Cmd, p.Dir, v.Env, p.Env), NoFile: uint64(p.Limits.NoFile),
			Signal: p.Stop.Signal, Grace: time.Duration(p.Stop.Grace)})
		i.DropsRoot = i.DropsRoot || p.DropsRoot
	}
	i.Folders = r.fillFolders(v)
	r.enterFolder(x.Dir)
	if g := v.Generator; g != nil {
		i.Generator = &Loader{r.renderJob(g.Cmd, ".", v.Env, g.Env), r.renderText(g.Served)}
	}
	for n, p := range v.Processes {
		probe, err := r.renderReady(v, p.Ready, i.URL, n == len(v.Processes)-1)
		if err != nil {
			return nil, fmt.Errorf("variant %s, process %s: %w", v.Name, p.Name, err)
		}
		i.Processes[n].Ready = probe
	}
	if r.err != nil {
		return nil, fmt.Errorf("variant %s: %w", v.Name, r.err)
	}
	return i, nil
}

// RenderBuild returns the commands that build v, once for all trials. In their templates dir is
// build, and values of a trial are unknown.
func RenderBuild(v Variant, x Values) ([]BuildStep, error) {
	x.Dir = x.Build
	r := newRenderer(v, x)
	var all []BuildStep
	for _, s := range v.Build {
		all = append(all, BuildStep{r.renderJob(s.Cmd, s.Dir, v.Env, s.Env), time.Duration(s.Timeout)})
	}
	if r.err != nil {
		return nil, fmt.Errorf("build variant %s: %w", v.Name, r.err)
	}
	return all, nil
}

// RenderVersion returns the command that prints v's version, without arguments if there is none. It
// has the same values as RenderBuild.
func RenderVersion(v Variant, x Values) (Job, error) {
	x.Dir = x.Build
	r := newRenderer(v, x)
	j := r.renderJob(v.Version, ".")
	if r.err != nil {
		return Job{}, fmt.Errorf("version of variant %s: %w", v.Name, r.err)
	}
	return j, nil
}

// renderReady returns the request that shows that a process is ready.
func (r *renderer) renderReady(v Variant, ready *Ready, served string, last bool) (*Probe, error) {
	if ready == nil {
		if !last {
			return nil, nil
		}
		ready = new(Ready)
		ready.setDefaults()
	}
	p := &Probe{Status: ready.Status, Log: r.renderText(ready.Log),
		Timeout: time.Duration(ready.Timeout)}
	at := r.renderText(ready.HTTP)
	var err error
	switch {
	case at == "":
		p.URL, err = Address(served, v.Asked().Path)
	case strings.HasPrefix(at, "/"):
		p.URL, err = Address(served, at)
	default:
		p.URL = at
	}
	switch expected := v.Expected().Status; {
	case len(p.Status) > 0:
	case at != "":
		p.Status = Statuses{named}
	case areOfNobody(expected):
		p.Status = expected
	}
	return p, err
}

// named are the statuses that show that a process is ready at an address that somebody named for
// that. As for Kubernetes' probes, a 404 is none of them: the server may not have that path yet.
var named = Status{From: 200, To: 399}

// areOfNobody reports whether a status is among them that otherwise says that the server is not
// there.
func areOfNobody(s Statuses) bool {
	return slices.ContainsFunc(loadplan.NotThere, func(code int) bool {
		return slices.ContainsFunc(s, func(r Status) bool { return r.From <= code && code <= r.To })
	})
}

// Address returns a URL with another path and query; if path is "" it is unchanged.
func Address(served, path string) (string, error) {
	if path == "" {
		return served, nil
	}
	if scheme, socket, _, is := cutUnix(served); is {
		return scheme + "://" + socket + ":" + path, nil
	}
	u, err := url.Parse(served)
	if err != nil {
		return "", fmt.Errorf("url: %w", err)
	}
	return u.Scheme + "://" + u.Host + path, nil
}
