/** A chain of generated blocks on any number of branches, followed by a watcher, with a model of expected matches. */
import { createHash } from 'node:crypto';
import { type Chain, createChainRegistry } from '@chainstead/chains';
import type { Address, Hash } from '@chainstead/core';
import { type Database, sql } from '@chainstead/db';
import type { WatchedBlock } from '@chainstead/sync';
import { type ExampleTransaction, exampleBlock, exampleLog } from '../../matching/testing/example-block.ts';
import { ERC20_TRANSFER, exampleAddress, exampleStream } from '../../matching/testing/example-stream.ts';
import { scanBlock } from '../../matching/testing/naive-scan.ts';
import { changeStreamStatus } from '../../records/change-status.ts';
import { createStreamAddressStore } from '../../records/stream-addresses.ts';
import { createStreamStore } from '../../records/stream-store.ts';
import { exampleActor } from '../../records/testing/example-actor.ts';
import type { Stream, StreamConfig } from '../../stream.ts';
import { createStreamsWatcher } from '../create-streams-watcher.ts';

export type ChainStep =
  /** Rolls back `back` blocks, then follows `blocks` blocks of `branch` in batches of `batch`. */
  | {
      readonly kind: 'follow';
      readonly back: number;
      readonly branch: number;
      readonly blocks: number;
      readonly batch: number;
    }
  | { readonly kind: 'watch' | 'unwatch'; readonly stream: number; readonly address: number }
  | { readonly kind: 'pause' | 'resume'; readonly stream: number }
  /** Delivers everything pending in the outbox. */
  | { readonly kind: 'deliver' }
  | { readonly kind: 'restart' };

export interface WatchedChain {
  take(step: ChainStep): Promise<void>;
  /** Stored and expected matches and webhooks: one line each, sorted. */
  stored(): Promise<readonly string[]>;
  expected(): readonly string[];
  close(): Promise<void>;
}

const CONFIRMATIONS = 3;
const PARTIES = 8;
const BY = exampleActor();

interface ModelMatch {
  readonly blockNumber: number;
  readonly streamName: string;
  readonly sendRemoved: boolean;
  readonly contents: string;
  removed: boolean;
  confirmed: boolean;
  readonly deliveries: Map<string, 'pending' | 'delivered' | 'dropped'>;
}

/** The last one also requests removal notices. */
const CONFIGS: readonly Partial<StreamConfig>[] = [
  { includeNativeTxs: true },
  { includeContractLogs: true },
  { includeInternalTxs: true, includeNativeTxs: true, includeContractLogs: true, sendRemoved: true },
];
export const STREAMS = CONFIGS.length;

export async function openWatchedChain(database: Database, chainId: number): Promise<WatchedChain> {
  const chain: Chain = createChainRegistry({
    additional: [{ key: `watched-${chainId}`, id: chainId, confirmations: CONFIRMATIONS }],
  }).get(chainId);
  const store = createStreamStore(database);
  const addresses = createStreamAddressStore(database);
  const streams: Stream[] = [];
  for (const [index, config] of CONFIGS.entries()) {
    const description = `${chainId}/${index}`;
    streams.push(await store.create({ ...exampleStream(config), description, chainIds: [chain.id] }, BY));
  }
  const watched = streams.map(() => new Set<Address>());
  const paused = new Set<number>();
  const canonical: WatchedBlock[] = [];
  const matches = new Map<string, ModelMatch>();
  let watcher = createStreamsWatcher({ database });

  const matchInModel = (block: WatchedBlock): void => {
    for (const [index, stream] of streams.entries()) {
      if (paused.has(index)) continue;
      const found = scanBlock(block, stream, watched[index] ?? new Set(), new Set());
      if (found === null) continue;
      const key = `${index}/${block.header.hash}`;
      const match = matches.get(key) ?? {
        blockNumber: block.header.number,
        streamName: String(index),
        sendRemoved: stream.sendRemoved,
        contents: [found.logs.length, found.transactions.length, found.internalTransactions.length].join(),
        removed: false,
        confirmed: false,
        deliveries: new Map(),
      };
      match.removed = false;
      if (match.deliveries.get('removed') === 'pending') match.deliveries.set('removed', 'dropped');
      due(match, 'unconfirmed');
      matches.set(key, match);
    }
  };
  const due = (match: ModelMatch, kind: string): void => {
    if (match.deliveries.get(kind) !== 'delivered') match.deliveries.set(kind, 'pending');
  };
  const confirmInModel = (height: number): void => {
    for (const match of matches.values())
      if (!match.removed && !match.confirmed && match.blockNumber <= height) {
        match.confirmed = true;
        due(match, 'confirmed');
      }
  };
  const removeInModel = (ancestor: number): void => {
    for (const match of matches.values()) {
      if (match.removed || match.blockNumber <= ancestor) continue;
      match.removed = true;
      match.confirmed = false;
      const isReported = [...match.deliveries].some(
        ([kind, status]) => kind !== 'removed' && status === 'delivered',
      );
      for (const [kind, status] of match.deliveries)
        if (kind !== 'removed' && status === 'pending') match.deliveries.set(kind, 'dropped');
      if (match.sendRemoved && isReported) due(match, 'removed');
    }
  };

  const follow = async ({
    back,
    branch,
    blocks,
    batch,
  }: Extract<ChainStep, { kind: 'follow' }>): Promise<void> => {
    const ancestor = Math.max(0, canonical.length - back);
    const fresh = Array.from({ length: blocks }, (_, index) => blockOf(ancestor + 1 + index, branch));
    let isBack = ancestor < canonical.length;
    canonical.length = ancestor;
    for (let from = 0; from < fresh.length; from += batch) {
      const part = fresh.slice(from, from + batch);
      await database.transaction(async (transaction) => {
        if (isBack) await watcher.rolledBack(transaction, chain, ancestor);
        await watcher.committed(transaction, chain, part);
      });
      if (isBack) removeInModel(ancestor);
      isBack = false;
      canonical.push(...part);
      for (const block of part) matchInModel(block);
      confirmInModel(canonical.length - CONFIRMATIONS);
    }
  };
  const setStatus = (stream: number, status: 'active' | 'paused') =>
    database.transaction((transaction) =>
      changeStreamStatus(transaction, streams[stream]?.id ?? '', () => ({ status, statusMessage: status })),
    );

  return {
    async take(step) {
      switch (step.kind) {
        case 'follow':
          return follow(step);
        case 'watch':
          await addresses.add(streams[step.stream]?.id ?? '', [exampleAddress(step.address)], BY);
          watched[step.stream]?.add(exampleAddress(step.address));
          return;
        case 'unwatch':
          await addresses.remove(streams[step.stream]?.id ?? '', [exampleAddress(step.address)], BY);
          watched[step.stream]?.delete(exampleAddress(step.address));
          return;
        case 'pause':
          await setStatus(step.stream, 'paused');
          paused.add(step.stream);
          return;
        case 'resume':
          await setStatus(step.stream, 'active');
          paused.delete(step.stream);
          return;
        case 'deliver':
          await database.query(
            sql`UPDATE stream_deliveries SET status = 'delivered', delivered_at = now()
             WHERE chain_id = ${chain.id} AND status = 'pending'`,
          );
          for (const { deliveries } of matches.values())
            for (const [kind, status] of deliveries) if (status === 'pending') deliveries.set(kind, 'delivered');
          return;
        case 'restart':
          watcher = createStreamsWatcher({ database });
      }
    },
    async stored() {
      const rows = await database.query<{ line: string }>(
        sql`SELECT concat_ws(' ', s.description, '0x' || encode(m.block_hash, 'hex'), concat_ws(',', m.logs, m.txs, m.txs_internal),
           m.removed_at IS NOT NULL, m.confirmed, (
             SELECT string_agg(d.kind || ':' || d.status, ',' ORDER BY d.kind) FROM stream_deliveries d
             WHERE d.stream_id = m.stream_id AND d.chain_id = m.chain_id AND d.block_hash = m.block_hash)) AS line
         FROM stream_matches m JOIN streams s ON s.id = m.stream_id WHERE m.chain_id = ${chain.id}`,
      );
      return rows.map(({ line }) => line).sort();
    },
    expected: () =>
      Array.from(matches, ([key, match]) =>
        [
          `${chainId}/${match.streamName}`,
          key.slice(key.indexOf('/') + 1),
          match.contents,
          match.removed ? 't' : 'f',
          match.confirmed ? 't' : 'f',
          Array.from(match.deliveries, ([kind, status]) => `${kind}:${status}`)
            .sort()
            .join(),
        ].join(' '),
      ).sort(),
    async close() {
      for (const { id } of streams) await store.remove(id, BY);
    },
  };
}

/** Deterministic by number and branch. Few parties, so that many blocks match. */
function blockOf(number: number, branch: number): WatchedBlock {
  const digest = createHash('sha256').update(`${branch}/${number}`).digest();
  const party = (at: number): Address => exampleAddress(1 + (digest.readUInt8(at) % PARTIES));
  const transactions = Array.from({ length: digest.readUInt8(0) % 4 }, (_, index): ExampleTransaction => {
    const at = 1 + index * 6;
    return {
      from: party(at),
      to: party(at + 1),
      logs: [
        exampleLog(exampleAddress(99), ERC20_TRANSFER, { from: party(at + 2), to: party(at + 3), value: 5n }),
      ],
      transfers: [{ from: party(at + 4), to: party(at + 5), value: 7n }],
    };
  });
  const block = exampleBlock(transactions);
  const header = { ...block.header, number, hash: `0x${digest.toString('hex')}` as Hash };
  return { ...block, header, block: { ...block.block, header } };
}
