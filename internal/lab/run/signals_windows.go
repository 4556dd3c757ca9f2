package run

import "syscall"

// signals are those that a file can name. There is only one way to end a process
// here, so that the others are the same.
var signals = map[string]syscall.Signal{"TERM": syscall.SIGTERM, "KILL": syscall.SIGKILL}
