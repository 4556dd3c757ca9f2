package uring

import "unsafe"

// An Entry is struct io_uring_sqe: an operation that the kernel is to carry out.
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

// An Op is the operation of an entry.
type Op uint8

// The operations, with the methods of Entry that set their arguments.
const (
	opNop   Op = 0
	Poll    Op = 6  // once; SetPollEvents
	Cancel  Op = 14 // SetCanceled
	Send    Op = 26 // SetMemory, SetMessageFlags
	Receive Op = 27 // SetMemory, SelectPiece or SelectPieces
)

const (
	flagFile        = 1 << 0
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

// SetMemory sets what to send, or where to receive. It must stay reachable, and unchanged, until
// the entry has completed.
func (e *Entry) SetMemory(b []byte) {
	e.addr, e.len = uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b)))), uint32(len(b))
}

// SelectPiece has the kernel select one of the provided pieces to receive into, at most that many
// bytes. If it has none left, the entry fails with ENOBUFS. Without a number, Linux 5.19 would
// receive 0 bytes, and later versions as many as the piece holds.
func (e *Entry) SelectPiece(most int) { e.flags, e.len = e.flags|flagChoose, uint32(most) }

// SelectPieces is SelectPiece for a multishot receive, of Linux 6.0 and later: it completes each
// time data has arrived, until it fails, is canceled or reaches the end; see Completion.More.
func (e *Entry) SelectPieces() {
	const multishot = 1 << 1
	e.flags, e.ioprio = e.flags|flagChoose, multishot
}

// SetCanceled sets the userData of the entry to cancel.
func (e *Entry) SetCanceled(userData uint64) { e.addr = userData }

// UseFile has the entry use a file of the table, in place of its descriptor.
func (e *Entry) UseFile(place int) { e.fd, e.flags = int32(place), e.flags|flagFile }

// SetMessageFlags sets the flags of send(2).
func (e *Entry) SetMessageFlags(flags uint32) { e.opFlags = flags }

// SetPollEvents sets the events of poll(2). The kernel reads the relevant 16 bits first, in any
// byte order.
func (e *Entry) SetPollEvents(events uint16) { *(*uint16)(unsafe.Pointer(&e.opFlags)) = events }

// LinkNext has the next entry wait until this one has completed. If this one fails, or transfers
// less than it should, the next one is canceled.
func (e *Entry) LinkNext() { e.flags |= flagLink }

// SkipSuccess has the entry complete only if it fails. The entry that is linked to it is then
// canceled, and does not complete.
func (e *Entry) SkipSuccess() { e.flags |= flagSkipSuccess }
