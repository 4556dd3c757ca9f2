package ring

// A Shifted ring numbers connections and addresses from others on.
type Shifted struct {
	Ring
	Conn uint64 // of the user 0
	Addr int    // of the address 0
}

// Connect connects with the shifted numbers.
func (s Shifted) Connect(addr int, user uint64) (int, error) {
	return s.Ring.Connect(s.Addr+addr, s.Conn+user)
}
