import type { Chain } from '@chainstead/chains';
import { type Address, decimalAmount } from '@chainstead/core';
import {
  type ApiDependencies,
  booleanParameter,
  chainsParameter,
  each,
  indexedChainsOf,
  inside,
  view,
  wire,
} from '@chainstead/http';
import { StateUnavailableError } from '@chainstead/node-reads/requests';
import { readConsistentPage } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import { isoOf } from '../../records/transaction-response.ts';
import { FIRST_PLACE } from '../page/history-query.ts';
import { ASSET_MOVEMENT_DATASETS, readPlaces } from '../page/places-page.ts';
import { defineRoute, type HistoryServices } from '../routes.ts';
import type { Activity, InsightCounts } from './insight-counts.ts';
import { INSIGHT_COUNTED } from './insight-reader.ts';

interface CountedChain {
  readonly chain: Chain;
  readonly counts: InsightCounts;
  /** Cents; null: unknown. */
  readonly swapVolume: string | null;
  readonly toBlock: number;
  readonly isComplete: boolean;
}

const { flag, integer, quantity, text } = wire;

const activity = inside(
  view(
    'WalletActivity',
    ({ chain, activity }: { readonly chain: Chain; readonly activity: Activity }) => ({ ...activity, chain }),
    {
      chain: quantity({ example: '0x1' }, ({ chain }) => chain.id),
      blockNumber: text(({ block }) => String(block)),
      blockTimestamp: text(({ time }) => isoOf(time)),
      transactionHash: text.of('hash'),
      type: wire.wire(z.enum(['nativeTransfer', 'tokenTransfer', 'nftTransfer', 'transaction']))(),
      direction: wire.wire(z.enum(['in', 'out']))(),
    },
  ),
).orNull;

const transfers = inside(
  view(null, (all: readonly InsightCounts['native'][]) => all, {
    sent: integer((all) => sum(all, 'sent')),
    received: integer((all) => sum(all, 'received')),
    total: integer((all) => sum(all, 'total')),
  }),
);

const counterparties = inside(
  view(
    null,
    (all: readonly InsightCounts[]) => ({
      to: new Set(all.flatMap(({ sentTo }) => sentTo)),
      from: new Set(all.flatMap(({ receivedFrom }) => receivedFrom)),
    }),
    {
      sentTo: integer(({ to }) => to.size),
      receivedFrom: integer(({ from }) => from.size),
      total: integer(({ to, from }) => to.union(from).size),
    },
  ),
);

/** Shows cents. */
const dollars = wire.wire(
  z.string().openapi({ example: '12.50', description: 'null if prices are not available' }),
  dollarText,
).orNull;

type Figures = ReturnType<typeof figuresOf>;

function figuresOf(chains: readonly CountedChain[], now: number) {
  const all = chains.map(({ counts }) => counts);
  const inDollars = all.flatMap(({ dollars: reported }) => reported ?? []);
  const isPriced = inDollars.length === all.length && all.length > 0;
  const initiated = sum(all, 'initiated');
  return { chains, now, all, initiated, dollars: isPriced ? inDollars : null };
}

const figures = {
  walletAgeDays: integer(({ chains, now }) => {
    const begun = endsOf(chains, 'first')[0];
    return begun === undefined ? 0 : Math.max(0, Math.floor((now - begun.activity.time) / DAY_SECONDS));
  }),
  firstActivityAt: activity(({ chains }) => endsOf(chains, 'first')[0] ?? null),
  lastActivityAt: activity(({ chains }) => endsOf(chains, 'last').at(-1) ?? null),
  firstInitiatedAt: activity(({ chains }) => endsOf(chains, 'firstInitiated')[0] ?? null),
  lastInitiatedAt: activity(({ chains }) => endsOf(chains, 'lastInitiated').at(-1) ?? null),
  activeDays: integer(({ all }) => new Set(all.flatMap(({ days }) => days)).size),
  transactionsInitiated: integer.of('initiated'),
  transactionsInvolved: integer(({ all }) => sum(all, 'involved')),
  nativeTransfers: transfers(({ all }) => all.map(({ native }) => native)),
  erc20Transfers: transfers(({ all }) => all.map(({ erc20 }) => erc20)),
  nftTransfers: transfers(({ all }) => all.map(({ nft }) => nft)),
  uniqueCounterparties: counterparties.of('all'),
  swapVolumeUsd: dollars(({ chains }) => {
    const volumes = chains.flatMap(({ swapVolume }) => (swapVolume === null ? [] : { swapVolume }));
    return volumes.length < chains.length || chains.length === 0 ? null : total(volumes, 'swapVolume');
  }),
  totalGasSpentUsd: dollars((of) => of.dollars && total(of.dollars, 'gas')),
  avgGasPerTransactionUsd: dollars((of) => of.dollars && average(total(of.dollars, 'gas'), of.initiated)),
  nativeVolumeSentUsd: dollars((of) => of.dollars && total(of.dollars, 'sent')),
  nativeVolumeReceivedUsd: dollars((of) => of.dollars && total(of.dollars, 'received')),
  nativeNetFlowUsd: dollars((of) => of.dollars && total(of.dollars, 'received') - total(of.dollars, 'sent')),
  largestNativeTransferInUsd: dollars((of) => of.dollars && largest(of.dollars, 'largestIn')),
  largestNativeTransferOutUsd: dollars((of) => of.dollars && largest(of.dollars, 'largestOut')),
  uniqueTokensInteracted: integer(({ all }) => sum(all, 'tokens')),
  contractsCreated: integer(({ all }) => sum(all, 'contractsCreated')),
} satisfies wire.Fields<Figures>;

const amount = wire.wire(z.string().openapi({ example: '1.5', description: 'Exact amount of the native token' }));

const chainView = view(
  'WalletInsightOfChain',
  ({ counted, now }: { readonly counted: CountedChain; readonly now: number }) => {
    const { decimals } = counted.chain.native;
    const exact = (wei: bigint): string =>
      wei < 0n ? `-${decimalAmount(String(-wei), decimals)}` : decimalAmount(String(wei), decimals);
    return { ...counted, ...figuresOf([counted], now), exact };
  },
  {
    chain: quantity(({ chain }) => chain.id),
    ...figures,
    totalGasSpentNative: amount(({ exact, counts }) => exact(BigInt(counts.gas))),
    avgGasPerTransactionNative: amount(({ exact, counts }) =>
      exact(average(BigInt(counts.gas), counts.initiated)),
    ),
    nativeVolumeSent: amount(({ exact, counts }) => exact(BigInt(counts.coinsSent))),
    nativeVolumeReceived: amount(({ exact, counts }) => exact(BigInt(counts.coinsReceived))),
    nativeNetFlow: amount(({ exact, counts }) => exact(BigInt(counts.coinsReceived) - BigInt(counts.coinsSent))),
    largestNativeTransferIn: amount(({ exact, counts }) => exact(BigInt(counts.largestIn))),
    largestNativeTransferOut: amount(({ exact, counts }) => exact(BigInt(counts.largestOut))),
    indexed: inside(
      view(null, (counted: CountedChain) => counted, {
        to_block: text(({ toBlock }) => String(toBlock)),
        complete: flag.of('isComplete'),
      }),
    )((counted) => counted),
  },
);

/** docs/api/wallets.md#wallet-insight */
export const walletInsightView = view(
  'WalletInsight',
  (address: Address, counted: readonly CountedChain[], now: number, withBreakdown: boolean) => ({
    ...figuresOf(counted, now),
    active: counted.filter(({ counts }) => counts.first !== null),
    ...{ address, withBreakdown },
  }),
  {
    address: text(),
    addressType: wire.wire(z.literal('evm'))(() => 'evm'),
    ...figures,
    activeChains: integer(({ active }) => active.length),
    mostActiveChain: quantity.orNull(
      ({ active }) => active.toSorted((a, b) => b.counts.days.length - a.counts.days.length)[0]?.chain.id ?? null,
    ),
    chainBreakdown: each(chainView).orAbsent(({ chains, now, withBreakdown }) =>
      withBreakdown ? chains.map((counted) => ({ counted, now })) : null,
    ),
    indexed: inside(
      view(null, (chains: readonly CountedChain[]) => chains, {
        complete: flag((chains) => chains.every(({ isComplete }) => isComplete)),
      }),
    )('true if no data of any chain is missing', 'chains'),
  },
);

/** Counted by a worker; 503 beyond the wait limit (docs/api/wallets.md#wallet-insight). */
export const walletInsightRoute = defineRoute({
  path: '/api/v2.2/wallets/{address}/insight',
  operationId: 'getWalletInsight',
  tag: 'Wallets',
  summary: 'Get aggregated activity of a wallet',
  description:
    'Aggregates over the requested chains, or over all indexed chains. Counted in the background and cached for a minute: returns 503 until the count is complete. USD amounts are null if prices are not available.',
  params: ['address'],
  query: [
    {
      includeChainBreakdown: booleanParameter({
        default: false,
        description: 'Adds the same aggregates per chain, with amounts in its native token.',
      }),
      chains: chainsParameter('Default: all indexed chains.'),
    },
  ],
  response: { description: 'The aggregated activity', schema: walletInsightView.schema },
  async answer({ address, chains: requested, includeChainBreakdown: withBreakdown = false, ...request }) {
    const { api, services } = request;
    const wanted =
      requested === undefined
        ? services.served.toSorted((a, b) => a.id - b.id)
        : indexedChainsOf(api.chains, requested, ...ASSET_MOVEMENT_DATASETS);
    const counted = await Promise.all(wanted.map((chain) => countChain(request, chain, address)));
    return walletInsightView.show(address, counted, services.clock.now() / 1_000, withBreakdown);
  },
});

interface InsightRequest extends Pick<ApiDependencies, 'database' | 'reads' | 'logger'> {
  readonly services: HistoryServices;
  readonly requester: string;
}

/** Milliseconds. */
const COUNTED_MS = 60_000;

async function countChain(request: InsightRequest, chain: Chain, wallet: Address): Promise<CountedChain> {
  const { reads, requester, services } = request;
  // Before steps that may fail: a later request then finds more.
  await services.trackedWallets.ask(request, chain, wallet, requester);
  // Descending: without a search for the newest row.
  const { indexed } = await readConsistentPage(() =>
    readPlaces(reads, chain, { ...FIRST_PLACE, wallet, order: 'DESC' }),
  );
  if (!indexed.complete) await services.onDemandBackfill.requestWallet(request, chain, wallet, requester);
  const answer = await services.nodeReads.request(chain, INSIGHT_COUNTED, { wallet }, { maxAgeMs: COUNTED_MS });
  if (answer === null)
    throw new StateUnavailableError(`the activity of the wallet on ${chain.key} is being counted`);
  const { counts, swaps, to } = answer;
  const isComplete = indexed.complete && (chain.swaps === 'off' || swaps.isComplete);
  return { chain, counts, swapVolume: swaps.volume, toBlock: to, isComplete };
}

const DAY_SECONDS = 86_400;

/** Activities of the chains in order. */
function endsOf(chains: readonly CountedChain[], end: 'first' | 'last' | 'firstInitiated' | 'lastInitiated') {
  return chains
    .flatMap(({ chain, counts }) => (counts[end] === null ? [] : [{ chain, activity: counts[end] }]))
    .toSorted((a, b) => a.activity.time - b.activity.time);
}

function sum<Name extends string>(items: readonly Readonly<Record<Name, number>>[], name: Name): number {
  return items.reduce((total, item) => total + item[name], 0);
}

type Amounts<Name extends string> = readonly Readonly<Record<Name, string>>[];

function total<Name extends string>(amounts: Amounts<Name>, name: Name): bigint {
  return amounts.reduce((total, item) => total + BigInt(item[name]), 0n);
}

function largest<Name extends string>(amounts: Amounts<Name>, name: Name): bigint {
  return amounts.map((item) => BigInt(item[name])).reduce((max, amount) => (amount > max ? amount : max), 0n);
}

function average(total: bigint, count: number): bigint {
  return count === 0 ? 0n : total / BigInt(count);
}

function dollarText(cents: bigint): string {
  const digits = String(cents < 0n ? -cents : cents).padStart(3, '0');
  return `${cents < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}
