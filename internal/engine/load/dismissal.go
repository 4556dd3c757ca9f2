package load

import (
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/ring"
)

// dismissalOr is the reason that the peer sent when it ended the connection, or else err.
func (c *conn) dismissalOr(err error) error {
	if codec, can := c.codec.(proto.Dismisser); can {
		if f := codec.Dismissed(); f != nil {
			return f
		}
	}
	return err
}

// releaseCodec frees a connection's codec. It counts the peer's reason for the end, because the
// requests may be answered on another connection and then show nothing of it.
func (w *worker) releaseCodec(c *conn) {
	if err := c.dismissalOr(nil); err != nil {
		w.account.ended.CountFailure(loadresult.Protocol, ring.Addr{}, err)
	}
	c.codec, c.borrower = nil, nil
}
