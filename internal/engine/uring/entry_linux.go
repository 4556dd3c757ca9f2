package uring

import "unsafe"

// An Entry is struct io_uring_sqe: something the kernel is asked to do.
type Entry struct {
	opcode   Op
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

// An Op is what an entry asks for.
type Op uint8

// The ops, with what must be said of each.
const (
	opNop   Op = 0
	Poll    Op = 6  // once; Events
	Send    Op = 26 // Memory, Message
	Receive Op = 27 // Memory or Choose
)

const (
	flagLink        = 1 << 2
	flagChoose      = 1 << 5
	flagSkipSuccess = 1 << 6
)

// Events of Poll, as of poll(2).
const (
	In    = 0x1
	Out   = 0x4
	RDHup = 0x2000
)

// Memory is what to send, or where to receive. It must stay reachable, and as it
// is, until the entry has completed.
func (e *Entry) Memory(b []byte) {
	e.addr, e.len = uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b)))), uint32(len(b))
}

// Choose has the kernel choose where to receive at most so many bytes, of the
// pieces it was provided with. Where it has none left, the entry fails with
// ENOBUFS. Without a number Linux 5.19 would receive 0 bytes, and later ones what
// the piece has room for.
func (e *Entry) Choose(most int) { e.flags, e.len = e.flags|flagChoose, uint32(most) }

// Message sets the flags that send(2) would be given.
func (e *Entry) Message(flags uint32) { e.opFlags = flags }

// Events sets what poll(2) would wait for. The kernel has the 16 bits that matter
// first, in any byte order.
func (e *Entry) Events(events uint16) { *(*uint16)(unsafe.Pointer(&e.opFlags)) = events }

// Link has the next entry wait until this one is done. If it fails, or does less
// than it must, the next is cancelled.
func (e *Entry) Link() { e.flags |= flagLink }

// Quiet has the entry not complete unless it fails; then what is linked to it
// does not.
func (e *Entry) Quiet() { e.flags |= flagSkipSuccess }
