import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, type Database, sql } from '@chainstead/db';
import { fieldsOf, type Indexed, wire } from '@chainstead/http';
import { CALLS_USED_UP, type HistoryStatus, SENT_UNKNOWN } from '@chainstead/sync/requests';
import { z } from '@hono/zod-openapi';
import type { OnDemandBackfill, OnDemandContext, WalletHistoryAnswer } from '../on-demand/on-demand-backfill.ts';
import type { ChainInSql } from './block-span.ts';
import type { CoveredSubject, SubjectCoverage } from './subject-coverage.ts';

/** A block counts once the account's transfers and sent transactions are read. */
export function traderSubject(account: Address, dataset: string, chainId: ChainInSql): CoveredSubject {
  return {
    kind: 'trader',
    recordedAs: 'trader-sent',
    subject: sql`${addressBytes(account)}::bytea`,
    chainId,
    dataset,
  };
}

interface TraderRequest {
  readonly account: Address;
  readonly requester: string | null;
  readonly indexed: Pick<Indexed, 'fromBlock' | 'toBlock'>;
}

export type TraderBackfill = Pick<OnDemandBackfill, 'requestTrader' | 'retainedFrom'>;

/** Blocks below the retention window are never read: the state is final, but not `complete`. */
export async function requestTraderState(
  onDemandBackfill: TraderBackfill,
  context: OnDemandContext,
  chain: Chain,
  { account, requester, indexed: { fromBlock, toBlock } }: TraderRequest,
): Promise<SyncState> {
  if (toBlock !== null && fromBlock !== null) {
    const isRetained =
      fromBlock > chain.firstBlock && fromBlock <= (await onDemandBackfill.retainedFrom(context, chain));
    if (fromBlock <= chain.firstBlock || isRetained) return { status: 'SYNCED', message: null };
  }
  const answer = await onDemandBackfill.requestTrader(context, chain, account, requester);
  const [trader = null, sender = null] =
    answer === 'known' ? await readRequests(context.database, chain, account) : [];
  if (trader !== null) {
    const message = messageOf(trader, sender);
    if (message !== null) return { status: 'SYNCING', message };
  }
  return syncStateOf(chain, 'wallet', { history: trader, isBuilt: true }, answer);
}

interface BackfillRequest {
  readonly kind: 'trader' | 'sender';
  readonly status: HistoryStatus;
  readonly waits: boolean;
  readonly callsMade: number;
  readonly callsEstimated: number | null;
  readonly code: string | null;
  readonly message: string | null;
}

async function readRequests(
  database: Pick<Database, 'query'>,
  { id }: Pick<Chain, 'id'>,
  account: Address,
): Promise<readonly (BackfillRequest | null)[]> {
  const rows = await database.query<BackfillRequest>(
    sql`SELECT kind, status, status = 'pending' AND coalesce(due_at > now() AND error_code IS DISTINCT FROM ${CALLS_USED_UP}, false) AS waits, calls_made,
       calls_estimated, error_code AS code, error_message AS message
     FROM backfill_requests WHERE chain_id = ${id} AND kind IN ('trader', 'sender') AND subject = ${addressBytes(account)}`,
  );
  return (['trader', 'sender'] as const).map((kind) => rows.find((row) => row.kind === kind) ?? null);
}

function messageOf(trader: BackfillRequest, sender: BackfillRequest | null): string | null {
  if (trader.status === 'refused' && trader.code === SENT_UNKNOWN) return trader.message;
  if (trader.waits && sender !== null && OPEN.has(sender.status)) {
    const of = sender.callsEstimated === null ? '' : ` of about ${sender.callsEstimated}`;
    return `The transfers of this wallet are read. The transactions that it sent are being searched: ${sender.callsMade}${of} node calls made`;
  }
  return null;
}

const OPEN: ReadonlySet<HistoryStatus> = new Set(['pending', 'running', 'failed']);

export interface SyncState {
  readonly status: 'SYNCED' | 'SYNCING';
  readonly message: string | null;
}

type SubjectNoun = 'wallet' | 'collection' | 'token';

/** @param answer null: no block is missing */
export function syncStateOf(
  chain: Chain,
  noun: SubjectNoun,
  { history, isBuilt }: Pick<SubjectCoverage, 'history' | 'isBuilt'>,
  answer: WalletHistoryAnswer | null,
): SyncState {
  if (answer !== null) return { status: 'SYNCING', message: whySyncing(chain, noun, history, answer) };
  return isBuilt ? { status: 'SYNCED', message: null } : { status: 'SYNCING', message: BUILDING[noun] };
}

export function showSyncState(state: SyncState): { status: SyncState['status']; status_message?: string } {
  return { status: state.status, ...(state.message !== null && { status_message: state.message }) };
}

/** The first fields of a page whose rows depend on all blocks of a subject. */
export function syncFields(description: string) {
  return fieldsOf<{ readonly found: { readonly state: SyncState } }>()({
    status: wire.wire(z.enum(['SYNCED', 'SYNCING']))(description, ({ found }) => found.state.status),
    status_message: wire.text.orAbsent(
      'Reason for SYNCING, and whether it will end',
      ({ found }) => found.state.message,
    ),
  });
}

const BUILDING: Readonly<Record<SubjectNoun, string>> = {
  wallet: 'What this wallet holds is being counted from the transfers that are indexed',
  collection: 'Who holds this collection is being counted from the transfers that are indexed',
  token: 'Who holds this token is being counted from the transfers that are indexed',
};

function whySyncing(
  chain: Chain,
  noun: SubjectNoun,
  history: SubjectCoverage['history'],
  answer: WalletHistoryAnswer,
): string {
  switch (answer) {
    case 'unserved':
      return `This server does not index ${chain.name}`;
    case 'off':
      return `Blocks of this ${noun} are missing, and ON_DEMAND_MAX_CALLS=0 prevents requests from reading them from a node`;
    case 'full':
      return 'This key has reached its limit of wallet backfills in progress: retry when some of them are done';
    case 'requested':
      return `Reading the history of this ${noun} has begun`;
    case 'known':
      return ofHistory(noun, history);
  }
}

function ofHistory(noun: SubjectNoun, history: SubjectCoverage['history']): string {
  // The wallet has no activity, or its key no calls left.
  if (history !== null && (history.status === 'done' || history.status === 'pending') && history.message !== null)
    return history.message;
  if (history === null || history.status === 'done' || history.waits)
    return 'The newest blocks that are missing can still be reorganised, and are read once they can not';
  switch (history.status) {
    case 'refused':
      return `The history of this ${noun} is not read. ${history.message ?? ''}`.trim();
    case 'failed':
      return `Reading the history of this ${noun} has failed and will be tried again`;
    case 'pending':
    case 'running':
      return history.callsEstimated === null
        ? `The history of this ${noun} is being read`
        : `The history of this ${noun} is being read: ${history.callsMade} of about ${history.callsEstimated} node calls made`;
  }
}
