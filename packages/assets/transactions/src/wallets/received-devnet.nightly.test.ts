import { setTimeout } from 'node:timers/promises';
import { type Address, parseAddress, toQuantity } from '@chainstead/core';
import { addressBytes, hexText, sql } from '@chainstead/db';
import { createSeededRandom, startNodeProxy } from '@chainstead/testkit';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { readExplainedChanges } from './read-received.ts';
import type { WalletSearch } from './read-wallet-search.ts';
import { devnetWallets, playgroundOn } from './testing/devnet-wallets.ts';
import { storedRows } from './testing/known-rows.ts';
import { STAGE_REORG_DEPTH, type StageRoles, stagePool, WITHOUT_INDEX } from './testing/wallet-stage.ts';

const CHAIN_ID = 31_338;

const stage = devnetWallets(CHAIN_ID);
const { chain, open, ask, caughtUp } = stage;
const { play, transfer } = playgroundOn(stage);

/** Waits until a wallet's search has this state. Waiting searches run immediately; finished ones stay finished. */
async function untilAnswered(roles: StageRoles, wallet: Address, expected: Partial<WalletSearch>): Promise<void> {
  await vi.waitFor(
    async () => {
      await stage.scratch.database.query(
        sql`UPDATE backfill_requests SET due_at = now() WHERE status = 'pending'`,
      );
      expect(await ask(roles, wallet)).toMatchObject(expected);
    },
    { timeout: 60_000, interval: 100 },
  );
}

/** Waits until all final blocks are searched. Waiting searches run immediately. */
async function searched(roles: StageRoles, wallet: Address): Promise<WalletSearch> {
  return vi.waitFor(
    async () => {
      await stage.scratch.database.query(
        sql`UPDATE backfill_requests SET due_at = now(), updated_at = CASE status WHEN 'done' THEN updated_at - interval '1 minute' ELSE updated_at END`,
      );
      const search = await ask(roles, wallet);
      expect(search.missing).toEqual([]);
      const head = Number(await stage.devnet.client.getBlockNumber({ cacheTime: 0 }));
      expect(search.unsearched.every(({ from, to }) => to === 0 || from > head - 2 * STAGE_REORG_DEPTH)).toBe(
        true,
      );
      return search;
    },
    { timeout: 60_000, interval: 100 },
  );
}

interface Frame {
  readonly type: string;
  readonly from: string;
  readonly to?: string;
  readonly value?: string;
  readonly error?: string;
  readonly calls?: readonly Frame[];
}

/**
 * Amounts moved inside the transactions of some blocks to and from an account, from the node's own traces: block,
 * index, signed amount.
 */
async function tracedMoves(account: Address, until: number): Promise<readonly string[]> {
  const moves: string[] = [];
  for (let block = 1; block <= until; block += 1) {
    const { transactions } = await stage.devnet.client.getBlock({ blockNumber: BigInt(block) });
    for (const [index, hash] of transactions.entries()) {
      const frame: Frame = await stage.devnet.client.request({
        method: 'debug_traceTransaction',
        params: [hash, { tracer: 'callTracer' }],
      } as never);
      const walk = ({ calls = [] }: Frame): void => {
        for (const call of calls.filter(({ error }) => error === undefined)) {
          const value = BigInt(call.value ?? 0);
          if (value > 0n && !['DELEGATECALL', 'CALLCODE', 'STATICCALL'].includes(call.type)) {
            if (call.to?.toLowerCase() === account) moves.push(`${block} ${index} ${value}`);
            if (call.from.toLowerCase() === account) moves.push(`${block} ${index} -${value}`);
          }
          walk(call);
        }
      };
      if (frame.error === undefined) walk(frame);
    }
  }
  return moves;
}

async function storedMoves(account: Address): Promise<readonly string[]> {
  const rows = await stage.scratch.database.query<{ line: string }>(
    sql`SELECT concat_ws(' ', part.block_number, part.transaction_index, CASE direction WHEN 0 THEN '-' ELSE '' END || part.value) AS line
     FROM internal_transfers AS part JOIN transactions AS made USING (chain_id, block_number, transaction_index)
     WHERE part.chain_id = ${CHAIN_ID} AND account = ${addressBytes(account)} AND ${hexText('part.transaction_hash')} = ${hexText('made.transaction_hash')}
     ORDER BY part.block_number, part.transaction_index, trace_index`,
  );
  return rows.map(({ line }) => line);
}

async function callsMade(wallet: Address): Promise<number> {
  const [row] = await stage.scratch.database.query<{ calls: number }>(
    sql`SELECT calls_made AS calls FROM backfill_requests WHERE kind = 'receiver' AND subject = ${addressBytes(wallet)}`,
  );
  return row?.calls ?? 0;
}

/** The stored rows explain the wallet's whole balance at a block. */
async function requireExplained(wallet: Address, at: number, unexplained = 0n): Promise<void> {
  const explained = await readExplainedChanges(stage.scratch.database, chain, wallet, { from: 1, to: at });
  const balanceAt = (block: number) =>
    stage.devnet.client.getBalance({ address: wallet, blockNumber: BigInt(block) });
  expect(explained.until(at) + unexplained).toBe((await balanceAt(at)) - (await balanceAt(0)));
}

/** The last block that was searched for the wallet. */
async function searchedUntil(wallet: Address): Promise<number> {
  const rows = await stage.scratch.database.query<{ first: number; last: number }>(
    sql`SELECT first_block AS first, last_block AS last FROM subject_ranges WHERE kind = 'receiver' AND subject = ${addressBytes(wallet)}`,
  );
  expect(rows).toHaveLength(1);
  expect(rows[0]?.first).toBe(1);
  return rows[0]?.last ?? 0;
}

/** The wallet's part in transactions: [block, roles]. */
async function storedParts(wallet: Address): Promise<readonly (readonly [number, number])[]> {
  const rows = await storedRows(stage.scratch.database, CHAIN_ID, wallet);
  return rows.flatMap(({ block, roles }) => (roles > 0 ? [[block, roles] as const] : []));
}

const fresh = (digits: string): Address => parseAddress(`0x${digits.repeat(20)}`);

describe('coins that a wallet received in older blocks', () => {
  test('are found by its balances in few calls: sent, moved inside, of contracts that end; and the balance is explained', async () => {
    const [payer, wallet] = stage.devnet.accounts.slice(0, 2) as unknown as readonly [Address, Address];
    const quiet = fresh('c1');
    const directly: number[] = [];
    const gap = async (blocks: number): Promise<void> => stage.devnet.mine(blocks);
    const give = async (to: Address, value: bigint, from = payer): Promise<void> => {
      const block = await transfer(from, to, value);
      if (to === quiet) directly.push(block);
    };
    await give(quiet, 5n);
    await gap(700);
    await play('pass', [quiet], 11n);
    await give(wallet, 10n ** 18n);
    await gap(400);
    await play('split', [quiet, wallet], 100n);
    await give(quiet, 7n, wallet);
    await play('tryPass', [quiet], 13n);
    await gap(300);
    await play('makeAndEnd', [quiet], 17n);
    // Its own transaction sends native tokens back to it.
    await play('pass', [wallet], 19n, wallet);
    await gap(200);
    await give(quiet, 23n);
    await give(quiet, 29n);
    const started = await open();
    await caughtUp();
    for (const requested of [wallet, quiet]) await ask(started, requested);
    await gap(60);
    await caughtUp();
    for (const requested of [wallet, quiet]) await searched(started, requested);

    expect(await storedParts(quiet)).toEqual(directly.map((block) => [block, 2]));
    for (const requested of [wallet, quiet]) {
      const until = await searchedUntil(requested);
      expect(until).toBeGreaterThan(1_600);
      const moves = await tracedMoves(requested, until);
      expect(moves.length).toBeGreaterThan(1);
      expect(await storedMoves(requested)).toEqual(moves);
      await requireExplained(requested, until);
    }
    // Seven blocks changed its balance: bisections of about 1,700 blocks each, the block, its receipts, possibly its
    // traces.
    expect(await callsMade(quiet)).toBeLessThanOrEqual(7 * (11 + 3) + 8);
    const { whole } = await ask(started, quiet);
    expect(whole[0]?.from).toBeGreaterThan(1_600);
  }, 120_000);

  test('that nothing explains are told once and not searched for again', async () => {
    const quiet = fresh('c2');
    await stage.devnet.mine(100);
    await stage.devnet.client.setBalance({ address: quiet, value: 1_000n });
    await stage.devnet.mine(100);
    await stage.devnet.client.setCoinbase({ address: quiet });
    const [payer] = stage.devnet.accounts as readonly [Address];
    await stage.devnet.client.request({
      method: 'eth_sendTransaction',
      params: [
        {
          from: payer,
          to: fresh('c9'),
          value: '0x1',
          gasPrice: toQuantity(10n ** 11n),
          gas: toQuantity(21_000n),
        },
      ],
    } as never);
    await stage.devnet.client.setCoinbase({ address: fresh('00') });
    await stage.devnet.mine(50);
    const started = await open();
    await caughtUp();
    await ask(started, quiet);
    await stage.devnet.mine(30);
    await caughtUp();
    await searched(started, quiet);
    const first = await callsMade(quiet);
    expect(first).toBeGreaterThan(2 * (4 + 2));
    expect(await storedRows(stage.scratch.database, CHAIN_ID, quiet)).toEqual([]);
    expect(await storedMoves(quiet)).toEqual([]);
    const before = await searchedUntil(quiet);
    await transfer(payer, quiet, 3n);
    await stage.devnet.mine(60);
    await caughtUp();
    await searched(started, quiet);
    expect(await searchedUntil(quiet)).toBeGreaterThan(before);
    // Counted separately for each request: the two ends of the new part.
    expect(await callsMade(quiet)).toBeLessThanOrEqual(4);
  }, 60_000);

  test('inside transactions are missing where no node traces, and the others are found', async () => {
    const notThere = { code: -32_601, message: 'the method does not exist' };
    const proxy = await startNodeProxy(stage.devnet.url, {
      errors: {
        ...WITHOUT_INDEX,
        debug_traceBlockByHash: notThere,
        trace_block: notThere,
        debug_traceBlockByNumber: notThere,
      },
    });
    onTestFinished(() => proxy.close());
    const quiet = fresh('c3');
    const [payer] = stage.devnet.accounts as readonly [Address];
    await stage.devnet.mine(50);
    await play('pass', [quiet], 11n);
    await stage.devnet.mine(50);
    const direct = await transfer(payer, quiet, 5n);
    await stage.devnet.mine(50);
    const started = await open({ pool: await stagePool(chain, [proxy.url]) });
    await caughtUp();
    await ask(started, quiet);
    await stage.devnet.mine(30);
    await caughtUp();
    await searched(started, quiet);
    const until = await searchedUntil(quiet);
    expect(await storedParts(quiet)).toEqual([[direct, 2]]);
    expect(await storedMoves(quiet)).toEqual([]);
    await requireExplained(quiet, until, 11n);
    expect((await ask(started, quiet)).receivedState).toBe('done');
  }, 60_000);

  test('are not searched for without an archive node, and the state says so', async () => {
    const pruned = { code: -32_000, message: 'missing trie node 0123 (path ) state 0x45 is not available' };
    const proxy = await startNodeProxy(stage.devnet.url, {
      errors: { ...WITHOUT_INDEX, eth_getBalance: pruned },
    });
    onTestFinished(() => proxy.close());
    const quiet = fresh('c4');
    await stage.devnet.mine(50);
    const started = await open({ pool: await stagePool(chain, [proxy.url]) });
    await caughtUp();
    await ask(started, quiet);
    await stage.devnet.mine(30);
    await caughtUp();
    await untilAnswered(started, quiet, { receivedState: 'no-archive', missing: [], state: 'done' });
  }, 60_000);

  test('are found within a limit of calls as far as it goes', async () => {
    const quiet = fresh('c5');
    const [payer] = stage.devnet.accounts as readonly [Address];
    const given: number[] = [];
    for (let times = 0; times < 20; times += 1) {
      await stage.devnet.mine(40);
      given.push(await transfer(payer, quiet, 1n));
    }
    await stage.devnet.mine(50);
    const started = await open({ maxCalls: 150 });
    await caughtUp();
    await ask(started, quiet);
    await stage.devnet.mine(30);
    await caughtUp();
    await untilAnswered(started, quiet, { receivedState: 'refused' });
    const found = (await storedRows(stage.scratch.database, CHAIN_ID, quiet)).map(({ block }) => block);
    expect(found.length).toBeGreaterThan(0);
    // The newest ones.
    expect(found).toEqual(given.slice(-found.length));
    await started.stop();
    const more = await open();
    await searched(more, quiet);
    expect((await storedRows(stage.scratch.database, CHAIN_ID, quiet)).map(({ block }) => block)).toEqual(given);
  }, 60_000);

  test('are those of the node after kills and reorganisations', async () => {
    const random = createSeededRandom(11);
    const [payer, wallet] = stage.devnet.accounts.slice(0, 2) as unknown as readonly [Address, Address];
    const quiet = fresh('c6');
    const wallets = [wallet, quiet];
    const step = async (): Promise<void> => {
      const to = random.pick(wallets);
      const value = BigInt(random.integer(1, 1_000));
      if (random.chance(0.4)) await transfer(random.chance(0.3) ? wallet : payer, to, value);
      else if (random.chance(0.3)) await play('makeAndEnd', [to], value);
      else await play(random.chance(0.5) ? 'pass' : 'tryPass', [to], value, random.chance(0.3) ? wallet : payer);
      await stage.devnet.mine(random.integer(1, 25));
    };
    for (let times = 0; times < 70; times += 1) await step();
    const processes = stage.beginProcesses(stage.devnet.url);
    const requests = await open({ roles: [] });
    await caughtUp();
    for (const requested of wallets) await ask(requests, requested);
    for (let times = 0; times < 14; times += 1) {
      await step();
      if (random.chance(0.3)) await stage.devnet.reorg(random.integer(1, 3));
      for (const requested of wallets) await ask(requests, requested);
      await stage.scratch.database.query(sql`UPDATE backfill_requests SET due_at = now()`);
      if (times % 3 === 1) await processes.replace(random.integer(0, 1));
      await setTimeout(random.integer(0, 500));
    }
    await stage.devnet.mine(60);
    await caughtUp();
    for (const requested of wallets) {
      await searched(requests, requested);
      const until = await searchedUntil(requested);
      const moves = await tracedMoves(requested, until);
      expect(moves.length).toBeGreaterThan(10);
      expect(await storedMoves(requested)).toEqual(moves);
      await requireExplained(requested, until);
    }
  }, 180_000);
});
