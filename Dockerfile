# Chainstead in a container: the package that `npm run pack` makes, with its locked dependencies, as an ordinary user. It writes below
# /var/lib/chainstead and /tmp alone, so the root file system may be read-only:
#   docker run --read-only --tmpfs /tmp --cap-drop ALL --volume chainstead:/var/lib/chainstead --env HOST=0.0.0.0 --env API_KEYS=… --publish 127.0.0.1:8080:8080 chainstead
ARG NODE_VERSION=26.10.0

# The image with git, which lists the files of the package.
FROM node:${NODE_VERSION}-bookworm AS package
WORKDIR /build
COPY . .
RUN npm ci --no-audit --no-fund && git init --quiet && node scripts/pack.ts
# Optional dependencies stay: the embedded Postgres is one.
RUN npm install --prefix /app --no-audit --no-fund /build/build/chainstead-*.tgz

FROM node:${NODE_VERSION}-bookworm-slim AS program
# What is compiled once is kept below /tmp, as everything that is not data. The demo's tools have to be executable.
ENV NODE_ENV=production \
    DATA_DIR=/var/lib/chainstead \
    HOME=/tmp \
    XDG_CACHE_HOME=/var/lib/chainstead/cache \
    NODE_COMPILE_CACHE=/tmp/node-compile-cache
WORKDIR /app
RUN install --directory --owner=node --group=node --mode=0700 /var/lib/chainstead
COPY --from=package /app ./
USER node
VOLUME /var/lib/chainstead
EXPOSE 8080 9464
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=6 \
  CMD ["node", "node_modules/chainstead/bin/healthcheck.js"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "node_modules/chainstead/bin/chainstead.js"]
CMD ["start"]
