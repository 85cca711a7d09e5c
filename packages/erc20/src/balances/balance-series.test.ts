/** Balances at every block of a span, against a chain of scripted tokens. */

import { silentLogger } from '@chainstead/core';
import { createSubjectProjections } from '@chainstead/sync';
import { timestampOf } from '@chainstead/testkit';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type BalanceSeries, moveAnchor, readBalanceSeries } from './balance-series.ts';
import { requestBalances } from './request-balances.ts';
import {
  ALICE,
  type BalanceStage,
  BOB,
  balanceStages,
  GOLD,
  gives,
  SILVER,
  sends,
  TIN,
} from './testing/balance-stage.ts';
import { LIAR } from './testing/token-chain.ts';

const stages = balanceStages(1_900_001);

async function readContracts(stage: BalanceStage, tokens: readonly (typeof GOLD)[] = [GOLD]): Promise<boolean> {
  const { nodeReads } = stage;
  const sources = {
    nodeReads,
    projections: createSubjectProjections(stages.database),
    waitMs: 15_000,
    liveMaxAgeMs: 0,
  };
  const holdings = tokens.flatMap((token) => [ALICE, BOB].map((account) => ({ account, token })));
  return requestBalances(sources, stage.chain, holdings, silentLogger());
}

async function seriesOf(stage: BalanceStage, start: number, end: number, token = GOLD): Promise<BalanceSeries> {
  const [series = { of: 'unread' }] = await readBalanceSeries(
    stages.database,
    stage.chain,
    [{ account: ALICE, token }],
    { start, end },
  );
  return series;
}

describe('balances over a span', () => {
  test('are known once a contract was read, before, within and after the span', async () => {
    const stage = await stages.open({ history: [[gives(GOLD, 500n)], []] });
    for (const moves of [[sends(GOLD, 120n)], [], [gives(GOLD, 20n), gives(GOLD, 1n)], [gives(SILVER, 5n)]])
      await stage.mine(moves);
    expect(await seriesOf(stage, 4, 6)).toEqual({ of: 'unread' });
    // The first read has nothing to compare with; the second one confirms the transfer between them.
    expect(await readContracts(stage)).toBe(true);
    expect(await seriesOf(stage, 4, 6)).toEqual({ of: 'moved' });
    await stage.mine([sends(GOLD, 1n)]);
    await readContracts(stage);
    expect(await stage.classes()).toEqual({ [GOLD]: 'sum' });
    for (let block = 8; block <= 10; block++) await stage.mine([gives(GOLD, BigInt(block))]);
    const at = (block: number) => ({
      ...{ block, since: timestampOf(block) },
      balance: stage.tokens.balance(GOLD, ALICE, block),
    });
    for (const [start, end, ...blocks] of [
      [2, 4, 3],
      [3, 5, 5],
      [3, 6, 5],
      [6, 9, 7, 8, 9],
      [8, 10, 9, 10],
      [10, 10],
    ] as const)
      expect(await seriesOf(stage, start, end)).toEqual({
        ...{ of: 'known', before: stage.tokens.balance(GOLD, ALICE, start), isOld: false },
        changes: blocks.map(at),
      });
  });

  test('are unknown where transfers are not indexed', async () => {
    const stage = await stages.open({ history: [[gives(GOLD, 500n)], [], []] });
    await stage.mine();
    await readContracts(stage);
    expect(await seriesOf(stage, 3, 4)).toMatchObject({ of: 'known', before: 500n });
    expect(await seriesOf(stage, 2, 4)).toEqual({ of: 'uncovered' });
    expect(await seriesOf(stage, 1, 2)).toEqual({ of: 'uncovered' });
    await stage.backfill();
    expect(await seriesOf(stage, 1, 4)).toMatchObject({ of: 'known', before: 500n });
    await stages.database.query('DELETE FROM sync_ranges WHERE chain_id = $1', [stage.chain.id]);
    expect(await seriesOf(stage, 3, 4)).toEqual({ of: 'uncovered' });
  });

  test('are never those of tokens that change without transfers', async () => {
    const stage = await stages.open();
    await stage.mine([gives(TIN, 5n), gives(LIAR, 5n)]);
    await readContracts(stage, [TIN, LIAR]);
    await stage.mine([], [{ token: TIN, wallet: ALICE, by: 3n }]);
    await stages.database.query(
      'UPDATE erc20_wallet_tokens SET anchored_at = anchored_at - make_interval(hours => 25)',
    );
    expect(await seriesOf(stage, 0, 2, TIN)).toMatchObject({ of: 'known', isOld: true });
    await readContracts(stage, [TIN, LIAR]);
    expect(await seriesOf(stage, 0, 2, TIN)).toEqual({ of: 'live' });
    expect(await seriesOf(stage, 0, 2, LIAR)).toEqual({ of: 'live' });
  });

  test('are unread again after a reorg of the block of the read', async () => {
    const stage = await stages.open();
    await stage.mine([gives(GOLD, 5n)]);
    await readContracts(stage);
    expect(await seriesOf(stage, 0, 1)).toMatchObject({ of: 'known', before: 0n });
    await stage.reorg(0, [[gives(GOLD, 7n)], []]);
    expect(await seriesOf(stage, 0, 2)).toEqual({ of: 'unread' });
    await readContracts(stage);
    expect(await seriesOf(stage, 0, 2)).toMatchObject({ of: 'known', changes: [{ block: 1, balance: 7n }] });
  });
});

describe('an anchor', () => {
  test('moved forward and backward has the balance of every block', () => {
    const deltas = fc.array(fc.bigInt(-50n, 100n), { minLength: 4, maxLength: 20 });
    fc.assert(
      fc.property(deltas, fc.nat(), fc.nat(), fc.nat(), (all, ...picks) => {
        const [anchor = 0, ...bounds] = picks.map((pick) => pick % all.length);
        const [start = 0, end = 0] = bounds.toSorted((a, b) => a - b);
        const balance = (block: number): bigint =>
          10_000n + all.slice(0, block + 1).reduce((sum, delta) => sum + delta, 0n);
        const between = (after: number, to: number): bigint => balance(to) - balance(after);
        const gap = anchor < start ? between(anchor, start) : anchor > end ? between(end, anchor) : 0n;
        const moves = all.flatMap((delta, block) =>
          block > start && block <= end ? [{ block, since: block, delta }] : [],
        );
        expect(moveAnchor({ block: anchor, value: balance(anchor) }, { start, end }, gap, moves)).toEqual({
          before: balance(start),
          changes: moves.map(({ block }) => ({ block, since: block, balance: balance(block) })),
        });
      }),
    );
  });

  test('that would fall below zero determines nothing', () => {
    const moves = [{ block: 5, since: 5, delta: -8n }];
    expect(moveAnchor({ block: 1, value: 7n }, { start: 2, end: 6 }, 0n, moves)).toBe(null);
  });
});
