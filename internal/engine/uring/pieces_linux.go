package uring

import (
	"fmt"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// pieces are the memory that the kernel selects from for a receive, once data has arrived (a ring
// of provided buffers). A receive that waits holds none, so there need be no more pieces than
// answers that arrive at once.
//
// A piece belongs to the kernel until a completion reports that it was filled, and again after it
// was returned.
type pieces struct {
	memory []byte // size bytes for each piece
	size   int
	made   int // how many the kernel has ever been given

	shared []byte // the queue of pieces that belong to the kernel
	queue  []pieceEntry
	mask   uint16
	tail   uint16
	told   uint16 // the tail that was last published to the kernel
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

// None is the piece of a completion that has no piece.
const None = -1

// ProvidePieces allocates n pieces of size bytes, after Start. n is a power of 2 and at most 32768.
// The kernel has none of them yet. Errors are those of Open.
func (q *Queues) ProvidePieces(n, size int) (err error) {
	const mode = syscall.PROT_READ | syscall.PROT_WRITE
	const kind = syscall.MAP_ANON | syscall.MAP_PRIVATE
	p := &q.pieces
	// Pages that are never used take no memory.
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

// AddPiece gives the kernel one piece more, unless it has had all of them.
func (q *Queues) AddPiece() {
	if p := &q.pieces; p.made < len(p.queue) {
		p.made++
		q.ReturnPiece(p.made - 1)
	}
}

// Pieces is how many pieces were added.
func (q *Queues) Pieces() int { return q.pieces.made }

// More reports whether the entry will complete again: it is a multishot receive.
func (c Completion) More() bool { return c.flags&(1<<1) != 0 }

// Piece is the piece that the kernel has filled, or None. It belongs to the caller until it is
// returned.
func (c Completion) Piece() int {
	const filled, shift = 1 << 0, 16
	if c.flags&filled == 0 {
		return None
	}
	return int(c.flags >> shift)
}

// PieceMemory is the memory of a piece.
func (q *Queues) PieceMemory(piece int) []byte {
	from := piece * q.pieces.size
	return q.pieces.memory[from : from+q.pieces.size]
}

// ReturnPiece gives a piece back to the kernel, with the next Submit or Wait.
func (q *Queues) ReturnPiece(piece int) {
	p := &q.pieces
	e := &p.queue[p.tail&p.mask]
	e.addr = uint64(uintptr(unsafe.Pointer(&p.memory[piece*p.size])))
	e.len, e.id = uint32(p.size), uint16(piece)
	p.tail++
}

// publishReturned tells the kernel of the pieces that were returned. The tail is half of a word,
// and the id of the first entry is the other half. Nothing smaller than a word can be stored
// atomically.
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

// freePieces frees the memory, after the queues are closed.
func (p *pieces) freePieces() {
	for _, m := range [][]byte{p.shared, p.memory} {
		if m != nil {
			syscall.Munmap(m)
		}
	}
}
