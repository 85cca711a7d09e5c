/**
 * The wrapped native token on a real node, followed by the real engine: the API must return the contract's balances.
 */

import type { Address } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { type CompiledContract, compileAssetContracts } from '@chainstead/testkit';
import { stageOfFile } from '@chainstead/testkit/hooks';
import { encodeFunctionData } from 'viem';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { erc20Transfers } from '../transfers/dataset.ts';
import { wrappedCoinMoves } from './dataset.ts';
import { COIN, type CoinStage, openCoinStage } from './testing/coin-stage.ts';

const DATASETS = [erc20Transfers, wrappedCoinMoves];
const soon = { timeout: 30_000, interval: 100 };

const wrappedEther = async (): Promise<CompiledContract> => (await compileAssetContracts())('WrappedEther');

async function movesOf({ scratch }: CoinStage): Promise<number> {
  const [row] = await scratch.database.query<{ moves: number }>(
    sql`SELECT count(*)::int AS moves FROM wrapped_coin_moves WHERE direction <> 1`,
  );
  return row?.moves ?? 0;
}

interface Owners {
  readonly indexed: { readonly complete: boolean };
  readonly result: readonly { readonly owner_address: Address; readonly balance: string }[];
}
interface Holders {
  readonly totalHolders: number;
  readonly indexed: { readonly complete: boolean };
}

async function ownersOf(
  stage: CoinStage,
): Promise<{ readonly complete: boolean; readonly owners: readonly string[] }> {
  const { indexed, result } = (await stage.ask(`erc20/${COIN}/owners`)) as Owners;
  return { complete: indexed.complete, owners: result.map((row) => `${row.owner_address} ${row.balance}`) };
}

/** Counts are cached for five minutes. */
async function holdersOf(stage: CoinStage): Promise<Holders> {
  await stage.scratch.database.query(sql`DELETE FROM state_questions WHERE kind = 'erc20-holder-counts'`);
  return (await stage.ask(`erc20/${COIN}/holders`)) as Holders;
}

/** Returns the first covered block of the list, the summary and the history of its holders. */
async function knownFrom(stage: CoinStage): Promise<readonly (string | null)[]> {
  const since: (string | null)[] = [];
  for (const path of ['owners', 'holders', `holders/historical?fromDate=2020-01-01&toDate=2020-01-02`]) {
    const { indexed } = (await stage.ask(`erc20/${COIN}/${path}`)) as { indexed: { from_block: string | null } };
    since.push(indexed.from_block);
  }
  return since;
}

describe('a coin that emits no transfers for deposits and withdrawals', () => {
  const stage = stageOfFile(async () => openCoinStage(await wrappedEther()));
  let [alice, bob, carol, dave]: Address[] = [];

  beforeAll(async () => {
    [, alice, bob, carol, dave] = stage.devnet.accounts;
    await stage.call(carol, 'deposit', [], 70n);
    await stage.index(DATASETS);
  });

  test('is held by who only ever deposited some, asked before and after', async () => {
    expect(await stage.held(alice)).toEqual({ balance: null, isComplete: true });
    expect(await stage.held(carol)).toEqual({ balance: '70', isComplete: true });
    await stage.call(alice, 'deposit', [], 50n);
    expect(await stage.held(alice)).toEqual({ balance: '50', isComplete: true });
    expect(await stage.held(dave)).toEqual({ balance: null, isComplete: true });
    expect(await ownersOf(stage)).toEqual({ complete: true, owners: [`${carol} 70`, `${alice} 50`] });
  });

  test('is followed without asking its contract again: deposits, withdrawals, transfers, a reorganisation', async () => {
    await stage.held(alice);
    await stage.held(bob);
    await stage.held(carol);
    expect(await stage.coinClass()).toBe('sum');
    const requested = stage.balancesRequested();
    await stage.call(alice, 'deposit', [], 10n);
    await stage.call(alice, 'withdraw', [25n]);
    await stage.call(alice, 'transfer', [bob, 5n]);
    expect(await stage.held(alice)).toEqual({ balance: '30', isComplete: true });
    expect(await stage.held(bob)).toEqual({ balance: '5', isComplete: true });
    await stage.call(bob, 'withdraw', [5n]);
    expect(await stage.held(bob)).toEqual({ balance: null, isComplete: true });
    // Removes the withdrawal and the transfer.
    await stage.devnet.reorg(2);
    await stage.devnet.mine();
    await stage.caughtUp();
    expect(await stage.held(alice)).toEqual({ balance: await stage.truth(alice), isComplete: true });
    expect(await stage.held(alice)).toEqual({ balance: '35', isComplete: true });
    expect(await stage.held(bob)).toEqual({ balance: null, isComplete: true });
    expect(stage.balancesRequested()).toBe(requested);
  });

  test('is listed and counted by its holders, and the lists are complete', async () => {
    const expected = [`${carol} 70`, `${alice} ${await stage.truth(alice)}`];
    expect(await ownersOf(stage)).toEqual({ complete: true, owners: expected });
    expect(await holdersOf(stage)).toMatchObject({ totalHolders: 2, indexed: { complete: true } });
    await stage.call(dave, 'deposit', [], 900n);
    // A transfer and a deposit in one block.
    const { client } = stage.devnet;
    const { abi } = await wrappedEther();
    await client.setAutomine(false);
    const transfer = encodeFunctionData({ abi, functionName: 'transfer', args: [bob, 70n] });
    await client.sendTransaction({ account: carol as Address, chain: null, to: COIN, data: transfer });
    const deposit = encodeFunctionData({ abi, functionName: 'deposit' });
    await client.sendTransaction({ account: alice as Address, chain: null, to: COIN, data: deposit, value: 1n });
    await client.mine({ blocks: 1 });
    await client.setAutomine(true);
    await stage.caughtUp();
    expect(await ownersOf(stage)).toEqual({
      complete: true,
      owners: [`${dave} 900`, `${bob} 70`, `${alice} ${await stage.truth(alice)}`],
    });
    expect(await holdersOf(stage)).toMatchObject({ totalHolders: 3, indexed: { complete: true } });
    const now = Math.round(Date.now() / 1_000) + 86_400;
    const history = (await stage.ask(
      `erc20/${COIN}/holders/historical?fromDate=${now - 400 * 86_400}&toDate=${now}&timeFrame=1d&limit=1`,
    )) as {
      readonly indexed: { readonly complete: boolean };
      readonly result: readonly { readonly totalHolders: number }[];
    };
    expect(history).toMatchObject({ indexed: { complete: true }, result: [{ totalHolders: 3 }] });
  });
});

test('a dataset that DATASETS left out has its history filled in, by the contract alone, and is then counted', async () => {
  const stage = await openCoinStage(await wrappedEther(), { reorgDepthMax: 2 });
  onTestFinished(() => stage.close());
  const { database } = stage.scratch;
  const [, alice, bob] = stage.devnet.accounts;
  await stage.call(alice, 'deposit', [], 50n);
  const earlier = await stage.index([erc20Transfers]);
  await stage.call(alice, 'withdraw', [8n]);
  await vi.waitFor(
    async () => expect(await stage.held(alice)).toEqual({ balance: '42', isComplete: true }),
    soon,
  );
  expect(await stage.coinClass()).toBeUndefined();
  expect(await ownersOf(stage)).toEqual({ complete: false, owners: [] });
  expect(await knownFrom(stage)).toEqual([null, null, null]);
  await earlier.stop();
  const received = stage.node.received.length;
  await stage.index(DATASETS);
  await vi.waitFor(
    async () => expect(await stage.held(alice)).toEqual({ balance: '42', isComplete: true }),
    soon,
  );
  expect(await ownersOf(stage)).toEqual({ complete: false, owners: [] });
  await stage.devnet.mine(4);
  await vi.waitFor(async () => {
    const lowest = await database.query(
      sql`SELECT min(first_block)::int AS lowest FROM sync_ranges WHERE dataset = 'wrapped-coin-moves'`,
    );
    expect([lowest, await movesOf(stage)]).toEqual([[{ lowest: 0 }], 2]);
  }, soon);
  const filtered = stage.node.received
    .slice(received)
    .flatMap(({ method, params }) =>
      method === 'eth_getLogs' ? [params[0] as { readonly address?: unknown }] : [],
    );
  expect(filtered.length).toBeGreaterThan(0);
  for (const { address } of filtered) expect(JSON.stringify(address)).toContain(COIN);
  await stage.caughtUp();
  await stage.call(alice, 'transfer', [bob, 2n]);
  expect(await stage.held(alice)).toEqual({ balance: '40', isComplete: true });
  expect(await stage.coinClass()).toBe('sum');
  // Its blocks were not indexed in order: the next request counts it again.
  await vi.waitFor(
    async () => expect(await holdersOf(stage)).toMatchObject({ totalHolders: 2, indexed: { complete: true } }),
    soon,
  );
  expect(await ownersOf(stage)).toEqual({ complete: true, owners: [`${alice} 40`, `${bob} 2`] });
  expect(await knownFrom(stage)).toEqual(['0', '0', '0']);
});
