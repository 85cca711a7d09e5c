/** A wallet's transactions on a chain that stores only those of requested wallets. */
import { addressBytes, rawSql, sql } from '@chainstead/db';
import { beforeEach, describe, expect, test } from 'vitest';
import { at, FRIEND, placesOf, WALLET, walletListsStage } from '../testing/wallet-lists-stage.ts';

const stage = walletListsStage();
const { get, keeping, seed } = stage;

describe('where only transactions of wallets that are asked for are kept', () => {
  beforeEach(async () => {
    Object.assign(keeping, { mode: 'wallets' });
    await stage.database.query(
      sql`INSERT INTO sync_chains (chain_id, history_start, first_followed, checkpoint) VALUES (1, 100, 100, 119)`,
    );
  });

  test('a wallet is asked for by the first request, which is told that nothing is known', async () => {
    await seed(at(3));
    const page = await get(WALLET);
    expect(placesOf(page)).toEqual(['3.0']);
    expect(page.indexed).toEqual({
      ...{ from_block: null, to_block: null, complete: false, senders: 'recovered' },
      sent: { complete: false, state: null },
      received: { searched: false, exact: false, state: null },
    });
    expect(stage.searchesRequested).toEqual([WALLET]);
    expect(await stage.database.query(sql`SELECT wallet, since_block FROM tracked_wallets`)).toEqual([
      { wallet: addressBytes(WALLET), sinceBlock: null },
    ]);
  });

  test('what was searched for it is told: all of new blocks, of older ones what it sent', async () => {
    const columns = 'chain_id, kind, subject, dataset, first_block, last_block';
    await stage.database.query(
      sql`INSERT INTO tracked_wallets (chain_id, wallet, since_block) VALUES (1, ${addressBytes(WALLET)}, 110)`,
    );
    await stage.database.query(
      sql`INSERT INTO wallet_scan_state (chain_id, first_block, last_block) VALUES (1, 105, 119)`,
    );
    const search = (first: number, last: number, kind = 'sender') =>
      stage.database.query(
        sql`INSERT INTO subject_ranges (${rawSql(columns)}) VALUES (1, ${kind}, ${addressBytes(WALLET)}, 'account-transactions', ${first}, ${last})`,
      );
    await search(50, 109);
    await seed(at(60), at(112));
    const span = { from_block: '110', to_block: '119', senders: 'recovered' };
    expect((await get(WALLET)).indexed).toEqual({
      ...{ ...span, complete: false },
      sent: { complete: false, state: null },
      received: { searched: false, exact: false, state: null },
    });
    expect(stage.searchesRequested).toEqual([WALLET]);
    expect(stage.balancesRequested).toEqual([]);
    await search(0, 49);
    expect((await get(`${WALLET}?limit=1`)).indexed).toEqual({
      ...{ ...span, complete: false },
      sent: { complete: true, state: null },
      // All that exists may still be reorganized.
      received: { searched: true, exact: true, state: null },
    });
    expect(stage.balancesRequested).toEqual([]);
    expect((await get(`${WALLET}?from_block=110&to_block=119`)).indexed.complete).toBe(true);
    expect((await get(`${WALLET}?from_block=109`)).indexed.complete).toBe(false);
    expect(stage.searchesRequested).toEqual([WALLET]);
    await stage.database.query(sql`UPDATE sync_chains SET checkpoint = 1000`);
    await stage.database.query(sql`UPDATE wallet_scan_state SET last_block = 1000`);
    expect((await get(WALLET)).indexed).toMatchObject({
      complete: false,
      received: { searched: false, exact: false },
    });
    expect(stage.balancesRequested).toEqual([WALLET]);
    await search(1, 900, 'receiver');
    expect((await get(WALLET)).indexed).toMatchObject({
      complete: false,
      received: { searched: true, exact: false },
    });
    expect(stage.balancesRequested).toEqual([WALLET]);
    // Another wallet has none of it.
    expect((await get(FRIEND)).indexed).toMatchObject({ from_block: null, to_block: null, complete: false });
  });
});
