import type { Chain } from '@chainstead/chains';
import { environmentSuffix } from '@chainstead/chains/environment-suffix';
import { feedsOf } from '@chainstead/chains/price-feeds';
import { type BlockRange, type ChainId, mergeRanges, rangeSize, subtractRanges } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { countDuePools } from '@chainstead/markets';
import { poolStates } from '@chainstead/markets/datasets';
import { anchorsOf, EVERY_SWAP } from '@chainstead/markets/requests';
import type { ChainStatus } from '@chainstead/sync/ingest';
import { readFeedsWithValue } from '@chainstead/tokens/price-feeds';
import type { Configuration } from '../configuration/index.ts';

export interface DatasetProgress {
  readonly subject: 'swaps' | 'prices' | 'proofs';
  /** `off`: by a setting that `waitsFor` names. */
  readonly state: 'complete' | 'waiting' | 'off';
  /** Newest unbroken range; null: none. */
  readonly done: BlockRange | null;
  readonly waitsFor: readonly string[];
}

export interface ProgressFacts {
  readonly chain: Chain;
  readonly status: Pick<ChainStatus, 'coverage' | 'gaps' | 'proving' | 'unknownHead'>;
  readonly datasets: readonly string[];
  readonly verifyBlocksPerSecond: Configuration['verifyBlocksPerSecond'];
  readonly market: MarketFacts;
}

interface MarketFacts {
  readonly duePools: number;
  readonly feedsWithoutValue: number;
}

/** The count stops here, so it costs the same for any number of pools. */
export const POOLS_COUNTED_MAX = 10_000;

export function datasetProgress(facts: ProgressFacts): readonly DatasetProgress[] {
  const off = swapsOff(facts);
  const swaps: DatasetProgress =
    off === null
      ? progressOf('swaps', facts, EVERY_SWAP.dataset, duePools(facts))
      : { subject: 'swaps', state: 'off', done: null, waitsFor: [off] };
  return [swaps, priceProgress(facts, off), proofProgress(facts)];
}

export function progressText({ state, done, waitsFor }: DatasetProgress): string {
  if (state === 'off') return `off: ${waitsFor.join('; ')}`;
  const range = done === null ? 'no block yet' : `complete from block ${done.from} to ${done.to}`;
  return waitsFor.length === 0 ? range : `${range}; waiting for ${waitsFor.join('; ')}`;
}

function priceProgress(facts: ProgressFacts, swapsOffReason: string | null): DatasetProgress {
  const { chain, datasets, market } = facts;
  if (!datasets.includes(poolStates.name))
    return { subject: 'prices', state: 'off', done: null, waitsFor: [notInDatasets(poolStates.name)] };
  const feeds = feedsOf(chain).length;
  const suffix = environmentSuffix(chain);
  const hasAnchor = anchorsOf(chain).dollar.length + feeds + chain.etherPrice.pools.length > 0;
  return progressOf('prices', facts, poolStates.name, [
    ...(hasAnchor
      ? []
      : [`a token with a known price: set DOLLAR_TOKENS_${suffix}, FEEDS_${suffix} or ETHER_FEED_${suffix}`]),
    ...(market.feedsWithoutValue === 0
      ? []
      : [`the first value of ${market.feedsWithoutValue} of ${feeds} price feeds`]),
    ...(swapsOffReason === null ? duePools(facts) : [`swaps, by which most pools are found: ${swapsOffReason}`]),
  ]);
}

function proofProgress({ status, verifyBlocksPerSecond: rate }: ProgressFacts): DatasetProgress {
  const { coverage } = status;
  const left = mergeRanges(coverage.filter(({ proof }) => proof === 'none').map(({ range }) => range));
  const failed = coverage.filter(({ proof }) => proof === 'unproven');
  const proven = subtractRanges(
    coverage.map(({ range }) => range),
    [...left, ...failed.map(({ range }) => range)],
  );
  const byReason = Map.groupBy(failed, ({ reason }) => reason ?? 'unknown');
  return finished('proofs', proven.at(-1) ?? null, [
    ...(left.length === 0 ? [] : [`the level receipts of ${blocksText(left)}: ${proverState(status, rate)}`]),
    ...[...byReason].map(
      ([reason, ranges]) =>
        `${blocksText(mergeRanges(ranges.map(({ range }) => range)))} that failed (${reason}): add another upstream`,
    ),
  ]);
}

function proverState(
  { proving, unknownHead }: ProgressFacts['status'],
  rate: ProgressFacts['verifyBlocksPerSecond'],
): string {
  if (proving !== null)
    return `${proving.blocksPerSecond.toFixed(proving.blocksPerSecond < 10 ? 1 : 0)} blocks per second`;
  if (rate === 0) return 'VERIFY_BLOCKS_PER_SECOND=0 turns the prover off';
  return unknownHead?.isSilent === true ? 'no ingest process runs' : 'the prover needs receipts from a node';
}

function progressOf(
  subject: DatasetProgress['subject'],
  { status }: ProgressFacts,
  dataset: string,
  others: readonly string[],
): DatasetProgress {
  const covered = mergeRanges(status.coverage.filter((one) => one.dataset === dataset).map(({ range }) => range));
  const missing = mergeRanges(status.gaps.filter((one) => one.dataset === dataset).map(({ range }) => range));
  const blocks = missing.length > 0 ? [blocksText(missing)] : covered.length === 0 ? ['the first block'] : [];
  return finished(subject, covered.at(-1) ?? null, [...blocks, ...others]);
}

function finished(
  subject: DatasetProgress['subject'],
  done: BlockRange | null,
  waitsFor: readonly string[],
): DatasetProgress {
  return { subject, state: waitsFor.length === 0 ? 'complete' : 'waiting', done, waitsFor };
}

/** The reason with its remedy; null: swaps are indexed. */
function swapsOff({ chain, datasets }: ProgressFacts): string | null {
  if (!datasets.includes(EVERY_SWAP.dataset)) return notInDatasets(EVERY_SWAP.dataset);
  const key = `${EVERY_SWAP.setting}_${environmentSuffix(chain)}`;
  return EVERY_SWAP.isOn(chain) ? null : `set ${key}=all and restart`;
}

function notInDatasets(dataset: string): string {
  return `add ${dataset} to DATASETS and restart`;
}

function duePools({ market: { duePools: due } }: ProgressFacts): readonly string[] {
  if (due === 0) return [];
  return [`the proof of ${due === POOLS_COUNTED_MAX ? 'at least ' : ''}${due} ${due === 1 ? 'pool' : 'pools'}`];
}

function blocksText(ranges: readonly BlockRange[]): string {
  const blocks = ranges.reduce((sum, range) => sum + rangeSize(range), 0);
  const [first, last] = [ranges.at(0)?.from, ranges.at(-1)?.to];
  if (blocks === 1) return `block ${first}`;
  return `${blocks} blocks ${ranges.length === 1 ? 'from' : 'between'} ${first} ${ranges.length === 1 ? 'to' : 'and'} ${last}`;
}

export type ProgressByChain = ReadonlyMap<ChainId, readonly DatasetProgress[]>;

export async function readDatasetProgress(
  database: Pick<Database, 'query'>,
  {
    chains,
    datasets,
    verifyBlocksPerSecond,
  }: Pick<Configuration, 'chains' | 'datasets' | 'verifyBlocksPerSecond'>,
  statuses: readonly ChainStatus[],
): Promise<ProgressByChain> {
  const progress = new Map<ChainId, readonly DatasetProgress[]>();
  for (const { chain } of chains) {
    const status = statuses.find(({ chainId }) => chainId === chain.id);
    if (status === undefined) continue;
    const facts = { chain, status, datasets: datasets.map(({ name }) => name), verifyBlocksPerSecond };
    progress.set(chain.id, datasetProgress({ ...facts, market: await readMarketFacts(database, chain) }));
  }
  return progress;
}

async function readMarketFacts(database: Pick<Database, 'query'>, chain: Chain): Promise<MarketFacts> {
  const known = await readFeedsWithValue(database, chain.id);
  return {
    duePools: await countDuePools(database, chain.id, POOLS_COUNTED_MAX),
    feedsWithoutValue: feedsOf(chain).filter(({ proxy }) => !known.has(proxy)).length,
  };
}
