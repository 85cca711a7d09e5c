import { setTimeout } from 'node:timers/promises';
import { type Address, parseAddress } from '@chainstead/core';
import { addressBytes, sql } from '@chainstead/db';
import { createSeededRandom, type Devnet, type SeededRandom, startNodeProxy } from '@chainstead/testkit';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { readWalletSearch, type WalletSearch } from './read-wallet-search.ts';
import { devnetWallets } from './testing/devnet-wallets.ts';
import { nodeRows, storedRows } from './testing/known-rows.ts';
import { mineRandomBlock } from './testing/random-activity.ts';
import { type StageRoles, stageChain, stagePool, WITHOUT_INDEX } from './testing/wallet-stage.ts';

const CHAIN_ID = 31_337;
/** The devnet accounts that send at random. */
const SENDERS = 6;

const stage = devnetWallets(CHAIN_ID, ['--no-mining']);
const { chain, open, ask, caughtUp } = stage;

function accountsOf({ accounts }: Devnet, count: number): readonly Address[] {
  return accounts.slice(0, count);
}

/** Mines blocks in which some accounts send at random, and indexes them. */
async function mineRandom(accounts: readonly Address[], random: SeededRandom, blocks: number): Promise<void> {
  for (let block = 0; block < blocks; block += 1) await mineRandomBlock(stage.devnet, accounts, random, 2);
  await caughtUp();
}

/** Waits until no sent transaction is missing. Searches that wait for final blocks run immediately. */
async function searched(roles: StageRoles, wallet: Address): Promise<WalletSearch> {
  return vi.waitFor(
    async () => {
      await stage.scratch.database.query(sql`UPDATE backfill_requests SET due_at = now()`);
      const search = await ask(roles, wallet);
      expect(search.missing).toEqual([]);
      return search;
    },
    { timeout: 60_000, interval: 100 },
  );
}

/**
 * Checks that every row matches the node, and that none is missing in fully searched blocks, nor sent ones in the
 * others.
 */
async function requireTruth(
  wallets: ReadonlyMap<Address, WalletSearch>,
): Promise<{ readonly rows: number; readonly sent: number }> {
  const reported = await nodeRows(stage.devnet, [...wallets.keys()]);
  const counted = { rows: 0, sent: 0 };
  for (const [wallet, { whole, sent }] of wallets) {
    const all = reported.get(wallet) ?? [];
    const stored = (await storedRows(stage.scratch.database, CHAIN_ID, wallet)).map(({ text }) => text);
    expect(all.map(({ text }) => text)).toEqual(expect.arrayContaining([...stored]));
    expect(new Set(stored).size).toBe(stored.length);
    const isIn = (block: number, ranges: WalletSearch['whole']) =>
      ranges.some(({ from, to }) => from <= block && block <= to);
    const required = all.filter(
      ({ block, roles }) => isIn(block, whole) || (roles % 2 === 1 && isIn(block, sent)),
    );
    expect(stored).toEqual(expect.arrayContaining(required.map(({ text }) => text)));
    counted.rows += required.length;
    counted.sent += required.filter(({ block }) => !isIn(block, whole)).length;
  }
  return counted;
}

describe('transactions of wallets that are asked for', () => {
  test('are those of the node, of two processes that are killed, through reorganisations', async () => {
    const random = createSeededRandom(7);
    const accounts = accountsOf(stage.devnet, SENDERS);
    for (let block = 0; block < 60; block += 1) await mineRandomBlock(stage.devnet, accounts, random, 3);
    // With an account index, the bisected part would depend on which process is killed when.
    const proxy = await startNodeProxy(stage.devnet.url, { errors: WITHOUT_INDEX });
    onTestFinished(() => proxy.close());
    const processes = stage.beginProcesses(proxy.url);
    const requests = await open({ roles: [] });
    await caughtUp();
    const wallets: Address[] = [];
    const requestFirst = async (wallet: Address): Promise<void> => {
      wallets.push(wallet);
      await ask(requests, wallet);
    };
    await requestFirst(parseAddress(accounts[0]));
    let kills = 0;
    for (let step = 0; step < 40; step += 1) {
      for (let block = random.integer(3, 5); block > 0; block -= 1)
        await mineRandomBlock(stage.devnet, accounts, random, 4);
      if (random.chance(0.3)) await stage.devnet.reorg(random.integer(1, 3));
      const next = accounts[wallets.length];
      if (next !== undefined && step % 6 === 3) await requestFirst(next);
      if (random.chance(0.2)) {
        await processes.replace(random.integer(0, 1));
        kills += 1;
      }
      await setTimeout(random.integer(0, 500));
    }
    expect(kills).toBeGreaterThan(3);
    for (let times = 0; times < 2; times += 1) {
      for (let block = 0; block < 12; block += 1) await mineRandomBlock(stage.devnet, accounts, random, 2);
      await caughtUp();
    }
    const searches = new Map<Address, WalletSearch>();
    for (const wallet of wallets) searches.set(wallet, await searched(requests, wallet));
    const { rows, sent } = await requireTruth(searches);
    expect(wallets.length).toBeGreaterThanOrEqual(SENDERS);
    expect(rows).toBeGreaterThan(300);
    expect(sent).toBeGreaterThan(50);
    for (const { whole, newest } of searches.values()) {
      expect(whole.at(-1)?.to).toBe(newest);
      expect(whole[0]?.from).toBeGreaterThanOrEqual(50);
    }
  }, 180_000);

  test('cost the head no further call, and are found from the block on that comes next', async () => {
    const calls: string[] = [];
    const proxy = await startNodeProxy(stage.devnet.url, {
      alter: ({ method, params }, result) => {
        const isTagged = ['latest', 'finalized'].includes(String(params[0]));
        if (!isTagged) calls.push(method.startsWith('eth_getBlockBy') ? `${method} ${params[1]}` : method);
        return result;
      },
    });
    onTestFinished(() => proxy.close());
    const [wallet, ...others] = accountsOf(stage.devnet, 3) as readonly [Address, ...Address[]];
    const started = await open({ roles: ['ingest'], pool: await stagePool(chain, [proxy.url]) });
    const random = createSeededRandom(2);
    const mineCounted = async (blocks: number): Promise<readonly string[]> => {
      calls.length = 0;
      for (let block = 0; block < blocks; block += 1) {
        await mineRandomBlock(stage.devnet, [wallet, ...others], random, 3);
        await caughtUp();
      }
      return calls.toSorted();
    };
    await mineCounted(3);
    const before = await mineCounted(10);
    const requested = await ask(started, wallet);
    expect(requested.whole).toEqual([]);
    await mineCounted(2);
    const after = await mineCounted(10);
    // Head polls occasionally read headers.
    const costly = (made: readonly string[]) => made.filter((call) => !/^eth_(?:blockNumber|chainId)/.test(call));
    expect(costly(after).filter((call) => call.endsWith('true'))).toHaveLength(10);
    expect(costly(before).filter((call) => call.endsWith('true'))).toHaveLength(0);
    expect(costly(after).length).toBeLessThanOrEqual(costly(before).length);
    expect(costly(after).filter((call) => call === 'eth_getBlockReceipts')).toHaveLength(10);
    const search = await ask(started, wallet);
    expect(search.whole).toEqual([{ from: 14, to: 25 }]);
    expect((await requireTruth(new Map([[wallet, search]]))).rows).toBeGreaterThan(5);
  }, 60_000);

  test('that were sent in older blocks are found in so many calls as halvings take, some of them within a limit', async () => {
    const [wallet, other, quiet] = accountsOf(stage.devnet, 3) as readonly [Address, Address, Address];
    const send = (from: Address) =>
      stage.devnet.client.sendTransaction({ account: from, to: quiet, value: 1n, gas: 21_000n, chain: null });
    const sentIn: number[] = [];
    for (const blocks of [300, 1, 700, ...Array.from({ length: 37 }, (_, place) => 20 + place)]) {
      await stage.devnet.mine(blocks);
      await send(wallet);
      await send(other);
      await stage.devnet.mine();
      sentIn.push((sentIn.at(-1) ?? 0) + blocks + 1);
    }
    await stage.devnet.mine(100);
    const started = await open({ maxCalls: 200 });
    await ask(started, wallet);
    await ask(started, quiet);
    await caughtUp();
    await stage.devnet.mine(20);
    await caughtUp();
    const history = async (address: Address) => {
      const [row] = await stage.scratch.database.query<{ status: string; calls: number; rows: number }>(
        sql`SELECT status, calls_made AS calls, rows_added AS rows FROM backfill_requests WHERE kind = 'sender' AND subject = ${addressBytes(address)}`,
      );
      return row;
    };
    await vi.waitFor(async () => expect((await history(wallet))?.status).toBe('refused'), { timeout: 60_000 });
    const first = await ask(started, wallet);
    expect(first.state).toBe('refused');
    const found = (await storedRows(stage.scratch.database, CHAIN_ID, wallet)).map(({ block }) => block);
    expect(found.length).toBeGreaterThan(0);
    expect(found.length).toBeLessThan(sentIn.length);
    expect(sentIn).toEqual(expect.arrayContaining(found));
    await started.stop();
    const more = await open();
    const search = await searched(more, wallet);
    expect((await storedRows(stage.scratch.database, CHAIN_ID, wallet)).map(({ block }) => block)).toEqual(
      sentIn,
    );
    await requireTruth(new Map([[wallet, search]]));
    expect((await history(wallet))?.calls).toBeLessThan(sentIn.length * (12 + 2));
    // A wallet that never sent anything takes one call a turn.
    await searched(more, quiet);
    expect((await history(quiet))?.calls).toBeLessThanOrEqual(4);
    expect(await ask(more, wallet)).toMatchObject({ missing: [], state: 'done' });
  }, 180_000);

  test('of a contract end at its newest creation, and of an account that delegates to one go on', async () => {
    const [wallet] = accountsOf(stage.devnet, 1) as readonly [Address];
    await stage.devnet.mine(40);
    await stage.devnet.client.request({
      method: 'anvil_setCode',
      params: [wallet, `0xef0100${'11'.repeat(20)}`],
    } as never);
    for (let sent = 0; sent < 3; sent += 1) {
      await stage.devnet.client.sendTransaction({
        account: wallet,
        to: wallet,
        value: 1n,
        gas: 60_000n,
        chain: null,
      });
      await stage.devnet.mine(10);
    }
    const factory = parseAddress(`0x${'fa'.repeat(20)}`);
    // Creates an empty contract at each call.
    await stage.devnet.client.request({
      method: 'anvil_setCode',
      params: [factory, '0x600060006000f0'],
    } as never);
    for (let made = 0; made < 6; made += 1) {
      await stage.devnet.client.sendTransaction({ account: wallet, to: factory, gas: 200_000n, chain: null });
      await stage.devnet.mine(15);
    }
    const started = await open();
    await caughtUp();
    for (const requested of [wallet, factory]) await ask(started, requested);
    await stage.devnet.mine(30);
    await caughtUp();
    const searches = new Map<Address, WalletSearch>();
    for (const requested of [wallet, factory]) searches.set(requested, await searched(started, requested));
    expect((await requireTruth(new Map([[wallet, searches.get(wallet) as WalletSearch]]))).sent).toBe(9);
    const [row] = await stage.scratch.database.query<{ calls: number }>(
      sql`SELECT calls_made AS calls FROM backfill_requests WHERE kind = 'sender' AND subject = ${addressBytes(factory)}`,
    );
    expect(row?.calls).toBeLessThan(25);
  }, 60_000);

  test('without an archive node are those of new blocks, and the state says so', async () => {
    const pruned = { code: -32_000, message: 'missing trie node 0123 (path ) state 0x45 is not available' };
    const proxy = await startNodeProxy(stage.devnet.url, {
      errors: { ...WITHOUT_INDEX, eth_getTransactionCount: pruned },
    });
    onTestFinished(() => proxy.close());
    const [wallet] = accountsOf(stage.devnet, 1) as readonly [Address];
    const random = createSeededRandom(3);
    for (let block = 0; block < 30; block += 1) await mineRandomBlock(stage.devnet, [wallet], random, 1);
    const started = await open({ pool: await stagePool(chain, [proxy.url]) });
    await caughtUp();
    await ask(started, wallet);
    for (let block = 0; block < 12; block += 1) await mineRandomBlock(stage.devnet, [wallet], random, 2);
    await caughtUp();
    const search = await vi.waitFor(
      async () => {
        const now = await ask(started, wallet);
        expect(now.state).toBe('no-archive');
        return now;
      },
      { timeout: 60_000, interval: 100 },
    );
    expect(search.whole).toEqual([{ from: 31, to: 42 }]);
    expect((await requireTruth(new Map([[wallet, search]]))).rows).toBeGreaterThan(5);
  }, 60_000);

  test('are not claimed of blocks that were followed while none were kept', async () => {
    const [wallet, other] = accountsOf(stage.devnet, 2) as readonly [Address, Address];
    const random = createSeededRandom(4);
    const mine = (blocks: number): Promise<void> => mineRandom([wallet, other], random, blocks);
    await mineRandomBlock(stage.devnet, [wallet], random, 1);
    const first = await open({ roles: ['ingest'] });
    await caughtUp();
    await ask(first, wallet);
    await mine(5);
    await first.stop();
    const off = await open({ roles: ['ingest'], chain: stageChain(CHAIN_ID, 'off') });
    await mine(5);
    // A follower with transactions off also removes the rows of reorganized blocks.
    await stage.devnet.reorg(7);
    await mine(4);
    await off.stop();
    const last = await open({ roles: ['ingest'] });
    await ask(last, other);
    await mine(3);
    const search = await ask(last, wallet);
    expect(search.whole).toEqual([
      { from: 2, to: 4 },
      { from: 16, to: 18 },
    ]);
    const ofOther = await ask(last, other);
    expect(ofOther.whole).toEqual([{ from: 16, to: 18 }]);
    await requireTruth(
      new Map([
        [wallet, search],
        [other, ofOther],
      ]),
    );
  }, 60_000);

  test('of a wallet that nobody asks for any more stay as they are known, and new blocks are not searched for it', async () => {
    const [wallet, other] = accountsOf(stage.devnet, 2) as readonly [Address, Address];
    const random = createSeededRandom(5);
    const mine = (blocks: number): Promise<void> => mineRandom([wallet, other], random, blocks);
    await mineRandomBlock(stage.devnet, [wallet], random, 1);
    const first = await open({ roles: ['ingest'] });
    await caughtUp();
    for (const requested of [wallet, other]) await ask(first, requested);
    await mine(5);
    await stage.scratch.database.query(
      sql`UPDATE tracked_wallets SET asked_at = now() - interval '31 days' WHERE wallet = ${addressBytes(wallet)}`,
    );
    await first.stop();
    const last = await open({ roles: ['ingest'] });
    await mine(5);
    const known = await readWalletSearch(stage.scratch.database, chain, wallet);
    expect(known.whole).toEqual([{ from: 2, to: 6 }]);
    expect((await ask(last, other)).whole).toEqual([{ from: 2, to: 11 }]);
    await ask(last, wallet);
    await mine(2);
    const again = await ask(last, wallet);
    expect(again.whole).toEqual([
      { from: 2, to: 6 },
      { from: 12, to: 13 },
    ]);
    await requireTruth(new Map([[wallet, again]]));
  }, 60_000);
});
