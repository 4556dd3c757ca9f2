package run

import "syscall"

// signals are those that a file can name. Windows has only one way to end a process, so all others
// are the same.
var signals = map[string]syscall.Signal{"TERM": syscall.SIGTERM, "KILL": syscall.SIGKILL}
