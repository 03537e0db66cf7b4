# Checks queries against the database of DATABASE_URL: `check_queries DIRECTORY CARGO…` runs a cargo command that
# compiles everything, and has sqlx write what it learns of each query into the directory.

check_queries() {
    local directory=$1
    shift
    mkdir -p "$directory"
    # Cargo knows neither the database nor the directory, so it would think that all is checked already.
    touch server/lib.rs server/main.rs tests/main.rs
    SQLX_OFFLINE=false SQLX_OFFLINE_DIR="$directory" "$@"
}
