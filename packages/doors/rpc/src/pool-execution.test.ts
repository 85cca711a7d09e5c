/** Contract calls that the EVM aborts: a valid response, not a fault of the node. */
import { describe, expect, test } from 'vitest';
import { RpcCallError, UpstreamsExhaustedError } from './errors.ts';
import type { Scripted, ScriptedNode } from './testing/scripted-node.ts';
import { errorOf, faultsOf, node, startedPool, type TestPool } from './testing/test-pool.ts';

const CONTRACT = { to: `0x${'11'.repeat(20)}`, data: '0xdeadbeef' };
const UNKNOWN: Scripted = { error: { code: -32_603, message: 'frobnication is off', data: { reason: 'odd' } } };

/** Calls of the contract return this; all other calls return nothing. */
function contractIs(answer: Scripted): ScriptedNode['script'] {
  return ({ method, params }) => {
    if (method !== 'eth_call') return undefined;
    return isOfContract(params) ? answer : { result: '0x' };
  };
}

function isOfContract(params: readonly unknown[]): boolean {
  return JSON.stringify(params).includes(CONTRACT.to);
}

function requestedOf(nodes: readonly ScriptedNode[]): number[] {
  return nodes.map((one) => one.received.filter(({ params }) => isOfContract(params)).length);
}

async function failing(answer: Scripted, count: number): Promise<{ nodes: ScriptedNode[]; pool: TestPool }> {
  const nodes = await Promise.all(Array.from({ length: count }, () => node(100)));
  for (const one of nodes) one.script = contractIs(answer);
  return { nodes, pool: await startedPool(nodes) };
}

function expectUnblamed(pool: TestPool, nodes: readonly ScriptedNode[]): void {
  for (const { name } of nodes) expect(faultsOf(pool, name)).toEqual({});
  expect(pool.status().map(({ state }) => state)).toEqual(nodes.map(() => 'healthy'));
}

const WAYS: readonly [string, (pool: TestPool) => Promise<unknown>][] = [
  ['request', (pool) => pool.request('eth_call', [CONTRACT, 'latest'])],
  [
    'forward',
    (pool) =>
      pool.forward({
        method: 'eth_call',
        params: JSON.stringify([CONTRACT, 'latest']),
        nullable: false,
        block: null,
      }),
  ],
];

describe.each(WAYS)('%s', (_way, call) => {
  test('asks once about what the EVM ended, in whatever words', async () => {
    const { nodes, pool } = await failing({ error: { code: -32_000, message: 'invalid jump destination' } }, 2);
    const error = await errorOf(call(pool));
    expect(error).toMatchObject({ rpcCode: -32_000, rpcMessage: 'invalid jump destination', about: 'execution' });
    expect(requestedOf(nodes).reduce((sum, count) => sum + count)).toBe(1);
    expectUnblamed(pool, nodes);
  });

  test('asks one other node about a limit of the first', async () => {
    const { nodes, pool } = await failing(
      { error: { code: -32_000, message: 'execution aborted (timeout = 5s)' } },
      3,
    );
    expect(await errorOf(call(pool))).toMatchObject({ rpcMessage: 'execution aborted (timeout = 5s)' });
    expect(requestedOf(nodes).toSorted()).toEqual([0, 1, 1]);
    expectUnblamed(pool, nodes);
  });

  test('asks a node that is alone once about its limit', async () => {
    const { nodes, pool } = await failing({ error: { code: -32_000, message: 'out of gas' } }, 1);
    expect(await errorOf(call(pool))).toBeInstanceOf(RpcCallError);
    expect(requestedOf(nodes)).toEqual([1]);
    expectUnblamed(pool, nodes);
  });

  test.each([1, 2, 3])('believes an error of unknown words that comes twice, of %d nodes', async (count) => {
    const { nodes, pool } = await failing(UNKNOWN, count);
    expect(await errorOf(call(pool))).toMatchObject({
      rpcCode: -32_603,
      rpcMessage: 'frobnication is off',
      rpcData: { reason: 'odd' },
      about: 'execution',
    });
    expect(requestedOf(nodes).reduce((sum, requested) => sum + requested)).toBe(2);
    expectUnblamed(pool, nodes);
  });

  test('takes the value of the node that has one', async () => {
    const { nodes, pool } = await failing(UNKNOWN, 2);
    const [, second] = nodes;
    if (second !== undefined) second.script = contractIs({ result: '0x01' });
    for (let turn = 0; turn < 4; turn++) expect(await call(pool)).toMatchObject({ upstream: second?.name });
  });
});

test('a node that fails at every call says nothing of a contract', async () => {
  const nodes = [await node(100)];
  const pool = await startedPool(nodes);
  for (const one of nodes) one.script = ({ method }) => (method === 'eth_call' ? UNKNOWN : undefined);
  expect(await errorOf(pool.request('eth_call', [CONTRACT, 'latest']))).toBeInstanceOf(UpstreamsExhaustedError);
});
