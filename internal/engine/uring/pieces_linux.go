package uring

import (
	"fmt"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// pieces are memory that the kernel chooses from for a receive, once there is
// something to receive. Receives that only wait hold none, so there need be no
// more than answers that come at once.
//
// They are in the kernel's hands, until a completion says that it has filled one,
// and again once they are returned.
type pieces struct {
	memory []byte // size bytes for each
	size   int
	made   int // how many the kernel has ever been given

	shared []byte // the queue of those in the kernel's hands
	queue  []pieceEntry
	mask   uint16
	tail   uint16
	told   uint16 // the tail that the kernel knows of
}

// A pieceEntry is struct io_uring_buf. The queue's tail is in the first one.
type pieceEntry struct {
	addr uint64
	len  uint32
	id   uint16
	tail uint16
}

// pieceQueue is struct io_uring_buf_reg.
type pieceQueue struct {
	addr         uint64
	entries      uint32
	group, flags uint16
	_            [3]uint64
}

// None is the piece of a completion that has none.
const None = -1

// Provide makes room for n pieces of size bytes, n being a power of 2 and at most
// 32768, after Start. The kernel has none yet. Its error is as Open's.
func (q *Queues) Provide(n, size int) (err error) {
	const mode = syscall.PROT_READ | syscall.PROT_WRITE
	const kind = syscall.MAP_ANON | syscall.MAP_PRIVATE
	p := &q.pieces
	// What is not used of it, the machine does not spend.
	if p.memory, err = syscall.Mmap(-1, 0, n*size, mode, kind); err != nil {
		return fmt.Errorf("memory for io_uring to receive into: %w", err)
	}
	length := n * int(unsafe.Sizeof(pieceEntry{}))
	if p.shared, err = syscall.Mmap(-1, 0, length, mode, kind); err != nil {
		return fmt.Errorf("memory for io_uring to receive into: %w", err)
	}
	p.size, p.mask = size, uint16(n-1)
	p.queue = unsafe.Slice((*pieceEntry)(unsafe.Pointer(&p.shared[0])), n)
	arg := pieceQueue{addr: uint64(uintptr(unsafe.Pointer(&p.shared[0]))), entries: uint32(n)}
	_, _, errno := syscall.Syscall6(unix.SYS_IO_URING_REGISTER, uintptr(q.fd),
		registerPieces, uintptr(unsafe.Pointer(&arg)), 1, 0, 0)
	if errno != 0 {
		return refusedError("io_uring_register", errno)
	}
	return nil
}

// Grow gives the kernel one piece more, unless it has all that there is room for.
func (q *Queues) Grow() {
	if p := &q.pieces; p.made < len(p.queue) {
		p.made++
		q.Return(p.made - 1)
	}
}

// Piece is the one that the kernel has filled, or None. It is the caller's until
// it returns it.
func (c Completion) Piece() int {
	const filled, shift = 1 << 0, 16
	if c.flags&filled == 0 {
		return None
	}
	return int(c.flags >> shift)
}

// Memory is all of a piece's.
func (q *Queues) Memory(piece int) []byte {
	from := piece * q.pieces.size
	return q.pieces.memory[from : from+q.pieces.size]
}

// Return gives a piece to the kernel, with the next Submit or Wait.
func (q *Queues) Return(piece int) {
	p := &q.pieces
	e := &p.queue[p.tail&p.mask]
	e.addr = uint64(uintptr(unsafe.Pointer(&p.memory[piece*p.size])))
	e.len, e.id = uint32(p.size), uint16(piece)
	p.tail++
}

// publishReturned tells the kernel of the pieces that were returned. The tail is half of
// a word, the first entry's id being the other half: nothing smaller can be
// stored atomically.
func (p *pieces) publishReturned() {
	if p.told == p.tail {
		return
	}
	p.told = p.tail
	first := &p.queue[0]
	var word uint32
	*(*[2]uint16)(unsafe.Pointer(&word)) = [2]uint16{first.id, p.tail}
	atomic.StoreUint32((*uint32)(unsafe.Pointer(&first.id)), word)
}

// freePieces gives the memory back, after the queues are closed.
func (p *pieces) freePieces() {
	for _, m := range [][]byte{p.shared, p.memory} {
		if m != nil {
			syscall.Munmap(m)
		}
	}
}
