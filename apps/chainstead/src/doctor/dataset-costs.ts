import type { Chain } from '@chainstead/chains';
import { environmentSuffix } from '@chainstead/chains/environment-suffix';
import { type Finding, findingsOf } from '@chainstead/core';
import type { SampledBlock } from '@chainstead/rpc/pool';
import { type BlockPart, type Dataset, datasetsOf, deepestPart } from '@chainstead/sync/datasets';

export interface DatasetCostFacts {
  readonly chain: Chain;
  readonly known: readonly Dataset[];
  readonly configured: ReadonlySet<string>;
  readonly sample: readonly SampledBlock[];
}

/** New blocks need extra calls for traces only. */
export function datasetCosts(facts: DatasetCostFacts): readonly Finding[] {
  const { chain, known, configured } = facts;
  const whole = withEverything(chain);
  const on = new Set(datasetsOf(chain, known).filter(({ name }) => configured.has(name)));
  return datasetsOf(whole, known).map((dataset) => {
    const isOn = on.has(dataset);
    const cost = costOf(dataset, isOn ? chain : whole, facts);
    const { name } = dataset;
    const mode = MODES[name];
    const isRequested = name === 'logs' || (mode === 'TRANSACTIONS' && chain.transactions.mode === 'wallets');
    const off = isRequested && configured.has(name) ? 'on request; for every block' : 'off';
    return findingsOf(name).ok(`${isOn ? 'on' : off}: ${cost}. ${settingOf(name, isOn, facts)}`);
  });
}

function withEverything(chain: Chain): Chain {
  return {
    ...chain,
    transactions: { ...chain.transactions, mode: 'all' },
    ...{ logs: 'all', internalTransfers: 'all', swaps: 'all' },
  };
}

function costOf(dataset: Dataset, chain: Chain, { sample }: DatasetCostFacts): string {
  const blockTimeMs = sample[0]?.blockTimeMs ?? chain.blockTimeMs;
  const part = deepestPart(dataset, chain);
  if (part !== 'logs') {
    const bytes = mean(sample.map((block) => block.bytes));
    return sample.length === 0 ? WHOLE[part] : `${WHOLE[part]}, ${sizeText(bytes, blockTimeMs)}`;
  }
  if (sample.length === 0) return 'filtered logs';
  const emitters: readonly string[] | null = dataset.emitters?.(chain) ?? null;
  const topics: readonly (string | null)[] = dataset.topics(chain);
  const isAnyTopic = dataset.anyTopic?.(chain) === true;
  const taken = sample.map(({ logs }) =>
    logs.filter(
      ({ address, topic }) => (isAnyTopic || topics.includes(topic)) && (emitters?.includes(address) ?? true),
    ),
  );
  const logs = mean(taken.map(({ length }) => length));
  const bytes = mean(taken.map((ofBlock) => ofBlock.reduce((sum, log) => sum + log.bytes, 0)));
  return `filtered logs, ${logs.toFixed(1)} and ${sizeText(bytes, blockTimeMs)}`;
}

const WHOLE: Readonly<Record<Exclude<BlockPart, 'logs'>, string>> = {
  transactions: 'whole blocks and receipts, 2 calls per block',
  internalTransactions: 'traces, 3 calls per block, also of new blocks; without traces',
};

const MODES: Readonly<Record<string, string>> = {
  swaps: 'SWAPS',
  logs: 'LOGS',
  'internal-transfers': 'INTERNAL_TRANSFERS',
  transactions: 'TRANSACTIONS',
  'account-transactions': 'TRANSACTIONS',
  'block-headers': 'TRANSACTIONS',
};

function settingOf(name: string, isOn: boolean, { chain, configured }: DatasetCostFacts): string {
  const mode = MODES[name];
  if (!isOn && !configured.has(name)) return `Add it to DATASETS to turn it on`;
  if (mode === undefined) return `Leave it out of DATASETS to turn it off`;
  return `${mode}_${environmentSuffix(chain)}=${isOn ? 'off' : 'all'} turns it ${isOn ? 'off' : 'on'}`;
}

function sizeText(bytesPerBlock: number, blockTimeMs: number): string {
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
