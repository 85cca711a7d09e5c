import { type Address, createMetricsRegistry, silentLogger, systemClock } from '@chainstead/core';
import { ALL_SCOPES, createOnDemandBudget } from '@chainstead/http';
import {
  type ApiServer,
  createByteBudget,
  createKeyStore,
  createRawGate,
  serveApi,
} from '@chainstead/http/server';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import { openStateStage, type StateStage } from '@chainstead/node-reads/testing';
import { createUpstreamPool } from '@chainstead/rpc/pool';
import { type Closable, closeOf, type Moralis, startOfficialSdk } from '@chainstead/testkit';
import type { Abi } from 'viem';
import { createGateway, type Gateway } from '../../index.ts';
import { contractFunctionRoute } from '../contract-function-route.ts';
import { tokenAllowanceRoute } from '../token-allowance-route.ts';
import { compileExample } from './example-contract.ts';

/** The route behind a real socket, over a gateway whose node is a devnet that a test may alter. */
export interface ContractStage extends Closable {
  readonly stage: StateStage;
  /** The example contract. */
  readonly address: Address;
  readonly abi: Abi;
  readonly sdk: Moralis;
  /** URL of the API. */
  readonly url: string;
  readonly settings: ContractStageSettings;
  /** What the route answers. @param body instead of one that is made of the next two */
  run(functionName: string, options?: RunOptions): Promise<Answered>;
}

/** What tests change while the route is served. */
export interface ContractStageSettings {
  maxCalls: number;
  perKey: number;
}

export interface RunOptions {
  readonly params?: unknown;
  readonly abi?: unknown;
  readonly body?: string;
  /** Further parameters of the query. */
  readonly query?: string;
  readonly address?: string;
}

export interface Answered {
  readonly status: number;
  readonly body: unknown;
  readonly headers: Headers;
}

const HOST = '127.0.0.1';
/** Outlasts every test: of what was spent nothing comes back while a machine stalls. */
const WINDOW_SECONDS = 4_000;

/** @param calls how many a key may make altogether */
export async function openContractStage(calls = 40_000): Promise<ContractStage> {
  await using parts = new AsyncDisposableStack();
  const stage = parts.adopt(await openStateStage(), (one) => one.close());
  const contract = await compileExample();
  const address = await stage.devnet.deploy(contract);
  const settings = { maxCalls: 10_000, perKey: 100 };
  const { gateway, closeGateway } = openGateway(stage, calls);
  parts.defer(closeGateway);
  const options = { call: gateway.call, budget: createOnDemandBudget(settings) };
  const routes = [contractFunctionRoute(options), tokenAllowanceRoute(options)];
  const api = await exampleApi(stage.scratch.database, routes, { bodyBytesMax: 4_194_304 });
  const server: ApiServer = parts.adopt(await serveApi(api, { host: HOST, port: 0 }), (one) => one.close());
  const { Moralis: sdk } = await startOfficialSdk({ apiKey: EXAMPLE_KEY, address: server.url });
  return {
    ...{ stage, address, sdk, settings, url: server.url },
    abi: contract.abi,
    async run(functionName, options = {}) {
      const { query = '', abi = contract.abi, params } = options;
      const name = encodeURIComponent(functionName);
      const answer = await fetch(
        `${server.url}/api/v2.2/${options.address ?? address}/function?function_name=${name}${query}`,
        {
          method: 'POST',
          headers: { 'x-api-key': EXAMPLE_KEY, 'content-type': 'application/json' },
          body: options.body ?? JSON.stringify({ abi, params }),
        },
      );
      return { status: answer.status, body: await answer.json(), headers: answer.headers };
    },
    ...closeOf(parts),
  };
}

function openGateway(
  { chain, node, scratch }: StateStage,
  calls: number,
): { readonly gateway: Gateway; closeGateway(): Promise<void> } {
  const { database } = scratch;
  const logger = silentLogger();
  const metrics = createMetricsRegistry();
  const pool = createUpstreamPool({
    chain,
    upstreams: [{ url: node.url }],
    logger,
    metrics,
    limits: { rounds: 2, deadlineMs: 20_000, backOffMaxMs: 100, breakerOpenMs: 40, breakerOpenMaxMs: 80 },
  });
  const keys = createKeyStore({ database, configured: [{ key: EXAMPLE_KEY, scopes: ALL_SCOPES }] });
  const gateway = createGateway({
    chains: [{ slug: 'eth', chain, pool, pinsHead: false, logRangeMax: 1_000, integrity: 'none' }],
    explainUnoffered: (slug) => `Chain ${slug} is not offered`,
    database,
    clientVersion: 'chainstead/test',
    keys,
    gate: createRawGate({ host: HOST, keys, cors: { origins: '*' }, logger, metrics }),
    limits: {
      bodyBytesMax: 100_000,
      bodies: createByteBudget(1_000_000),
      requestTimeoutMs: 30_000,
      weightPerSecond: null,
      callsPerSecond: new Map([['eth_call', calls / WINDOW_SECONDS]]),
      windowMs: WINDOW_SECONDS * 1_000,
      sockets: { socketsMax: 1, socketsPerKey: 1 },
    },
    logger,
    metrics,
    clock: systemClock,
  });
  return {
    gateway,
    async closeGateway() {
      await gateway.close();
      await pool.close();
    },
  };
}
