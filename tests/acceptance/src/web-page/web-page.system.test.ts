/** Clients in a web page, in Chromium, read what they read outside of a browser; pages that may not read get nothing. */
import {
  findChromium,
  freePort,
  type OfficialSdk,
  type Program,
  startOfficialSdk,
  startProgram,
  startWebhookReceiver,
  type WebhookReceiver,
} from '@chainstead/testkit';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { buildScene } from '../assets/holdings-scene.ts';
import { type DevnetProgramStage, openDevnetProgramStage } from '../devnet-program.ts';
import { waitUntil } from '../indexed-chain.ts';
import { type ClientPage, type ClientPageOptions, openClientPage } from './open-page.ts';
import { COIN_REQUESTS, evmRequests, type KnownToPage, type SdkRequest, streamRequests } from './sdk-requests.ts';

const CHAIN_ID = 1_337_043;
const KEY = 'web-page-key-0123456789';
/** What an application asks with is read in the background. */
/** Most of a request is waiting for what it causes. */
const REQUESTS_AT_ONCE = 8;
const PATIENT = { timeout: 60_000, interval: 500 };
/** The stage has no nodes for names, no Aptos and no sales; and the SDK can't show the response to a review. */
const WITHOUT_RESULT = [
  ...['getNFTContractSalePrices', 'getNFTSalePrices', 'resolveAddressToDomain', 'reviewContracts'],
  ...['resolveAddress', 'resolveDomain', 'resolveENSDomain', 'getLatestCoins', 'getCoinsBySymbolRange'],
  // The chain has no exchange.
  ...['getPairAddress', 'getPairPrice', 'getPairReserves', 'getTokenPrice'],
];

const parts = new AsyncDisposableStack();
let stage: DevnetProgramStage;
let receiver: WebhookReceiver;
let known: KnownToPage;
/** Addresses of APIs over one database: with a key, and without. */
let keyed: string;
let keyless: string;

const hasBrowser = findChromium() !== undefined;
if (!hasBrowser) process.stdout.write('NOT RUN: clients in a web page (no chromium on this machine)\n');

beforeAll(async () => {
  if (!hasBrowser) return;
  stage = parts.use(await openDevnetProgramStage(CHAIN_ID));
  receiver = parts.adopt(await startWebhookReceiver(), (one) => one.close());
  const scene = await buildScene(stage.devnet, 0, 5);
  const { transactions } = await stage.devnet.client.getBlock();
  known = { chain: `0x${CHAIN_ID.toString(16)}`, scene, transactionHash: String(transactions[0]) };
  const program = stage.start(KEY, {
    START_BLOCK_DEVNET: '0',
    ON_DEMAND_WAIT_MS: '10000',
    WEBHOOK_ALLOW_PRIVATE: '127.0.0.1/32',
  });
  keyed = await program.url;
  keyless = await startApi({}).url;
  await waitUntil(async () => ((await fetch(`${keyed}/synced`)).ok ? null : program.output()));
});
afterAll(() => parts.disposeAsync());

/** One more API over the stage's database. */
function startApi(environment: Readonly<Record<string, string>>): Program {
  return parts.use(
    startProgram(['start', '--roles', 'api'], {
      environment: {
        DATABASE_URL: stage.scratch.url,
        PORT: '0',
        CHAINS: 'devnet',
        CHAIN_ID_DEVNET: String(CHAIN_ID),
        RPC_URLS_DEVNET: stage.devnet.url,
        ON_DEMAND_WAIT_MS: '10000',
        LOG_LEVEL: 'warn',
        ...environment,
      },
    }),
  );
}

async function openPage(options: ClientPageOptions): Promise<ClientPage> {
  return parts.use(await openClientPage(options));
}

/** What a request comes to outside of a browser, as the page shows it. */
async function outcomeInNode({ Moralis }: OfficialSdk, { path, parameters, body }: SdkRequest): Promise<unknown> {
  const [product = '', group = '', name = ''] = path;
  const owner: unknown = Reflect.get(Reflect.get(Moralis, product), group);
  const method: unknown = Reflect.get(Object(owner), name);
  if (typeof method !== 'function') throw new Error(`The SDK has no ${path.join('.')}`);
  try {
    const answered = await method.call(owner, parameters, body);
    return { result: JSON.parse(JSON.stringify(answered?.toJSON?.() ?? answered?.raw ?? null)) };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

describe.skipIf(!hasBrowser).each([
  ['with a key', (): string => keyed],
  ['without keys', (): string => keyless],
])('a page of this machine and a server %s', (_about, addressOf) => {
  test('SDK: each operation comes to the same as outside of a browser', async () => {
    const address = addressOf();
    const sdk = await startOfficialSdk({ apiKey: KEY, address });
    const page = await openPage({ address, apiKey: KEY });
    const requests = [...evmRequests(sdk, known), ...COIN_REQUESTS];
    expect(requests.length).toBeGreaterThan(40);
    const failed: (string | undefined)[] = [];
    const compare = async (request: SdkRequest): Promise<void> => {
      const shown = await vi.waitFor(async () => {
        const outcome = await page.call('sdk', request.path, request.parameters, request.body ?? null);
        expect([request.path, outcome]).toEqual([request.path, await outcomeInNode(sdk, request)]);
        return outcome;
      }, PATIENT);
      if (!Object.hasOwn(Object(shown), 'result')) failed.push(request.path.at(-1));
    };
    for (let at = 0; at < requests.length; at += REQUESTS_AT_ONCE)
      await Promise.all(requests.slice(at, at + REQUESTS_AT_ONCE).map(compare));
    expect(failed.toSorted()).toEqual(WITHOUT_RESULT.toSorted());
  });

  test('viem over HTTP and over a WebSocket, and fetch', async () => {
    const address = addressOf();
    const page = await openPage({ address, apiKey: KEY });
    const block = { result: Number(await stage.devnet.client.getBlockNumber()) };
    expect(await page.call('blockNumber', 'http', `${address}/devnet/${KEY}`)).toEqual(block);
    expect(await page.call('blockNumber', 'socket', `${address.replace('http', 'ws')}/devnet/${KEY}`)).toEqual(
      block,
    );
    const headers = { 'x-api-key': KEY, 'x-of-the-application': '1' };
    for (const [path, status] of [
      [`/api/v2.2/erc20/metadata?chain=${known.chain}&addresses=${known.scene.tokens[0]}`, 200],
      ['/api/v2.2/no-such-route', 404],
      ['/api/v2.2/%zz', 400],
      ['/stats', 200],
    ] as const)
      expect(await page.call('read', `${address}${path}`, { headers })).toMatchObject({
        result: { status, requestId: expect.stringMatching(/./) },
      });
  });
});

describe.skipIf(!hasBrowser)('a page', () => {
  test('manages streams by the SDK', async () => {
    const page = await openPage({ address: keyed, apiKey: KEY });
    const { scene, chain } = known;
    const added = await page.call(
      'sdk',
      ['Streams', 'add'],
      {
        ...{ webhookUrl: `${receiver.url}/webhook`, description: 'from a page', tag: 'page', chains: [chain] },
        includeNativeTxs: true,
      },
      null,
    );
    expect(added).toMatchObject({ result: { id: expect.any(String) } });
    const { id } = Object(Object(added).result);
    for (const { path, parameters } of streamRequests(id, scene.wallet))
      expect([path, await page.call('sdk', path, parameters, null)]).toEqual([
        path,
        { result: expect.anything() },
      ]);
  });

  test('of another site reads what CORS_ORIGINS allows it, and nothing of a server without keys', async () => {
    const [port, otherPort] = [await freePort(), await freePort()];
    const host = 'shop.example';
    const listed = await startApi({ API_KEYS: KEY, CORS_ORIGINS: `http://${host}:${port}` }).url;
    const allowed = await openPage({ address: listed, apiKey: KEY, host, port });
    const other = await openPage({ address: listed, apiKey: KEY, host, port: otherPort });
    const block = { result: Number(await stage.devnet.client.getBlockNumber()) };
    const outcomes = async (page: ClientPage, address: string) => [
      await page.call('blockNumber', 'http', `${address}/devnet/${KEY}`),
      await page.call('blockNumber', 'socket', `${address.replace('http', 'ws')}/devnet/${KEY}`),
      await page.call('read', `${address}/api/v2.2/web3/version`, { headers: { 'x-api-key': KEY } }),
    ];
    const read = { result: { status: 200, requestId: expect.any(String), body: expect.anything() } };
    const refused = { error: expect.any(String) };
    expect(await outcomes(allowed, listed)).toEqual([block, block, read]);
    expect(await outcomes(other, listed)).toEqual([refused, refused, refused]);
    expect(await outcomes(allowed, keyless)).toEqual([refused, refused, refused]);
  });
});
