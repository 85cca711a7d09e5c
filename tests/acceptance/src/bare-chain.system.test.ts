/** Every route on a chain with no optional feature: no price feed, no pools, no traces, no proofs, no archive, no name service. */
import { startNodeProxy } from '@chainstead/testkit';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { EVENT } from './activity/activity-operations.ts';
import { buildScene, type HoldingsScene } from './assets/holdings-scene.ts';
import { type DevnetProgramStage, openDevnetProgramStage } from './devnet-program.ts';
import { waitUntil } from './indexed-chain.ts';
import { ERC20_NAME } from './web-page/sdk-requests.ts';

const CHAIN_ID = 1_337_044;
const KEY = 'bare-chain-key-0123456789';
/** What a request asks with is read in the background. */
const PATIENT = { timeout: 60_000, interval: 500 };
/** Most of a request is waiting for what it causes. */
const REQUESTS_AT_ONCE = 8;
const UNKNOWN_METHOD = { code: -32_601, message: 'the method does not exist/is not available' };
const PRUNED = { code: -32_000, message: 'missing trie node 1b (path )' };
/** Where the block of a call for state stands among its parameters. */
const TAG_PLACES: Readonly<Record<string, number>> = {
  ...{ eth_call: 1, eth_getBalance: 1, eth_getCode: 1, eth_getTransactionCount: 1, eth_getStorageAt: 2 },
};

/** Not of this chain, or not about data. */
const ELSEWHERE =
  /^\/(?:$|docs|openapi|metrics|health|ready|synced|coins|wallets\/coins|\{chain\}|history|historical|streams|stats|settings)|favicon/;

const operationShape = z.object({
  parameters: z
    .array(z.object({ name: z.string(), in: z.string(), required: z.boolean().optional() }))
    .default([]),
  responses: z.record(z.string(), z.unknown()),
});
const documentShape = z.object({ paths: z.record(z.string(), z.record(z.string(), operationShape)) });

const parts = new AsyncDisposableStack();
let stage: DevnetProgramStage;
let scene: HoldingsScene;
let address: string;
let transaction: string;

beforeAll(async () => {
  stage = parts.use(await openDevnetProgramStage(CHAIN_ID));
  const { devnet } = stage;
  scene = await buildScene(devnet, 0, 5);
  const head = await devnet.client.getBlock();
  transaction = String(head.transactions[0]);
  const isKept = (tag: unknown): boolean => {
    const { blockHash, blockNumber } = Object(tag);
    return ['latest', head.hash, `0x${head.number.toString(16)}`].includes(blockHash ?? blockNumber ?? tag);
  };
  const node = parts.adopt(
    await startNodeProxy(devnet.url, {
      refuse({ method, params }) {
        if (/^(?:debug|trace)_|^eth_getProof$/.test(method)) return UNKNOWN_METHOD;
        const place = TAG_PLACES[method];
        return place === undefined || isKept(params[place]) ? undefined : PRUNED;
      },
    }),
    (one) => one.close(),
  );
  const program = stage.start(KEY, {
    RPC_URLS_DEVNET: node.url,
    START_BLOCK_DEVNET: '0',
    ON_DEMAND_WAIT_MS: '2000',
    ON_DEMAND_CONCURRENCY_PER_KEY: '100000',
    ON_DEMAND_CALLS_PER_KEY: '1000000',
  });
  address = await program.url;
  await waitUntil(async () => ((await fetch(`${address}/synced`)).ok ? null : program.output()));
});
afterAll(() => parts.disposeAsync());

/** By the names of parameters. A path's `{address}` is a wallet, a token or a collection: each is tried. */
function valuesOf(subject: string): Readonly<Record<string, string>> {
  return {
    ...{ chain: `0x${CHAIN_ID.toString(16)}`, 'chains[]': `0x${CHAIN_ID.toString(16)}`, address: subject },
    ...{ token_address: scene.tokens[0], 'addresses[]': scene.tokens[0], addresses: scene.tokens[0] },
    ...{
      'wallet_addresses[]': scene.wallet,
      wallet_addresses: scene.wallet,
      'symbols[]': 'T0X0',
      symbols: 'T0X0',
    },
    ...{ token_id: '1', transaction_hash: transaction, block_number_or_hash: '1', date: '2024-01-31' },
    ...{ domain: 'vitalik.eth', function_name: 'name', topic0: `0x${'dd'.repeat(32)}` },
    ...{ owner_address: scene.wallet, spender_address: scene.cats, wallet_address: scene.wallet, traits: 'mood' },
  };
}

/** By the ends of paths. */
function bodyOf(path: string): unknown {
  if (path.endsWith('/function')) return { abi: [ERC20_NAME], params: {} };
  if (path.endsWith('/events')) return EVENT;
  if (path.endsWith('/getMultipleNFTs')) return { tokens: [{ token_address: scene.cats, token_id: '1' }] };
  return {};
}

test('no route fails but by the 501 that it documents', async () => {
  const requests = await listRequests();
  expect(requests.length).toBeGreaterThan(100);
  for (let at = 0; at < requests.length; at += REQUESTS_AT_ONCE) {
    const together = requests.slice(at, at + REQUESTS_AT_ONCE);
    await Promise.all(together.map((request) => vi.waitFor(() => expectFit(request), PATIENT)));
  }
});

interface BareRequest {
  readonly method: string;
  readonly target: string;
  readonly body: unknown;
  /** Whether the route documents 501. */
  readonly mayLack: boolean;
}

/** Each route about data, for each subject that its path may name, of the newest and of an early block. */
async function listRequests(): Promise<readonly BareRequest[]> {
  const { paths } = documentShape.parse(await (await fetch(`${address}/openapi.json`)).json());
  const requests: BareRequest[] = [];
  for (const [path, methods] of Object.entries(paths)) {
    if (ELSEWHERE.test(path)) continue;
    for (const [method, operation] of Object.entries(methods))
      for (const subject of path.includes('{address}') ? [scene.wallet, scene.tokens[0], scene.cats] : [''])
        for (const block of ['', '1']) {
          const values = { ...valuesOf(subject), ...(block !== '' && { to_block: block, block }) };
          const target = targetOf(path, operation, values);
          if (block !== '' && !/[?&](?:to_)?block=/.test(target)) continue;
          const mayLack = '501' in operation.responses;
          requests.push({ method: method.toUpperCase(), target, body: bodyOf(path), mayLack });
        }
  }
  return requests;
}

async function expectFit({ method, target, body, mayLack }: BareRequest): Promise<void> {
  const answer = await fetch(`${address}${target}`, {
    method,
    headers: { 'x-api-key': KEY, 'content-type': 'application/json' },
    ...(method === 'GET' ? {} : { body: JSON.stringify(body) }),
  });
  const isFit = answer.status < 500 || (answer.status === 501 && mayLack);
  expect([method, target, answer.status, isFit, await answer.text()]).toEqual([
    ...[method, target, answer.status, true, expect.anything()],
  ]);
}

function targetOf(
  path: string,
  { parameters }: z.infer<typeof operationShape>,
  values: Readonly<Record<string, string>>,
): string {
  const query = new URLSearchParams();
  let target = path.replaceAll(/\{(\w+)\}/g, (all, name: string) => values[name] ?? all);
  for (const { name, in: place, required } of parameters) {
    const value = values[name];
    const isChosen = required === true || ['chain', 'block', 'to_block'].includes(name);
    if (place === 'query' && value !== undefined && isChosen) query.set(name, value);
  }
  target += `?${query}`;
  return target;
}
