#!/bin/sh
# Makes the database and its two roles; their passwords are in the environment.
set -eu
psql -U postgres -d postgres -v database=malipo -v owner=malipo_owner -v service=malipo \
  -f /etc/malipo/roles.sql
