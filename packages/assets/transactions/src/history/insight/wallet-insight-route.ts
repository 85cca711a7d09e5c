import type { Chain } from '@chainstead/chains';
import { type Address, type Clock, decimalAmount } from '@chainstead/core';
import {
  booleanParameter,
  chainsParameter,
  defineRoute,
  indexedChainsOf,
  type RouteModule,
} from '@chainstead/http';
import { type NodeReadQueue, StateUnavailableError } from '@chainstead/node-reads/requests';
import { readConsistentPage } from '@chainstead/pages';
import type { OnDemandBackfill } from '@chainstead/pages/on-demand';
import { z } from '@hono/zod-openapi';
import type { TrackedWallets } from '../../wallets/tracked-wallets.ts';
import { FIRST_PLACE } from '../page/history-query.ts';
import { ASSET_MOVEMENT_DATASETS, readPlaces } from '../page/places-page.ts';
import type { Activity, InsightCounts } from './insight-counts.ts';
import { INSIGHT_COUNTED } from './insight-reader.ts';

interface WalletInsightOptions {
  readonly trackedWallets: TrackedWallets;
  readonly onDemandBackfill: Pick<OnDemandBackfill, 'requestWallet'>;
  /** Used if a request has no chain. */
  readonly served: readonly Chain[];
  readonly nodeReads: NodeReadQueue;
  readonly clock: Clock;
}

/** Milliseconds. */
const COUNTED_MS = 60_000;

/** Counted by a worker; 503 beyond the wait limit (docs/api/wallets.md#wallet-insight). */
export function createWalletInsightRoute(options: WalletInsightOptions): RouteModule {
  const { served, nodeReads, clock, trackedWallets, onDemandBackfill } = options;
  return (app, dependencies) => {
    const { chains, database, logger, reads, parameters } = dependencies;
    const count = async (chain: Chain, wallet: Address, requester: string): Promise<CountedChain> => {
      // Before steps that may fail: a later request then finds more.
      await trackedWallets.ask({ database, logger }, chain, wallet, requester);
      // Descending: without a search for the newest row.
      const { indexed } = await readConsistentPage(() =>
        readPlaces(reads, chain, { ...FIRST_PLACE, wallet, order: 'DESC' }),
      );
      if (!indexed.complete) await onDemandBackfill.requestWallet({ database, logger }, chain, wallet, requester);
      const answer = await nodeReads.request(chain, INSIGHT_COUNTED, { wallet }, { maxAgeMs: COUNTED_MS });
      if (answer === null)
        throw new StateUnavailableError(`the activity of the wallet on ${chain.key} is being counted`);
      const { counts, swaps, to } = answer;
      const isComplete = indexed.complete && (chain.swaps === 'off' || swaps.isComplete);
      return { chain, counts, swapVolume: swaps.volume, toBlock: to, isComplete };
    };
    defineRoute(app, dependencies, {
      path: '/api/v2.2/wallets/{address}/insight',
      operationId: 'getWalletInsight',
      tags: ['Wallets'],
      summary: 'Get aggregated activity of a wallet',
      description:
        'Aggregates over the requested chains, or over all indexed chains. Counted in the background and cached for a minute: returns 503 until the count is complete. USD amounts are null if prices are not available.',
      params: { address: parameters.address },
      query: {
        includeChainBreakdown: booleanParameter({
          default: false,
          description: 'Adds the same aggregates per chain, with amounts in its native token.',
        }),
      },
      lists: { chains: chainsParameter('Default: all indexed chains.') },
      response: { description: 'The aggregated activity', schema: walletInsightSchema },
      async answer({ address, chains: requested, includeChainBreakdown: withBreakdown = false, requester }) {
        const wanted =
          requested === undefined
            ? served.toSorted((a, b) => a.id - b.id)
            : indexedChainsOf(chains, requested, ...ASSET_MOVEMENT_DATASETS);
        const counted = await Promise.all(wanted.map((chain) => count(chain, address, requester)));
        return showWalletInsight(address, counted, { now: clock.now() / 1_000, withBreakdown });
      },
    });
  };
}

const coins = z.string().openapi({ example: '1.5', description: 'Exact amount of the native token' });
const dollars = z
  .string()
  .nullable()
  .openapi({ example: '12.50', description: 'null if prices are not available' });
const transfers = z.object({ sent: z.int(), received: z.int(), total: z.int() });

const activitySchema = z
  .object({
    chain: z.string().openapi({ example: '0x1' }),
    blockNumber: z.string(),
    blockTimestamp: z.string(),
    transactionHash: z.string(),
    type: z.enum(['nativeTransfer', 'tokenTransfer', 'nftTransfer', 'transaction']),
    direction: z.enum(['in', 'out']),
  })
  .openapi('WalletActivity')
  .nullable();

const figures = {
  walletAgeDays: z.int(),
  firstActivityAt: activitySchema,
  lastActivityAt: activitySchema,
  firstInitiatedAt: activitySchema,
  lastInitiatedAt: activitySchema,
  activeDays: z.int(),
  transactionsInitiated: z.int(),
  transactionsInvolved: z.int(),
  nativeTransfers: transfers,
  erc20Transfers: transfers,
  nftTransfers: transfers,
  uniqueCounterparties: z.object({ sentTo: z.int(), receivedFrom: z.int(), total: z.int() }),
  swapVolumeUsd: dollars,
  totalGasSpentUsd: dollars,
  avgGasPerTransactionUsd: dollars,
  nativeVolumeSentUsd: dollars,
  nativeVolumeReceivedUsd: dollars,
  nativeNetFlowUsd: dollars,
  largestNativeTransferInUsd: dollars,
  largestNativeTransferOutUsd: dollars,
  uniqueTokensInteracted: z.int(),
  contractsCreated: z.int(),
};

const chainSchema = z
  .object({
    chain: z.string(),
    ...figures,
    totalGasSpentNative: coins,
    avgGasPerTransactionNative: coins,
    nativeVolumeSent: coins,
    nativeVolumeReceived: coins,
    nativeNetFlow: coins,
    largestNativeTransferIn: coins,
    largestNativeTransferOut: coins,
    indexed: z.object({ to_block: z.string(), complete: z.boolean() }),
  })
  .openapi('WalletInsightOfChain');

/** docs/api/wallets.md#wallet-insight */
export const walletInsightSchema = z
  .object({
    address: z.string(),
    addressType: z.literal('evm'),
    ...figures,
    activeChains: z.int(),
    mostActiveChain: z.string().nullable(),
    chainBreakdown: z.array(chainSchema).optional(),
    indexed: z
      .object({ complete: z.boolean() })
      .openapi({ description: 'true if no data of any chain is missing' }),
  })
  .openapi('WalletInsight');

interface CountedChain {
  readonly chain: Chain;
  readonly counts: InsightCounts;
  /** Cents; null: unknown. */
  readonly swapVolume: string | null;
  readonly toBlock: number;
  readonly isComplete: boolean;
}

function showWalletInsight(
  address: Address,
  chains: readonly CountedChain[],
  options: { readonly now: number; readonly withBreakdown: boolean },
): z.infer<typeof walletInsightSchema> {
  const active = chains.filter(({ counts }) => counts.first !== null);
  const most = active.toSorted((a, b) => b.counts.days.length - a.counts.days.length)[0];
  return {
    address,
    addressType: 'evm',
    ...showFigures(chains, options.now),
    activeChains: active.length,
    mostActiveChain: most === undefined ? null : hexOf(most.chain),
    ...(options.withBreakdown && { chainBreakdown: chains.map((counted) => showChain(counted, options.now)) }),
    indexed: { complete: chains.every(({ isComplete }) => isComplete) },
  };
}

function showChain(counted: CountedChain, now: number): z.infer<typeof chainSchema> {
  const { chain, counts, toBlock, isComplete } = counted;
  const { decimals } = chain.native;
  const amount = (wei: bigint): string =>
    wei < 0n ? `-${decimalAmount(String(-wei), decimals)}` : decimalAmount(String(wei), decimals);
  const { gas, coinsSent, coinsReceived, largestIn, largestOut, initiated } = counts;
  return {
    chain: hexOf(chain),
    ...showFigures([counted], now),
    totalGasSpentNative: amount(BigInt(gas)),
    avgGasPerTransactionNative: amount(average(BigInt(gas), initiated)),
    nativeVolumeSent: amount(BigInt(coinsSent)),
    nativeVolumeReceived: amount(BigInt(coinsReceived)),
    nativeNetFlow: amount(BigInt(coinsReceived) - BigInt(coinsSent)),
    largestNativeTransferIn: amount(BigInt(largestIn)),
    largestNativeTransferOut: amount(BigInt(largestOut)),
    indexed: { to_block: String(toBlock), complete: isComplete },
  };
}

function showFigures(chains: readonly CountedChain[], now: number) {
  const all = chains.map(({ counts }) => counts);
  const sum = (of: (counts: InsightCounts) => number): number =>
    all.reduce((total, counts) => total + of(counts), 0);
  const sumTransfers = (of: 'native' | 'erc20' | 'nft') => ({
    sent: sum((counts) => counts[of].sent),
    received: sum((counts) => counts[of].received),
    total: sum((counts) => counts[of].total),
  });
  const activities = (of: 'first' | 'last' | 'firstInitiated' | 'lastInitiated') =>
    chains
      .flatMap(({ chain, counts }) => (counts[of] === null ? [] : [{ chain, activity: counts[of] }]))
      .toSorted((a, b) => a.activity.time - b.activity.time);
  const earliest = (of: 'first' | 'firstInitiated') => showActivity(activities(of)[0]);
  const latest = (of: 'last' | 'lastInitiated') => showActivity(activities(of).at(-1));
  const [begun] = activities('first');
  const [sentTo, receivedFrom] = [
    new Set(all.flatMap((counts) => counts.sentTo)),
    new Set(all.flatMap((counts) => counts.receivedFrom)),
  ];
  return {
    walletAgeDays: begun === undefined ? 0 : Math.max(0, Math.floor((now - begun.activity.time) / DAY_SECONDS)),
    firstActivityAt: earliest('first'),
    lastActivityAt: latest('last'),
    firstInitiatedAt: earliest('firstInitiated'),
    lastInitiatedAt: latest('lastInitiated'),
    activeDays: new Set(all.flatMap((counts) => counts.days)).size,
    transactionsInitiated: sum((counts) => counts.initiated),
    transactionsInvolved: sum((counts) => counts.involved),
    nativeTransfers: sumTransfers('native'),
    erc20Transfers: sumTransfers('erc20'),
    nftTransfers: sumTransfers('nft'),
    uniqueCounterparties: {
      sentTo: sentTo.size,
      receivedFrom: receivedFrom.size,
      total: new Set([...sentTo, ...receivedFrom]).size,
    },
    swapVolumeUsd: showSwapVolume(chains),
    ...showDollars(all),
    uniqueTokensInteracted: sum((counts) => counts.tokens),
    contractsCreated: sum((counts) => counts.contractsCreated),
  };
}

function showSwapVolume(chains: readonly CountedChain[]): string | null {
  const volumes = chains.flatMap(({ swapVolume }) => (swapVolume === null ? [] : [BigInt(swapVolume)]));
  if (volumes.length < chains.length || chains.length === 0) return null;
  return dollarText(volumes.reduce((total, cents) => total + cents, 0n));
}

function showDollars(all: readonly InsightCounts[]) {
  const amounts = all.flatMap(({ dollars: reported }) => reported ?? []);
  const isKnown = amounts.length === all.length && all.length > 0;
  const sum = (of: 'gas' | 'sent' | 'received'): bigint =>
    amounts.reduce((total, chain) => total + BigInt(chain[of]), 0n);
  const largest = (of: 'largestIn' | 'largestOut'): bigint =>
    amounts.map((chain) => BigInt(chain[of])).reduce((max, amount) => (amount > max ? amount : max), 0n);
  const initiated = all.reduce((total, counts) => total + counts.initiated, 0);
  const show = (cents: bigint): string | null => (isKnown ? dollarText(cents) : null);
  return {
    totalGasSpentUsd: show(sum('gas')),
    avgGasPerTransactionUsd: show(average(sum('gas'), initiated)),
    nativeVolumeSentUsd: show(sum('sent')),
    nativeVolumeReceivedUsd: show(sum('received')),
    nativeNetFlowUsd: show(sum('received') - sum('sent')),
    largestNativeTransferInUsd: show(largest('largestIn')),
    largestNativeTransferOutUsd: show(largest('largestOut')),
  };
}

function showActivity(
  of: { readonly chain: Chain; readonly activity: Activity } | undefined,
): z.infer<typeof activitySchema> {
  if (of === undefined) return null;
  const { block, hash, time, type, direction } = of.activity;
  return {
    chain: hexOf(of.chain),
    blockNumber: String(block),
    blockTimestamp: new Date(time * 1_000).toISOString(),
    transactionHash: hash,
    ...{ type, direction },
  };
}

const DAY_SECONDS = 86_400;

function hexOf({ id }: Chain): string {
  return `0x${id.toString(16)}`;
}

function average(total: bigint, count: number): bigint {
  return count === 0 ? 0n : total / BigInt(count);
}

function dollarText(cents: bigint): string {
  const digits = String(cents < 0n ? -cents : cents).padStart(3, '0');
  return `${cents < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}
