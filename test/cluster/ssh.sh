# ssh.sh -- for scripts that `cluster` runs: an sshd on each host, and `ssh` that reaches them without a question.
#
# ssh_begin HOSTS... makes $dir, which the script removes.
#
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
ssh_begin() {
    dir=$(mktemp -d -p /tmp) # which all hosts share
    mkdir "$dir/ssh"
    for k in host user; do ssh-keygen -q -t ed25519 -N '' -f "$dir/ssh/$k"; done
    cat >"$dir/ssh/sshd_config" <<END
HostKey $dir/ssh/host
AuthorizedKeysFile $dir/ssh/user.pub
PermitRootLogin yes
PasswordAuthentication no
StrictModes no
UsePAM no
PidFile none
PrintMotd no
END
    cat >"$dir/ssh/config" <<END
IdentityFile $dir/ssh/user
IdentitiesOnly yes
StrictHostKeyChecking no
UserKnownHostsFile /dev/null
LogLevel ERROR
PasswordAuthentication no
END
    printf '#!/bin/sh\nexec /usr/bin/ssh -F %s/ssh/config "$@"\n' "$dir" >"$dir/ssh/ssh"
    chmod +x "$dir/ssh/ssh"
    PATH=$dir/ssh:$PATH
    export PATH
    for h in "$@"; do
        on $h mkdir -p /run/sshd
        on $h /usr/sbin/sshd -f "$dir/ssh/sshd_config"
    done
    for h in "$@"; do
        for _ in $(seq 100); do ssh $h true 2>/dev/null && break; sleep 0.1; done
        ssh $h true || { echo "no sshd answers on $h"; exit 1; }
    done
}
