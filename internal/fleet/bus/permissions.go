package bus

import "github.com/nats-io/jwt/v2"

// AgentPermissions returns what the agent of that name may do on the bus.
func AgentPermissions(name string) jwt.Permissions {
	says := jwt.StringList{"dyno.ev." + name + ".>", RenewSubject(name)}
	hears := jwt.StringList{"dyno.cmd.all.>", "dyno.cmd." + name + ".>", InboxPrefix(name) + ">"}
	return jwt.Permissions{Pub: jwt.Permission{Allow: says}, Sub: jwt.Permission{Allow: hears}}
}

// JoinPermissions returns what the holder of the token of that ID may do.
func JoinPermissions(id string) jwt.Permissions {
	return jwt.Permissions{
		Pub: jwt.Permission{Allow: jwt.StringList{JoinSubject(id)}},
		Sub: jwt.Permission{Allow: jwt.StringList{InboxPrefix(id) + ">"}},
	}
}

// ControllerPermissions returns what the controller may do.
func ControllerPermissions() jwt.Permissions {
	all := jwt.StringList{"dyno.>", InboxPrefix(ControllerName) + ">"}
	return jwt.Permissions{Pub: jwt.Permission{Allow: all}, Sub: jwt.Permission{Allow: all}}
}

// InboxPrefix returns the prefix of the subjects on which a name gets replies.
func InboxPrefix(name string) string { return inboxRoot + name + "." }
