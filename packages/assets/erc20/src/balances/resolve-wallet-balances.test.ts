import { addressBytes, sql } from '@chainstead/db';
import { StateNotArchivedError } from '@chainstead/node-reads/requests';
import { addressOf, rpcError } from '@chainstead/testkit';
import { describe, expect, test, vi } from 'vitest';
import {
  ALICE,
  type BalanceStage,
  BOB,
  balanceStages,
  GOLD,
  gives,
  nameInList,
  SILVER,
  sends,
  TIN,
} from './testing/balance-stage.ts';
import { LIAR, type Move, NOBODY, SILENT } from './testing/token-chain.ts';
import { getWalletBalances } from './wallet-balances-statement.ts';

const stages = balanceStages(1_100_001);
const stageOf: typeof stages.open = (options) => stages.open(options);

const callsOf = ({ nodes }: BalanceStage): number => nodes.reduce((sum, { calls }) => sum + calls, 0);
const blocks = (count: number): readonly (readonly Move[])[] => Array.from({ length: count }, () => []);

describe('a wallet of which only the later blocks are indexed', () => {
  test('has what its contracts say, then what moves since, and never the sum of what is known', async () => {
    const stage = await stageOf({ history: [...blocks(3), [gives(GOLD, 500n)], ...blocks(5)] });
    await stage.mine([sends(GOLD, 120n)]);
    await stage.mine();
    const first = await stage.report();
    expect(first).toMatchObject({ isComplete: false, indexed: { fromBlock: 10, toBlock: 11 } });
    expect(await stage.shown()).toEqual([`${GOLD} 380 11`]);
    await stage.mine([gives(GOLD, 20n)]);
    expect(await stage.shown()).toEqual([`${GOLD} 400 12`]);
    // Its transfers were confirmed to determine its balances.
    expect(await stage.classes()).toEqual({ [GOLD]: 'sum' });
    const calls = callsOf(stage);
    await stage.mine([gives(GOLD, 1n)]);
    expect(await stage.shown()).toEqual([`${GOLD} 401 13`]);
    expect(await stage.shown({ toBlock: 12 })).toEqual([`${GOLD} 400 12`]);
    expect(await stage.shown({ toBlock: 9 })).toEqual([`${GOLD} 500 9`]);
    expect(await stage.shown({ toBlock: 10 })).toEqual([`${GOLD} 380 10`]);
    expect(callsOf(stage)).toBe(calls);
  });

  test('has tokens that are named even if they never moved, and those of lists', async () => {
    const stage = await stageOf({ history: [[gives(GOLD, 5n), gives(SILVER, 7n), gives(TIN, 9n)], []] });
    await stage.mine();
    expect(await stage.shown()).toEqual([]);
    expect(await stage.report({ tokens: [GOLD, NOBODY] })).toMatchObject({
      isComplete: true,
      balances: [{ token: GOLD, balance: 5n, balanceBlock: 3 }],
    });
    await nameInList(stages.database, stage.chain.id, SILVER);
    expect((await stage.shown()).toSorted()).toEqual([`${SILVER} 7 3`, `${GOLD} 5 3`].toSorted());
    await stage.mine([sends(SILVER, 7n), sends(GOLD, 1n)]);
    expect(await stage.shown()).toEqual([`${GOLD} 4 4`]);
    expect((await stage.report()).isComplete).toBe(false);
  });

  test('is complete once its history is there, and shows the same', async () => {
    const stage = await stageOf({ history: [[gives(GOLD, 5n)], [gives(SILVER, 7n)], [sends(SILVER, 7n)]] });
    await stage.mine([sends(GOLD, 1n)]);
    expect(await stage.shown()).toEqual([`${GOLD} 4 4`]);
    await stage.backfill();
    expect(await stage.report()).toMatchObject({ isComplete: true, balances: [{ token: GOLD, balance: 4n }] });
  });

  test('below what is indexed it has what an archive node says', async () => {
    const stage = await stageOf({ history: [[gives(GOLD, 5n)], [sends(GOLD, 2n)], [], []] });
    await nameInList(stages.database, stage.chain.id, GOLD);
    await stage.mine([sends(GOLD, 1n)]);
    expect(await stage.shown({ toBlock: 1 })).toEqual([`${GOLD} 5 1`]);
    expect(await stage.shown({ toBlock: 2 })).toEqual([`${GOLD} 3 2`]);
    for (const node of stage.nodes) node.isPruned = true;
    await expect(stage.report({ toBlock: 2 })).rejects.toThrow(StateNotArchivedError);
    await expect(stage.report({ toBlock: 2 })).rejects.toThrow('Balances at block 2 need an archive node');
    expect(await stage.shown({ toBlock: 4 })).toEqual([`${GOLD} 3 4`]);
  });
});

test('a contract of the native token is no balance, neither moved, listed, named nor as the wrapped token', async () => {
  const stage = await stageOf({
    history: [[gives(GOLD, 5n), gives(SILVER, 7n)], []],
    facts: { erc20Exclusions: [GOLD], wrappedNative: GOLD },
  });
  await nameInList(stages.database, stage.chain.id, GOLD);
  await stage.mine([gives(GOLD, 1n), gives(SILVER, 1n)]);
  expect(await stage.shown()).toEqual([`${SILVER} 8 3`]);
  expect(await stage.shown({ tokens: [GOLD, SILVER] })).toEqual([`${SILVER} 8 3`]);
  await stage.backfill();
  expect(await stage.report()).toMatchObject({ isComplete: true, balances: [{ token: SILVER, balance: 8n }] });
});

test('balances after an earlier block, of which transfers tell less than nothing, are not all there', async () => {
  const stage = await stageOf({ history: blocks(3) });
  for (let turn = 0; turn < 2; turn++) {
    await stage.mine([{ ...gives(GOLD, 5n), to: BOB }]);
    await stage.report({ wallet: BOB });
  }
  expect(await stage.classes()).toEqual({ [GOLD]: 'sum' });
  const block = await stage.mine([gives(GOLD, 100n)], [{ token: GOLD, wallet: ALICE, by: -95n }]);
  const named = { tokens: [GOLD] };
  expect(await stage.report(named)).toMatchObject({ isComplete: true, balances: [{ token: GOLD, balance: 5n }] });
  const before = await stage.report({ ...named, toBlock: block.number - 1 });
  expect(before).toMatchObject({ isComplete: false, balances: [] });
});

describe('a reorganisation', () => {
  test('below an anchor takes it away: the balance is that of the new branch', async () => {
    const stage = await stageOf();
    await stage.mine([gives(GOLD, 50n)]);
    await stage.mine([gives(GOLD, 7n)]);
    expect(await stage.shown()).toEqual([`${GOLD} 57 2`]);
    await stage.reorg(1, [[gives(GOLD, 1n)], []]);
    const [held] = await stages.database.query(
      sql`SELECT anchor_block FROM erc20_wallet_tokens WHERE chain_id = ${stage.chain.id}`,
    );
    expect(held).toEqual({ anchorBlock: null });
    expect(await stage.shown()).toEqual([`${GOLD} 51 3`]);
  });

  test('above an anchor only takes back what moved', async () => {
    const stage = await stageOf();
    await stage.mine([gives(GOLD, 50n)]);
    expect(await stage.shown()).toEqual([`${GOLD} 50 1`]);
    await stage.mine([sends(GOLD, 20n)]);
    expect(await stage.shown()).toEqual([`${GOLD} 30 2`]);
    const calls = callsOf(stage);
    await stage.reorg(1, [[sends(GOLD, 5n)], []]);
    expect(await stage.shown()).toEqual([`${GOLD} 45 3`]);
    expect(callsOf(stage)).toBe(calls);
  });

  test('in the middle of a reading leaves nothing of it', async () => {
    const stage = await stageOf();
    await stage.mine([gives(GOLD, 50n)]);
    await stage.mine([gives(GOLD, 7n)]);
    const reorganise = async (): Promise<void> => {
      for (const node of stage.nodes) node.before = async () => {};
      await stage.reorg(1, [[gives(GOLD, 1n)], []]);
    };
    for (const node of stage.nodes) node.before = reorganise;
    expect(await stage.shown()).toEqual([]);
    expect((await stage.report()).balances).toMatchObject([{ balance: 51n, balanceBlock: 3 }]);
  });
});

describe('tokens whose transfers do not tell their balances', () => {
  test('one that rebases becomes live at its second reading; other tokens do not', async () => {
    const stage = await stageOf();
    await stage.mine([gives(GOLD, 1_000n), gives(SILVER, 5n)]);
    expect((await stage.shown()).toSorted()).toEqual([`${SILVER} 5 1`, `${GOLD} 1000 1`].toSorted());
    await stage.mine([], [{ token: GOLD, wallet: ALICE, by: 10n }]);
    await stage.age(25);
    // Responds with known data while the read continues.
    await stage.report();
    expect(await stage.classes()).toEqual({ [GOLD]: 'live', [SILVER]: 'sum' });
    expect((await stage.shown()).toSorted()).toEqual([`${SILVER} 5 2`, `${GOLD} 1010 2`].toSorted());
    await stage.mine([], [{ token: GOLD, wallet: ALICE, by: 10n }]);
    await stage.mine();
    expect((await stage.shown()).toSorted()).toEqual([`${SILVER} 5 4`, `${GOLD} 1010 2`].toSorted());
    await stage.age(1);
    expect((await stage.shown()).toSorted()).toEqual([`${SILVER} 5 4`, `${GOLD} 1020 4`].toSorted());
    expect(await stage.shown({ tokens: [GOLD], toBlock: 1 })).toEqual([`${GOLD} 1000 1`]);
    for (const node of stage.nodes) node.isPruned = true;
    expect(await stage.report({ tokens: [GOLD], toBlock: 1 })).toMatchObject({ isComplete: false, balances: [] });
  });

  test('one that was given out without transfers is asked each time', async () => {
    const stage = await stageOf();
    await stage.mine([], [{ token: GOLD, wallet: ALICE, by: 1_000n }]);
    await stage.mine([sends(GOLD, 1n)]);
    expect(await stage.shown()).toEqual([`${GOLD} 999 2`]);
    await stage.mine([sends(GOLD, 1n)]);
    await stage.age(1);
    expect(await stage.shown()).toEqual([`${GOLD} 998 3`]);
    expect(await stage.classes()).toEqual({ [GOLD]: 'live' });
  });

  test('the wrapped coin is asked each time where its deposits are not indexed: it comes and goes without transfers', async () => {
    const stage = await stageOf({ facts: { wrappedNative: GOLD }, isCoinIndexed: false });
    await stage.mine([], [{ token: GOLD, wallet: ALICE, by: 5n }]);
    expect(await stage.shown()).toEqual([`${GOLD} 5 1`]);
    await stage.mine([gives(GOLD, 10n)], [{ token: GOLD, wallet: ALICE, by: 5n }]);
    await stage.age(1);
    expect(await stage.shown()).toEqual([`${GOLD} 20 2`]);
    expect(await stage.shown({ wallet: BOB })).toEqual([]);
    expect(await stage.classes()).toEqual({});
  });

  test.each([
    ['with all of its history', []],
    ['with a part of it', [[gives(LIAR, 5n)]]],
  ])('one that only says that it was transferred is never shown, %s', async (_which, history) => {
    const stage = await stageOf({ history });
    await stage.mine([gives(LIAR, 1_000n), gives(GOLD, 1n)]);
    expect(await stage.report()).toMatchObject({ balances: [{ token: GOLD }] });
    await stage.mine([gives(LIAR, 1_000n)]);
    expect(await stage.report()).toMatchObject({ balances: [{ token: GOLD }] });
    for (const node of stage.nodes) node.isDown = true;
    await stage.mine([gives(LIAR, 1_000n)]);
    expect(await stage.report()).toMatchObject({ balances: [{ token: GOLD }] });
  });

  test('one that tells no balance is left out and no more asked, until a day has passed', async () => {
    const stage = await stageOf();
    await stage.mine([gives(SILENT, 1_000n), gives(NOBODY, 1n)]);
    expect(await stage.report()).toMatchObject({ isComplete: true, balances: [] });
    expect(await stage.classes()).toEqual({ [SILENT]: 'none', [NOBODY]: 'none' });
    const calls = callsOf(stage);
    await stage.report();
    expect(callsOf(stage)).toBe(calls);
    await stage.age(25);
    await stage.report({ tokens: [SILENT] });
    expect(callsOf(stage)).toBeGreaterThan(calls);
  });
});

test.each(['sum', 'live'])('a token of class %s whose contract is destroyed is shown no more', async (known) => {
  const stage = await stageOf({ checksCodes: true });
  await stage.mine([gives(GOLD, 10n), gives(SILVER, 5n)]);
  await stage.report();
  await stages.database.query(
    sql`INSERT INTO erc20_token_classes (token, chain_id, class, since_block, told_at) VALUES (${addressBytes(GOLD)}, ${stage.chain.id}, ${known}, 0, now())
     ON CONFLICT (token, chain_id) DO UPDATE SET class = excluded.class`,
  );
  expect(await stage.shown()).toEqual([`${SILVER} 5 1`, `${GOLD} 10 1`]);
  for (const node of stage.nodes) node.destroyed.add(GOLD);
  await stage.mine();
  const later = vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 16_000);
  await stage.report();
  later.mockRestore();
  expect(await stage.report()).toMatchObject({ isComplete: true, balances: [{ token: SILVER }] });
  expect(await stage.classes()).toMatchObject({ [GOLD]: 'none' });
});

describe('a token that can’t be read', () => {
  const said = (code: number, message: string) => async () => rpcError(code, message);

  test.each([
    ['that the EVM ends at the node’s own limit', said(-32_000, 'execution aborted (timeout = 5s)'), true],
    ['whose error nobody knows', said(-32_603, 'oops'), false],
    ['at which no node answers', said(-32_002, 'request timed out'), false],
  ])('%s hides no other', async (_what, odd, isComplete) => {
    const stage = await stageOf();
    await stage.mine([gives(GOLD, 10n), gives(SILVER, 5n)]);
    for (const node of stage.nodes) node.odd.set(GOLD, odd);
    const reported = await stage.report();
    expect(reported.balances.map(({ token, balance }) => [token, balance])).toEqual([[SILVER, 5n]]);
    expect(reported).toMatchObject({ isComplete, unread: isComplete ? [] : [GOLD] });
  });
});

test('while what moved is being counted, only what contracts of live tokens say is told', async () => {
  const stage = await stageOf();
  await stage.mine([gives(GOLD, 10n), gives(SILVER, 5n)]);
  await stage.report();
  const { database } = stages;
  await database.query(
    sql`UPDATE erc20_token_classes SET class = 'live' WHERE chain_id = ${stage.chain.id} AND token = ${addressBytes(SILVER)}`,
  );
  const reported = async () => {
    const { tokens } = await getWalletBalances(database, stage.chain, {
      ...{ wallet: ALICE, tokens: null, excludeSpam: false, verifiedOnly: false, toBlock: null, limit: 10 },
      ...{ order: null, liveMaxAgeMs: 60_000, freshFrom: null },
    });
    return Object.fromEntries(tokens.map(({ token, balance }) => [token, balance]));
  };
  expect(await reported()).toEqual({ [GOLD]: 10n, [SILVER]: 5n });
  await database.query(sql`UPDATE subject_projections SET built_to = 0 WHERE chain_id = ${stage.chain.id}`);
  expect(await reported()).toEqual({ [GOLD]: null, [SILVER]: 5n });
});

test('tokens that never moved come by address, behind those that did', async () => {
  const stage = await stageOf();
  await stage.mine([gives(TIN, 1n)]);
  const still = [addressOf(0x30), addressOf(0x10), addressOf(0x20)];
  await stage.mine(
    [],
    still.map((token) => ({ token, wallet: ALICE, by: 5n })),
  );
  await stage.report({ tokens: still });
  const tokens = (await stage.report()).balances.map(({ token }) => token);
  expect(tokens).toEqual([TIN, addressOf(0x10), addressOf(0x20), addressOf(0x30)]);
});

describe('what is left out', () => {
  test('zero, what is not an ERC-20 token, and spam where it is asked for', async () => {
    const stage = await stageOf();
    await stage.mine([gives(GOLD, 10n), gives(SILVER, 5n), gives(TIN, 3n)]);
    await stage.mine([sends(GOLD, 10n)]);
    await stages.database.query(
      sql`INSERT INTO tokens (address, chain_id, standard, possible_spam) VALUES (${addressBytes(SILVER)}, ${stage.chain.id}, 'erc721', false), (${addressBytes(TIN)}, ${stage.chain.id}, 'erc20', true)`,
    );
    expect(await stage.shown()).toEqual([`${TIN} 3 2`]);
    expect(await stage.report({ excludeSpam: true })).toMatchObject({ isComplete: true, balances: [] });
    expect(await stage.report({ verifiedOnly: true })).toMatchObject({ isComplete: true, balances: [] });
  });

  test('the zero address holds nothing', async () => {
    const stage = await stageOf();
    const zero = addressOf(0);
    await stage.mine([{ token: GOLD, from: ALICE, to: zero, value: 1n }]);
    expect(await stage.report({ wallet: zero })).toMatchObject({ isComplete: true, balances: [] });
    expect(await stage.report({ wallet: zero, tokens: [GOLD] })).toMatchObject({ balances: [] });
    expect(callsOf(stage)).toBe(0);
  });

  test('a transfer to oneself changes the order alone', async () => {
    const stage = await stageOf();
    await stage.mine([gives(GOLD, 10n)]);
    await stage.mine([gives(SILVER, 5n)]);
    expect(await stage.shown()).toEqual([`${SILVER} 5 2`, `${GOLD} 10 2`]);
    await stage.mine([{ token: GOLD, from: ALICE, to: ALICE, value: 10n }]);
    expect(await stage.shown()).toEqual([`${GOLD} 10 3`, `${SILVER} 5 3`]);
  });
});
