package experiment

// A Definition is one entry of variants: a server that is started, with all it
// needs, or the URL of one that is already running.
type Definition struct {
	Description string            `json:"description,omitempty"`
	Needs       Needs             `json:"needs,omitzero"`
	Files       Mapping[Template] `json:"files,omitempty"`   // written into the run directory
	Copy        []string          `json:"copy,omitempty"`    // files next to the experiment file
	Env         Mapping[Template] `json:"env,omitempty"`     // of all its processes
	Build       []Step            `json:"build,omitempty"`   // once per experiment
	Version     Command           `json:"version,omitempty"` // prints it, on its first line
	Processes   []Process         `json:"processes,omitempty"`
	URL         Template          `json:"url" required:"true"`
	HTTP        string            `json:"http,omitempty" one:"1.0,1.1,2,3"` // "": the level's
	PProf       Template          `json:"pprof,omitempty"`
	Served      Template          `json:"served,omitempty"`    // URL of the server's own count
	Generator   *Generator        `json:"generator,omitempty"` // nil: dyno
	Sysctl      Mapping[string]   `json:"sysctl,omitempty"`    // in a private network namespace
	Request     *Request          `json:"request,omitempty"`
	Expect      *Expect           `json:"expect,omitempty"`

	LeftOut bool `json:"-"` // by --quick
}

// A Generator is another program that loads the server, for experiments that compare generators.
// The server's own count is the only measure of what it did. It gets a level's connections and
// threads, and is interrupted when the window ends.
type Generator struct {
	Cmd    Command           `json:"cmd" required:"true" text:"flow"`
	Env    Mapping[Template] `json:"env,omitempty"`
	Served Template          `json:"served" required:"true"` // URL of the server's own count
}

// Needs are what must be present for a variant to be available here.
type Needs struct {
	Programs []string `json:"programs,omitempty"` // on the PATH
	Files    []string `json:"files,omitempty"`    // absolute, or relative to the file; may be patterns
	Env      []string `json:"env,omitempty"`
	Root     bool     `json:"root,omitempty"`
	Packages string   `json:"packages,omitempty"` // what to install, as text
}

// A Step is one command that builds a variant's server.
type Step struct {
	Cmd     Command           `json:"cmd" required:"true" text:"flow"`
	Dir     Template          `json:"dir"` // default: the experiment file's folder
	Env     Mapping[Template] `json:"env,omitempty"`
	Timeout Duration          `json:"timeout"`
}

// A Process is a process of a variant. Processes start in the file's order, each when the one
// before is ready.
type Process struct {
	Name string            `json:"name"` // default: that of its program
	Cmd  Command           `json:"cmd" required:"true" text:"flow"`
	Env  Mapping[Template] `json:"env,omitempty"`
	Dir  Template          `json:"dir"` // default: the experiment file's folder
	User string            `json:"user,omitempty"`

	// DropsRoot is set if the program changes to another user by itself when root starts it.
	DropsRoot bool `json:"drops_root,omitempty"`

	Limits Limits `json:"limits,omitzero"`
	Ready  *Ready `json:"ready,omitempty"`
	Stop   Stop   `json:"stop"`
}

// Limits are the resource limits of a process; 0: the limits of the laboratory's own process.
type Limits struct {
	NoFile Count `json:"nofile,omitempty" range:"16,1073741816"` // open files
}

// Ready is how to find out that a process is ready: it answers a request, or writes something.
// Without it, the last process is ready when url answers, and the others are ready at once.
type Ready struct {
	HTTP    Template `json:"http,omitempty"`   // a path of url's server, or a whole URL; "": url
	Log     Template `json:"log,omitempty"`    // or what it writes; "": it is asked
	Status  Statuses `json:"status,omitempty"` // default: 200 to 399 of HTTP, else see Probe
	Timeout Duration `json:"timeout"`
}

// Stop is how a process is stopped, and how long it has until it is killed.
type Stop struct {
	Signal string   `json:"signal" one:"TERM,INT,QUIT,HUP,USR1,USR2,WINCH,KILL"`
	Grace  Duration `json:"grace"`
}
