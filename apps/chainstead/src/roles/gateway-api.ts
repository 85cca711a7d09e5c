import { createGateway, type Gateway } from '@chainstead/gateway';
import { type BodyBudget, createRawGate, type KeyStore, type SharedLimits } from '@chainstead/http';
import { countAsked } from '../configuration/index.ts';
import { createUnofferedChainText } from '../unoffered-chain-text.ts';
import { openPool } from '../upstream-pools.ts';
import { VERSION } from '../version.ts';
import type { RoleContext } from './role.ts';

export interface GatewayApiOptions {
  readonly keys: KeyStore;
  /** Where calls are counted; shared with the API. */
  readonly sharedLimits: SharedLimits;
  /** Largest request body. Bytes. */
  readonly bodyBytesMax: number;
  /** What bodies may take all together; shared with the API. */
  readonly bodies: BodyBudget;
  /** For one request, all its calls together. Milliseconds. */
  readonly requestTimeoutMs: number;
}

/** The JSON-RPC gateway of the configured chains. Nothing is sent to a chain's upstreams before the first call to it. */
export function openGatewayApi(context: RoleContext, options: GatewayApiOptions): Gateway {
  const { configuration, database, logger, metrics, clock } = context;
  const { api, gateway: settings, redisUrl } = configuration;
  const chains = settings.chains.map((configured) => ({
    slug: configured.slug,
    chain: configured.chain,
    pool: openPool(configured, context),
    pinsHead: countAsked(configured.upstreams) > 1,
    logRangeMax: configured.logRangeMax,
    integrity: configured.integrity,
  }));
  const gateway = createGateway({
    chains,
    explainUnoffered: createUnofferedChainText({
      registry: configuration.chainRegistry,
      offered: chains,
      key: settings.chainsKey,
    }),
    database,
    ...(redisUrl !== null && { redisUrl }),
    clientVersion: `Chainstead/${VERSION}`,
    keys: options.keys,
    sharedLimits: options.sharedLimits,
    gate: createRawGate({ host: api.host, keys: options.keys, cors: { origins: api.corsOrigins }, logger, metrics }),
    limits: {
      bodyBytesMax: options.bodyBytesMax,
      bodies: options.bodies,
      requestTimeoutMs: options.requestTimeoutMs,
      weightPerSecond: settings.weightPerSecond,
      allCallsPerSecond: settings.allCallsPerSecond,
      callsPerSecond: settings.callsPerSecond,
      sockets: { socketsMax: settings.socketsMax, socketsPerKey: settings.socketsPerKey },
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
