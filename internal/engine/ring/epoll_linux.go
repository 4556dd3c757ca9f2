package ring

import (
	"io"
	"net/netip"
	"runtime"
	"syscall"
	"unsafe"
)

// Kinds are the rings of this platform.
var Kinds = []string{"epoll", "uring", "portable"}

// uringLeast is from how many sockets on io_uring takes less CPU time. Of fewer
// there are too few requests to submit by one call.
//
// Measured: at 100 connections a request takes 0.06 system calls instead of 2. With bodies of
// 64 KiB and more the two rings are equal; at one connection io_uring is up to 5 % slower. The
// gain depends on the server: one that answers in batches lets io_uring receive as many at once.
// It also depends on the processor: on some, epoll takes less CPU at 100 and 1,000 connections.
// So `dyno calibrate` measures both, and package cli asks for the faster one by its name.
const uringLeast = 8

// preferredKinds returns the kinds for that number of sockets, the fastest first.
func preferredKinds(sockets int) []string {
	if sockets >= uringLeast {
		return []string{"uring", "epoll", "portable"}
	}
	return Kinds
}

var opener = openers{
	"epoll": openEpoll, "uring": openUring, "portable": openPortable,
}

// Sizes and limits of an epoll ring.
const (
	scratchSize = 256 << 10 // longest receive, so that large bodies take few
	eventsMax   = 4096      // read from the kernel at once
)

// While at least an eighth of the sockets that wait for an answer have one, it costs less to try
// each socket directly than to wait for epoll's list. Below that, and for few sockets, epoll is
// cheaper. Both were measured.
const (
	pollShare = 8
	pollMin   = 8
)

// epoll turns the readiness of sockets into completions.
//
// A socket is registered once, edge-triggered, for all it can report; there is
// no further call to epoll_ctl. What is sent is written at once: an event of output
// comes only after a write that did not fit. In the epoll
// mode a turn takes the kernel's list of ready sockets; in the poll mode it
// asks each socket for its answer, and epoll only for the orphans: sockets that
// wait for something else than an answer. While there is an orphan, every turn asks
// epoll too, without waiting.
type epoll struct {
	ep      int
	addrs   []target
	sockets []socket // by file descriptor
	life    int32

	events  []syscall.EpollEvent
	at, got int     // events handled, events read
	more    []ready // sockets that had more than one receive took, the longest first

	open         []int32 // the sockets that are polled
	pollMode     bool
	cursor       int // position in open
	polls, hits  int // of this turn: sockets tried, answers received
	orphans      int
	missCost     int64 // of a receive that finds nothing, in ns
	idle         int64
	completed    []Completion // completions that belong to no event
	taken        int          // how many of completed were returned
	scratch      []byte
	departures   departures
	coarseTimers bool // the kernel has no epoll_pwait2
}

// A ready socket may have more to receive, of which epoll does not tell again.
type ready struct {
	fd   int
	life int32
}

type socket struct {
	rest   []byte // what is left of a Send
	user   uint64
	life   int32 // distinguishes this socket from others with the same descriptor
	place  int32 // position in epoll.open
	state  state
	hope   uint8 // empty polls that are left before it counts as an orphan
	hup    bool  // the peer has closed: read to the end
	orphan bool
}

// How many empty polls a socket may have: any number while it waits for an answer, a few after a
// part of one.
const (
	awaited = 255
	partial = 4
)

const everything = syscall.EPOLLIN | syscall.EPOLLOUT | syscall.EPOLLRDHUP | 1<<31 // EPOLLET

// openEpoll must be called by the thread that will use the ring.
func openEpoll(addrs []Addr, _ Size) (Ring, func(), error) {
	ep, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	if err != nil {
		return nil, nil, err
	}
	r := &epoll{ep: ep, events: make([]syscall.EpollEvent, eventsMax),
		scratch: make([]byte, scratchSize), missCost: emptyReceiveCost()}
	for _, a := range addrs {
		r.addrs = append(r.addrs, targetSockaddr(a))
	}
	exactTimers()
	return r, r.freeRing, nil
}

func (r *epoll) freeRing() {
	for fd := range r.sockets {
		if r.sockets[fd].state != closed {
			syscall.Close(fd)
		}
	}
	syscall.Close(r.ep)
}

func (r *epoll) Now() int64      { return Clock() }
func (r *epoll) IdleTime() int64 { return r.idle }

// Extend adds an address that can be connected to.
func (r *epoll) Extend(a Addr) { r.addrs = append(r.addrs, targetSockaddr(a)) }

func (r *epoll) Connect(addr int, user uint64) (int, error) {
	fd, up, err := beginConnect(r.addrs[addr])
	if err != nil {
		return -1, err
	}
	for len(r.sockets) <= fd {
		r.sockets = append(r.sockets, socket{})
	}
	r.life++
	s := &r.sockets[fd]
	*s = socket{user: user, life: r.life, state: connecting, place: int32(len(r.open))}
	r.open = append(r.open, int32(fd))
	r.setOrphan(s, true)
	ev := syscall.EpollEvent{Events: everything, Fd: int32(fd), Pad: s.life}
	if err := syscall.EpollCtl(r.ep, syscall.EPOLL_CTL_ADD, fd, &ev); err != nil {
		r.closeSocket(fd)
		return -1, err
	}
	if up {
		s.state = connected
		r.completed = append(r.completed, Completion{Op: Connected, User: user})
	}
	return fd, nil
}

func (r *epoll) setOrphan(s *socket, is bool) {
	if s.orphan == is {
		return
	}
	s.orphan = is
	if is {
		r.orphans++
	} else {
		r.orphans--
	}
}

func (r *epoll) Send(fd int, b []byte) bool {
	s := &r.sockets[fd]
	n, errno := sendNow(fd, b)
	if n == len(b) {
		s.hope = awaited
		r.setOrphan(s, false)
		return true
	}
	if errno != 0 && errno != syscall.EAGAIN {
		r.completed = append(r.completed, Completion{Op: Sent, User: s.user, Err: errno})
		return false
	}
	s.rest = b[max(n, 0):]
	r.setOrphan(s, true)
	return false
}

// writeRest continues a Send. It reports whether the Send has ended, and its error.
func (r *epoll) writeRest(fd int, s *socket) (bool, error) {
	for len(s.rest) > 0 {
		n, errno := sendNow(fd, s.rest)
		if errno == syscall.EAGAIN {
			return false, nil
		}
		if errno != 0 {
			s.rest = nil
			return true, errno
		}
		s.rest = s.rest[n:]
	}
	s.rest = nil
	s.hope = awaited
	r.setOrphan(s, false)
	return true, nil
}

// LocalAddr is a Locator's.
func (r *epoll) LocalAddr(fd int) netip.AddrPort { return localAddr(fd) }

func (r *epoll) Close(fd int, gently bool) {
	s := &r.sockets[fd]
	if !gently || s.hup || s.state != connected || !r.departures.take() {
		r.closeSocket(fd)
		return
	}
	s.state = departing
	r.setOrphan(s, true)
	r.departures.addDeparture(departure{fd, s.life, Clock() + r.departures.waitsFor()})
}

func (r *epoll) closeSocket(fd int) {
	s := &r.sockets[fd]
	r.setOrphan(s, false)
	if int(s.place) < r.cursor { // sockets that are still to be tried must stay ahead
		r.cursor--
		r.swapOrder(int(s.place), r.cursor)
	}
	last := len(r.open) - 1
	r.swapOrder(int(s.place), last)
	r.open = r.open[:last]
	*s = socket{}
	syscall.Close(fd)
}

// swapOrder exchanges two positions in open.
func (r *epoll) swapOrder(i, j int) {
	a, b := r.open[i], r.open[j]
	r.open[i], r.open[j] = b, a
	r.sockets[a].place, r.sockets[b].place = int32(j), int32(i)
}

// Gather sleeps: epoll cannot count what comes.
func (r *epoll) Gather(until int64, enough int) bool {
	if enough != AnyNumber {
		return false
	}
	r.idle += sleepUntil(until)
	return true
}

func (r *epoll) Wait(deadline int64) error {
	now := int64(0)
	if r.departures.hasAny() {
		now = Clock()
		deadline = min(deadline, r.departures.closeExpired(now, r))
	}
	r.pollMode = r.judgePolling()
	r.cursor, r.polls, r.hits = 0, 0, 0
	r.beginEvents()
	if r.pollMode {
		if r.orphans == 0 {
			return nil
		}
		return r.waitForEvents(0)
	}
	timeout := int64(0)
	if r.taken == len(r.completed) && r.got == 0 {
		now = Clock()
		timeout = max(deadline-now, 0)
	}
	err := r.waitForEvents(timeout)
	if timeout > 0 {
		r.idle += Clock() - now
	}
	return err
}

// judgePolling reports whether polling would have paid in the last turn, and counts the time of
// receives that found nothing as idle.
func (r *epoll) judgePolling() bool {
	if !r.pollMode {
		return r.hits >= pollMin && r.hits*pollShare >= len(r.open)
	}
	r.idle += int64(r.polls-r.hits) * r.missCost
	return r.hits > 0 && r.hits*pollShare >= r.polls
}

func (r *epoll) closeLate(fd int) bool {
	closed := peerClosed(fd)
	r.closeSocket(fd)
	return closed
}

func (r *epoll) stillDeparts(l departure) bool {
	s := &r.sockets[l.fd]
	return s.life == l.life && s.state == departing
}

// beginEvents begins a turn's events with those of sockets that had more in the last turn. There is
// always room for some of the kernel's.
func (r *epoll) beginEvents() {
	r.at, r.got = 0, min(len(r.more), eventsMax/2)
	for i, m := range r.more[:r.got] {
		r.events[i] = syscall.EpollEvent{Events: syscall.EPOLLIN, Fd: int32(m.fd), Pad: m.life}
	}
	r.more = append(r.more[:0], r.more[r.got:]...)
}

// waitForEvents reads events from the kernel. It waits for at most timeout nanoseconds.
func (r *epoll) waitForEvents(timeout int64) error {
	n, errno := r.epollWait(timeout)
	refused := errno == syscall.ENOSYS || errno == syscall.EPERM // EPERM: by a container
	if refused && !r.coarseTimers {
		r.coarseTimers = true
		n, errno = r.epollWait(timeout)
	}
	if errno == syscall.EINTR {
		return nil
	}
	if errno != 0 {
		return errno
	}
	r.got += n
	return nil
}

// epollWait is epoll_pwait2, or epoll_wait before Linux 5.11. The Go scheduler is not told.
// Otherwise it would check every 20 µs whether to take the processor from a thread that waits so
// often, and do so: that costs more CPU, and delays the next send. The worker keeps its processor
// (machine.KeepProcs). A signal of the scheduler ends the wait.
func (r *epoll) epollWait(timeout int64) (int, syscall.Errno) {
	events, room := uintptr(unsafe.Pointer(&r.events[r.got])), uintptr(eventsMax-r.got)
	const pwait2 = 441
	var n uintptr
	var errno syscall.Errno
	switch {
	case timeout == 0:
		n, _, errno = syscall.RawSyscall6(syscall.SYS_EPOLL_PWAIT, uintptr(r.ep), events,
			room, 0, 0, 0)
	case r.coarseTimers:
		ms := uintptr(min((timeout+999_999)/1e6, 1<<30))
		n, _, errno = syscall.RawSyscall6(syscall.SYS_EPOLL_PWAIT, uintptr(r.ep), events,
			room, ms, 0, 0)
	default:
		ts := [2]int64{timeout / 1e9, timeout % 1e9} // 64 bits wide on every machine
		n, _, errno = syscall.RawSyscall6(pwait2, uintptr(r.ep), events, room,
			uintptr(unsafe.Pointer(&ts)), 0, 0)
	}
	runtime.KeepAlive(r)
	return int(n), errno
}

func (r *epoll) Next() (Completion, bool) {
	if r.taken < len(r.completed) {
		c := r.completed[r.taken]
		if r.taken++; r.taken == len(r.completed) {
			r.taken, r.completed = 0, r.completed[:0]
		}
		return c, true
	}
	for r.at < r.got {
		if c, ok := r.handleEvent(&r.events[r.at]); ok {
			return c, true
		}
	}
	if r.pollMode {
		return r.pollSockets()
	}
	return Completion{}, false
}

const (
	gone     = syscall.EPOLLRDHUP | syscall.EPOLLHUP | syscall.EPOLLERR
	writable = syscall.EPOLLOUT | syscall.EPOLLERR | syscall.EPOLLHUP
	incoming = syscall.EPOLLIN | gone
)

// handleEvent returns a completion of ev, if there is one, or moves on to the next event.
func (r *epoll) handleEvent(ev *syscall.EpollEvent) (Completion, bool) {
	fd := int(ev.Fd)
	s := &r.sockets[fd]
	if s.life != ev.Pad {
		r.at++
		return Completion{}, false
	}
	switch {
	case s.state == connecting && ev.Events&writable != 0:
		return r.completeConnect(fd, s), true
	case s.state == departing && ev.Events&gone != 0:
		r.departures.endWait(true)
		r.closeSocket(fd)
	case s.state == connected && len(s.rest) > 0 && ev.Events&syscall.EPOLLOUT != 0:
		ev.Events &^= syscall.EPOLLOUT
		over, err := r.writeRest(fd, s)
		return Completion{Op: Sent, User: s.user, Err: err}, over
	case s.state == connected && ev.Events&incoming != 0:
		s.hup = s.hup || ev.Events&(syscall.EPOLLRDHUP|syscall.EPOLLHUP) != 0
		if r.pollMode && s.hope > 0 {
			break // this turn's poll will reach it
		}
		return r.completeReceive(fd, s, &r.at)
	}
	r.at++
	return Completion{}, false
}

func (r *epoll) completeConnect(fd int, s *socket) Completion {
	s.state = connected
	c := Completion{Op: Connected, User: s.user, Err: connectError(fd)}
	if c.Err != nil {
		s.state = ended
	}
	return c
}

// completeReceive receives from fd. It adds to step when all data has likely been received: after a
// short read, more data causes another event or is found by another poll. After a full one the
// socket's next turn has the rest: a peer that sends faster than it is read would keep the worker
// from its timers, and from the end of the load.
func (r *epoll) completeReceive(fd int, s *socket, step *int) (Completion, bool) {
	n, errno := receiveNow(fd, r.scratch)
	switch {
	case n > 0:
		if n == len(r.scratch) {
			r.more = append(r.more, ready{fd, s.life})
			*step++
		} else if !s.hup {
			*step++
		}
		s.hope = partial
		r.hits++
		return Completion{Op: Received, User: s.user, Data: r.scratch[:n]}, true
	case errno == syscall.EAGAIN:
		*step++
		return Completion{}, false
	}
	*step++
	s.state = ended
	c := Completion{Op: Received, User: s.user, Err: io.EOF}
	if errno != 0 {
		c.Err = errno
	}
	return c, true
}

// pollSockets tries to receive from the sockets that may have an answer, one after the other.
func (r *epoll) pollSockets() (Completion, bool) {
	for r.cursor < len(r.open) {
		fd := int(r.open[r.cursor])
		s := &r.sockets[fd]
		if s.state != connected || s.hope == 0 {
			r.cursor++
			continue
		}
		r.polls++
		if c, ok := r.completeReceive(fd, s, &r.cursor); ok {
			return c, true
		}
		if s.hope != awaited {
			if s.hope--; s.hope == 0 {
				r.setOrphan(s, true)
			}
		}
	}
	return Completion{}, false
}
