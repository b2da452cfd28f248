#!/bin/sh
# Runs a command of the image with its secrets, which come as files so that `docker inspect` does not show them, and with
# what was compiled with the image: Numba opens a cache only in a folder that it may write to.
set -eu
for name in PREFECT_API_AUTH_STRING PREFECT_SERVER_API_AUTH_STRING PREFECT_SERVER_DATABASE_PASSWORD; do
    eval "file=\${${name}_FILE:-}"
    if [ -n "$file" ]; then
        value=$(cat "$file")
        export "$name=$value"
        unset "${name}_FILE"
    fi
done
compiled=/opt/sigstats/compiled
if [ -n "${NUMBA_CACHE_DIR:-}" ] && [ -d "$compiled" ] && [ ! -e "$NUMBA_CACHE_DIR" ]; then
    cp -R "$compiled" "$NUMBA_CACHE_DIR"
fi
exec "$@"
