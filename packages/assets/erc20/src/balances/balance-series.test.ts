/** Balances at every block of a span, against a chain of scripted tokens. */

import { type Address, silentLogger, waitingAtMost, ZERO_ADDRESS } from '@chainstead/core';
import { addressBytes, sql } from '@chainstead/db';
import { createSubjectProjections } from '@chainstead/sync/ingest';
import { addressOf, exampleChain, timestampOf } from '@chainstead/testkit';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type BalanceSeries, moveAnchor, readBalanceSeries } from './balance-series.ts';
import { type HoldingAt, readBalancesAround, WALK_MAX } from './balances-around.ts';
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
import { someOnChain, takeOnChain } from './testing/random-history.ts';
import { beginStoredChain, movedDatasets, storeFollowed } from './testing/stored-chain.ts';
import { createTokenChain, LIAR, type Move, type TokenChain } from './testing/token-chain.ts';

const stages = balanceStages(1_900_001);

async function readContracts(stage: BalanceStage, tokens: readonly (typeof GOLD)[] = [GOLD]): Promise<boolean> {
  const { nodeReads } = stage;
  const sources = {
    nodeReads,
    projections: createSubjectProjections(stages.database),
    liveMaxAgeMs: 0,
  };
  const holdings = tokens.flatMap((token) => [ALICE, BOB].map((account) => ({ account, token })));
  return waitingAtMost(15_000, () => requestBalances(sources, stage.chain, holdings, silentLogger()));
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
    await stages.database.query(sql`DELETE FROM sync_ranges WHERE chain_id = ${stage.chain.id}`);
    expect(await seriesOf(stage, 3, 4)).toEqual({ of: 'uncovered' });
  });

  test('are never those of tokens that change without transfers', async () => {
    const stage = await stages.open();
    await stage.mine([gives(TIN, 5n), gives(LIAR, 5n)]);
    await readContracts(stage, [TIN, LIAR]);
    await stage.mine([], [{ token: TIN, wallet: ALICE, by: 3n }]);
    await stages.database.query(
      sql`UPDATE erc20_wallet_tokens SET anchored_at = anchored_at - make_interval(hours => 25)`,
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

describe('balances around transactions', () => {
  const COIN = addressOf(0xc014);
  const isGiven = ({ from }: Move): boolean => from !== ALICE && from !== BOB;
  const someMoves = fc.array(
    fc
      .record({
        token: fc.constantFrom(GOLD, COIN),
        isCredit: fc.boolean(),
        value: fc.bigInt(0n, 9n),
        account: fc.constantFrom(ALICE, BOB),
        other: fc.constantFrom(ALICE, BOB, addressOf(0x111), ZERO_ADDRESS),
      })
      .map(({ token, isCredit, value, account, other }): Move => {
        const counterparty = token === GOLD && other === ZERO_ADDRESS ? BOB : other;
        return {
          token,
          value,
          ...(isCredit ? { from: counterparty, to: account } : { from: account, to: counterparty }),
        };
      }),
    { maxLength: 6 },
  );

  /** Two moves are one transaction. */
  function modelOf(
    tokens: TokenChain,
  ): readonly (HoldingAt & { readonly before: bigint; readonly after: bigint; readonly isMoved: boolean })[] {
    const held = new Map<string, bigint>();
    const balanceOf = (account: Address, token: Address) => held.get(`${account} ${token}`) ?? 0n;
    const numbers = Array.from({ length: tokens.head.number + 1 }, (_, block) => block);
    return numbers.flatMap((block) => {
      const { moves = [] } = tokens.block(block) ?? {};
      return [0, 1, 2, 3].flatMap((transactionIndex) => {
        const own = moves.slice(2 * transactionIndex, 2 * transactionIndex + 2);
        const holdings = [ALICE, BOB].flatMap((account) => [GOLD, COIN].map((token) => ({ account, token })));
        const before = holdings.map(({ account, token }) => balanceOf(account, token));
        for (const { token, from, to, value } of own) {
          held.set(`${from} ${token}`, balanceOf(from, token) - value);
          held.set(`${to} ${token}`, balanceOf(to, token) + value);
        }
        return holdings.map(({ account, token }, place) => ({
          ...{
            account,
            token,
            block,
            transactionIndex,
            before: before[place] ?? 0n,
            after: balanceOf(account, token),
          },
          isMoved: own.some(
            ({ token: moved, from, to, value }) =>
              moved === token && value > 0n && from !== to && [from, to].includes(account),
          ),
        }));
      });
    });
  }

  const aroundOf = (stage: Pick<BalanceStage, 'chain'>, places: readonly HoldingAt[], isSpread = false) =>
    readBalancesAround(stages.database, stage.chain, places, isSpread);

  /** A stage without nodes. @returns also a store of the contracts' values at the newest block */
  async function openStore(id: number, history: readonly (readonly Move[])[]) {
    const { database } = stages;
    const chain = exampleChain({ id, key: `store-${id}`, wrappedNative: COIN });
    const tokens = createTokenChain();
    for (const moves of history) tokens.mine(moves);
    const datasets = movedDatasets(chain, true);
    const firstFollowed = history.length === 0 ? 0 : tokens.head.number + 1;
    await beginStoredChain(database, chain, firstFollowed);
    if (firstFollowed === 0) await storeFollowed(database, chain, { blocks: [tokens.head], datasets });
    const mine: BalanceStage['mine'] = async (moves) => {
      const block = tokens.mine(moves);
      await storeFollowed(database, chain, { blocks: [block], datasets });
      return block;
    };
    const reorg: BalanceStage['reorg'] = async (ancestor, branch) => {
      tokens.dropAbove(ancestor);
      await storeFollowed(database, chain, {
        blocks: branch.map((moves) => tokens.mine(moves)),
        datasets,
        ancestor,
      });
    };
    const anchor = async (): Promise<void> => {
      for (const account of [ALICE, BOB])
        for (const token of [GOLD, COIN])
          await database.query(
            sql`INSERT INTO erc20_wallet_tokens (wallet, chain_id, token, anchor_block, anchor_value, anchored_at) VALUES (${addressBytes(account)}, ${id}, ${addressBytes(token)}, ${tokens.head.number}, ${`${tokens.balance(token, account, tokens.head.number)}`}, now())`,
          );
    };
    return { chain, tokens, firstFollowed, mine, reorg, anchor };
  }

  test('are those of the model once they are known, over random transfers, reads of contracts and reorgs', async () => {
    const runs = fc.record({
      history: fc.array(someMoves, { maxLength: 4 }),
      steps: fc.array(someOnChain(someMoves), { minLength: 1, maxLength: 8 }),
      readAfter: fc.nat(8),
      isSpread: fc.boolean(),
    });
    let chainId = 1_910_000;
    await fc.assert(
      fc.asyncProperty(runs, async ({ history, steps, readAfter, isSpread }) => {
        const store = await openStore(
          chainId++,
          history.map((moves) => moves.filter(isGiven)),
        );
        const { tokens, firstFollowed } = store;
        let readBlock: number | null = null;
        for (const [index, step] of steps.entries()) {
          await takeOnChain(store, step, { firstFollowed, isGiven });
          if (step.kind === 'reorg') readBlock = null;
          if (index !== readAfter || tokens.head.number < firstFollowed) continue;
          await store.anchor();
          readBlock = tokens.head.number;
        }
        const model = modelOf(tokens);
        const found = await aroundOf(store, model, isSpread);
        for (const [place, { before, after, isMoved, block }] of model.entries()) {
          const balances = found[place] ?? null;
          if (balances !== null) expect(balances).toEqual({ before, after, isMoved });
          else expect(firstFollowed > 0 && (readBlock === null || block < firstFollowed)).toBe(true);
        }
      }),
      { numRuns: 20 },
    );
  });

  test('are unknown for tokens that change without transfers, and further away than the most transfers', async () => {
    const stage = await stages.open();
    const busy = Array.from({ length: 50 }, () => gives(GOLD, 1n));
    await stage.mine([gives(TIN, 5n), gives(TIN, 1n), ...busy]);
    const within = WALK_MAX / 50;
    for (let block = 2; block <= 2 * within + 5; block++) await stage.mine(busy);
    const head = stage.tokens.head.number;
    const at = (block: number, token: Address = GOLD) => ({ account: ALICE, token, block, transactionIndex: 2 });
    const places = [at(within), at(within + 2), at(head), at(1, TIN)];
    const known = (block: number) => ({
      before: 50n * BigInt(block) - 46n,
      after: 50n * BigInt(block) - 44n,
      isMoved: true,
    });
    expect(await aroundOf(stage, places)).toMatchObject([known(within), null, null, { before: 6n, after: 6n }]);
    await readContracts(stage, [GOLD, TIN]);
    await stages.database.query(
      sql`INSERT INTO erc20_token_classes (token, chain_id, class, since_block) VALUES (decode(${TIN.slice(2)}, 'hex'), ${stage.chain.id}, 'live', 1)
       ON CONFLICT (token, chain_id) DO UPDATE SET class = 'live'`,
    );
    expect(await aroundOf(stage, places)).toMatchObject([known(within), null, known(head), null]);
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
