/** The real program over a real node: NFTs from before its first block are found once a wallet asks for them. */

import type { Address } from '@chainstead/core';
import { sql } from '@chainstead/db';
import {
  compileDemoContracts,
  DEMO_NFT_ABI,
  DEMO_TOKEN_ABI,
  type Devnet,
  type Program,
  type ScratchDatabase,
} from '@chainstead/testkit';
import { runCaptured } from 'chainstead/src/testing/captured-context.ts';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type DevnetProgramStage, openDevnetProgramStage } from './devnet-program.ts';

// Processes start slowly on a busy machine.
const KEY = 'acceptance-key-0123456789';
const CHAIN_ID = 1_337_031;

let devnet: Devnet;
let scratch: ScratchDatabase;
let stage: DevnetProgramStage;
let program: Program;
let [first, second, token, wallet, other]: Address[] = [];

beforeAll(async () => {
  stage = await openDevnetProgramStage(CHAIN_ID);
  ({ devnet, scratch } = stage);
  const contracts = await compileDemoContracts();
  [other, wallet] = devnet.accounts;
  first = await devnet.deploy(contracts.DemoNft);
  second = await devnet.deploy(contracts.DemoNft);
  token = await devnet.deploy(contracts.DemoToken, ['Demo Dollar', 'DUSD', 6]);
  for (const id of [1n, 2n, 3n]) await nft(first, 'mint', [wallet, id]);
  await nft(second, 'mint', [wallet, 9n]);
  // ERC-20's Transfer has the same topic0.
  await devnet.send({ address: token, abi: DEMO_TOKEN_ABI, functionName: 'mint', args: [wallet, 5n] });
  await nft(first, 'transferFrom', [wallet, other, 3n], wallet);
  await nft(second, 'transferFrom', [wallet, other, 9n], wallet);
  await devnet.mine(150);
  program = stage.start(KEY, { START_BLOCK_DEVNET: 'head' });
});
afterAll(() => stage?.close());

async function nft(
  address: Address,
  functionName: 'mint' | 'transferFrom',
  args: readonly unknown[],
  from?: Address,
) {
  await devnet.send({ address, abi: DEMO_NFT_ABI, functionName, args, ...(from === undefined ? {} : { from }) });
}

interface Answer {
  readonly status: string;
  readonly status_message?: string;
  readonly indexed: { readonly from_block: string | null; readonly complete: boolean };
  readonly result: readonly {
    readonly token_address: string;
    readonly count: number;
    readonly contract_type: string;
  }[];
}

async function collections(): Promise<Answer> {
  const url = `${await program.url}/api/v2.2/${wallet}/nft/collections?chain=devnet&token_counts=true`;
  const response = await fetch(url, { headers: { 'x-api-key': KEY } });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status} ${text}\n${program.output()}`);
  return JSON.parse(text) as Answer;
}

/** As if the time had passed after which it is looked at again whether the newest blocks are final. */
async function lookAgain(): Promise<void> {
  await scratch.database.query(
    sql`UPDATE backfill_requests SET due_at = now() WHERE status = 'pending' AND due_at > now()`,
  );
}

describe('a wallet whose NFTs are older than the index', () => {
  it('is SYNCING at first, then has exactly what it holds, and status shows the history', async () => {
    const followed = () =>
      scratch.database.query(sql`SELECT 1 FROM sync_ranges WHERE dataset = ${'nft-transfers'}`);
    await vi.waitFor(async () => expect(await followed()).not.toEqual([]), 60_000);
    expect(await collections()).toMatchObject({ status: 'SYNCING', indexed: { complete: false }, result: [] });
    // What is younger than the deepest reorganisation waits.
    await vi.waitFor(
      async () => expect((await collections()).status_message).toMatch(/can still be reorganised/),
      60_000,
    );
    expect((await collections()).result).toMatchObject([
      { token_address: first, contract_type: 'ERC721', count: 2 },
    ]);
    await devnet.mine(100);
    await vi.waitFor(
      async () => {
        await lookAgain();
        expect((await collections()).status).toBe('SYNCED');
      },
      { timeout: 60_000, interval: 500 },
    );
    expect(await collections()).toMatchObject({
      indexed: { from_block: '0', complete: true },
      result: [{ token_address: first, count: 2 }],
    });
    const status = await runCaptured(['status'], { DATABASE_URL: scratch.url });
    expect(status.stdout).toContain('histories   1 done');
  });
});
