/** Paging through a node's account index, including pages without useful entries. */
import { type BlockRange, parseAddress } from '@chainstead/core';
import { type Devnet, startDevnet, startNodeProxy } from '@chainstead/testkit';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type NamedBlock, nextNamed } from './account-index.ts';
import { stageChain, stagePool } from './testing/wallet-stage.ts';

const CHAIN_ID = 31_341;
const ACCOUNT = parseAddress(`0x${'d1'.repeat(20)}`);
const HEAD = 40;

let devnet: Devnet;
beforeAll(async () => {
  devnet = await startDevnet({ chainId: CHAIN_ID });
  await devnet.mine(HEAD);
});
afterAll(() => devnet.stop());

interface Trace {
  readonly blockNumber: number;
  readonly transactionHash: string | null;
  readonly traceAddress: readonly number[];
  readonly action: { readonly value: string };
}

const reward = (blockNumber: number): Trace => ({
  ...{ blockNumber, transactionHash: null, traceAddress: [], action: { value: '0x1' } },
});
const moved = (blockNumber: number): Trace => ({
  ...{ blockNumber, transactionHash: `0x${'ab'.repeat(32)}`, traceAddress: [0], action: { value: '0x1' } },
});

/** Reads all blocks that `trace_filter` returns for a range, page by page, from a node with these traces. */
async function goThrough(received: readonly Trace[], range: BlockRange): Promise<readonly NamedBlock[]> {
  const proxy = await startNodeProxy(devnet.url, {
    alter({ method, params }, result) {
      if (method !== 'trace_filter') return result;
      const { fromBlock, toBlock, toAddress, count } = Object(params[0]);
      const isIn = ({ blockNumber }: Trace) => Number(fromBlock) <= blockNumber && blockNumber <= Number(toBlock);
      return toAddress === undefined ? [] : received.filter(isIn).slice(0, count);
    },
  });
  const pool = await stagePool(stageChain(CHAIN_ID), [proxy.url]);
  onTestFinished(async () => {
    await pool.close();
    await proxy.close();
  });
  const named: NamedBlock[] = [];
  for (let { from } = range; from <= range.to; ) {
    const requested = { account: ACCOUNT, range: { from, to: range.to } };
    const options = { signal: AbortSignal.timeout(20_000), count: () => undefined };
    const { searched, blocks } = await nextNamed(pool, 'trace_filter', requested, options);
    expect(searched.from).toBe(from);
    expect(searched.to).toBeGreaterThanOrEqual(from);
    named.push(...blocks);
    from = searched.to + 1;
  }
  return named;
}

const times = (count: number, trace: Trace): Trace[] => Array.from({ length: count }, () => trace);

test('a page of nothing but rewards is gone past', async () => {
  const rewards = Array.from({ length: 30 }, (_, block) => times(100, reward(block + 1))).flat();
  expect(await goThrough([...rewards, moved(35)], { from: 1, to: HEAD })).toEqual([
    { number: 35, mayMoveInside: true },
  ]);
});

test('a page that ends within a block names it once, with what its rest moves, and nothing after it is left out', async () => {
  const called: Trace = { ...moved(7), traceAddress: [] };
  const traces = [...times(900, moved(3)), ...times(300, called), moved(7), moved(8)];
  expect(await goThrough(traces, { from: 1, to: HEAD })).toEqual(
    [3, 7, 8].map((number) => ({ number, mayMoveInside: true })),
  );
});

test('a block that fills more than a page is taken to move coins inside', async () => {
  const called: Trace = { ...moved(7), traceAddress: [] };
  expect(await goThrough([...times(1_500, called), moved(9)], { from: 1, to: HEAD })).toEqual(
    [7, 9].map((number) => ({ number, mayMoveInside: true })),
  );
});
