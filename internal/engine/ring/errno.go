package ring

// Errno returns the system's error number in err, the same on every ring and platform, or else err.
func Errno(err error) error { return portableErrno(err) }
