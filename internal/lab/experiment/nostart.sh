# For scripts that install packages: while they run, no package starts its server, on a port that
# is not ours to take. A policy that the machine has already is put aside and comes back at the
# end, or with the next such script if this one is killed.
policy=/usr/sbin/policy-rc.d
aside=$policy.before-dyno

policy_is_ours() { grep -qs '^# of dyno' "$policy"; }

restore_policy() {
	! policy_is_ours || rm -f "$policy"
	[ ! -e "$aside" ] || mv "$aside" "$policy"
}

trap restore_policy EXIT
trap 'exit 1' HUP INT TERM
policy_is_ours || [ ! -e "$policy" ] || mv "$policy" "$aside"
printf '#!/bin/sh\n# of dyno: nothing starts while packages are installed\nexit 101\n' >"$policy"
chmod 755 "$policy"
