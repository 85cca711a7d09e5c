/**
 * Recent activity of a wallet that was never requested: it is in the list at the first request, while its block can
 * still be reorganized.
 */
import { type Address, parseAddress } from '@chainstead/core';
import { describe, expect, test, vi } from 'vitest';
import { isAllSentKnown } from './read-wallet-search.ts';
import { devnetWallets, playgroundOn } from './testing/devnet-wallets.ts';
import { storedRows } from './testing/known-rows.ts';

const CHAIN_ID = 31_341;
/** Half of it is longer than a busy machine takes; the request ends as soon as the blocks are searched. Milliseconds. */
const WAIT_MS = 60_000;
const RECIPIENT = parseAddress(`0x${'e1'.repeat(20)}`);

const stage = devnetWallets(CHAIN_ID);
const { transfer } = playgroundOn(stage);

async function blocksOf(wallet: Address): Promise<readonly number[]> {
  return (await storedRows(stage.scratch.database, CHAIN_ID, wallet)).map(({ block }) => block);
}

describe('the first request for a wallet', () => {
  test('finds what it sent and received just now, without a block that comes later', async () => {
    const roles = await stage.open({ waitMs: WAIT_MS });
    const [sender] = stage.devnet.accounts as readonly [Address, ...Address[]];
    const block = await transfer(sender, RECIPIENT, 7n);
    await stage.caughtUp();
    const search = await stage.ask(roles, sender);
    expect(isAllSentKnown(search)).toBe(true);
    expect(await blocksOf(sender)).toContain(block);
    await stage.ask(roles, RECIPIENT);
    expect(await blocksOf(RECIPIENT)).toEqual([block]);
  });

  test('takes back what a reorganisation takes back, and finds what takes its place', async () => {
    const roles = await stage.open({ waitMs: WAIT_MS });
    const [sender] = stage.devnet.accounts as readonly [Address, ...Address[]];
    const dropped = await transfer(sender, RECIPIENT, 7n);
    await stage.caughtUp();
    await stage.ask(roles, RECIPIENT);
    expect(await blocksOf(RECIPIENT)).toEqual([dropped]);
    await stage.devnet.reorg(1);
    await vi.waitFor(async () => expect(await blocksOf(RECIPIENT)).toEqual([]), {
      timeout: 30_000,
      interval: 50,
    });
    const kept = await transfer(sender, RECIPIENT, 8n);
    await vi.waitFor(async () => expect(await blocksOf(RECIPIENT)).toEqual([kept]), {
      timeout: 30_000,
      interval: 50,
    });
    expect((await stage.ask(roles, RECIPIENT)).missing).toEqual([]);
  });
});
