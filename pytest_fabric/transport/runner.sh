# The node runner: reads jobs from its standard input, runs many at once, answers with frames.
#
# Sent as the command of one SSH channel, as `sh -c THIS pytest-fabric-runner TOKEN PATH HOLDER`, so
# nothing is written to the node. HOLDER (run, user, host) is there to be seen in the argument
# vector. Works in dash, bash and busybox sh. See frames.py and jobs.py for the two directions.
#
# Comments, blank lines and indentation are stripped and the lines joined before it is sent (a
# newline or `!x` in a word would break a csh log-in shell). So: no here-documents, no word that
# spans lines, no comment behind code, `! ` only before a blank, and a case pattern on the line of
# its first command.

T=$1
PATH=${2:+$2:}$PATH:/usr/local/sbin:/usr/sbin:/sbin
LC_ALL=C
LANG=C
export PATH LC_ALL LANG
unset ENV BASH_ENV
umask 077
cd /
# 7 carries the frames; nothing else may reach that stream. What a log-in shell has left open of the
# numbers that are used here must not be taken for ours.
exec 7>&1 >/dev/null 2>&1 4>&- 5>&- 9>&-

# Words that a job may start with besides programs, for this shell and for those of `collect`.
lib='have() { for n; do command -v "$n"; done; return 0; }; '
lib="$lib"'usable() { for n; do r=- w=-; [ -r "$n" ] && r=r; [ -w "$n" ] && w=w; printf "%s\n" "$r$w $n"; done; }; '
lib="$lib"'mark() { printf "\n%s\n" "$T $*"; }; '
lib="$lib"'section() { mark section $1; mark section $1 >&2; shift; "$@"; mark status $?; }; '
eval "$lib"

now() { IFS=". " read -r s x y </proc/uptime; now=$((s * 100 + ${x#0})); }
nap() { sleep 0.05 || sleep 1; }

# 8 is a pipe that holds one line: whoever has read it may write a frame. No lock to be left
# behind, and no process to be started for it.
for dir in /dev/shm "${TMPDIR:-/tmp}" /var/tmp; do [ -d "$dir" ] && [ -w "$dir" ] && break; done
dir=$dir/.pytest-fabric-$T
mkfifo "$dir" && exec 8<>"$dir" || { echo "pytest-fabric: cannot write to ${dir%/*}" >&7; exit 1; }
rm -f "$dir"
echo >&8
take() { until read -r x <&8; do :; done; }
say() { take; printf "%s\n" "$T $1" >&7; printf %s "$2" >&7; echo >&8; }

# timeout(1) of coreutils gives each job a process group and ends all of it. Others do not, and
# their helper process would keep the lease: then setsid gives the group and we look at the clock.
read -r x x x x own x </proc/self/stat
set -- "$1" "$2" "$3" $(timeout -k 1 9 cat /proc/self/stat)
bound= group=
if [ "${8:-$own}" != "$own" ]; then bound="timeout -k 5"; else group=$(command -v setsid); fi

# What follows runs in a subshell per job: t is the job's process, c is set when it must end.

hit() { kill -$1 -$t || kill -$1 $t; }
refuse() { printf "%s\n" "pytest-fabric: $2" >&5; st=$1; exit; }

# Who has a lock on the lease file, in one line: processes that have it open are found through
# fdinfo (our own, or all as root), else the process that took it through /proc/locks; else all that
# can be said is who has a runner here.
holder() {
who= by=
set -- $(ls -Lid "$lease")
lock="FLOCK .*:${1:-none} 0 EOF"
set -- $(grep -lsE "$lock" /proc/[0-9]*/fdinfo/*)
[ $# = 0 ] && set -- $(grep -E "$lock" /proc/locks) && set -- "/proc/${5:-none}/"
now
for f; do
p=${f#/proc/}
p=${p%%/*}
a=$(tr "\0\n" "  " </proc/$p/cmdline)
case $a in
"") continue ;;
*pytest-fabric-runner*) by=", for $(last $p)" ; continue ;;
timeout*) [ -n "$who" ] && continue ;;
esac
read -r f </proc/$p/stat
set -- ${f##*) }
who="$(stat -c %U /proc/$p), pid $p, since $(((now - ${20}) / 100)) s: ${a% }"
done
[ "$who" ] || for f in $(grep -ls pytest-fabric-runner /proc/[0-9]*/cmdline); do
grep -qs $T $f && continue
a=$(last ${f%/*})
case $by in
*"$a"*) ;;
*) by="$by; a runner is here for $a" ;;
esac
done
printf "%s\n" "${who:-another process}$by"
}
last() { tr "\0" "\n" </proc/${1#/proc/}/cmdline | tail -n 1; }

listening() { grep -qsE "^ *[0-9]+: [0-9A-F]+:$hex [0-9A-F:]+ 0A " /proc/net/tcp /proc/net/tcp6; }

# Sends the end of the job, whatever ended it. The lease is given back before that is said.
finish() {
trap "" TERM
exec 9<&-
[ -e "$out" ] || [ -e "$err" ] && rm -f "$out" "$err"
o=0 e=0 cut=0
[ -s /proc/self/fd/4 ] && o=$(wc -c </proc/self/fd/4)
[ -s /proc/self/fd/5 ] && e=$(wc -c </proc/self/fd/5)
[ $o -gt $cap ] && o=$cap cut=1
[ $e -gt $cap ] && e=$cap cut=1
# bash knows no status of what ended while a signal came.
case $st in [0-9]|[0-9][0-9]|[0-9][0-9][0-9]) ;; *) st=- ;; esac
take
echo "$T end $id $why $st $((o)) $((e)) $cut" >&7
[ $o -gt 0 ] && head -c $((o)) /proc/self/fd/4 >&7
[ $e -gt 0 ] && head -c $((e)) /proc/self/fd/5 >&7
echo >&8
}

# Ends the job: TERM, after 2 s KILL; a process that hangs in the kernel is left, and named.
stop() {
hit TERM
nap
# A second time: the first may have met the shell that was about to become the tool.
hit TERM
now
end=$((now + 200))
while [ -d /proc/$t ] && [ $now -lt $end ]; do nap; now; done
hit KILL
end=$((now + 100))
while [ -d /proc/$t ] && [ $now -lt $end ]; do nap; now; done
}

# What the job left in its process group is ended too, so that nothing keeps its lease.
sweep() {
kill -KILL -$t || return
now
end=$((now + 100))
while grep -qsE "^[0-9]+ \(.*\) [^ZX] [0-9]+ $t " /proc/[0-9]*/stat; do
[ $now -lt $end ] || { echo "pytest-fabric: a process of group $t does not end" >&5; return; }
nap
now
done
}

# job ID VERB DEADLINE CAP LEASE PORT ...: one job, in a subshell of its own.
job() {
t= c= why=exit st=- hex= id=$1 verb=$2 rest=$3
trap 'c=1 why=cancelled; [ "$t" ] && hit TERM' TERM
trap : PIPE
deadline=${rest%% *} rest=${rest#* }
cap=${rest%% *} rest=${rest#* }
lease=${rest%% *} rest=${rest#* }
port=${rest%% *} rest=${rest#* }
out=$dir.$id.o err=$dir.$id.e
set -C
if true >"$out"; then true >"$err" || { rm -f "$out"; out=; }; else out=; fi
if [ -z "$out" ]; then
x="pytest-fabric: no file can be made in ${dir%/*}"
say "end $id exit 126 0 ${#x} 0" "$x"
exit
fi
trap finish EXIT
exec 4>>"$out" 5>>"$err"
rm -f "$out" "$err"
set +C
# The cap cuts what is sent; a job that never stops writing must not fill the node besides.
ulimit -f $((cap / 64 + 2048))

if [ "$lease" != - ]; then
[ -r "$lease" ] || refuse 126 "cannot open $lease, so no lease can be taken"
exec 9<"$lease"
flock -n 9
case $? in
0) ;;
127) refuse 127 "flock is missing (package util-linux), so no lease can be taken" ;;
*) why=lease; printf "%s\n" "$lease is held by $(holder)" >&5; exit ;;
esac
fi
if [ $port != - ]; then
hex=$(printf %04X $port)
if listening; then why=port; exit; fi
fi

[ "$c" ] && exit
now
end=$((now + deadline * 100))
case $verb$rest in
collect*) do='exec ${bound:+$bound $deadline} $group sh -c "T=$T;$lib$rest"' ;;
runhave\ *|runusable\ *) do=$rest ;;
*) do="exec ${bound:+$bound $deadline} $group $rest" ;;
esac
eval "$do" </dev/null >&4 2>&5 4>&- 5>&- 7>&- 8>&- &
t=$!
[ "$c" ] && hit TERM
while [ -d /proc/$t ] && [ -z "$c" ] && [ "$hex" -o -z "$bound" ]; do
if [ "$hex" ] && listening; then hex=; say "ready $id"; fi
now
[ -z "$bound" ] && [ $now -ge $end ] && c=1 why=deadline
nap
done
[ "$c" ] || wait $t
st=$?
if [ "$c" ]; then stop; [ -d /proc/$t ] && st=- || { wait $t; st=$?; }; fi
now
case $st in
124|137) [ $why = exit ] && [ $now -ge $end ] && why=deadline ;;
esac
sweep
exit
}

# Until the shell of a job has set its trap, TERM would be lost, or end it without a word. It opens 4
# after that. Where that cannot be seen (a shell that may be run, but not read) it is given time.
armed() {
[ ! -d /proc/$1 ] || [ -r /proc/$1/fd ] || { nap; nap; nap; nap; }
until [ -e /proc/$1/fd/4 ] || [ ! -e /proc/$1/fd/7 ]; do nap; done
}

# `jobs` reaps what has ended; all holds id:pid of the jobs that have not, newest the last pid in it.
all= newest=
prune() {
jobs
set -- $all
all=
for x; do kill -0 ${x#*:} && all="$all $x"; done
}

# The dead man's switch: the controller is gone, so is everything that it started. Under sshd that is
# every process with this connection's own SSH_CONNECTION: commands on other channels, and what has
# left its job's group. (Not so for a runner that a user's own log-in has started.)
ours=
read -r x </proc/$PPID/comm
case $x in sshd*) ours=$SSH_CONNECTION ;; esac
tell() {
for x in $all; do [ $1 = KILL ] || armed ${x#*:}; kill -$1 ${x#*:}; done
[ "$ours" ] && for x in $(grep -lsF "SSH_CONNECTION=$ours" /proc/[0-9]*/environ); do
x=${x#/proc/}
x=${x%/*}
read -r y </proc/$x/stat
y=${y##*) }
y=${y#* * }
# Those of our own group are the shells of the jobs, which have to tidy up, and what they call.
case $1:${y%% *}:$x in TERM:$own:*|*:$$) ;; *) kill -$1 $x ;; esac
done
}
quit() {
trap "" TERM HUP INT
# The signal may have come between the start of a job and its place in the list.
x=$!
[ "$x" = "$newest" ] || all="$all -:$x"
prune
tell TERM
now
end=$((now + 600))
while [ "$all" ] && [ $now -lt $end ]; do nap; now; prune; done
tell KILL
exit
}
trap quit TERM HUP INT

printf "\n%s\n" "$T hello $$" >&7
while read -r verb id rest; do
prune
case $verb in
run|collect) job $id $verb "$rest" </dev/null & x=$! ; all="$all $id:$x" newest=$x ;;
cancel) for x in $all; do [ ${x%:*} = $id ] && armed ${x#*:} && kill -TERM ${x#*:}; done ;;
esac
done
quit
