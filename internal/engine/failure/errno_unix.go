//go:build !windows

package failure

import "syscall"

var errnos = map[syscall.Errno]string{
	syscall.ECONNREFUSED: refused,
	syscall.ECONNRESET:   reset, syscall.EPIPE: reset,
	syscall.ECONNABORTED: reset,
	syscall.ETIMEDOUT:    timeout,
	syscall.EHOSTUNREACH: unreachable, syscall.ENETUNREACH: unreachable,
	syscall.EHOSTDOWN: unreachable, syscall.ENETDOWN: unreachable,
	syscall.EADDRNOTAVAIL: noPort,
	syscall.EMFILE:        noFile, syscall.ENFILE: noFile,
	syscall.ENOENT: missing,
	syscall.EACCES: forbidden, syscall.EPERM: forbidden,
	syscall.EAGAIN: backlog,
}
