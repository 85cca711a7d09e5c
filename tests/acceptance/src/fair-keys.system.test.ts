/** One key at its limits with each kind of work: another key's requests and webhooks, and the head, continue. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { rawSql, sql } from '@chainstead/db';
import type { WebhookReceiver } from '@chainstead/testkit';
import { encodeAbiParameters, type Hex, keccak256, numberToHex, toHex } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { waitUntil } from './indexed-chain.ts';
import { arrivedOf, createStreamStage, STREAM_STAGE_KEY, type StreamStage } from './stream-stage.ts';

const CHAIN_ID = 1_337_041;
const LOUD_KEY = 'loud-key-0123456789';
const READER = `fair_${randomBytes(6).toString('hex')}`;
/** No chain stands longer, and no webhook of another key is later. */
const PATIENCE_MS = 10_000;
const BLOCKS = 8;
const LOUD_STREAMS = 50;
const FILTER_NODES = 999;
const TEXT_BYTES = 60_000;
const REQUESTS_AT_ONCE = 20;
/** Logs its input: the first word is the topic, the rest the data. */
const EMITTER: Hex = `0x6012600c60003960126000f3${'60203603806020600037600035906000a100'}`;
const TOPIC = keccak256(toHex('Note(string)'));
const NOTES = {
  includeContractLogs: true,
  allAddresses: true,
  topic0: ['Note(string)'],
  abi: [{ type: 'event', name: 'Note', inputs: [{ name: 'text', type: 'string', indexed: false }] }],
};

let stage: StreamStage;
let emitter: Hex;
let receiver: WebhookReceiver;
let quietStream: string;
/** Receivers of the loud key. They answer the test webhook of a new stream. */
const servers: Server[] = [];
let areSilent = false;

beforeAll(async () => {
  stage = await createStreamStage(CHAIN_ID, async ({ database, url }) => {
    await database.query(sql`CREATE ROLE ${rawSql(READER)} LOGIN PASSWORD 'secret' IN ROLE chainstead_reader`);
    return {
      API_KEYS: `${STREAM_STAGE_KEY},${LOUD_KEY}:data+streams`,
      RATE_LIMIT: '0',
      GRAPHQL: 'true',
      DATABASE_ANALYST_URL: Object.assign(new URL(url), { username: READER, password: 'secret' }).href,
    };
  });
  const { devnet, token } = stage;
  const hash = await devnet.client.sendTransaction({
    account: devnet.accounts[0] as Hex,
    data: EMITTER,
    chain: null,
  });
  const { contractAddress } = await devnet.client.waitForTransactionReceipt({ hash });
  emitter = contractAddress as Hex;
  receiver = await stage.receive();
  for (let at = 0; at < LOUD_STREAMS; at += 1) {
    const server = createServer((request, response) => {
      request.resume();
      if (!areSilent) response.end();
    });
    servers.push(server.listen(0, '127.0.0.1'));
    await once(server, 'listening');
  }
  quietStream = await stage.watch(receiver, { includeContractLogs: true }, [token.address]);
});
afterAll(async () => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
  await stage?.close();
});

async function loud(
  method: string,
  path: string,
  body?: unknown,
): Promise<readonly [status: number, text: string]> {
  const response = await fetch(stage.address + path, {
    method,
    headers: { 'x-api-key': LOUD_KEY, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return [response.status, await response.text()];
}

async function addStreams(options: object): Promise<void> {
  for (const [at, server] of servers.entries())
    expect(
      await loud('PUT', '/streams/evm', {
        webhookUrl: `http://127.0.0.1:${Object(server.address()).port}/`,
        description: `loud ${at}`,
        tag: 'loud',
        chainIds: [numberToHex(CHAIN_ID)],
        ...NOTES,
        ...options,
      }),
    ).toEqual([200, expect.stringContaining('"id"')]);
}

/** Blocks with a log for both keys: each must reach the quiet key before the next one. */
async function expectQuietKeyServed(): Promise<void> {
  const { devnet, token } = stage;
  const account = devnet.accounts[0] as Hex;
  const text = encodeAbiParameters([{ type: 'string' }], ['x'.repeat(TEXT_BYTES)]);
  for (let block = 0; block < BLOCKS; block += 1) {
    await devnet.client.sendTransaction({ account, to: emitter, data: `${TOPIC}${text.slice(2)}`, chain: null });
    const mint = { ...token, functionName: 'mint', args: [account, 1n] };
    const { transactionHash: hash } = await devnet.send(mint);
    const arrived = () => arrivedOf(stage, receiver, quietStream).some(({ body }) => body.includes(hash));
    await waitUntil(() => (arrived() ? null : `no webhook of ${hash}\n${stage.program.output()}`), PATIENCE_MS);
    expect((await stage.ask('GET', `/api/v2.2/${account}/erc20/transfers?chain=devnet&limit=5`)).status).toBe(
      200,
    );
    expect((await fetch(`${stage.address}/health`)).status).toBe(200);
  }
}

/** Requests of the loud key without a pause, while `work` runs. */
async function whileRequesting(request: () => Promise<unknown>, work: () => Promise<void>): Promise<void> {
  let isOver = false;
  const loop = async (): Promise<void> => {
    while (!isOver) await request();
  };
  const loops = Array.from({ length: REQUESTS_AT_ONCE }, loop);
  try {
    await work();
  } finally {
    isOver = true;
    await Promise.all(loops);
  }
}

// Invariant: FAIR-KEYS
test('streams with long filters over long texts hold up no webhook of another key', async () => {
  const values = Array.from({ length: FILTER_NODES }, (_, at) => ({ eq: ['text', `wanted ${at}`] }));
  await addStreams({ advancedOptions: [{ topic0: 'Note(string)', filter: { or: values } }] });
  await expectQuietKeyServed();
});

// Invariant: FAIR-KEYS
test('receivers that never answer hold up no webhook of another key', async () => {
  await addStreams({});
  areSilent = true;
  await expectQuietKeyServed();
});

// Invariant: FAIR-KEYS
test.each([
  [
    'invented wallets',
    () => loud('GET', `/api/v2.2/wallets/0x${randomBytes(20).toString('hex')}/history?chain=devnet`),
  ],
  [
    'invented tokens',
    () => loud('GET', `/api/v2.2/erc20/0x${randomBytes(20).toString('hex')}/price?chain=devnet`),
  ],
  [
    'large GraphQL results',
    () =>
      loud('POST', '/graphql', {
        query: `{ ${Array.from({ length: 9 }, (_, at) => `a${at}: analytics_logs(chain: "devnet", first: 1000) { nodes { data } }`).join(' ')} }`,
      }),
  ],
  [
    'previews of streams',
    () => loud('POST', `/streams/evm/${numberToHex(CHAIN_ID)}/block/5`, { tag: 'loud', ...NOTES }),
  ],
])('requests of one key for %s hold up no other key', async (_what, request) => {
  await whileRequesting(request, expectQuietKeyServed);
});
