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
package server
