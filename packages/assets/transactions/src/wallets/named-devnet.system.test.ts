/**
 * Wallet blocks from a node's account index, compared to the node's blocks and traces: found in few calls, and checked.
 */
import { type Address, parseAddress } from '@chainstead/core';
import { addressBytes, hexText, sql } from '@chainstead/db';
import { type NodeProxyOptions, startNodeProxy } from '@chainstead/testkit';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { olderMarks, readWalletSearch, type WalletSearch } from './read-wallet-search.ts';
import { devnetWallets, playgroundOn } from './testing/devnet-wallets.ts';
import { nodeRows, storedRows } from './testing/known-rows.ts';
import { APPROVALS, placeEmitter } from './testing/log-emitter.ts';
import { STAGE_REORG_DEPTH, type StageRoles, stagePool, WITHOUT_INDEX } from './testing/wallet-stage.ts';

const CHAIN_ID = 31_340;
const fresh = (digits: string): Address => parseAddress(`0x${digits.repeat(20)}`);
const QUIET = fresh('d1');

const stage = devnetWallets(CHAIN_ID);
const { chain, ask, caughtUp } = stage;
const playground = playgroundOn(stage);
const { play, transfer } = playground;

/** Roles over a node with the given responses, and the calls it received. */
async function open(
  options: NodeProxyOptions = {},
): Promise<{ readonly roles: StageRoles; readonly requested: string[] }> {
  const requested: string[] = [];
  const proxy = await startNodeProxy(stage.devnet.url, {
    ...options,
    alter(call, result) {
      requested.push(call.method);
      return options.alter?.(call, result) ?? result;
    },
  });
  const pool = await stagePool(chain, [proxy.url]);
  onTestFinished(() => proxy.close());
  const roles = await stage.open({ pool });
  return { roles, requested };
}

/** Requests wallets, and waits until all final blocks are searched for them. */
async function searchAll(roles: StageRoles, wallets: readonly Address[]): Promise<readonly WalletSearch[]> {
  await caughtUp();
  for (const wallet of wallets) await ask(roles, wallet);
  await stage.devnet.mine(4 * STAGE_REORG_DEPTH);
  await caughtUp();
  return vi.waitFor(
    async () => {
      await stage.scratch.database.query(
        sql`UPDATE backfill_requests SET due_at = now(), updated_at = CASE status WHEN 'done' THEN updated_at - interval '1 minute' ELSE updated_at END`,
      );
      const searches = [];
      for (const wallet of wallets) searches.push(await ask(roles, wallet));
      for (const search of searches)
        expect(olderMarks(search, chain)).toMatchObject({
          sent: { complete: true },
          received: { searched: true },
        });
      return searches;
    },
    { timeout: 80_000, interval: 100 },
  );
}

const head = async () => Number(await stage.devnet.client.getBlockNumber({ cacheTime: 0 }));

/** Native tokens received inside transactions: block and amount. */
async function storedInside(account: Address): Promise<readonly string[]> {
  const rows = await stage.scratch.database.query<{ line: string }>(
    sql`SELECT concat_ws(' ', block_number, direction, value, ${hexText('counterparty')}) AS line FROM internal_transfers
      WHERE chain_id = ${CHAIN_ID} AND account = ${addressBytes(account)} ORDER BY block_number, transaction_index, trace_index`,
  );
  return rows.map(({ line }) => line);
}

/**
 * Transactions of all kinds, hundreds of blocks apart; some change no balance, some cancel out.
 * @returns the amounts received inside, block by block
 */
async function act(wallet: Address, payer: Address, gap: number): Promise<readonly string[]> {
  const inside: string[] = [];
  const within = async (value: bigint): Promise<void> => {
    await play('pass', [QUIET], value);
    inside.push(`${await head()} 1 ${value} ${playground.address}`);
  };
  for (let times = 1; times <= 12; times += 1) {
    await stage.devnet.mine(gap);
    await transfer(payer, QUIET, 5n);
    // A balance does not show these.
    await transfer(payer, QUIET, 0n);
    await transfer(payer, wallet, 0n);
    await within(BigInt(times));
    await transfer(wallet, payer, 1n);
  }
  // The wallet's own calls don't show its approvals.
  const emit = await placeEmitter(stage.devnet);
  const hash = await emit(payer, [APPROVALS.ofAll, QUIET, payer], 1);
  // Otherwise its block might be the next one.
  await stage.devnet.client.waitForTransactionReceipt({ hash });
  return inside;
}

/** Checks that all rows of the wallets match the node, for every block marked as complete. */
async function requireWhole(wallets: readonly Address[]): Promise<void> {
  const reported = await nodeRows(stage.devnet, wallets);
  for (const wallet of wallets) {
    const { whole } = await readWalletSearch(stage.scratch.database, chain, wallet);
    const expected = (reported.get(wallet) ?? []).filter(({ block }) =>
      whole.some(({ from, to }) => from <= block && block <= to),
    );
    expect(expected.length).toBeGreaterThan(11);
    const stored = await storedRows(stage.scratch.database, CHAIN_ID, wallet);
    expect(stored.map(({ text }) => text)).toEqual(expect.arrayContaining(expected.map(({ text }) => text)));
  }
}

const [OTS, FILTER] = ['ots_searchTransactionsBefore', 'trace_filter'] as const;

describe('a node with an index of accounts', () => {
  describe.each([
    [OTS, 60],
    [FILTER, 15],
  ] as const)('tells by %s', (method, gap) => {
    let wallet: Address;
    let inside: readonly string[];
    beforeEach(async () => {
      const [payer, other] = stage.devnet.accounts.slice(0, 2) as unknown as readonly [Address, Address];
      wallet = other;
      inside = await act(wallet, payer, gap);
    });

    test('what wallets sent and received, also inside, and their counts and balances that it is all', async () => {
      const errors = method === FILTER ? { [OTS]: WITHOUT_INDEX[OTS] } : {};
      const { roles, requested } = await open({ errors });
      const searches = await searchAll(roles, [wallet, QUIET]);
      expect(requested).toContain(method);
      for (const search of searches)
        expect(olderMarks(search, chain).received).toEqual({
          searched: true,
          exact: true,
          state: expect.any(String),
        });
      expect(searches.map(({ whole }) => whole[0]?.from)).toEqual([0, 0]);
      await requireWhole([wallet, QUIET]);
      expect(await storedInside(QUIET)).toEqual(inside);
      const approved = await stage.scratch.database.query(
        sql`SELECT FROM account_transactions WHERE chain_id = ${CHAIN_ID} AND account = ${addressBytes(QUIET)} AND evidence >= 1 << 30 AND roles <= 0`,
      );
      expect(approved).toHaveLength(1);
      // Counts and balances at the ends of the searched part, a few times; no bisection.
      const light = requested.filter((one) => one === 'eth_getTransactionCount' || one === 'eth_getBalance');
      expect(light.length).toBeLessThan(40);
    });
  });

  test('that leaves transactions out is not believed: they are found by halving, and nothing is said to be exact', async () => {
    const [payer, wallet] = stage.devnet.accounts.slice(0, 2) as unknown as readonly [Address, Address];
    await act(wallet, payer, 20);
    const hidden = await head();
    await transfer(wallet, payer, 1n);
    await transfer(payer, QUIET, 3n);
    await stage.devnet.mine(30);
    const { roles, requested } = await open({
      alter({ method }, result) {
        if (method !== OTS) return undefined;
        const { txs, receipts, ...rest } = result as { txs: { blockNumber: string }[]; receipts: object[] };
        const kept = txs.map(({ blockNumber }) => Number(blockNumber) <= hidden);
        return {
          ...rest,
          txs: txs.filter((_, place) => kept[place]),
          receipts: receipts.filter((_, place) => kept[place]),
        };
      },
    });
    const searches = await searchAll(roles, [wallet, QUIET]);
    expect(requested).toContain(OTS);
    for (const search of searches)
      expect(olderMarks(search, chain).received).toMatchObject({ searched: true, exact: false });
    const blocks = async (account: Address) =>
      (await storedRows(stage.scratch.database, CHAIN_ID, account)).map(({ block }) => block);
    expect(await blocks(wallet)).toContain(hidden + 1);
    expect(await blocks(QUIET)).toContain(hidden + 2);
  });

  test('that answers nonsense is one without', async () => {
    const [payer, wallet] = stage.devnet.accounts.slice(0, 2) as unknown as readonly [Address, Address];
    await act(wallet, payer, 5);
    const { roles } = await open({
      alter: ({ method }) =>
        method === OTS
          ? { txs: 7 }
          : method === FILTER
            ? [{ transactionHash: '0x', blockNumber: -1 }]
            : undefined,
    });
    const [search] = await searchAll(roles, [wallet]);
    expect(search && olderMarks(search, chain)).toMatchObject({
      sent: { complete: true },
      received: { searched: true, exact: false },
    });
    expect((await storedRows(stage.scratch.database, CHAIN_ID, wallet)).length).toBeGreaterThan(11);
  });
});
