package ring

import (
	"fmt"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Sizes of the queues. They go round, so small ones stay in the cache. What
// does not fit among the completions the kernel keeps for later.
const (
	submissions = 256
	completions = 4096
)

// queues are what is shared with the kernel: the submission queue, into which
// requests are written, and the completion queue, into which it writes how they
// ended. One system call submits, and lets the kernel complete.
type queues struct {
	fd      int
	shared  []byte // heads, tails, and completions
	entries []byte // submissions

	sqTail    *uint32
	sqes      []sqe
	sqMask    uint32
	tail      uint32 // of what has been written
	submitted uint32 // of that, what the kernel has taken

	cqHead, cqTail *uint32
	cqes           []cqe
	cqMask         uint32
	head, end      uint32 // of the completions that are to be taken in this turn

	wait    waitArg
	timeout [2]int64
}

// sqe is struct io_uring_sqe.
type sqe struct {
	opcode   uint8
	flags    uint8
	ioprio   uint16
	fd       int32
	off      uint64
	addr     uint64
	len      uint32
	opFlags  uint32 // msg_flags; or poll_events, in the first two bytes
	userData uint64
	_        [24]byte
}

// cqe is struct io_uring_cqe.
type cqe struct {
	userData uint64
	res      int32
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

// Numbers of io_uring's, by its names.
const (
	setupCQSize       = 1 << 3
	setupSubmitAll    = 1 << 7
	setupCoopTaskrun  = 1 << 8
	setupSingleIssuer = 1 << 12
	setupDeferTaskrun = 1 << 13

	enterGetEvents = 1 << 0
	enterExtArg    = 1 << 3

	offRings = 0
	offSQEs  = 0x10000000

	opNop     = 0
	opPollAdd = 6
	opSend    = 26
	opRecv    = 27

	sqeLink = 1 << 2
)

// open sets the queues up; the calling thread is the one that must use them.
func (q *queues) open() error {
	var arg setupArg
	var fd uintptr
	errno := syscall.EINVAL
	// Of the two modes the first is faster, and newer. Without either the kernel
	// would interrupt this thread for every answer.
	for _, mode := range []uint32{setupSingleIssuer | setupDeferTaskrun, setupCoopTaskrun} {
		if errno == syscall.EINVAL {
			arg = setupArg{cqEntries: completions, flags: setupCQSize | setupSubmitAll | mode}
			fd, _, errno = syscall.Syscall(unix.SYS_IO_URING_SETUP, submissions,
				uintptr(unsafe.Pointer(&arg)), 0)
		}
	}
	switch errno {
	case 0:
	case syscall.ENOSYS, syscall.EPERM, syscall.EACCES, syscall.EINVAL:
		return fmt.Errorf("io_uring is %w: io_uring_setup: %w; it needs Linux 5.19 and the "+
			"leave of kernel.io_uring_disabled and of the container; or use --ring epoll",
			ErrRefused, errno)
	default:
		return fmt.Errorf("io_uring_setup: %w", errno)
	}
	q.fd = int(fd)
	if err := q.share(&arg); err != nil {
		q.close()
		return fmt.Errorf("mapping io_uring's queues: %w", err)
	}
	return nil
}

// share maps the queues into memory.
func (q *queues) share(arg *setupArg) (err error) {
	const mode = syscall.PROT_READ | syscall.PROT_WRITE
	const kind = syscall.MAP_SHARED | syscall.MAP_POPULATE
	size := max(uintptr(arg.cq.cqes)+uintptr(arg.cqEntries)*unsafe.Sizeof(cqe{}),
		uintptr(arg.sq.array)+uintptr(arg.sqEntries)*4)
	if q.shared, err = syscall.Mmap(q.fd, offRings, int(size), mode, kind); err != nil {
		return err
	}
	size = uintptr(arg.sqEntries) * unsafe.Sizeof(sqe{})
	if q.entries, err = syscall.Mmap(q.fd, offSQEs, int(size), mode, kind); err != nil {
		return err
	}
	at := func(offset uint32) *uint32 { return (*uint32)(unsafe.Pointer(&q.shared[offset])) }
	q.sqTail, q.sqMask = at(arg.sq.tail), *at(arg.sq.ringMask)
	q.sqes = unsafe.Slice((*sqe)(unsafe.Pointer(&q.entries[0])), arg.sqEntries)
	q.cqHead, q.cqTail, q.cqMask = at(arg.cq.head), at(arg.cq.tail), *at(arg.cq.ringMask)
	q.cqes = unsafe.Slice((*cqe)(unsafe.Pointer(at(arg.cq.cqes))), arg.cqEntries)
	for i, array := 0, unsafe.Slice(at(arg.sq.array), arg.sqEntries); i < len(array); i++ {
		array[i] = uint32(i) // entries are submitted in their order
	}
	q.wait.timeout = uint64(uintptr(unsafe.Pointer(&q.timeout)))
	return nil
}

func (q *queues) close() {
	if q.entries != nil {
		syscall.Munmap(q.entries)
	}
	if q.shared != nil {
		syscall.Munmap(q.shared)
	}
	syscall.Close(q.fd)
}

// queued is how many entries the kernel has not taken yet.
func (q *queues) queued() uint32 { return q.tail - q.submitted }

// room makes room for n entries, which are then submitted together.
func (q *queues) room(n uint32) error {
	if q.queued()+n <= uint32(len(q.sqes)) {
		return nil
	}
	err := q.submit(0)
	if err == nil && q.queued() > 0 {
		err = syscall.EBUSY
	}
	return err
}

// push adds an entry, for which there must be room.
func (q *queues) push(op uint8, fd int32, userData uint64) *sqe {
	e := &q.sqes[q.tail&q.sqMask]
	*e = sqe{opcode: op, fd: fd, userData: userData}
	q.tail++
	return e
}

// submit has the kernel take all entries, and with enterGetEvents complete what
// it can. It does not block, nor tell the Go scheduler.
func (q *queues) submit(flags uintptr) error {
	atomic.StoreUint32(q.cqHead, q.head)
	atomic.StoreUint32(q.sqTail, q.tail)
	for first := true; first || q.queued() > 0; first = false {
		n, _, errno := syscall.RawSyscall6(unix.SYS_IO_URING_ENTER, uintptr(q.fd),
			uintptr(q.queued()), 0, flags, 0, 0)
		switch errno {
		case 0:
			q.submitted += uint32(n)
		case syscall.EBUSY: // it has more completions than there is room for
			return nil
		case syscall.EINTR:
		default:
			return fmt.Errorf("io_uring_enter: %w", errno)
		}
	}
	return nil
}

// block waits for a completion, for at most timeout nanoseconds.
func (q *queues) block(timeout int64) error {
	atomic.StoreUint32(q.cqHead, q.head)
	q.timeout = [2]int64{timeout / 1e9, timeout % 1e9}
	_, _, errno := syscall.Syscall6(unix.SYS_IO_URING_ENTER, uintptr(q.fd), 0, 1,
		enterGetEvents|enterExtArg, uintptr(unsafe.Pointer(&q.wait)), unsafe.Sizeof(q.wait))
	if errno != 0 && errno != syscall.ETIME && errno != syscall.EINTR && errno != syscall.EBUSY {
		return fmt.Errorf("io_uring_enter: %w", errno)
	}
	return nil
}

// look reports whether there are completions, and makes them those to be taken.
func (q *queues) look() bool {
	q.end = atomic.LoadUint32(q.cqTail)
	return q.head != q.end
}

// take is the next completion to be taken.
func (q *queues) take() (c cqe, ok bool) {
	if q.head == q.end {
		return c, false
	}
	c = q.cqes[q.head&q.cqMask]
	q.head++
	return c, true
}

// discard makes the entries that have the n userData from first, and that the
// kernel has not taken, do nothing.
func (q *queues) discard(first, n uint64) {
	for i := q.submitted; i != q.tail; i++ {
		if e := &q.sqes[i&q.sqMask]; e.userData-first < n {
			*e = sqe{opcode: opNop, fd: -1, userData: e.userData}
		}
	}
}

// polling is what poll(2) would wait for. The kernel has the 16 bits that matter
// first, in any byte order.
func (e *sqe) polling(events uint16) { *(*uint16)(unsafe.Pointer(&e.opFlags)) = events }
