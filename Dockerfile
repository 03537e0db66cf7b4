# gpuledger in a container, with PostgreSQL's programs: without settings it runs a private PostgreSQL in its volume.
# docker build -t gpuledger . && docker run -p 127.0.0.1:8080:8080 -v gpuledger:/var/lib/gpuledger gpuledger

FROM rust:1.95-slim-bookworm AS build
WORKDIR /source
COPY . .
RUN --mount=type=cache,target=/usr/local/cargo/registry --mount=type=cache,target=/source/target \
    cargo build --release --locked --bin gpuledger \
    && install -D target/release/gpuledger /built/gpuledger

FROM debian:bookworm-slim
# Debian's package makes and starts a cluster of its own unless it is told not to; we only want the programs.
# hadolint ignore=DL3008
RUN mkdir -p /etc/postgresql-common/createcluster.d \
    && echo "create_main_cluster = false" >/etc/postgresql-common/createcluster.d/gpuledger.conf \
    && apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates curl postgresql-15 tini \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --home-dir /var/lib/gpuledger --shell /usr/sbin/nologin gpuledger \
    && install -d -o gpuledger -g gpuledger -m 711 /var/lib/gpuledger
COPY --from=build /built/gpuledger /usr/local/bin/gpuledger

USER 10001
ENV GPULEDGER_DATA_DIR=/var/lib/gpuledger \
    GPULEDGER_LISTEN=0.0.0.0:8080 \
    GPULEDGER_LOG_FORMAT=json
VOLUME /var/lib/gpuledger
EXPOSE 8080
STOPSIGNAL SIGTERM
# The first start makes the database.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
    CMD ["curl", "--fail", "--silent", "--show-error", "--output", "/dev/null", "http://127.0.0.1:8080/readyz"]
# PostgreSQL's processes outlive who started them: the first process has to reap them.
ENTRYPOINT ["/usr/bin/tini", "--", "/usr/local/bin/gpuledger"]
CMD ["serve"]
