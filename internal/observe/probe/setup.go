package probe

// A Setup is what the processes of a tree were given, at the moment of looking: what can make a
// server faster without changing a byte of its answers. What cannot be read is absent.
type Setup struct {
	Name      string // of the tree
	Processes int
	Threads   int

	// Each value once, in the order in which processes have them.
	OpenFiles []string // limits of open files (soft), "unlimited"
	CPUs      []string // that its threads may run on, as 0-3,8
	MaxProcs  []string // GOMAXPROCS of Go programs; NotSet where the runtime chooses
	Writes    []string // regular files open for writing, by their last names
	Backlogs  []string // of the TCP sockets that listen: port and length, as "8080: 511"
}

// NotSet stands for a variable that is not in the environment.
const NotSet = "not set"
