//go:build !windows

package failure

import "syscall"

var errnos = map[syscall.Errno]errnoKind{
	syscall.ECONNREFUSED: {"refused", ""},
	syscall.ECONNRESET:   {"reset", ""}, syscall.EPIPE: {"reset", ""},
	syscall.ECONNABORTED: {"reset", ""},
	syscall.ETIMEDOUT:    {"timeout", ""},
	syscall.EHOSTUNREACH: {"unreachable", ""}, syscall.ENETUNREACH: {"unreachable", ""},
	syscall.EHOSTDOWN: {"unreachable", ""}, syscall.ENETDOWN: {"unreachable", ""},
	syscall.EADDRNOTAVAIL: {"no-port", mendPorts},
	syscall.EMFILE:        {"no-file", mendFiles}, syscall.ENFILE: {"no-file", mendFiles},
	syscall.ENOENT: {"missing", mendMissing},
	syscall.EACCES: {"forbidden", mendForbid}, syscall.EPERM: {"forbidden", mendForbid},
	syscall.EAGAIN: {"backlog", mendBacklog},
}
