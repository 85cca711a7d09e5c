import { parseAddress } from '@chainstead/core';
import { expect, it } from 'vitest';
import { logsOf } from '../nodes/chain-source.ts';
import { createBenchChain } from './bench-chain.ts';

const SYNC = '0x1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1';
const SWAP = '0xd78ad95fa46c994b6551d0da85fc275fe613ce37657fb8d5e3d130840159d822';
const ANSWER = '0x0559884fd3a460db3073b7fc896cc77986f16e378210ded43186175bf646fc5f';
const pools = [1, 2, 3].map((number) => parseAddress(`0x${String(number).repeat(40)}`));
const aggregator = parseAddress(`0x${'a'.repeat(40)}`);

it('emits a Sync before each Swap, whose amounts lead to its reserves', () => {
  const market = { share: 0.5, pools, aggregator, reportEvery: 10 };
  const chain = createBenchChain({ blocks: 40, transactionsPerBlock: 5, logsPerTransaction: 4, market });
  const logs = [...chain.blocksIn({ from: 0, to: 40 })].flatMap(logsOf);
  const reserves = new Map(pools.map((pool): [unknown, bigint[]] => [pool, [10n ** 21n, 10n ** 21n]]));
  let trades = 0;
  for (const [place, log] of logs.entries()) {
    if (!isEvent(log, SWAP) || !reserves.has(log.address)) continue;
    const sync = logs[place - 1] ?? {};
    expect([sync.address, isEvent(sync, SYNC)]).toEqual([log.address, true]);
    const [in0 = 0n, in1 = 0n, out0 = 0n, out1 = 0n] = wordsOf(log);
    const [before0 = 0n, before1 = 0n] = reserves.get(log.address) ?? [];
    expect(wordsOf(sync)).toEqual([before0 + in0 - out0, before1 + in1 - out1]);
    reserves.set(log.address, wordsOf(sync));
    trades += 1;
  }
  expect(trades).toBe(logs.filter((log) => isEvent(log, SYNC)).length);
  expect(trades).toBeGreaterThan(200);
  expect(logs.filter((log) => isEvent(log, ANSWER)).map((log) => [log.address, Number(log.blockNumber)])).toEqual(
    [10, 20, 30, 40].map((block) => [aggregator, block]),
  );
});

function isEvent({ topics }: Readonly<Record<string, unknown>>, topic: string): boolean {
  return Array.isArray(topics) && topics[0] === topic;
}

function wordsOf({ data }: Readonly<Record<string, unknown>>): bigint[] {
  return (String(data).slice(2).match(/.{64}/g) ?? []).map((one) => BigInt(`0x${one}`));
}
