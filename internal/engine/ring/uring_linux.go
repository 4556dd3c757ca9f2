package ring

import (
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
	ownMost     = 512                // up to that many sockets, each has a piece of its own
	ownDeep     = 2048               // if they are deep
	sharedFirst = 256                // pieces that more sockets share at first
	sharedMost  = 4096               // at most: as many as completions in a turn
	requestMax  = lastMost           // the longest send that is copied
	slab        = 64                 // sockets whose memory is allocated at once
	cancelMost  = 64                 // receives that are being canceled at a time
	batchMax    = 64                 // entries queued before they are submitted within a turn
	largeFor    = 8                  // small receives after which answers no longer count as large
	lasting     = 32                 // receives after which a socket is put into the table of files
	freeing     = int64(time.Second) // how long freeRing waits for the kernel
)

// A uringRing is a ring of io_uring.
//
// A small request is copied and queued. One system call a turn submits the entries of all sockets,
// and also reads the answers. At the end of a turn every socket receives, so it notices when its
// peer closes. An answer that does not fit a piece is received directly, into memory that all
// sockets share; meanwhile the kernel only polls that socket.
//
// With many sockets most wait. A piece for each would be memory that is in no cache. So they share
// pieces: the kernel selects one when data has arrived. Where the kernel can end it
// (uring.MultishotEnds), a receive is then multishot: one entry completes with each answer, and the
// kernel need not begin to wait again (docs/benchmarks.md). Deep sockets receive once, because
// answers of several streams would come in more, smaller parts.
//
// A socket is identified by its slot in this ring, not by its descriptor. The slot is not reused
// until the kernel no longer uses the socket's memory.
type uringRing struct {
	queues   uring.Queues
	addrs    []target
	sockets  []usocket
	unused   []int
	sharing  bool   // sockets have no pieces of their own
	multi    bool   // and their receives are multishot
	deferred bool   // see uring.Queues.Deferred
	lent     int    // the shared piece that the user may read, or uring.None
	spare    *byte  // a piece: valid for the user, or free
	piece    int    // bytes that a piece has
	request  int    // bytes that the request of a socket has
	scratch  []byte // for large answers
	underWay
	quiet bool // sends that are copied complete only if they fail
	files int  // places in the table of files

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

// An underWay counts the entries that have not completed.
type underWay struct {
	pending int // all
	sends   int // of these, sends that are not quiet
	cancels int // and cancellations
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

	receiving bool // a receive or a poll has not completed for the last time
	stopping  bool // it is a multishot receive that has been canceled
	sending   bool
	quiet     bool   // the send completes only if it fails
	telling   bool   // the user is to be told of the end of the Send
	sent      uint32 // the send's number among the entries of the ring
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
	kindCancel
	kindBits = 2
)

// openUring must be called by the thread that will use the ring. It locks the goroutine to that
// thread.
func openUring(addrs []Addr, size Size) (Ring, func(), error) {
	runtime.LockOSThread()
	own := ownMost
	if size.Deep {
		own = ownDeep
	}
	r := &uringRing{draining: nobody, lent: uring.None, sharing: size.Sockets > own,
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
	r.deferred = r.queues.Deferred()
	if n := size.Sockets + slab; r.queues.ProvideFiles(n) {
		r.files = n
	}
	if !r.sharing {
		return nil
	}
	r.multi = r.deferred && !size.Deep && uring.MultishotEnds()
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
		for c, ok := r.queues.NextCompletion(); ok; c, ok = r.queues.NextCompletion() {
			if !c.More() {
				r.pending--
			}
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
		r.quiet = r.deferred && r.piecesMost() >= r.piecesLeast()
	}
	last := len(r.unused) - 1
	i := r.unused[last]
	r.unused = r.unused[:last]
	return i
}

// piecesMost is how many shared pieces there may be while sends are quiet, so that there are never
// uring.Most completions to read, on which SettleQuiet relies: each socket has two at most, that of
// its send and the last one of its receive, and each piece and each cancellation one.
func (r *uringRing) piecesMost() int { return uring.Most - 2*len(r.sockets) - cancelMost - 1 }

// piecesLeast is for how many shared pieces there must be room: for those that there are, and for
// one for each socket, so that all can have an answer at once.
func (r *uringRing) piecesLeast() int {
	if !r.sharing {
		return 0
	}
	return max(r.queues.Pieces(), len(r.sockets))
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

// completeEntry turns the kernel's completion into one for the user, if it is one.
func (r *uringRing) completeEntry(e uring.Completion) (Completion, bool) {
	r.lent = e.Piece()
	i, kind := int(e.UserData>>kindBits), e.UserData&(1<<kindBits-1)
	s := &r.sockets[i]
	if !e.More() {
		r.endEntry(s, kind)
	}
	switch {
	case kind == kindCancel:
	case s.state == dying:
		r.reuseSlot(i, s)
	case kind == kindSend:
		return r.completeSend(i, s, e.Res)
	case e.Res == -int32(syscall.ECANCELED), e.Res == -int32(syscall.EINTR):
		r.wanting = append(r.wanting, i)
	case e.Res == -int32(syscall.ENOBUFS): // all pieces were in use
		if !r.quiet || r.queues.Pieces() < r.piecesMost() {
			r.queues.AddPiece()
		}
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

// endEntry ends an entry of a socket, which does not complete again.
func (r *uringRing) endEntry(s *usocket, kind uint64) {
	r.pending--
	switch kind {
	case kindCancel:
		r.cancels--
	case kindSend:
		if !s.quiet {
			r.sends--
		}
		s.quiet, s.sending = false, false
	default:
		s.receiving, s.stopping = false, false
	}
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
