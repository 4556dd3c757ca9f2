package fact

// A Peer is who ends, refuses or leaves without an answer the connections of a load. It is "" for
// the server.
type Peer string

// Peers other than the server.
const (
	Proxy  Peer = "proxy"  // which reads the requests
	Tunnel Peer = "tunnel" // through a proxy: what comes from it may be the server's
)
