#!/bin/sh
# An authority of its own and one certificate for scheduler, workers and runs:
#   make-certificates.sh FOLDER                   a new certificate, by the authority of the folder if it has one
#   make-certificates.sh FOLDER --new-authority   another authority, which every service and run must then be given
# The folder is the caller's alone and keeps the authority's key; containers mount the folder services in it (ca.pem,
# cert.pem, key.pem). They run as a uid that need not be the caller's, so what they mount is readable to whoever reaches
# it: to them by their mount, and on this machine to the caller alone, since nobody else may enter the outer folder.
set -eu
folder=${1:?expected a folder}
umask 077
mkdir -p "$folder"
case $(ls -ld "$folder/.") in
    d???------*) ;;
    *) echo "$folder: others may enter it; expected a new folder, or one of mode 700" >&2; exit 2 ;;
esac
command -v openssl >/dev/null || { echo "openssl was not found; install it" >&2; exit 2; }
services=$folder/services
mkdir -p "$services"
if [ "${2:-}" = --new-authority ] && [ -e "$folder/ca.key" ]; then
    printf '%s' "Replace the authority of $folder? Services with its certificates refuse those of another. [y/N] " >&2
    read -r answer || answer=
    case $answer in
        y | Y | yes) rm -f "$folder/ca.key" ;;
        *) echo "$folder is left as it is" >&2; exit 1 ;;
    esac
fi
if [ ! -e "$folder/ca.key" ]; then
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 3650 \
        -subj "/CN=sigstats authority" -keyout "$folder/ca.key" -out "$services/ca.pem" 2>/dev/null
elif [ ! -e "$services/ca.pem" ]; then
    echo "$services/ca.pem is missing; restore it, or create another authority with --new-authority" >&2
    exit 2
fi
openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes \
    -subj "/CN=sigstats" -keyout "$folder/key.pem" -out "$folder/request.pem" 2>/dev/null
openssl x509 -req -in "$folder/request.pem" -CA "$services/ca.pem" -CAkey "$folder/ca.key" \
    -CAserial "$folder/ca.srl" -CAcreateserial -days 825 -out "$folder/cert.pem" 2>/dev/null
mv "$folder/key.pem" "$folder/cert.pem" "$services"  # together, since each fits only the other
rm -f "$folder/request.pem" "$folder/ca.srl"
chmod 755 "$services"
chmod 644 "$services/ca.pem" "$services/cert.pem" "$services/key.pem"
