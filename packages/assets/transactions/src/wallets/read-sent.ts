import { type BlockRange, defineError } from '@chainstead/core';
import { addressBytes, expectedTrue, rawSql, sql } from '@chainstead/db';
import { addressKey } from '@chainstead/db/column-types';
import type { ReadSender } from '@chainstead/pages/on-demand';
import { enqueueHistory } from '@chainstead/sync';
import { readRequester, saveEstimate } from '@chainstead/sync/requests';
import { HAS_ROLE } from '../stored/account-transactions-page.ts';
import { ROLES } from '../stored/schema.ts';
import { readNamed, recordMarked } from './read-named.ts';
import { receiveNewest } from './read-received.ts';
import {
  CALLS_PER_BLOCK,
  isSingle,
  keepBlocks,
  middleOf,
  narrowDown,
  type SearchSpan,
  type SearchTurn,
  type SpanSteps,
  searchHistory,
  type TurnEnd,
} from './search-history.ts';

export const readSender: ReadSender = async (reading, subject, signal) => {
  const outcome = await searchHistory(reading, subject, signal, {
    missingOf: ({ missing }) => missing,
    awaitsNewest: true,
    run,
    runNewest,
  });
  // Balances show receipts once sent transactions are known. Once per search, whatever else the key waits for.
  if (outcome === 'done')
    await enqueueHistory(reading.database, {
      subject: { ...subject, kind: 'receiver' },
      requestedBy: await readRequester(reading.database, subject),
      perKey: Number.POSITIVE_INFINITY,
      maxCalls: reading.maxCalls,
    });
  return outcome;
};

async function run(turn: SearchTurn, signal: AbortSignal): Promise<TurnEnd> {
  const { node, reading, subject } = turn;
  // Completes wallets that only receive, even if no node has old state.
  const [newest] = await node.countsAt(['latest']);
  if (newest === 0) {
    turn.open = [];
    return 'done';
  }
  const isContract = await node.isContract();
  const named = isContract ? 'none' : await readNamed(turn, signal);
  if (named === 'calls' || named === 'time') return named;
  const isStored = isContract ? () => false : await readStoredSent(turn);
  const open = (await spansOf(turn)).filter((span) => !isStored(span));
  turn.open = open;
  if (named === 'done' && open.length > 0) {
    // An index that missed sent transactions is not trusted here.
    const doubted = open.map(({ after, until }) => ({ from: after + 1, to: until }));
    await reading.database.transaction((transaction) => recordMarked(transaction, subject, 'doubted', doubted));
  }
  const sent = open.reduce((sum, { count, countBefore }) => sum + count - countBefore, 0);
  await saveEstimate(reading.database, subject, node.callsMade() + estimateCounts(open) + CALLS_PER_BLOCK * sent);
  const steps: SpanSteps<NonceSpan> = {
    oneByOne: isContract,
    narrow: async (left, blocks) => narrow(left, await countsAt(turn, blocks)).filter((span) => !isStored(span)),
    keep: async (left, chosen) => {
      const kept = await keepSent(turn, left, chosen, signal);
      // Creations raise a contract's nonce. Contracts send nothing, except on some chains.
      return isContract && kept.sent === 0 ? [] : kept.left;
    },
  };
  return narrowDown(turn, open, steps, signal);
}

/** Sent transactions, then receipts: a new wallet's first one may be either. */
async function runNewest(turn: SearchTurn, signal: AbortSignal): Promise<TurnEnd> {
  const [count] = await turn.node.countsAt([turn.ranges.at(-1)?.to ?? 0]);
  const open = count === 0 ? [] : await spansOf(turn);
  turn.open = open;
  const steps: SpanSteps<NonceSpan> = {
    narrow: async (left, blocks) => narrow(left, await countsAt(turn, blocks)),
    keep: async (left, chosen) => (await keepSent(turn, left, chosen, signal)).left,
  };
  const end = await narrowDown(turn, open, steps, signal);
  return end === 'done' ? receiveNewest(turn, signal) : end;
}

async function spansOf(turn: SearchTurn): Promise<readonly NonceSpan[]> {
  const { ranges } = turn;
  const borders = [...new Set(ranges.flatMap(({ from, to }) => [from - 1, to]))].filter((block) => block >= 0);
  const at = await countsAt(turn, borders);
  return ranges.flatMap((range) => spanOf(range, at.get(range.from - 1) ?? 0, at.get(range.to) ?? 0));
}

async function countsAt({ node }: SearchTurn, blocks: readonly number[]): Promise<ReadonlyMap<number, number>> {
  const counts = await node.countsAt(blocks);
  return new Map(blocks.map((block, index) => [block, counts[index] ?? 0]));
}

async function keepSent(
  turn: SearchTurn,
  spans: readonly NonceSpan[],
  chosen: readonly NonceSpan[],
  signal: AbortSignal,
): Promise<{ readonly left: readonly NonceSpan[]; readonly sent: number }> {
  const { left, found } = await keepBlocks(turn, {
    ...{ spans, chosen },
    read: async ({ until }) => ({ block: await turn.store.read(until, signal), calls: [] }),
  });
  const sent = found.flatMap(({ block: { transactions, committed } }) =>
    transactions.filter(({ hash, from }) => committed.has(hash) && from === turn.subject.address),
  );
  return { left, sent: sent.length };
}

async function readStoredSent({
  reading: { database, chain },
  subject: { address: account },
  ranges,
}: SearchTurn): Promise<(span: NonceSpan) => boolean> {
  const [from, to] = [ranges[0]?.from ?? 0, ranges.at(-1)?.to ?? 0];
  const rows = await database.query<{ block: number; sent: number }>(
    sql`SELECT block_number::int8 AS block, count(*) AS sent FROM account_transactions
      WHERE account_key = ${addressKey(account)}::bigint AND ${expectedTrue(sql`account = ${addressBytes(account)}::bytea`)} AND chain_id = ${chain.id} AND block_number BETWEEN ${from}::bigint AND ${to}::bigint
        AND ${HAS_ROLE} AND roles & ${rawSql(ROLES.sender)} <> 0
      GROUP BY block_number`,
  );
  return ({ after, until, countBefore, count }) => {
    const sent = rows.reduce((sum, row) => sum + (after < row.block && row.block <= until ? row.sent : 0), 0);
    return sent === count - countBefore;
  };
}

/** Pure bisection. Nonces never decrease: between equal ones nothing was sent. */
export interface NonceSpan extends SearchSpan {
  readonly countBefore: number;
  readonly count: number;
}

/** @throws UnlikelyCountError for a count that decreases */
export function spanOf({ from, to }: BlockRange, countBefore: number, count: number): readonly NonceSpan[] {
  if (count < countBefore) throw new UnlikelyCountError(to, count, { least: countBefore, most: null });
  return count === countBefore ? [] : [{ after: from - 1, until: to, countBefore, count }];
}

/** Ascending. @throws UnlikelyCountError for a count outside of its neighbors */
export function narrow(spans: readonly NonceSpan[], counts: ReadonlyMap<number, number>): readonly NonceSpan[] {
  return spans.flatMap((span) => {
    const middle = middleOf(span);
    const count = isSingle(span) ? undefined : counts.get(middle);
    if (count === undefined) return [span];
    const { countBefore: least, count: most } = span;
    if (count < least || count > most) throw new UnlikelyCountError(middle, count, { least, most });
    const [lower, upper] = [
      { ...span, until: middle, count },
      { ...span, after: middle, countBefore: count },
    ];
    return [...(count > least ? [lower] : []), ...(count < most ? [upper] : [])];
  });
}

export function estimateCounts(spans: readonly NonceSpan[]): number {
  return spans.reduce((sum, { after, until, countBefore, count }) => {
    const blocks = until - after;
    const changes = Math.min(count - countBefore, blocks);
    return sum + changes * (1 + Math.ceil(Math.log2(blocks / changes)));
  }, 0);
}

export class UnlikelyCountError extends defineError(
  'UNLIKELY_TRANSACTION_COUNT',
  (block: number, count: number, { least, most }: { readonly least: number; readonly most: number | null }) => ({
    message: `A node returned a count of ${count} transactions at block ${block}, but at least ${least}${most === null ? '' : ` and at most ${most}`} were sent`,
    facts: { block, count, least, most },
    remedy: 'Check that all upstreams follow the same branch of the chain',
    retryable: true,
  }),
) {}
