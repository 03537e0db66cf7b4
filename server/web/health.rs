//! `/healthz`: the process answers. Nothing else is asked, so that a slow database restarts no server.

use super::paths;

pub async fn show(_: paths::Health) -> &'static str {
    "ok\n"
}
