#!/usr/bin/env bash
# The tests with editors, with the newest of them: `bash internal/e2e/sid.sh`.
#
# Debian's unstable has them. Its packages go into a folder of their own, and
# only the editors run there: the tests find them in PATH as they find those of
# this machine. It needs root, mmdebstrap, and a minute or more the first time.
# Settings, all optional:
#
#   SID     the folder (/var/tmp/tandem-sid); kept for the next time
#   MIRROR  a mirror of Debian (the one that mmdebstrap takes by itself)
set -eu -o pipefail
cd "$(dirname "$0")"
SID=${SID:-/var/tmp/tandem-sid}

if [ ! -e "$SID.complete" ]; then
  rm -rf "$SID"
  # A mirror may be a snapshot, which is past its date.
  mmdebstrap --variant=minbase --aptopt='APT::Install-Recommends "false"' --aptopt='Acquire::Check-Valid-Until "false"' \
    --include=neovim,hx,emacs-nox,vim-nox,vim-ale,util-linux,bsdutils sid "$SID" ${MIRROR:+"$MIRROR"}
  touch "$SID.complete"
fi

# What stands in for each editor: itself, in the folder, which has this
# machine's processes, devices, temporary files and repository in their places.
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
root=$(cd ../.. && pwd)
for tool in nvim hx emacs vim; do
  cat >"$bin/$tool" <<EOF
#!/bin/sh
exec unshare -m sh -c '
  for at in /proc /dev "\${TMPDIR:-/tmp}" "$root"; do
    mkdir -p "$SID\$at" && mount --rbind "\$at" "$SID\$at" || exit 1
  done
  exec chroot "$SID" /usr/bin/env -C "\$PWD" /usr/bin/$tool "\$@"
' $tool "\$@"
EOF
  chmod +x "$bin/$tool"
done

date -u '+%Y-%m-%d'
chroot "$SID" dpkg-query -W -f '${Package} ${Version}\n' neovim hx emacs-nox vim-nox vim-ale
PATH=$bin:$PATH CI=true go test -count=1 -v -tags sid -run '^(TestNeovim|TestEmacs|TestVim|TestHelix)$' "$@" .
