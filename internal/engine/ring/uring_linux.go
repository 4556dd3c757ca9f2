package ring

import (
	"io"
	"net/netip"
	"runtime"
	"syscall"
	"time"
	"unsafe"

	"dyno/internal/engine/uring"
)

// Sizes and limits of a uringRing.
const (
	pieceMax    = 2 << 10            // the most that a socket receives at once while answers are small
	deepMost    = 256                // up to that many deep sockets, each has room for several answers
	deepPiece   = 16 << 10           // which it receives at once
	deepRequest = 4 << 10            // and for as many requests, which are copied
	ownMost     = 2048               // up to that many sockets, each has a piece of its own
	sharedFirst = 256                // pieces that more sockets share at first
	sharedMost  = 4096               // at most: as many as completions in a turn
	requestMax  = lastMost           // the longest send that is copied
	slab        = 64                 // sockets whose memory is allocated at once
	batchMax    = 64                 // entries queued before they are submitted within a turn
	largeFor    = 8                  // small receives after which answers no longer count as large
	lasting     = 32                 // receives after which a socket is put into the table of files
	freeing     = int64(time.Second) // how long freeRing waits for the kernel
)

// A uringRing is a ring of io_uring.
//
// A small request is copied, queued, and linked to the receive for its answer. These are two
// entries. One system call a turn submits those of all sockets, and also reads the answers. At the
// end of a turn every socket that waits for no answer has a receive of its own, so it notices when
// its peer closes. An answer that does not fit a socket's piece is received directly, into memory
// that all sockets share; meanwhile the kernel only polls that socket.
//
// With many sockets most wait. A piece for each would be memory that is in no cache. So they share
// pieces: the kernel selects one when data has arrived.
//
// A socket is identified by its slot in this ring, not by its descriptor. The slot is not reused
// until the kernel no longer uses the socket's memory.
type uringRing struct {
	queues  uring.Queues
	addrs   []target
	sockets []usocket
	unused  []int
	sharing bool   // sockets have no pieces of their own
	lent    int    // the shared piece that the user may read, or uring.None
	spare   *byte  // a piece: valid for the user, or free
	piece   int    // bytes that a piece has
	request int    // bytes that the request of a socket has
	scratch []byte // for large answers
	pending int    // entries that have not completed
	sends   int    // of these, sends
	linked  bool   // a receive may be waiting for its send
	quiet   bool   // sends with a linked receive complete only if they fail
	files   int    // places in the table of files

	wanting    []int // sockets that may need a receive
	draining   int   // the socket that has more to receive, or nobody
	completed  []Completion
	taken      int   // how many of completed were returned
	gathering  int64 // until when the next Wait gathers
	enough     int   // completions, besides those of sends, which end it
	departures departures
	life       int32
	idle       int64
}

// A usocket is a socket of a uringRing. While it receives, the kernel may write to piece, unless
// sockets share pieces. While it sends, the kernel reads from rest.
type usocket struct {
	user  uint64
	fd    int32
	life  int32 // distinguishes this socket from others with the same slot
	state state
	large uint8 // above 0: answers are large
	lasts uint8 // receives, up to lasting
	fixed bool  // the socket is in the table of files, at its slot

	receiving bool // or waiting for its turn to receive
	sending   bool
	quiet     bool   // the send completes only if it fails; the linked receive, only if it did not
	telling   bool   // the user is to be told of the end of the Send
	rest      []byte // of what is being sent
	more      []byte // to send after it
	piece     *byte
	request   *byte
}

// dying is a socket that is closed while the kernel still uses its memory.
const dying = departing + 1

const nobody = -1

// In an entry's userData the low bits are the kind, and the others are the slot.
const (
	kindSend = iota
	kindReceive
	kindPoll
	kindBits = 2
)

// openUring must be called by the thread that will use the ring. It locks the goroutine to that
// thread.
func openUring(addrs []Addr, size Size) (Ring, func(), error) {
	runtime.LockOSThread()
	r := &uringRing{draining: nobody, lent: uring.None, sharing: size.Sockets > ownMost,
		piece: pieceMax, request: requestMax, scratch: make([]byte, scratchSize)}
	if size.Deep && size.Sockets <= deepMost {
		r.piece, r.request = deepPiece, deepRequest
	}
	r.spare = unsafe.SliceData(make([]byte, r.piece))
	exactTimers()
	err := r.queues.Open()
	if err == nil {
		if err = r.startQueues(size); err != nil {
			r.queues.Close()
		}
	}
	if err != nil {
		runtime.UnlockOSThread()
		return nil, nil, err
	}
	for _, a := range addrs {
		r.addrs = append(r.addrs, targetSockaddr(a))
	}
	return r, r.freeRing, nil
}

func (r *uringRing) startQueues(size Size) error {
	err := r.queues.Start()
	if err != nil {
		return err
	}
	if n := size.Sockets + slab; r.queues.ProvideFiles(n) {
		r.files = n
	}
	if !r.sharing {
		return nil
	}
	if err = r.queues.ProvidePieces(sharedMost, r.piece); err == nil {
		for range sharedFirst {
			r.queues.AddPiece()
		}
	}
	return err
}

// freeRing waits until the kernel no longer uses any memory.
func (r *uringRing) freeRing() {
	for i := range r.sockets {
		if s := r.sockets[i].state; s != closed && s != dying {
			r.closeSocket(i)
		}
	}
	for till := Clock() + freeing; r.pending > 0 && Clock() < till; {
		if r.queues.Wait(1, freeing) != nil {
			break
		}
		r.queues.LoadCompletions()
		for _, ok := r.queues.NextCompletion(); ok; _, ok = r.queues.NextCompletion() {
			r.pending--
		}
	}
	r.queues.Close()
	runtime.UnlockOSThread()
}

func (r *uringRing) Now() int64      { return Clock() }
func (r *uringRing) IdleTime() int64 { return r.idle }

// Extend adds an address that can be connected to.
func (r *uringRing) Extend(a Addr) { r.addrs = append(r.addrs, targetSockaddr(a)) }

func (r *uringRing) Connect(addr int, user uint64) (int, error) {
	fd, up, err := beginConnect(r.addrs[addr])
	if err != nil {
		return -1, err
	}
	i := r.newSlot()
	s := &r.sockets[i]
	r.life++
	*s = usocket{user: user, fd: int32(fd), life: r.life, state: connecting,
		piece: s.piece, request: s.request}
	if up {
		s.state = connected
		r.completed = append(r.completed, Completion{Op: Connected, User: user})
	}
	r.wanting = append(r.wanting, i)
	return i, nil
}

// newSlot finds a slot for a socket.
func (r *uringRing) newSlot() int {
	if len(r.unused) == 0 {
		var pieces []byte
		if !r.sharing {
			pieces = make([]byte, slab*r.piece)
		}
		requests := make([]byte, slab*r.request)
		for k := range slab {
			s := usocket{request: &requests[k*r.request]}
			if !r.sharing {
				s.piece = &pieces[k*r.piece]
			}
			r.unused = append(r.unused, len(r.sockets))
			r.sockets = append(r.sockets, s)
		}
		r.quiet = r.queues.Deferred() && 2*(len(r.sockets)+slab) <= uring.Most
	}
	last := len(r.unused) - 1
	i := r.unused[last]
	r.unused = r.unused[:last]
	return i
}

// queueReceive queues a receive, for which there must be room.
func (r *uringRing) queueReceive(i int, s *usocket) {
	s.receiving = true
	switch {
	case s.state == connecting:
		r.pushEntry(uring.Poll, i, s, kindPoll).SetPollEvents(uring.Out)
	case s.state == departing:
		r.pushEntry(uring.Poll, i, s, kindPoll).SetPollEvents(uring.RDHup)
	case s.large > 0:
		r.pushEntry(uring.Poll, i, s, kindPoll).SetPollEvents(uring.In | uring.RDHup)
	case r.sharing:
		r.pushEntry(uring.Receive, i, s, kindReceive).SelectPiece(r.piece)
	default:
		r.pushEntry(uring.Receive, i, s, kindReceive).SetMemory(unsafe.Slice(s.piece, r.piece))
	}
}

func (r *uringRing) pushEntry(op uring.Op, i int, s *usocket, kind uint64) *uring.Entry {
	r.pending++
	e := r.queues.PushEntry(op, s.fd, uint64(i)<<kindBits|kind)
	if s.fixed {
		e.UseFile(i)
	}
	return e
}

// fixFile puts a socket into the table of files, because it lasts: that is a system call, and
// another one when it closes.
func (r *uringRing) fixFile(i int, s *usocket) {
	s.fixed = i < r.files && r.queues.SetFile(i, s.fd)
}

func (r *uringRing) Gather(until int64, enough int) bool {
	if r.gathering, r.enough = until, enough; enough == AnyNumber {
		r.enough = uring.Most
	}
	return true
}

func (r *uringRing) Wait(deadline int64) error {
	until := r.gathering
	r.gathering = 0
	if r.departures.hasAny() {
		deadline = min(deadline, r.departures.closeExpired(Clock(), r))
	}
	deadline = max(deadline, until)
	if err := r.queueReceives(); err != nil {
		return err
	}
	now := Clock()
	busy := r.taken < len(r.completed) || r.draining != nobody || deadline <= now
	if busy || r.queues.QueuedEntries() > 0 {
		if err := r.queues.Submit(busy || until <= now); err != nil {
			return err
		}
		now = Clock() // the time of submitting was not idle
	}
	if !busy && until > now {
		if err := r.queues.Wait(r.enough+r.sends, until-now); err != nil {
			return err
		}
		began := now
		now = Clock()
		r.idle += min(now, until) - began // what the kernel receives after that is work
	}
	if r.queues.LoadCompletions() || busy {
		return nil
	}
	err := r.queues.Wait(1, max(deadline-now, 0))
	r.idle += Clock() - now
	r.queues.LoadCompletions()
	return err
}

// LocalAddr is a Locator's.
func (r *uringRing) LocalAddr(i int) netip.AddrPort { return localAddr(int(r.sockets[i].fd)) }

// queueReceives has every socket that may receive do so, or wait until it can.
func (r *uringRing) queueReceives() error {
	for _, i := range r.wanting {
		s := &r.sockets[i]
		if s.receiving || s.state == closed || s.state == ended || s.state == dying {
			continue
		}
		if err := r.queues.ReserveEntries(1); err != nil {
			return err
		}
		r.queueReceive(i, s)
	}
	r.wanting = r.wanting[:0]
	return nil
}

func (r *uringRing) Next() (Completion, bool) {
	r.returnPiece()
	if r.taken < len(r.completed) {
		c := r.completed[r.taken]
		if r.taken++; r.taken == len(r.completed) {
			r.taken, r.completed = 0, r.completed[:0]
		}
		return c, true
	}
	if r.queues.QueuedEntries() >= batchMax {
		r.queues.Submit(false) // Wait will submit again what it refuses, and report it
	}
	if r.draining != nobody {
		if c, ok := r.receiveDirectly(); ok {
			return c, true
		}
	}
	for e, ok := r.queues.NextCompletion(); ok; e, ok = r.queues.NextCompletion() {
		if c, ok := r.completeEntry(e); ok {
			return c, true
		}
		r.returnPiece()
	}
	return Completion{}, false
}

// returnPiece returns the shared piece that the user has read, if there is one.
func (r *uringRing) returnPiece() {
	if r.lent != uring.None {
		r.queues.ReturnPiece(r.lent)
		r.lent = uring.None
	}
}

// completeEntry turns the kernel's completion into one for the user, if it is one.
func (r *uringRing) completeEntry(e uring.Completion) (Completion, bool) {
	r.pending--
	r.lent = e.Piece()
	i, kind := int(e.UserData>>kindBits), e.UserData&(1<<kindBits-1)
	s := &r.sockets[i]
	switch {
	case kind != kindSend:
		s.receiving = false
		if s.quiet {
			r.endQuietSend(s)
		}
	case s.quiet:
		r.failQuietSend(i, s)
		s.sending = false
	default:
		r.sends--
		s.sending = false
	}
	switch {
	case s.state == dying:
		r.reuseSlot(i, s)
	case kind == kindSend:
		return r.completeSend(i, s, e.Res)
	case e.Res == -int32(syscall.ECANCELED), e.Res == -int32(syscall.EINTR):
		r.wanting = append(r.wanting, i)
	case e.Res == -int32(syscall.ENOBUFS): // all pieces were in use
		r.queues.AddPiece()
		r.wanting = append(r.wanting, i)
	case s.state == connecting:
		return r.completeConnect(i, s)
	case s.state == departing && (kind == kindPoll || e.Res <= 0):
		r.departures.endWait(true)
		r.closeSocket(i)
	case s.state == departing:
		r.wanting = append(r.wanting, i)
	case kind == kindPoll:
		r.draining = i
		return r.receiveDirectly()
	case e.Res > 0:
		return r.completeReceive(i, s, int(e.Res)), true
	default:
		return r.endReceiving(s, syscall.Errno(-e.Res)), true
	}
	return Completion{}, false
}

func (r *uringRing) completeConnect(i int, s *usocket) (Completion, bool) {
	c := Completion{Op: Connected, User: s.user, Err: connectError(int(s.fd))}
	if c.Err != nil {
		s.state = ended
		return c, true
	}
	s.state = connected
	r.wanting = append(r.wanting, i)
	return c, true
}

// completeReceive returns what the kernel received, in the socket's piece or in the shared piece
// that the kernel selected. It gives the socket another piece of its own.
func (r *uringRing) completeReceive(i int, s *usocket, n int) Completion {
	var data []byte
	if r.lent != uring.None {
		data = r.queues.PieceMemory(r.lent)[:n]
	} else {
		s.piece, r.spare = r.spare, s.piece
		data = unsafe.Slice(r.spare, n)
	}
	r.wanting = append(r.wanting, i)
	if s.lasts < lasting {
		if s.lasts++; s.lasts == lasting {
			r.fixFile(i, s)
		}
	}
	if n == r.piece {
		s.large = largeFor
		r.draining = i
	}
	return Completion{Op: Received, User: s.user, Data: data}
}

// receiveDirectly receives directly, and once: the socket's next turn has the rest, as in epoll.
// The kernel does not receive for the same socket meanwhile: its answers are large, so the kernel
// only polls it.
func (r *uringRing) receiveDirectly() (Completion, bool) {
	i := r.draining
	r.draining = nobody
	s := &r.sockets[i]
	if s.state != connected {
		return Completion{}, false
	}
	n, errno := receiveNow(int(s.fd), r.scratch)
	switch {
	case n > 0:
		if n >= r.piece {
			s.large = largeFor
		} else if s.large > 0 {
			s.large--
		}
		r.wanting = append(r.wanting, i)
		return Completion{Op: Received, User: s.user, Data: r.scratch[:n]}, true
	case errno == syscall.EAGAIN:
		r.wanting = append(r.wanting, i)
		return Completion{}, false
	}
	return r.endReceiving(s, errno), true
}

// endReceiving ends the receiving of a socket.
func (r *uringRing) endReceiving(s *usocket, errno syscall.Errno) Completion {
	s.state = ended
	c := Completion{Op: Received, User: s.user, Err: io.EOF}
	if errno != 0 {
		c.Err = errno
	}
	return c
}
