/** Pure: takes positions in chain order. */
import { type Address, ZERO_ADDRESS } from '@chainstead/core';
import { addressKey } from '@chainstead/db/column-types';
import { z } from 'zod';
import { NO_ROLE, ROLES } from '../../stored/schema.ts';
import type { WalletPart, WalletPlace } from './wallet-parts.ts';

const wei = z.string().regex(/^\d+$/);
const transfersSchema = z.object({ sent: z.int(), received: z.int(), total: z.int() });

const activitySchema = z.object({
  block: z.int(),
  hash: z.string(),
  /** Unix seconds. */
  time: z.number(),
  type: z.enum(['nativeTransfer', 'tokenTransfer', 'nftTransfer', 'transaction']),
  direction: z.enum(['in', 'out']),
});

/** Wei. */
export const insightCountsSchema = z.object({
  first: activitySchema.nullable(),
  last: activitySchema.nullable(),
  firstInitiated: activitySchema.nullable(),
  lastInitiated: activitySchema.nullable(),
  /** UTC days since the epoch, ascending. */
  days: z.array(z.int()),
  initiated: z.int(),
  involved: z.int(),
  native: transfersSchema,
  erc20: transfersSchema,
  nft: transfersSchema,
  /** `addressKey`, at most {@link COUNTERPARTIES_MAX}. */
  sentTo: z.array(z.string()),
  receivedFrom: z.array(z.string()),
  tokens: z.int(),
  contractsCreated: z.int(),
  gas: wei,
  coinsSent: wei,
  coinsReceived: wei,
  largestIn: wei,
  largestOut: wei,
  /** Native token amounts in cents; all, or none. */
  dollars: z.object({ gas: wei, sent: wei, received: wei, largestIn: wei, largestOut: wei }).nullable(),
});
export type InsightCounts = z.infer<typeof insightCountsSchema>;
export type Activity = z.infer<typeof activitySchema>;

export const COUNTERPARTIES_MAX = 10_000;
const DAY_SECONDS = 86_400;

export interface CountedTransaction {
  readonly hash: string;
  readonly from: Address;
  readonly to: Address | null;
  readonly created: Address | null;
  readonly succeeded: boolean;
  /** Created by a deposit from the chain below: the sender pays nothing here. */
  readonly isMinted: boolean;
  readonly value: bigint;
  readonly fee: bigint;
}

export interface CountedPlace {
  readonly place: WalletPlace;
  readonly time: number;
  readonly transaction: CountedTransaction | null;
  readonly centsOf: ((wei: bigint) => bigint) | null;
}

/** @param isPriced amounts are converted to dollars: each needs a price */
export function createInsightCount(wallet: Address, isPriced: boolean) {
  const days = new Set<number>();
  const tokens = new Set<Address>();
  const counts = { initiated: 0, involved: 0, contractsCreated: 0 };
  const transfers = createTransferCounts(wallet);
  const coins = createCoinCounts(isPriced);
  const seen: Record<'first' | 'last' | 'firstInitiated' | 'lastInitiated', Activity | null> = {
    ...{ first: null, last: null, firstInitiated: null, lastInitiated: null },
  };

  function countTransaction(transaction: CountedTransaction, { place, centsOf }: CountedPlace): void {
    const { from, to, created, succeeded, isMinted, value, fee } = transaction;
    const isPayer = from === wallet && !place.parts.some(isSponsoredPart);
    const receiver = to ?? created;
    const [isSent, isReceived] = [from === wallet && !isMinted, receiver === wallet];
    const moved = succeeded ? value : 0n;
    coins.add({ fee: isPayer ? fee : 0n, sent: isSent ? moved : 0n, received: isReceived ? moved : 0n }, centsOf);
    if (moved > 0n && (isSent || isReceived))
      transfers.add('native', { isSent, isReceived, counterparty: isSent ? receiver : from });
  }

  function countPart(part: WalletPart, centsOf: CountedPlace['centsOf']): void {
    if (part.kind === 'account' || part.kind === 'approval') return;
    transfers.add(part.kind === 'internal' ? 'native' : part.kind, part);
    if (part.token !== null) tokens.add(part.token);
    const { value, isSent, isReceived } = part;
    coins.add({ fee: 0n, sent: isSent ? value : 0n, received: isReceived ? value : 0n }, centsOf);
  }

  return {
    add(counted: CountedPlace): void {
      const { place, time, transaction, centsOf } = counted;
      counts.involved += 1;
      days.add(Math.floor(time / DAY_SECONDS));
      const hash = transaction?.hash ?? place.parts.find((part) => part.hash !== null)?.hash ?? '';
      const activity: Activity = { block: place.block, hash, time, ...reported(place, wallet, transaction) };
      seen.first ??= activity;
      seen.last = activity;
      if (transaction?.from === wallet) {
        counts.initiated += 1;
        if (transaction.created !== null && transaction.succeeded) counts.contractsCreated += 1;
        seen.firstInitiated ??= activity;
        seen.lastInitiated = activity;
      }
      if (transaction !== null) countTransaction(transaction, counted);
      for (const part of place.parts) countPart(part, centsOf);
    },
    result: (): InsightCounts => ({
      ...seen,
      days: [...days].toSorted((a, b) => a - b),
      ...counts,
      ...transfers.result(),
      tokens: tokens.size,
      ...coins.result(),
    }),
  };
}

function isSponsoredPart({ kind, roles }: WalletPart): boolean {
  return kind === 'account' && roles > NO_ROLE && (roles & ROLES.sponsored) !== 0;
}

function createTransferCounts(wallet: Address) {
  const none = () => ({ sent: 0, received: 0, total: 0 });
  const of = { native: none(), token: none(), nft: none() };
  const sentTo = new Set<string>();
  const receivedFrom = new Set<string>();
  return {
    add(
      kind: keyof typeof of,
      { isSent, isReceived, counterparty }: Pick<WalletPart, 'isSent' | 'isReceived' | 'counterparty'>,
    ): void {
      of[kind].total += 1;
      if (isSent) of[kind].sent += 1;
      if (isReceived) of[kind].received += 1;
      if (counterparty === null || counterparty === ZERO_ADDRESS || counterparty === wallet) return;
      const met = isSent ? sentTo : receivedFrom;
      if (met.size < COUNTERPARTIES_MAX) met.add(addressKey(counterparty));
    },
    result: () => ({
      ...{ native: of.native, erc20: of.token, nft: of.nft },
      ...{ sentTo: [...sentTo], receivedFrom: [...receivedFrom] },
    }),
  };
}

function createCoinCounts(isPriced: boolean) {
  const coins = createAmounts();
  const cents = createAmounts();
  let isWorthKnown = isPriced;
  return {
    add(amounts: Amounts, centsOf: CountedPlace['centsOf']): void {
      const { fee, sent, received } = amounts;
      if (fee + sent + received === 0n) return;
      coins.add(amounts);
      if (centsOf === null) isWorthKnown = false;
      else cents.add({ fee: centsOf(fee), sent: centsOf(sent), received: centsOf(received) });
    },
    result() {
      const { sent, received, ...others } = coins.result();
      const dollars = isWorthKnown ? cents.result() : null;
      return { ...others, coinsSent: sent, coinsReceived: received, dollars };
    },
  };
}

function reported(
  { parts }: WalletPlace,
  wallet: Address,
  transaction: CountedTransaction | null,
): Pick<Activity, 'type' | 'direction'> {
  const nft = parts.find(({ kind }) => kind === 'nft');
  const token = parts.find(({ kind }) => kind === 'token');
  const transfer = nft ?? token;
  if (transfer !== undefined)
    return {
      type: nft === undefined ? 'tokenTransfer' : 'nftTransfer',
      direction: transfer.isSent ? 'out' : 'in',
    };
  const inside = parts.find(({ kind }) => kind === 'internal');
  const isGiven =
    transaction === null || (transaction.from === wallet && !(transaction.isMinted && transaction.to === wallet));
  const isOut = inside === undefined ? isGiven : inside.isSent;
  const moves = inside !== undefined || (transaction?.succeeded === true && transaction.value > 0n);
  return { type: moves ? 'nativeTransfer' : 'transaction', direction: isOut ? 'out' : 'in' };
}

interface Amounts {
  readonly fee: bigint;
  readonly sent: bigint;
  readonly received: bigint;
}

function createAmounts() {
  const sums = { gas: 0n, sent: 0n, received: 0n, largestIn: 0n, largestOut: 0n };
  return {
    add({ fee, sent, received }: Amounts): void {
      sums.gas += fee;
      sums.sent += sent;
      sums.received += received;
      if (received > sums.largestIn) sums.largestIn = received;
      if (sent > sums.largestOut) sums.largestOut = sent;
    },
    result: () =>
      Object.fromEntries(Object.entries(sums).map(([name, sum]) => [name, String(sum)])) as Record<
        keyof typeof sums,
        string
      >,
  };
}
