package ring

// Errno is the system's error in err, so that it is the same on every ring and platform,
// or else err.
func Errno(err error) error { return portableErrno(err) }
