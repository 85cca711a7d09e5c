import { type Chain, type ChainRegistry, createChainRegistry } from '@chainstead/chains';
import { silentLogger, systemClock } from '@chainstead/core';
import type { Database, DiskPlace } from '@chainstead/db';
import { createEgress } from '@chainstead/egress';
import { erc20Transfers } from '@chainstead/erc20/requests';
import type { ApiApp, ConfiguredKey, KeyScope } from '@chainstead/http';
import { createKeyStore, createLocalLimits, type KeyStore, type SharedLimits } from '@chainstead/http/server';
import { exampleApi } from '@chainstead/http/testing';
import { createPictureReader } from '@chainstead/nft';
import type { StreamOperations } from '@chainstead/streams';
import { type Closable, closeOf, createScratchDatabase, type ScratchDatabase } from '@chainstead/testkit';
import { type Console, type ConsoleOptions, createConsole } from '../console.ts';
import { openStreamOperations } from './open-stream-operations.ts';

/** The limit of an API process. */
const BODY_BYTES_MAX = 4_194_304;

/** Headers of requests from a console page. */
export const OWN_ORIGIN: Readonly<Record<string, string>> = {
  origin: 'http://localhost',
  'sec-fetch-site': 'same-origin',
};

/** A signed-in user. */
export interface Visitor {
  readonly key: string;
  readonly prefix: string;
  /** For the header `cookie`. */
  readonly cookie: string;
  /** The token in forms of the session. */
  readonly token: string;
}

/** The console with a separate database. */
export interface ConsoleStage extends Closable {
  readonly app: ApiApp;
  readonly console: Console;
  readonly keys: KeyStore;
  readonly database: Database;
  readonly scratch: ScratchDatabase;
  signIn(scopes?: readonly KeyScope[]): Promise<Visitor>;
  get(path: string, visitor?: Visitor, headers?: Readonly<Record<string, string>>): Promise<Response>;
  /** Sends a form as a console page does. */
  post(
    path: string,
    fields: Readonly<Record<string, string>>,
    visitor?: Visitor,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Response>;
}

export interface StageOptions {
  readonly configured?: readonly ConfiguredKey[];
  readonly sharedLimits?: SharedLimits;
  readonly scratch?: ScratchDatabase;
  /** The last wanted block of a chain. @default none */
  readonly endOf?: (name: string) => number | null;
  /** Default: on Ethereum, without known nodes. */
  readonly streams?: StreamOperations;
  /** Sources of the explorer. @default no routes, nodes without results, and pictures of public servers */
  readonly explorer?: Partial<ConsoleOptions['explorer']>;
  /** @default the known chains, unchanged */
  readonly registry?: ChainRegistry;
  /** The configuration's chains. @default Ethereum */
  readonly chains?: readonly Chain[];
  /** Of Aptos. @default none */
  readonly networks?: ConsoleOptions['aptos']['networks'];
  /** @default off */
  readonly sql?: ConsoleOptions['sql'];
  /** @default unknown */
  readonly disk?: DiskPlace;
  /** Wraps only the console's database, to count or fail its queries. */
  readonly wrap?: (database: Database) => Database;
  /** @default none is configured */
  readonly upstreams?: ConsoleOptions['upstreams'];
  /** @default has no chains */
  readonly nodeTest?: ConsoleOptions['nodeTest'];
}

export async function openConsoleStage(options: StageOptions = {}): Promise<ConsoleStage> {
  await using parts = new AsyncDisposableStack();
  const scratch = options.scratch ?? (await createScratchDatabase());
  if (options.scratch === undefined) parts.defer(() => scratch.drop());
  const { database } = scratch;
  const { configured = [] } = options;
  const { registry = createChainRegistry() } = options;
  const keys = createKeyStore({ database, configured, cacheMs: 1 });
  const streams = parts.adopt(openStreamOperations({ database, chains: [registry.get('eth')] }), (one) =>
    one.close(),
  );
  const egress = parts.adopt(createEgress({ allowPrivate: false }), (one) => one.close());
  const operators = await createConsole({
    database: options.wrap?.(database) ?? database,
    keys,
    configured,
    sharedLimits: options.sharedLimits ?? createUnlimited(),
    registry,
    streams: options.streams ?? streams.operations,
    chains: options.chains ?? [registry.get('eth')],
    datasets: [erc20Transfers],
    retentionOf: () => undefined,
    endOf: options.endOf ?? (() => null),
    aptos: { networks: options.networks ?? [], datasets: [] },
    upstreams: options.upstreams ?? [],
    nodeTest: options.nodeTest ?? { chains: [], run: async () => null },
    explorer: {
      routes: [],
      hasGraphql: false,
      placeOf: async () => undefined,
      hasCodeOf: async () => new Map(),
      nameServices: [],
      abiSource: null,
      pictures: createPictureReader({ egress, ipfsGateways: [], arweaveGateways: [], clock: systemClock }),
      ...options.explorer,
    },
    sql: options.sql ?? null,
    disk: options.disk ?? { diskBytes: null, folder: null },
    backfillProofOf: () => 'none',
    version: '0.0.0',
    logger: silentLogger(),
    clock: systemClock,
  });
  parts.defer(() => operators.close());
  const app = await exampleApi(database, options.explorer?.routes ?? [], {
    openRoutes: [operators.routes],
    bodyBytesMax: BODY_BYTES_MAX,
    chains: registry,
  });
  const get: ConsoleStage['get'] = async (path, visitor, headers = {}) =>
    app.request(path, { headers: { accept: 'text/html', ...cookieOf(visitor), ...headers } });
  const post: ConsoleStage['post'] = async (path, fields, visitor, headers = OWN_ORIGIN) =>
    app.request(path, {
      method: 'POST',
      body: new URLSearchParams({ ...(visitor !== undefined && { token: visitor.token }), ...fields }),
      headers: { accept: 'text/html', ...cookieOf(visitor), ...headers },
    });
  return {
    app,
    console: operators,
    keys,
    database,
    scratch,
    get,
    post,
    async signIn(scopes = ['admin']) {
      const { key, prefix } = await keys.create('Ann', new Set(scopes));
      const answer = await post('/console/sign-in', { key });
      if (answer.status !== 303)
        throw new Error(`Signing in was answered ${answer.status}: ${await answer.text()}`);
      const cookie = (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
      const page = await (await get('/console/sessions', { key, prefix, cookie, token: '' })).text();
      return { key, prefix, cookie, token: /name="token" value="([^"]+)"/.exec(page)?.[1] ?? '' };
    },
    ...closeOf(parts),
  };
}

/** A cookie with an invalid signature. */
export function forgedCookie(visitor: Visitor): string {
  const flipped = visitor.cookie.slice(-8, -7) === 'A' ? 'B' : 'A';
  return `${visitor.cookie.slice(0, -8)}${flipped}${visitor.cookie.slice(-7)}`;
}

function cookieOf(visitor: Visitor | undefined): Record<string, string> {
  return visitor === undefined ? {} : { cookie: visitor.cookie };
}

/** Tests sign in often. */
function createUnlimited(): SharedLimits {
  return { ...createLocalLimits(), spend: () => 0 };
}
