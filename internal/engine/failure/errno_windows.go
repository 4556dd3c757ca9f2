package failure

import "syscall"

// The numbers are those of winsock, which package syscall names only in part.
var errnos = map[syscall.Errno]string{
	10061: refused,
	10054: reset, 10053: reset,
	10060: timeout,
	10065: unreachable, 10051: unreachable, 10050: unreachable,
	10048: noPort, 10049: noPort, 10055: noPort,
	10024: noFile,
	10013: forbidden,
	2:     missing,
}
