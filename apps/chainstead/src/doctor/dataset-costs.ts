/** The cost of each dataset of a chain, from newest blocks of a node, for `chainstead doctor`. */

import { type Chain, environmentSuffix } from '@chainstead/chains';
import { type Finding, findingsOf } from '@chainstead/core';
import type { SampledBlock } from '@chainstead/rpc';
import { type BlockPart, type Dataset, datasetsOf, deepestPart } from '@chainstead/sync';

export interface DatasetCostFacts {
  readonly chain: Chain;
  readonly known: readonly Dataset[];
  readonly configured: ReadonlySet<string>;
  /** Newest blocks; none: costs have no figures. */
  readonly sample: readonly SampledBlock[];
}

/**
 * Returns a finding per dataset that the chain can have: on or off, how a backfill reads it, the size per block and day, and the setting that
 * changes it. New blocks need no extra calls for any of them, except traces.
 */
export function datasetCosts(facts: DatasetCostFacts): readonly Finding[] {
  const { chain, known, configured } = facts;
  const whole = withEverything(chain);
  const on = new Set(datasetsOf(chain, known).filter(({ name }) => configured.has(name)));
  return datasetsOf(whole, known).map((dataset) => {
    const isOn = on.has(dataset);
    const cost = costOf(dataset, isOn ? chain : whole, facts);
    return findingsOf(dataset.name).ok(`${stateOf(dataset, isOn, facts)}: ${cost}. ${settingOf(dataset, isOn, facts)}`);
  });
}

/** Rows of requested wallets and contracts are read without the cost of all. */
function stateOf({ name }: Dataset, isOn: boolean, { chain, configured }: DatasetCostFacts): string {
  if (isOn) return 'on';
  const isRequested = name === 'logs' || (MODES[name] === 'TRANSACTIONS' && chain.transactions.mode === 'wallets');
  return isRequested && configured.has(name) ? 'on request; for every block' : 'off';
}

function withEverything(chain: Chain): Chain {
  return {
    ...chain,
    transactions: { ...chain.transactions, mode: 'all' },
    ...{ logs: 'all', internalTransfers: 'all', swaps: 'all' },
  };
}

function costOf(dataset: Dataset, chain: Chain, { sample }: DatasetCostFacts): string {
  const part = deepestPart(dataset, chain);
  if (part !== 'logs') {
    const bytes = mean(sample.map((block) => block.bytes));
    return sample.length === 0 ? WHOLE[part] : `${WHOLE[part]}, ${sizeText(bytes, chain)}`;
  }
  const taken = sample.map(({ logs }) => logs.filter((log) => isTaken(dataset, chain, log)));
  if (sample.length === 0) return 'filtered logs';
  const logs = mean(taken.map(({ length }) => length));
  return `filtered logs, ${logs.toFixed(1)} and ${sizeText(mean(taken.map((one) => one.reduce((sum, { bytes }) => sum + bytes, 0))), chain)}`;
}

const WHOLE: Readonly<Record<Exclude<BlockPart, 'logs'>, string>> = {
  transactions: 'whole blocks and receipts, 2 calls per block',
  internalTransactions: 'traces, 3 calls per block, also of new blocks; without traces',
};

function isTaken(dataset: Dataset, chain: Chain, { address, topic }: SampledBlock['logs'][number]): boolean {
  const emitters: readonly string[] | null = dataset.emitters?.(chain) ?? null;
  const topics: readonly (string | null)[] = dataset.topics(chain);
  return (dataset.anyTopic?.(chain) === true || topics.includes(topic)) && (emitters?.includes(address) ?? true);
}

/** Settings of a chain that turn datasets on and off, by dataset. */
const MODES: Readonly<Record<string, string>> = {
  swaps: 'SWAPS',
  logs: 'LOGS',
  'internal-transfers': 'INTERNAL_TRANSFERS',
  transactions: 'TRANSACTIONS',
  'account-transactions': 'TRANSACTIONS',
  'block-headers': 'TRANSACTIONS',
};

function settingOf({ name }: Dataset, isOn: boolean, { chain, configured }: DatasetCostFacts): string {
  const mode = MODES[name];
  if (!isOn && !configured.has(name)) return `Add it to DATASETS to turn it on`;
  if (mode === undefined) return `Leave it out of DATASETS to turn it off`;
  return `${mode}_${environmentSuffix(chain)}=${isOn ? 'off' : 'all'} turns it ${isOn ? 'off' : 'on'}`;
}

function sizeText(bytesPerBlock: number, { blockTimeMs }: Chain): string {
  return `${bytesText(bytesPerBlock)} per block, ${bytesText((bytesPerBlock * DAY_MS) / blockTimeMs)} per day`;
}

const DAY_MS = 86_400_000;
const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'] as const;

function bytesText(bytes: number): string {
  const step = Math.min(UNITS.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)));
  const value = bytes / 1_000 ** step;
  return `${value < 10 && step > 0 ? value.toFixed(1) : Math.round(value)} ${UNITS[step]}`;
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}
