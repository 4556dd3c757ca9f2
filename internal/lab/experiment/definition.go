package experiment

// A Definition is one entry of variants: a server that is started, with all it
// needs, or the URL of one that is already running.
type Definition struct {
	Description string            `json:"description,omitempty"`
	Needs       Needs             `json:"needs,omitzero"`
	Files       Mapping[Template] `json:"files,omitempty"`   // written into the run directory
	Copy        []string          `json:"copy,omitempty"`    // beside the experiment file
	Env         Mapping[Template] `json:"env,omitempty"`     // of all its processes
	Build       []Step            `json:"build,omitempty"`   // once per experiment
	Version     Command           `json:"version,omitempty"` // prints it, on its first line
	Processes   []Process         `json:"processes,omitempty"`
	URL         Template          `json:"url" required:"true"`
	PProf       Template          `json:"pprof,omitempty"`
	Served      Template          `json:"served,omitempty"`    // URL of the server's own count
	Generator   *Generator        `json:"generator,omitempty"` // nil: dyno
	Sysctl      Mapping[string]   `json:"sysctl,omitempty"`    // in a private network namespace
	Request     *Request          `json:"request,omitempty"`
	Expect      *Expect           `json:"expect,omitempty"`

	LeftOut bool `json:"-"` // by --quick
}

// A Generator is another program that loads the server: where generators are
// compared, and not servers. What it did is what the server has counted. It is
// told of a level's connections and threads, and interrupted when the window is over.
type Generator struct {
	Cmd    Command           `json:"cmd" required:"true"`
	Env    Mapping[Template] `json:"env,omitempty"`
	Served Template          `json:"served" required:"true"` // URL of the server's own count
}

// Needs are what must be there, or else the variant is not available here.
type Needs struct {
	Programs []string `json:"programs,omitempty"` // on the PATH
	Files    []string `json:"files,omitempty"`    // absolute, or beside the file; patterns, too
	Env      []string `json:"env,omitempty"`
	Root     bool     `json:"root,omitempty"`
	Packages string   `json:"packages,omitempty"` // in words: what to install
}

// A Step is one command that builds a variant's server.
type Step struct {
	Cmd     Command           `json:"cmd" required:"true"`
	Dir     Template          `json:"dir"` // default: the experiment file's folder
	Env     Mapping[Template] `json:"env,omitempty"`
	Timeout Duration          `json:"timeout"`
}

// A Process is one of a variant's. They start in the file's order, each ready
// before the next.
type Process struct {
	Name string            `json:"name"` // default: that of its program
	Cmd  Command           `json:"cmd" required:"true"`
	Env  Mapping[Template] `json:"env,omitempty"`
	Dir  Template          `json:"dir"` // default: the experiment file's folder
	User string            `json:"user,omitempty"`

	// DropsRoot says that the program changes to another user by itself when root starts it.
	DropsRoot bool `json:"drops_root,omitempty"`

	Limits Limits `json:"limits,omitzero"`
	Ready  *Ready `json:"ready,omitempty"`
	Stop   Stop   `json:"stop"`
}

// Limits are those of a process; 0: as the lab's own.
type Limits struct {
	NoFile Count `json:"nofile,omitempty" range:"16,1073741816"` // open files
}

// Ready is how a process shows that it is: it answers a request. Without it the
// last process is ready when url answers as expected, and others at once.
type Ready struct {
	HTTP    Template `json:"http,omitempty"`   // a path of url's server, or a whole URL; "": url
	Status  Statuses `json:"status,omitempty"` // default: of a given http 2xx, else those expected
	Timeout Duration `json:"timeout"`
}

// Stop is how a process is asked to end, and how long it has until it is killed.
type Stop struct {
	Signal string   `json:"signal" one:"TERM,INT,QUIT,HUP,USR1,USR2,WINCH,KILL"`
	Grace  Duration `json:"grace"`
}
