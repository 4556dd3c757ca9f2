package bus

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// A Controller is the right to control the fleet of a hub that runs on this machine. Its file
// exists as long as the hub runs.
type Controller struct {
	Access
	PID        int      `json:"pid"`        // of the hub's process
	Advertised []string `json:"advertised"` // addresses at which agents reach the hub
}

func controllerFile(folder string) string { return filepath.Join(folder, "controller.json") }

// WriteController writes the controller's file into a fleet's folder.
func WriteController(folder string, c Controller) error {
	return WriteJSON(controllerFile(folder), c)
}

// RemoveController removes the controller's file. A missing file is no error.
func RemoveController(folder string) error {
	if err := os.Remove(controllerFile(folder)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// ReadController reads the controller's file of a fleet's folder. The error is ErrUnreachable if
// no hub runs.
func ReadController(folder string) (c Controller, err error) {
	err = ReadJSON(controllerFile(folder), &c)
	if errors.Is(err, fs.ErrNotExist) {
		return c, kindError{ErrUnreachable, fmt.Errorf("no fleet is up on this machine (nothing in %s): "+
			"start one with dyno fleet up, or name another's bus with --nats", folder)}
	}
	if err != nil {
		return c, kindError{ErrFile, fmt.Errorf("how to run this machine's fleet: %w", err)}
	}
	return c, nil
}

// Connect connects to the hub as the controller.
func (c Controller) Connect() (*Link, error) {
	l, err := c.Access.Connect("this machine's controller file", Settings{Name: ControllerName})
	if errors.Is(err, ErrUnreachable) {
		err = fmt.Errorf("%w; if dyno fleet up is not running, start it", err)
	}
	return l, err
}
