/** Bodies that no client should send: a clear refusal for each, in time, and the key nowhere. */
import {
  createScriptedChain,
  createSeededRandom,
  type SeededRandom,
  serveScriptedChain,
} from '@chainstead/testkit';
import { expect, it, onTestFinished } from 'vitest';
import { GATEWAY_KEY, startGateway } from './gateway-stage.ts';

const CHAIN_ID = 31_343;
const BODIES = 2_000;
const AT_ONCE = 16;
/** Longer than any call takes, an answer after it is a hang. */
const HANG_MS = 20_000;

const VALID: readonly unknown[] = [
  { jsonrpc: '2.0', id: 1, method: 'eth_getBlockByNumber', params: ['0x1', true] },
  { jsonrpc: '2.0', id: 'abc', method: 'eth_getBlockByHash', params: [`0x${'ab'.repeat(32)}`, false] },
  { jsonrpc: '2.0', id: null, method: 'eth_getTransactionReceipt', params: [`0x${'ab'.repeat(32)}`] },
  { jsonrpc: '2.0', id: 2, method: 'eth_getTransactionByBlockNumberAndIndex', params: ['latest', '0x0'] },
  {
    jsonrpc: '2.0',
    id: 3,
    method: 'eth_getLogs',
    params: [{ fromBlock: '0x1', toBlock: '0x2', topics: [null, []] }],
  },
  {
    jsonrpc: '2.0',
    id: 4,
    method: 'eth_call',
    params: [{ to: `0x${'11'.repeat(20)}`, data: '0x' }, 'latest', {}],
  },
  { jsonrpc: '2.0', id: 5, method: 'eth_chainId' },
  [
    { jsonrpc: '2.0', id: 6, method: 'eth_blockNumber', params: [] },
    { jsonrpc: '2.0', id: 7, method: 'eth_getCode', params: [`0x${'11'.repeat(20)}`, { blockNumber: '0x1' }] },
  ],
];
const STRANGE: readonly unknown[] = [
  null,
  true,
  -1,
  Number.MAX_VALUE,
  1.5,
  '',
  '0x',
  '0x00',
  '-0x1',
  '0xzz',
  'latest\u0000',
  '\ud800',
  'x'.repeat(3_000),
  [],
  {},
  [[[[]]]],
  { constructor: { prototype: {} } },
  { blockHash: 1 },
  9_007_199_254_740_993n.toString(),
];

it('answers 2,000 mutated bodies with a refusal or a result, never a server error, a hang or the key', async () => {
  const chain = createScriptedChain({ seed: 9, chainId: CHAIN_ID });
  chain.mine(30);
  const node = await serveScriptedChain(chain);
  onTestFinished(() => node.close());
  const gateway = await startGateway({ chainId: CHAIN_ID, upstreams: [node.url] });
  onTestFinished(() => gateway.close());
  const random = createSeededRandom('gateway fuzz');
  const bodies = Array.from({ length: BODIES }, () => mutate(random)).values();
  const problems: string[] = [];
  const statuses = new Map<number, number>();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const body of bodies) {
        const response = await fetch(gateway.url, { method: 'POST', body, signal: AbortSignal.timeout(HANG_MS) });
        const text = await response.text();
        statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
        const problem = problemWith(response.status, text);
        if (problem !== null) problems.push(`${problem}: ${body.slice(0, 300)} → ${text.slice(0, 300)}`);
      }
    }),
  );
  expect(problems).toEqual([]);
  // Mutations that only ever hit one kind of answer would show little.
  expect([...statuses.keys()].toSorted()).toEqual([200, 400]);
  expect((await gateway.call('eth_blockNumber')).result).toBe(`0x${chain.head.toString(16)}`);
  expect(gateway.output()).not.toContain(GATEWAY_KEY);
  const metrics = await fetch(`${gateway.api}/metrics`);
  expect(await metrics.text()).not.toContain(GATEWAY_KEY);
});

function problemWith(status: number, text: string): string | null {
  if (status >= 500) return `status ${status}`;
  if (text.includes(GATEWAY_KEY)) return 'the key is in the answer';
  // A notification gets nothing back.
  if (text === '') return null;
  const answer: unknown = JSON.parse(text);
  const answers: unknown[] = Array.isArray(answer) ? answer : [answer];
  return answers.every(isAnswer) ? null : 'neither a JSON-RPC answer nor a message';
}

function isAnswer(answer: unknown): boolean {
  if (typeof answer !== 'object' || answer === null) return false;
  if ('message' in answer) return typeof answer.message === 'string';
  return 'jsonrpc' in answer && 'id' in answer && 'result' in answer !== 'error' in answer;
}

/** A valid body with some of its values, members or characters changed. */
function mutate(random: SeededRandom): string {
  const valid = random.pick(VALID);
  const text = JSON.stringify(random.chance(0.7) ? mutateValue(valid, random, 0) : valid) ?? '';
  return random.chance(0.4) ? mutateText(text, random) : text;
}

function mutateValue(value: unknown, random: SeededRandom, depth: number): unknown {
  if (depth > 0 && random.chance(0.15)) return random.pick(STRANGE);
  if (Array.isArray(value)) {
    const changed = value.filter(() => random.chance(0.95)).map((one) => mutateValue(one, random, depth + 1));
    return random.chance(0.1) ? [...changed, random.pick(STRANGE)] : changed;
  }
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value)
    .filter(() => random.chance(0.95))
    .map(([key, member]): [string, unknown] => [
      random.chance(0.03) ? random.hex(2) : key,
      mutateValue(member, random, depth + 1),
    ]);
  return Object.fromEntries(members);
}

function mutateText(text: string, random: SeededRandom): string {
  const at = random.integer(0, text.length);
  switch (random.integer(0, 4)) {
    case 0:
      return text.slice(0, at);
    case 1:
      return `${text.slice(0, at)}${random.pick(['"', '{', '}', '[', ']', ',', ':', '\\', '\u0000', '\ufeff', ' '])}${text.slice(at)}`;
    case 2:
      return `${text.slice(0, at)}${text.slice(at + random.integer(1, 10))}`;
    case 3:
      return `${text}${text}`;
    default:
      return `[${Array.from({ length: random.integer(1, 30) }, () => text).join(',')}]`;
  }
}
