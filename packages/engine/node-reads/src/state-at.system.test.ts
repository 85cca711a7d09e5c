import type { Chain } from '@chainstead/chains';
import { type Address, type Hash, type Hex, parseHash } from '@chainstead/core';
import type { UpstreamPool } from '@chainstead/rpc';
import { addressOf, type Devnet, exampleChain, startDevnet } from '@chainstead/testkit';
import { encodeFunctionData } from 'viem';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { stateAt } from './state-at.ts';
import { type AlteredNode, alterNode } from './testing/altered-node.ts';
import { deployKeeper, deployMulticall, type Keeper } from './testing/example-contracts.ts';
import { openPool } from './testing/state-stage.ts';

const WALLET = addressOf(0xa11ce);
const NOBODY = addressOf(0xdead);
const { signal } = new AbortController();

let devnet: Devnet;
let keeper: Keeper;
let chain: Chain;
let first: { number: number; hash: Hash };
let second: { number: number; hash: Hash };
let node: AlteredNode;
let pools: UpstreamPool[] = [];

beforeAll(async () => {
  devnet = await startDevnet({ chainId: 1 });
  const multicall = await deployMulticall(devnet);
  chain = exampleChain({ multicall3: { address: multicall, blockCreated: 0 } });
  keeper = await deployKeeper(devnet);
  await put(1n);
  first = await pay(5n);
  await put(2n);
  second = await pay(7n);
});
afterAll(() => devnet.stop());
beforeEach(async () => {
  node = await alterNode(devnet.url);
});
afterEach(async () => {
  await Promise.all(pools.map((pool) => pool.close()));
  pools = [];
  await node.close();
});

const put = (value: bigint) =>
  devnet.send({ address: keeper.address, abi: keeper.code.abi, functionName: 'put', args: [value] });

async function pay(value: bigint): Promise<{ number: number; hash: Hash }> {
  const { address, code } = keeper;
  const receipt = await devnet.send({ address, abi: code.abi, functionName: 'pay', args: [WALLET], value });
  return { number: Number(receipt.blockNumber), hash: parseHash(receipt.blockHash) };
}

async function open(...urls: string[]): Promise<UpstreamPool> {
  const pool = await openPool(chain, ...urls);
  pools.push(pool);
  return pool;
}

const dataOf = (functionName: string): Hex => encodeFunctionData({ abi: keeper.code.abi, functionName });
const word = (value: bigint): Hex => `0x${value.toString(16).padStart(64, '0')}`;
const callTo = (functionName: string, to: Address = keeper.address) => ({ to, data: dataOf(functionName) });

/** Whether a call names its block as EIP-1898 does. */
const isByHash = (params: readonly unknown[]): boolean => typeof params[1] === 'object';

describe('the state of a block', () => {
  test('is that of its hash, its number, or of the newest', async () => {
    const pool = await open(node.url);
    for (const [block, value, wei] of [
      [first, 1n, 5n],
      [{ number: first.number }, 1n, 5n],
      [second, 2n, 12n],
      ['latest', 2n, 12n],
    ] as const) {
      const state = stateAt(pool, chain, block);
      expect(await state.call(keeper.address, dataOf('value'), signal)).toBe(word(value));
      expect(await state.balance(WALLET, signal)).toBe(wei);
      expect(await state.balances([WALLET, NOBODY], signal)).toEqual([wei, 0n]);
    }
    expect(await stateAt(pool, chain, second).codes([NOBODY, keeper.address], signal)).toEqual([
      '0x',
      expect.stringMatching(/^0x60/),
    ]);
    expect(await stateAt(pool, chain, { number: 0 }).code(keeper.address, signal)).toBe('0x');
    expect(node.received.filter(({ method, params }) => method === 'eth_call' && isByHash(params))).toHaveLength(
      2,
    );
  });

  test('has nothing for what reverts, burns all gas, or is no contract', async () => {
    const state = stateAt(await open(node.url), chain, second);
    for (const [to, name] of [
      [keeper.address, 'refuse'],
      [keeper.address, 'burn'],
      [NOBODY, 'value'],
    ] as const)
      expect(await state.call(to, dataOf(name), signal)).toBeNull();
  });

  test('is asked of many contracts together; who burns the gas of the others spoils nothing', async () => {
    const burns = [callTo('burn'), callTo('burn'), callTo('burn')];
    const calls = [callTo('value'), callTo('refuse'), ...burns, callTo('value', NOBODY), callTo('value')];
    const expected = [word(1n), null, null, null, null, null, word(1n)];
    const pool = await open(node.url);
    const some = [callTo('value'), callTo('refuse'), callTo('value')];
    expect(await stateAt(pool, chain, first).callTogether(some, signal)).toEqual([word(1n), null, word(1n)]);
    // One together, and alone what came to nothing in it.
    expect(node.received.filter(({ method }) => method === 'eth_call')).toHaveLength(2);
    expect(await stateAt(pool, chain, first).callTogether(calls, signal)).toEqual(expected);
    const many = [...burns, ...Array.from({ length: 80 }, () => callTo('value'))];
    const before = node.received.length;
    expect(await stateAt(pool, chain, first).callTogether(many, signal)).toEqual(
      many.map((one) => (burns.includes(one) ? null : word(1n))),
    );
    expect(node.received.length - before).toBeLessThan(25);
    const without = { ...chain, multicall3: null };
    expect(await stateAt(pool, without, first).callTogether(calls, signal)).toEqual(expected);
    const young = { ...chain, multicall3: { address: NOBODY, blockCreated: first.number + 1 } };
    expect(await stateAt(pool, young, first).callTogether(calls, signal)).toEqual(expected);
    const absent = { ...chain, multicall3: { address: NOBODY, blockCreated: 0 } };
    expect(await stateAt(pool, absent, first).callTogether(calls, signal)).toEqual(expected);
  });
});

describe('upstreams that know no EIP-1898', () => {
  const refuse = (params: readonly unknown[]) =>
    isByHash(params)
      ? { error: { code: -32602, message: 'invalid argument 1: cannot unmarshal object' } }
      : undefined;

  test('are asked by number, once they have the block that is meant', async () => {
    node.alter = ({ method, params }) =>
      /^eth_(call|getBalance|getCode)$/.test(method) ? refuse(params) : undefined;
    const pool = await open(node.url);
    const state = stateAt(pool, chain, first);
    expect(await state.call(keeper.address, dataOf('value'), signal)).toBe(word(1n));
    expect(await state.balances([WALLET], signal)).toEqual([5n]);
    expect(node.received.filter(({ params }) => isByHash(params))).toHaveLength(1);
  });

  test('are not believed where they have another block there, before or after', async () => {
    for (const lie of [1, 2]) {
      let looks = 0;
      node.alter = ({ method, params }) => {
        if (method === 'eth_getBalance') return refuse(params);
        const isLook = method === 'eth_getBlockByNumber' && params[0] === `0x${first.number.toString(16)}`;
        if (!isLook || ++looks !== lie) return undefined;
        return { result: { number: params[0], hash: second.hash } };
      };
      const state = stateAt(await open(node.url), chain, first);
      await expect(state.balance(WALLET, signal)).rejects.toMatchObject({
        code: 'STATE_UNAVAILABLE',
        retryable: true,
      });
    }
    expect(await stateAt(await open(node.url, devnet.url), chain, first).balance(WALLET, signal)).toBe(5n);
  });
});

describe('a block whose state is not kept', () => {
  const PRUNED = {
    error: { code: -32000, message: 'missing trie node 1b3f (path ) state 0x1b3f is not available' },
  };

  test('is told from one that no node answers for', async () => {
    node.alter = ({ method }) => (method === 'eth_getBalance' || method === 'eth_call' ? PRUNED : undefined);
    const state = stateAt(await open(node.url), chain, first);
    const message = `Balances at block ${first.number} need an archive node`;
    const expected = { code: 'STATE_NOT_ARCHIVED', status: 404, message, details: { status: 'not-archived' } };
    await expect(state.balance(WALLET, signal)).rejects.toMatchObject(expected);
    await expect(state.call(keeper.address, dataOf('value'), signal)).rejects.toMatchObject(expected);
    const byNumber = stateAt(await open(node.url), chain, { number: first.number });
    await expect(byNumber.balance(WALLET, signal)).rejects.toMatchObject(expected);
    node.alter = ({ method }) =>
      method === 'eth_getBalance' ? { error: { code: -32603, message: 'oops' } } : undefined;
    await expect(state.balance(WALLET, signal)).rejects.toMatchObject({
      code: 'UPSTREAMS_EXHAUSTED',
      isPruned: false,
    });
    node.alter = ({ method }) =>
      method === 'eth_getBalance' ? { error: { code: -32000, message: 'header not found' } } : undefined;
    await expect(state.balance(WALLET, signal)).rejects.toMatchObject({
      code: 'UPSTREAMS_EXHAUSTED',
      isPruned: false,
    });
  });

  test('is asked of the upstream that keeps it', async () => {
    node.alter = ({ method }) => (method === 'eth_getBalance' || method === 'eth_call' ? PRUNED : undefined);
    const pool = await open(node.url, devnet.url);
    const state = stateAt(pool, chain, first);
    expect(await state.balances([WALLET, NOBODY], signal)).toEqual([5n, 0n]);
    expect(state.upstream).toBe(new URL(devnet.url).host);
    expect(await state.callTogether([callTo('value'), callTo('value')], signal)).toEqual([word(1n), word(1n)]);
  });

  test('is not thought gone while an upstream could not be asked', async () => {
    node.alter = ({ method }) => (method === 'eth_getBalance' ? PRUNED : undefined);
    const other = await alterNode(devnet.url);
    try {
      other.alter = ({ method }) =>
        method === 'eth_getBalance' ? { error: { code: -32603, message: 'oops' } } : undefined;
      const state = stateAt(await open(node.url, other.url), chain, first);
      await expect(state.balance(WALLET, signal)).rejects.toMatchObject({ code: 'UPSTREAMS_EXHAUSTED' });
    } finally {
      await other.close();
    }
  });
});

test('another upstream can be asked for what one has said', async () => {
  const pool = await open(node.url, devnet.url);
  const once = stateAt(pool, chain, first);
  expect(once.upstream).toBeNull();
  await once.balance(WALLET, signal);
  const { upstream } = once;
  if (upstream === null) throw new Error('Nobody answered');
  const again = stateAt(pool, chain, first, { notFrom: upstream });
  expect(await again.balance(WALLET, signal)).toBe(5n);
  expect([upstream, again.upstream].sort()).toEqual([new URL(node.url).host, new URL(devnet.url).host].sort());
});

test('calls that are made one by one tell whose answer each is, what reverts too', async () => {
  const pool = await open(node.url, devnet.url);
  const state = stateAt(pool, { ...chain, multicall3: null }, first);
  const answers = await state.fetchTogether([callTo('value'), callTo('refuse'), callTo('value')], signal);
  expect(answers.map(({ data }) => data)).toEqual([word(1n), null, word(1n)]);
  const names = [new URL(node.url).host, new URL(devnet.url).host];
  for (const { upstream } of answers) expect(names).toContain(upstream);
  const requested = node.received.filter(({ method }) => method === 'eth_call').length;
  expect(answers.filter(({ upstream }) => upstream === names[0]).length).toBeLessThanOrEqual(requested);
});

test('a block that a reorganisation has removed has no state, for now', async () => {
  const pool = await open(devnet.url);
  const { number, hash } = await pay(1n);
  await devnet.reorg(1);
  await expect(stateAt(pool, chain, { number, hash }).balance(WALLET, signal)).rejects.toMatchObject({
    code: 'UPSTREAMS_EXHAUSTED',
    retryable: true,
    isPruned: false,
  });
});
