import { setTimeout } from 'node:timers/promises';
import type { Address } from '@chainstead/core';
import { addressBytes, readSetAsideWork, sql } from '@chainstead/db';
import { TRANSFER_TOPIC } from '@chainstead/events/token-events';
import type { WatchedBlock } from '@chainstead/sync';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { ERC20_TRANSFER, exampleStream, TRANSFER_SIGNATURE } from '../matching/testing/example-stream.ts';
import { scanBlock } from '../matching/testing/naive-scan.ts';
import { createStreamAddressStore } from '../records/stream-addresses.ts';
import { createStreamStore } from '../records/stream-store.ts';
import { exampleActor } from '../records/testing/example-actor.ts';
import type { Stream, StreamConfig } from '../stream.ts';
import { createStreamsWatcher } from './create-streams-watcher.ts';
import {
  FOLLOWED_CONFIRMATIONS,
  type FollowedChain,
  openFollowedChain,
  walletsOf,
} from './testing/followed-chain.ts';

const scratch = scratchOfFile();
let nextChain = 930_001;

async function open(): Promise<FollowedChain> {
  const followed = await openFollowedChain(scratch.database, nextChain++);
  onTestFinished(() => followed.close());
  return followed;
}

function createStream({ chain }: FollowedChain, config: Partial<StreamConfig>): Promise<Stream> {
  const description = `${chain.key} ${JSON.stringify(config)}`;
  return createStreamStore(scratch.database).create(
    { ...exampleStream(config), chainIds: [chain.id], description },
    exampleActor(),
  );
}

const watch = (stream: Stream, addresses: readonly Address[]) =>
  createStreamAddressStore(scratch.database).add(stream.id, addresses, exampleActor());

const GROWING_NEEDS: readonly Partial<StreamConfig>[] = [
  { includeContractLogs: true },
  { includeNativeTxs: true },
  { includeInternalTxs: true },
];

/** `stream block counts` of matches that are still valid. */
async function storedMatches({ chain }: FollowedChain): Promise<string[]> {
  const rows = await scratch.database.query<{ line: string }>(
    sql`SELECT concat_ws(' ', stream_id, '0x' || encode(block_hash, 'hex'), logs, txs, txs_internal) AS line
     FROM stream_matches WHERE chain_id = ${chain.id} AND removed_at IS NULL`,
  );
  return rows.map(({ line }) => line).sort();
}

function matchLine(
  stream: Stream,
  block: WatchedBlock,
  addresses: ReadonlySet<Address>,
  spam: ReadonlySet<Address> = new Set(),
): string[] {
  const found = scanBlock(block, stream, addresses, spam);
  if (found === null) return [];
  const { logs, transactions, internalTransactions } = found;
  return [
    [stream.id, block.header.hash, logs.length, transactions.length, internalTransactions.length].join(' '),
  ];
}

async function deliveries({ chain }: FollowedChain, kind: string): Promise<{ block: number; status: string }[]> {
  return scratch.database.query(
    sql`SELECT block_number AS block, status FROM stream_deliveries WHERE chain_id = ${chain.id} AND kind = ${kind} ORDER BY 1`,
  );
}

describe('streams over a followed chain', () => {
  it('match every block of the canonical chain once, through reorganisations, a restart and catching up', async () => {
    const followed = await open();
    const { scripted } = followed;
    const first = scripted.head + 1;
    const wallets = walletsOf(followed, 0, 6);
    const native = await createStream(followed, { includeNativeTxs: true });
    await watch(native, wallets);
    const transfers = await createStream(followed, {
      includeContractLogs: true,
      allAddresses: true,
      topic0: [TRANSFER_SIGNATURE],
      abi: [ERC20_TRANSFER],
    });
    const before = followed.start();
    await followed.caughtUp();
    scripted.mine(6);
    await followed.caughtUp();
    scripted.reorg(3, 5);
    await followed.caughtUp();
    await before.stop();
    // During the downtime: a deep reorg, and more blocks than one commit holds.
    scripted.reorg(6, 8);
    scripted.mine(90);
    const after = followed.start();
    await followed.caughtUp();
    await after.stop();
    const blocks = Array.from({ length: scripted.head - first + 1 }, (_, index) =>
      followed.blockAt(first + index),
    );
    const expected = blocks.flatMap((block) => [
      ...matchLine(native, block, new Set(wallets)),
      ...matchLine(transfers, block, new Set()),
    ]);
    const stored = (await storedMatches(followed)).filter(
      (line) => !line.includes(followed.blockAt(first - 1).header.hash),
    );
    expect(stored).toEqual(expected.toSorted());
    expect(expected.length).toBeGreaterThan(100);
    const confirmed = await deliveries(followed, 'confirmed');
    expect(confirmed.filter(({ status }) => status === 'pending').map(({ block }) => block)).toEqual(
      (await matchedNumbers(followed)).filter((number) => number <= scripted.head - FOLLOWED_CONFIRMATIONS),
    );
  });

  it('show a block whose contents could not be read as quarantined work, until a reorg removes it', async () => {
    const followed = await open();
    const { chain, scripted } = followed;
    await createStream(followed, { includeContractLogs: true });
    const watcher = createStreamsWatcher({ database: scratch.database });
    const shown = async () =>
      (await readSetAsideWork(scratch.database, 10)).map(({ name, reason }) => `${name}: ${reason}`);
    const { head } = scripted;
    const reason = 'Block is larger than 96 MiB';
    const parts = { logs: { level: 'unavailable', reason, isUnsupported: false } } as const;
    const block = { ...followed.blockAt(head), logs: [], receipts: [], parts };
    await scratch.database.transaction((transaction) => watcher.committed(transaction, chain, [block]));
    expect(await shown()).toEqual([`block ${chain.key} ${head} streams unread: ${reason}`]);
    await scratch.database.transaction((transaction) => watcher.rolledBack(transaction, chain, head));
    expect(await shown()).toHaveLength(1);
    await scratch.database.transaction((transaction) => watcher.rolledBack(transaction, chain, head - 1));
    expect(await shown()).toEqual([]);
  });

  it('apply from the next block on, addresses and streams that are added while it is followed', async () => {
    const followed = await open();
    const { scripted } = followed;
    const running = followed.start();
    onTestFinished(() => running.stop());
    await followed.caughtUp();
    const streams: { stream: Stream; addresses: Set<Address> }[] = [];
    const expected: string[] = [];
    for (const [index, wallet] of walletsOf(followed, 0, 12).entries()) {
      // At first only logs are needed, then also transactions, and finally traces.
      if (index % 4 === 0)
        streams.push({
          stream: await createStream(followed, GROWING_NEEDS[index / 4] ?? {}),
          addresses: new Set(),
        });
      for (const { stream, addresses } of streams) {
        await watch(stream, [wallet]);
        addresses.add(wallet);
      }
      for (const { header } of scripted.mine(2).map(({ number }) => followed.blockAt(number)))
        for (const { stream, addresses } of streams)
          expected.push(...matchLine(stream, followed.blockAt(header.number), addresses));
      await followed.caughtUp();
    }
    expect(await storedMatches(followed)).toEqual(expected.toSorted());
    expect(expected.length).toBeGreaterThan(20);
  });

  it('miss no block after an address was added, and see none before, while blocks keep coming', async () => {
    const followed = await open();
    const { chain, scripted } = followed;
    const running = followed.start();
    onTestFinished(() => running.stop());
    await followed.caughtUp();
    const checkpoint = async (): Promise<number> => {
      const [row] = await scratch.database.query<{ checkpoint: number }>(
        sql`SELECT checkpoint FROM sync_chains WHERE chain_id = ${chain.id}`,
      );
      return row?.checkpoint ?? 0;
    };
    let mining = true;
    const mined = (async () => {
      for (; mining; await setTimeout(2)) scripted.mine(1);
    })();
    const added: { stream: Stream; wallet: Address; before: number; after: number }[] = [];
    for (const wallet of walletsOf(followed, 0, 8)) {
      const stream = await createStream(followed, { includeNativeTxs: true, tag: wallet });
      const before = await checkpoint();
      await watch(stream, [wallet]);
      const after = await checkpoint();
      added.push({ stream, wallet, before, after });
      await vi.waitFor(async () => expect(await checkpoint()).toBeGreaterThan(after), {
        timeout: 10_000,
        interval: 10,
      });
    }
    mining = false;
    await mined;
    scripted.mine(10);
    await followed.caughtUp();
    for (const { stream, wallet, before, after } of added) {
      const stored = (await storedMatches(followed)).filter((line) => line.startsWith(stream.id));
      const expected = (from: number): string[] =>
        Array.from({ length: scripted.head - from }, (_, index) =>
          matchLine(stream, followed.blockAt(from + 1 + index), new Set([wallet])),
        ).flat();
      expect(expected(before)).toEqual(expect.arrayContaining(stored));
      expect(stored).toEqual(expect.arrayContaining(expected(after)));
      expect(scripted.head).toBeGreaterThan(after);
    }
  });

  it('leave out the logs of flagged contracts where the stream says so', async () => {
    const followed = await open();
    const { scripted, chain } = followed;
    const contractLogs = {
      includeContractLogs: true,
      allAddresses: true,
      topic0: [TRANSFER_SIGNATURE],
      abi: [ERC20_TRANSFER],
    };
    const stream = await createStream(followed, { ...contractLogs, filterPossibleSpamAddresses: true });
    const first = scripted.head + 1;
    const sync = followed.start();
    await followed.caughtUp();
    scripted.mine(1);
    await followed.caughtUp();
    const token = followed.blockAt(first).logs.find(({ topics }) => topics[0] === TRANSFER_TOPIC)?.address;
    if (token === undefined) throw new Error('The block has no transfer');
    await scratch.database.query(
      sql`INSERT INTO tokens (address, chain_id, standard, facts_status, possible_spam) VALUES (${addressBytes(token)}, ${chain.id}, 'erc20', 'known', true)
       ON CONFLICT (address, chain_id) DO UPDATE SET possible_spam = true`,
    );
    scripted.mine(8);
    await followed.caughtUp();
    await sync.stop();
    const blocks = Array.from({ length: 8 }, (_, index) => followed.blockAt(first + 1 + index));
    const flagged = blocks.flatMap((block) => matchLine(stream, block, new Set(), new Set([token])));
    expect(flagged).not.toEqual(blocks.flatMap((block) => matchLine(stream, block, new Set())));
    const hashes = blocks.map(({ header }) => header.hash);
    const stored = (await storedMatches(followed)).filter((line) => hashes.some((hash) => line.includes(hash)));
    expect(stored).toEqual(flagged.toSorted());
  });
});

async function matchedNumbers({ chain }: FollowedChain): Promise<number[]> {
  const rows = await scratch.database.query<{ blockNumber: number }>(
    sql`SELECT block_number FROM stream_matches WHERE chain_id = ${chain.id} AND removed_at IS NULL ORDER BY 1`,
  );
  return rows.map((row) => row.blockNumber);
}
