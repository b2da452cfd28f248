#!/bin/sh
# An authority of its own and one certificate for scheduler, workers and runs: ca.pem, cert.pem and key.pem in a folder.
set -eu
folder=${1:?expected a folder}
umask 077
mkdir -p "$folder"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 3650 \
    -subj "/CN=sigstats authority" -keyout "$folder/ca.key" -out "$folder/ca.pem" 2>/dev/null
openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes \
    -subj "/CN=sigstats" -keyout "$folder/key.pem" -out "$folder/request.pem" 2>/dev/null
openssl x509 -req -in "$folder/request.pem" -CA "$folder/ca.pem" -CAkey "$folder/ca.key" -CAcreateserial \
    -days 825 -out "$folder/cert.pem" 2>/dev/null
rm -f "$folder/request.pem" "$folder/ca.srl"
chmod 644 "$folder/ca.pem" "$folder/cert.pem" "$folder/key.pem"
