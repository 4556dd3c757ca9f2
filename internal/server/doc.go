// Package server runs the servers under test, and leaves nothing of them behind.
//
// Servers fork workers, become daemons, ignore SIGTERM, and outlive the program
// that started them; and dyno itself can be killed with -9. So on Linux each
// Start makes one supervisor: this program once more, in a session of its own,
// that holds one end of a socket pair. It is the subreaper of all that it
// starts, so whatever forks away becomes its child again. When the socket ends,
// however dyno ended, it stops its servers, first with their own signal, then
// everything below itself in /proc with SIGKILL until wait says that no child is
// left. Should the supervisor be killed instead, its children get SIGKILL from
// the kernel, and dyno kills the rest of its session. Neither a process group nor
// Pdeathsig would do alone: the first misses daemons, the second grandchildren.
//
// Between supervisor and server stands the program a third time, as trampoline:
// what must hold before the first instruction (CPUs, limits, user, folder) is
// set there, and an exec that fails is reported with its reason, not as status
// 127. Readiness is asked for by the supervisor, because it is inside the
// network namespace, should there be one; output goes through it, because a log
// that floods must neither fill the disk nor block the server.
//
// A private network can have clients: namespaces with an address of their own, which
// the supervisor makes and connects, and which guests such as load generators enter.
// They are only ever held open by it and by who is inside, so they end with them.
//
// Elsewhere than on Linux the same interface starts, asks and kills the
// processes themselves; what they fork is theirs, and CPUs, users, limits and
// namespaces are refused.
//
//	clients_linux.go      namespaces for clients of a private network
//	cpus.go               CPUs for generator and servers, by cores
//	cpus_linux.go         the cores of this machine; cpus_other.go
//	dirsize.go            stops a server that fills its folder
//	dirsize_unix.go       how much of the disk a file takes; dirsize_windows.go
//	doc.go                this comment
//	elsewhere.go          a server that listens on another port than it should
//	launch_linux.go       starts a process: CPUs, limits, user, trampoline
//	listener_linux.go     who listens at a port; listener_other.go
//	netns_linux.go        private networks
//	outcome.go            why a server ended, the types: Failure, Exit, Report
//	output.go             what servers print, within limits; is a port taken?
//	ports.go              free ports, folders for sockets
//	process_linux.go      processes in /proc
//	ready.go              waits until a server answers with the right status, or has written a
//	                      text; for how long
//	rundir.go             the private folder of a run
//	rundir_linux.go       gives a run's folder to a user; rundir_other.go
//	rundir_unix.go        is a run's folder private? rundir_windows.go
//	server.go             Start, Stop, Guest
//	spec.go               what is to be started, and how long it may take to stop
//	stop_linux.go         stops all processes
//	supervisor_linux.go   the supervisor process; says how a process ended (elsewhere: tree_other.go)
//	tree_linux.go         talks to the supervisor
//	tree_other.go         does its work on macOS and Windows
//	waitid_linux.go       which child has ended
//	wire_linux.go         messages between dyno and supervisor
package server
