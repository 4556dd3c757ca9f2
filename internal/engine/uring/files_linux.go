package uring

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// noFile empties a place of the table of files.
const noFile = -1

// sparseFiles is struct io_uring_rsrc_register of a table that is empty at first.
type sparseFiles struct {
	n, flags uint32
	_        [3]uint64
}

// fileUpdate is struct io_uring_files_update, and io_uring_rsrc_update.
type fileUpdate struct {
	offset, _ uint32
	data      uint64
}

// ProvideFiles makes a table of n files, after Start, which is empty. An entry for a file of the
// table costs less than one for a descriptor, for which the kernel changes the file's reference
// count by two atomic instructions. It reports whether the system allows the table. Linux before
// 6.13 is not asked: it keeps a file that was cleared until all entries have ended which began
// before, so that one idle socket would keep all later ones from being closed.
func (q *Queues) ProvideFiles(n int) bool {
	if q.features&featReadWriteAttr == 0 {
		return false
	}
	arg := sparseFiles{n: uint32(n), flags: sparse}
	_, _, errno := syscall.RawSyscall6(unix.SYS_IO_URING_REGISTER, uintptr(q.fd), registerFiles,
		uintptr(unsafe.Pointer(&arg)), unsafe.Sizeof(arg), 0, 0)
	return errno == 0
}

// SetFile puts a descriptor's file into the table, and reports whether it could. The file is open
// until ClearFile, also when the descriptor has been closed.
func (q *Queues) SetFile(place int, fd int32) bool {
	q.file = fd
	arg := fileUpdate{offset: uint32(place), data: uint64(uintptr(unsafe.Pointer(&q.file)))}
	n, _, errno := syscall.RawSyscall6(unix.SYS_IO_URING_REGISTER, uintptr(q.fd), updateFiles,
		uintptr(unsafe.Pointer(&arg)), 1, 0, 0)
	return errno == 0 && n == 1
}

// ClearFile empties a place of the table. Entries that the kernel has taken keep the file.
func (q *Queues) ClearFile(place int) { q.SetFile(place, noFile) }

// nameRing has this thread call the queues by a number of its own, which costs less than their
// descriptor. A system that does not allow it goes on with the descriptor.
func (q *Queues) nameRing() {
	arg := fileUpdate{offset: ^uint32(0), data: uint64(q.fd)}
	n, _, errno := syscall.RawSyscall6(unix.SYS_IO_URING_REGISTER, uintptr(q.fd), registerRing,
		uintptr(unsafe.Pointer(&arg)), 1, 0, 0)
	if errno == 0 && n == 1 {
		q.name, q.named = uintptr(arg.offset), enterRegistered
	}
}

// unnameRing undoes nameRing: until then the thread would keep the queues open.
func (q *Queues) unnameRing() {
	if q.named == 0 {
		return
	}
	arg := fileUpdate{offset: uint32(q.name)}
	q.name, q.named = uintptr(q.fd), 0
	syscall.RawSyscall6(unix.SYS_IO_URING_REGISTER, uintptr(q.fd), unregisterRing,
		uintptr(unsafe.Pointer(&arg)), 1, 0, 0)
}
