package failure

import "syscall"

// The numbers are those of winsock, which package syscall names only in part.
var errnos = map[syscall.Errno]errnoKind{
	10061: {"refused", ""},
	10054: {"reset", ""}, 10053: {"reset", ""},
	10060: {"timeout", ""},
	10065: {"unreachable", ""}, 10051: {"unreachable", ""}, 10050: {"unreachable", ""},
	10048: {"no-port", mendPorts}, 10049: {"no-port", mendPorts}, 10055: {"no-port", mendPorts},
	10024: {"no-file", mendFiles},
	10013: {"forbidden", mendForbid},
	2:     {"missing", mendMissing},
}
