import type { Chain, ChainRegistry } from '@chainstead/chains';
import { createGateway, type Gateway } from '@chainstead/gateway';
import { type ByteBudget, createRawGate, type KeyStore, type SharedLimits } from '@chainstead/http/server';
import type { ForwardingPool } from '@chainstead/rpc';
import { type Configuration, closest, countRequested } from '../configuration/index.ts';
import { openPool } from '../session/upstream-pools.ts';
import { VERSION } from '../version.ts';
import { BODY_BYTES_MAX, REQUEST_TIMEOUT_MS } from './api-limits.ts';
import type { RoleContext } from './role.ts';

/** Blocks of one `eth_getLogs`. */
const LOG_RANGE_MAX = 10_000;

/** Calls no upstream of a chain before the first call to it. */
export function openGatewayApi(
  context: RoleContext,
  {
    keys,
    sharedLimits,
    bodies,
  }: { readonly keys: KeyStore; readonly sharedLimits: SharedLimits; readonly bodies: ByteBudget },
): Gateway {
  const { configuration, database, logger, metrics, clock } = context;
  const { api, gateway: settings } = configuration;
  const chains = settings.chains.map((configured) => ({
    slug: configured.slug,
    chain: configured.chain,
    pool: openGatewayPool(configured, context),
    pinsHead: countRequested(configured.upstreams) > 1,
    logRangeMax: LOG_RANGE_MAX,
    integrity: configured.integrity,
  }));
  const gateway = createGateway({
    chains,
    explainUnoffered: createUnofferedChainText(configuration.chainRegistry, chains, settings.chainsKey),
    database,
    clientVersion: `Chainstead/${VERSION}`,
    keys,
    sharedLimits,
    gate: createRawGate({ host: api.host, keys, cors: { origins: api.corsOrigins }, logger, metrics }),
    limits: {
      bodyBytesMax: BODY_BYTES_MAX,
      bodies,
      requestTimeoutMs: REQUEST_TIMEOUT_MS,
      ...settings.rateLimits,
      sockets: {
        socketsMax: Math.floor(api.connectionsMax / 2),
        socketsPerKey: Math.ceil(api.connectionsMax / 20),
      },
    },
    offersTraces: settings.offersTraces,
    logger,
    metrics,
    clock,
  });
  return {
    ...gateway,
    async close() {
      await gateway.close();
      await Promise.all(chains.map(({ pool }) => pool.close()));
    },
  };
}

type GatewayChain = Configuration['gateway']['chains'][number];

function openGatewayPool(configured: GatewayChain, context: RoleContext): ForwardingPool {
  const pool = openPool(configured, context);
  // Without nodes there is nothing to start, and each call names the reason.
  return configured.upstreams.length === 0 ? { ...pool, start: async () => undefined } : pool;
}

/** A message may repeat such a name, but no key in its place. */
const NAME = /^[A-Za-z0-9_%.-]{1,31}$/;
const EDITS_MAX = 2;

export function createUnofferedChainText(
  registry: Pick<ChainRegistry, 'find' | 'all'>,
  offered: readonly { readonly slug: string; readonly chain: Pick<Chain, 'key'> }[],
  key: string,
): (slug: string) => string {
  return (slug) => {
    const name = NAME.test(slug) ? slug : '…';
    const known = registry.find(slug.replaceAll('%20', ' '));
    if (known === null) {
      const names = registry
        .all()
        .flatMap((chain) => [chain.key, ...chain.apiNames, chain.gatewaySlug ?? chain.key]);
      const near = closest(slug.toLowerCase().slice(0, 64), names, slug.length < 5 ? 1 : EDITS_MAX);
      if (near !== null) return `There is no chain ${name}; did you mean ${near}?`;
      const slugs = offered.map((one) => one.slug).join(', ');
      return `There is no chain ${name}: ${slugs === '' ? 'none is offered here' : `offered here are ${slugs}`}`;
    }
    const elsewhere = offered.find(({ chain }) => chain.key === known.key);
    if (elsewhere !== undefined)
      return `Chain ${known.key} is at /${elsewhere.slug}/{apiKey} here, not at /${name}`;
    if (known.gatewaySlug === null) return `Chain ${known.key} has no JSON-RPC here`;
    return `Chain ${known.key} is not offered here: add it to ${key} (${key}=${known.key},…) and restart`;
  };
}
