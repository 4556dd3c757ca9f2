package uring

import (
	"fmt"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Submissions is how many entries can be queued before they must be submitted. The queues are
// rings, so small ones stay in the cache.
const Submissions = 256

// completions is the size of the completion queue; the kernel keeps more for later.
const completions = 4096

// Queues are the memory shared with the kernel: the submission queue, into which entries are
// written, and the completion queue, into which the kernel writes how they ended. One system call
// submits entries and lets the kernel complete them. Any thread may open the queues; from Start on
// only one thread uses them.
type Queues struct {
	fd       int
	name     uintptr // fd, or what the thread calls the queues; see nameRing
	named    uintptr // a flag that says so
	deferred bool
	shared   []byte // heads, tails, and completions
	entries  []byte // submissions

	sqTail    *uint32
	sqes      []Entry
	sqMask    uint32
	tail      uint32 // of what has been written
	submitted uint32 // of these, what the kernel has taken

	cqHead, cqTail *uint32
	cqes           []Completion
	cqMask         uint32
	head, end      uint32 // of the completions to be read in this turn

	pieces pieces

	wait    waitArg
	timeout [2]int64
	file    int32 // argument of SetFile

	features uint32 // of the kernel
}

// A Completion is struct io_uring_cqe: the result of an entry.
type Completion struct {
	UserData uint64 // of the entry
	Res      int32  // result of the system call of that name, or a negative errno
	flags    uint32
}

// setupArg is struct io_uring_params.
type setupArg struct {
	sqEntries, cqEntries, flags, sqThreadCPU, sqThreadIdle, features, wqFD uint32
	_                                                                      [3]uint32
	sq                                                                     struct {
		head, tail, ringMask, ringEntries, flags, dropped, array, _ uint32
		_                                                           uint64
	}
	cq struct {
		head, tail, ringMask, ringEntries, overflow, cqes, flags, _ uint32
		_                                                           uint64
	}
}

// waitArg is struct io_uring_getevents_arg.
type waitArg struct {
	sigmask     uint64
	sigmaskSize uint32
	_           uint32
	timeout     uint64
}

// Constants of io_uring, by the kernel's names.
const (
	setupCQSize       = 1 << 3
	setupDisabled     = 1 << 6
	setupSubmitAll    = 1 << 7
	setupCoopTaskrun  = 1 << 8
	setupSingleIssuer = 1 << 12
	setupDeferTaskrun = 1 << 13

	updateFiles         = 6
	registerEnableRings = 12
	registerFiles       = 13
	registerRing        = 20
	unregisterRing      = 21
	registerPieces      = 22
	sparse              = 1 << 0 // of registerFiles

	enterGetEvents  = 1 << 0
	enterExtArg     = 1 << 3
	enterRegistered = 1 << 4

	featReadWriteAttr = 1 << 16 // of Linux 6.14 and later

	offRings = 0
	offSQEs  = 0x10000000
)

// Forever is a timeout that never expires. The kernel can add a shorter one to the time without
// overflow.
const Forever = int64(1) << 60

// Open creates queues that do nothing until Start. The error wraps ErrRefused if the system does
// not allow them.
func (q *Queues) Open() error {
	var arg setupArg
	var fd uintptr
	errno := syscall.EINVAL
	// Of the two modes the first is faster, and newer. Without either, the kernel would interrupt this
	// thread for every answer.
	for _, mode := range []uint32{setupSingleIssuer | setupDeferTaskrun, setupCoopTaskrun} {
		if errno == syscall.EINVAL {
			arg = setupArg{cqEntries: completions,
				flags: setupCQSize | setupSubmitAll | setupDisabled | mode}
			fd, _, errno = syscall.Syscall(unix.SYS_IO_URING_SETUP, Submissions,
				uintptr(unsafe.Pointer(&arg)), 0)
		}
	}
	if errno != 0 {
		return refusedError("io_uring_setup", errno)
	}
	q.fd, q.name, q.deferred = int(fd), fd, arg.flags&setupDeferTaskrun != 0
	q.features = arg.features
	if err := q.mapQueues(&arg); err != nil {
		q.Close()
		return fmt.Errorf("mapping io_uring's queues: %w", err)
	}
	return nil
}

// Start makes the calling thread the user of the queues, and checks whether it may use them. Errors
// are those of Open.
func (q *Queues) Start() error {
	_, _, errno := syscall.Syscall6(unix.SYS_IO_URING_REGISTER, uintptr(q.fd),
		registerEnableRings, 0, 0, 0, 0)
	if errno != 0 {
		return refusedError("io_uring_register", errno)
	}
	_, _, errno = syscall.RawSyscall6(unix.SYS_IO_URING_ENTER, uintptr(q.fd), 0, 0, 0, 0, 0)
	if errno != 0 {
		return refusedError("io_uring_enter", errno)
	}
	q.nameRing()
	return nil
}

func refusedError(call string, errno syscall.Errno) error {
	switch errno {
	case syscall.ENOSYS, syscall.EPERM, syscall.EACCES, syscall.EINVAL, syscall.ENOMEM:
		return fmt.Errorf("io_uring is %w: %s: %w; it needs Linux 5.19 and the leave of "+
			"kernel.io_uring_disabled and of the container", ErrRefused, call, errno)
	}
	return fmt.Errorf("%s: %w", call, errno)
}

// mapQueues maps the queues into memory.
func (q *Queues) mapQueues(arg *setupArg) (err error) {
	const mode = syscall.PROT_READ | syscall.PROT_WRITE
	const kind = syscall.MAP_SHARED | syscall.MAP_POPULATE
	size := max(uintptr(arg.cq.cqes)+uintptr(arg.cqEntries)*unsafe.Sizeof(Completion{}),
		uintptr(arg.sq.array)+uintptr(arg.sqEntries)*4)
	if q.shared, err = syscall.Mmap(q.fd, offRings, int(size), mode, kind); err != nil {
		return err
	}
	size = uintptr(arg.sqEntries) * unsafe.Sizeof(Entry{})
	if q.entries, err = syscall.Mmap(q.fd, offSQEs, int(size), mode, kind); err != nil {
		return err
	}
	at := func(offset uint32) *uint32 { return (*uint32)(unsafe.Pointer(&q.shared[offset])) }
	q.sqTail, q.sqMask = at(arg.sq.tail), *at(arg.sq.ringMask)
	q.sqes = unsafe.Slice((*Entry)(unsafe.Pointer(&q.entries[0])), arg.sqEntries)
	q.cqHead, q.cqTail, q.cqMask = at(arg.cq.head), at(arg.cq.tail), *at(arg.cq.ringMask)
	q.cqes = unsafe.Slice((*Completion)(unsafe.Pointer(at(arg.cq.cqes))), arg.cqEntries)
	for i, array := 0, unsafe.Slice(at(arg.sq.array), arg.sqEntries); i < len(array); i++ {
		array[i] = uint32(i) // entries are submitted in their order
	}
	q.wait.timeout = uint64(uintptr(unsafe.Pointer(&q.timeout)))
	return nil
}

// Close frees the queues. The kernel may still use the memory of entries that have not completed.
func (q *Queues) Close() {
	if q.entries != nil {
		syscall.Munmap(q.entries)
	}
	if q.shared != nil {
		syscall.Munmap(q.shared)
	}
	q.unnameRing()
	syscall.Close(q.fd)
	q.pieces.freePieces()
}

// Deferred reports whether only system calls of the thread that uses the queues complete entries.
// Linux does so from 6.1 on.
func (q *Queues) Deferred() bool { return q.deferred }

// QueuedEntries is how many entries the kernel has not taken yet.
func (q *Queues) QueuedEntries() uint32 { return q.tail - q.submitted }

// ReserveEntries makes room for n entries, at most Submissions, which are then submitted together.
// It fails if the kernel takes no entries because too many completions have not been read.
func (q *Queues) ReserveEntries(n uint32) error {
	if q.QueuedEntries()+n <= uint32(len(q.sqes)) {
		return nil
	}
	err := q.Submit(false)
	if err == nil && q.QueuedEntries() > 0 {
		err = syscall.EBUSY
	}
	return err
}

// Pushed is how many entries were pushed, modulo 1<<32: the number of the last one.
func (q *Queues) Pushed() uint32 { return q.tail }

// PushEntry adds an entry, for which there must be room. The caller sets its arguments before the
// next Submit, ReserveEntries or Wait.
func (q *Queues) PushEntry(op Op, fd int32, userData uint64) *Entry {
	e := &q.sqes[q.tail&q.sqMask]
	*e = Entry{opcode: op, fd: fd, userData: userData}
	q.tail++
	return e
}

// Submit has the kernel take all entries and, if complete is set, complete what it can. From Linux
// 6.13 on, a call completes some twenty entries. It does not block, and the Go scheduler is not
// told. Entries that the kernel does not take, because too many completions have not been read,
// stay queued.
func (q *Queues) Submit(complete bool) error {
	var flags uintptr
	if complete {
		flags = enterGetEvents
	}
	q.pieces.publishReturned()
	atomic.StoreUint32(q.cqHead, q.head)
	atomic.StoreUint32(q.sqTail, q.tail)
	for first := true; first || q.QueuedEntries() > 0; first = false {
		n, _, errno := syscall.RawSyscall6(unix.SYS_IO_URING_ENTER, q.name,
			uintptr(q.QueuedEntries()), 0, flags|q.named, 0, 0)
		switch errno {
		case 0:
			q.submitted += uint32(n)
		case syscall.EBUSY: // the completion queue is full
			return nil
		case syscall.EINTR:
		default:
			return fmt.Errorf("io_uring_enter: %w", errno)
		}
	}
	return nil
}

// Most is a number of completions that are never there at once.
const Most = completions

// Wait has the kernel take all entries, and waits until there are enough completions that
// NextCompletion has not returned, for at most timeout ns. When that has passed, Linux before 6.8
// (6.1.75, 6.6.14) completes what it can with the next Wait only. From Forever on it waits
// without limit, which is cheaper, and the Go scheduler is told. The scheduler is not told of a
// limited wait, because that costs more than the wait itself. The thread then keeps its
// processor, so the caller must leave one to other goroutines (machine.KeepProcs, and the loops
// of target). A signal ends the wait early.
func (q *Queues) Wait(enough int, timeout int64) error {
	q.pieces.publishReturned()
	atomic.StoreUint32(q.cqHead, q.head)
	atomic.StoreUint32(q.sqTail, q.tail)
	var arg, size, flags uintptr = 0, 0, enterGetEvents
	enter := syscall.Syscall6
	if timeout < Forever {
		enter = syscall.RawSyscall6
		q.timeout = [2]int64{timeout / 1e9, timeout % 1e9}
		arg, size = uintptr(unsafe.Pointer(&q.wait)), unsafe.Sizeof(q.wait)
		flags |= enterExtArg
	}
	n, _, errno := enter(unix.SYS_IO_URING_ENTER, q.name, uintptr(q.QueuedEntries()),
		uintptr(enough), flags|q.named, arg, size)
	switch errno {
	case 0:
		q.submitted += uint32(n)
	case syscall.ETIME, syscall.EINTR, syscall.EBUSY: // none was taken
	default:
		return fmt.Errorf("io_uring_enter: %w", errno)
	}
	return nil
}

// LoadCompletions makes all completions that the kernel has written readable by NextCompletion. It
// reports whether there are any.
func (q *Queues) LoadCompletions() bool {
	q.end = atomic.LoadUint32(q.cqTail)
	return q.head != q.end
}

// NextCompletion removes and returns the next of the completions that LoadCompletions found.
func (q *Queues) NextCompletion() (c Completion, ok bool) {
	if q.head == q.end {
		return c, false
	}
	c = q.cqes[q.head&q.cqMask]
	q.head++
	return c, true
}

// Discard turns entries that the kernel has not taken into no-ops, if their userData is one of the
// n from first on. They still complete. It reports whether there were any.
func (q *Queues) Discard(first, n uint64) (found bool) {
	for i := q.submitted; i != q.tail; i++ {
		if e := &q.sqes[i&q.sqMask]; e.userData-first < n {
			*e = Entry{opcode: opNop, fd: -1, userData: e.userData}
			found = true
		}
	}
	return found
}

// SettleQuiet reports whether the entry with that number, which has SkipSuccess and a userData of
// its own, has succeeded. If not, it has failed and its completion has not been read, or the kernel
// has not taken it: then it skips nothing any more. The kernel must carry the entry out as soon as
// it takes it, as it does a send with MSG_DONTWAIT. It must not have had Most completions that were
// not read.
func (q *Queues) SettleQuiet(number uint32, userData uint64) bool {
	if e := &q.sqes[(number-1)&q.sqMask]; number-q.submitted-1 < q.QueuedEntries() &&
		e.userData == userData { // numbers go round
		e.flags &^= flagSkipSuccess
		return false
	}
	for i, end := q.head, atomic.LoadUint32(q.cqTail); i != end; i++ {
		if q.cqes[i&q.cqMask].UserData == userData {
			return false
		}
	}
	return true
}
