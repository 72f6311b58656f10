-- Makes the database and its two roles. Run it once with psql, as a role that may make both:
--   MALIPO_OWNER_PASSWORD=… MALIPO_PASSWORD=… \
--     psql "$ADMIN_URL" -v database=malipo -v owner=malipo_owner -v service=malipo -f roles.sql
-- PostgreSQL may log a statement that fails, with its password: if one does, set other passwords.
-- The release step connects as the owner, and makes the tables. The service and the command line
-- connect as the other role, which gets its rights on the tables from the release step.
\set ON_ERROR_STOP on
\getenv owner_password MALIPO_OWNER_PASSWORD
\getenv service_password MALIPO_PASSWORD
CREATE ROLE :"owner" LOGIN PASSWORD :'owner_password';
CREATE ROLE :"service" LOGIN PASSWORD :'service_password';
-- Only a superuser may give away a database without this.
GRANT :"owner" TO CURRENT_USER;
CREATE DATABASE :"database" OWNER :"owner";
REVOKE ALL ON DATABASE :"database" FROM PUBLIC;
GRANT CONNECT ON DATABASE :"database" TO :"service";
REVOKE :"owner" FROM CURRENT_USER;
