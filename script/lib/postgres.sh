# A throw-away PostgreSQL for scripts: `start_postgres` exports its DATABASE_URL, with all migrations run.
# It ends with the script that sourced this, even by kill -9, and nothing of it stays.

start_postgres() {
    local bin directory
    # The signal is for when this script is killed. PostgreSQL refuses to run as root.
    local as_postgres=(setpriv --pdeathsig=INT)
    if is_root; then as_postgres+=(--reuid=postgres --regid=postgres --clear-groups); fi

    bin=$(find_postgres)
    directory=$(mktemp -d /tmp/gpuledger-test.XXXXXX)
    trap 'stop_postgres "'"$directory"'"' EXIT
    if is_root; then chown postgres "$directory"; fi

    "${as_postgres[@]}" "$bin/initdb" --auth=trust --encoding=UTF8 --locale=C --lc-ctype=C.UTF-8 --username=gpuledger --no-sync \
        --pgdata="$directory/data" >"$directory/log"
    # Nothing in it outlives the script, so nothing in it needs to outlive a power cut.
    "${as_postgres[@]}" "$bin/postgres" -D "$directory/data" -k "$directory" -c listen_addresses= -c max_connections=200 \
        -c fsync=off -c full_page_writes=off -c synchronous_commit=off >>"$directory/log" 2>&1 &
    postgres_pid=$!
    await_postgres "$bin" "$directory"

    "$bin/createdb" --host="$directory" --username=gpuledger gpuledger
    export DATABASE_URL="postgres://gpuledger@localhost/gpuledger?host=$directory"
    run_migrations "$bin" "$directory"
    copy_for_tests "$bin" "$directory"
}

# In the order of their names, which is the order of the program, and noted where sqlx notes them.
run_migrations() {
    local migration name checksum
    ask_postgres "$1" "$2" gpuledger --command='create table _sqlx_migrations (
        version bigint primary key, description text not null, installed_on timestamptz not null default now(),
        success boolean not null, checksum bytea not null, execution_time bigint not null)'
    for migration in migrations/*.sql; do
        name=$(basename "$migration" .sql)
        checksum=$(sha384sum <"$migration")
        ask_postgres "$1" "$2" gpuledger --single-transaction --file="$migration" --command="insert into _sqlx_migrations
            values (${name%%_*}, replace('${name#*_}', '_', ' '), now(), true, '\\x${checksum%% *}', 0)"
    done
}

# PostgreSQL makes each new database after template1. With the migrations in it, a test's database is there in a third of
# the time, and sqlx finds nothing to do.
copy_for_tests() {
    local statement
    for statement in "alter database template1 is_template false" "drop database template1" \
        "create database template1 template gpuledger is_template true"; do
        ask_postgres "$1" "$2" postgres --command="$statement"
    done
}

ask_postgres() {
    local bin=$1 directory=$2 database=$3
    shift 3
    PGOPTIONS="--client-min-messages=warning" "$bin/psql" --host="$directory" --username=gpuledger --dbname="$database" \
        --no-psqlrc --quiet --set=ON_ERROR_STOP=1 "$@" >/dev/null
}

# The directory of PostgreSQL's programs: what GPULEDGER_PG_BIN says, or Debian's newest, or what is in PATH.
find_postgres() {
    local initdb
    initdb=$(ls -d "${GPULEDGER_PG_BIN:-/nowhere}/initdb" 2>/dev/null ||
        find /usr/lib/postgresql -path '*/bin/initdb' 2>/dev/null | sort -V | grep . | tail -n 1 ||
        command -v initdb) || return 1
    dirname "$initdb"
}

await_postgres() {
    until "$1/pg_isready" --quiet --host="$2"; do
        if ! kill -0 "$postgres_pid" 2>/dev/null; then
            echo "PostgreSQL did not start:" >&2
            cat "$2/log" >&2
            return 1
        fi
        sleep 0.05
    done
}

stop_postgres() {
    if [ -n "${postgres_pid:-}" ]; then
        kill -QUIT "$postgres_pid" 2>/dev/null || true
        wait "$postgres_pid" 2>/dev/null || true
    fi
    rm -rf "$1"
}

is_root() { [ "$(id -u)" = 0 ]; }
