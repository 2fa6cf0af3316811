#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A job of Slurm: its daemons run here, with all their files in this test's directory,
# on the loopback address. apsmpi-run gives its variables to srun.
. "${top_srcdir:-.}/tests/e2e/lib.sh"

[ "$MPI" = mpich ] || skip_all 'srun --mpi=pmi2 starts ranks of MPICH'
PATH=$PATH:/usr/sbin:/sbin
for command in munged slurmctld slurmd srun sinfo; do
    command -v $command >commands ||
        skip_all "there is no $command (Debian's slurm-wlm and munge)"
done

SLURM_CONF=$tmp/slurm.conf
export SLURM_CONF
user=$(id -un) host=$(uname -n) port=$((20000 + $$ % 10000))
mkdir state spool
chmod 700 "$tmp"
cat >slurm.conf <<END
ClusterName=apsmpi
SlurmctldHost=$host(127.0.0.1)
SlurmUser=$user
SlurmdUser=$user
SlurmctldPort=$port
SlurmdPort=$((port + 1))
AuthType=auth/munge
AuthInfo=socket=$tmp/munge
CredType=cred/munge
StateSaveLocation=$tmp/state
SlurmdSpoolDir=$tmp/spool
SlurmctldPidFile=$tmp/slurmctld.pid
SlurmdPidFile=$tmp/slurmd.pid
SlurmctldLogFile=$tmp/slurmctld.log
SlurmdLogFile=$tmp/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/linear
NodeName=$host NodeAddr=127.0.0.1 CPUs=1
PartitionName=test Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END

# Ends the daemons, and then what the test's own trap removes.
stop()
{
    for daemon in slurmctld slurmd munged; do
        [ ! -s $daemon.pid ] || kill "$(cat $daemon.pid)"
    done
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        pgrep -F slurmd.pid >/dev/null 2>&1 || break
        sleep 0.5
    done
    rm -rf "$tmp"
}
trap stop EXIT

dd if=/dev/urandom of=key bs=64 count=1 2>dd.err
chmod 600 key
munged --force --key-file="$tmp/key" --socket="$tmp/munge" --seed-file="$tmp/seed" \
    --pid-file="$tmp/munged.pid" --log-file="$tmp/munged.log" >daemons 2>&1 &&
    slurmctld -c -i >>daemons 2>&1 && slurmd -c >>daemons 2>&1 ||
    skip_all "Slurm's daemons do not start here: $(tail -n 1 daemons)"
up=no
for _ in $(seq 60); do
    sinfo -h -o %T 2>sinfo.err | grep -q idle && { up=yes; break; }
    sleep 0.5
done
[ $up = yes ] ||
    skip_all "Slurm's node does not come up: $(tail -n 1 slurmd.log)"

policy good.yaml -t 'log: {file: log.csv, every: 1}' 'format: e4m3'
timed srun --mpi=pmi2 -n 3 -O "$probe" sums 2
check 'a job of srun without the library' lines 1 out '2 sums right'
timed "$top_builddir/scripts/apsmpi-run" --library "$library" -p good.yaml \
    srun --mpi=pmi2 -n 3 -O "$probe" sums 2
check 'apsmpi-run starts it' lines 1 out '2 sums right'
check '... of three ranks' has err ': 3 ranks on 1 node, '
check '... its calls are rewritten' rewritten 2
check '... and logged' whole_log log.csv
# shellcheck disable=SC2046 # one word
timed srun --mpi=pmi2 -n 2 -O $("$top_builddir/scripts/apsmpi-run" \
    --library "$library" -p good.yaml --print-env=slurm) "$probe" sums 2
check 'the option of --print-env=slurm rewrites a job, too' rewritten 2
finish
