// Package uring is the two queues of Linux's io_uring, set up, mapped and walked, and nothing that
// is done with them, but for the trial of MultishotEnds: a generator's ring and a server have
// different designs on top of the same queues.
//
// They are used without cgo and without a library. What is done for each entry
// is a few loads and stores and is inlined into its caller; what is a system
// call is made once for many entries.
//
//	entry_linux.go      an entry of the submission queue
//	files_linux.go      the table of files, and the queues' name on a thread
//	multishot_linux.go  whether this kernel ends multishot receives as it must
//	pieces_linux.go     memory into which the kernel receives (its size: engine/ring/uring_linux.go)
//	queues_linux.go     the queues: made, submitted, waited for
//	uring.go            ErrRefused: this system has no io_uring
package uring

import "errors"

// ErrRefused is the error of queues that the kernel's version or the system's settings do not
// allow. Another way to do I/O may work.
var ErrRefused = errors.New("refused by this system")
