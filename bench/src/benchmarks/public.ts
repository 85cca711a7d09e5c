import type { BenchNodeOptions } from '@chainstead/testkit';
import type { Benchmark, BenchmarkReport } from '../benchmark.ts';
import { type BlocksCase, compareBlocks, PONDER_URLS } from '../compare-blocks.ts';
import { type ContractCase, compareContract } from '../compare-contract.ts';
import { installPonder } from '../ponder-project.ts';

/** Sizes of the public cases. */
const SPARSE_BLOCKS = 1_000_000;
const HEADERS = 100_000;
const TRANSACTION_BLOCKS = 10_000;
const TRANSACTIONS_PER_BLOCK = 170;
const SWAPS = 35_000;
const CHILDREN = 500;
const EVENTS_PER_BLOCK = 100;
const SIGNERS = 2_000;

/** Cases of the open indexer benchmark that need no foreign service, on generated chains of the same density. */
export const publicCases: Benchmark = {
  name: 'public',
  title: 'Cases of the open indexer benchmark on generated chains, against Ponder',
  async run(context) {
    const { publicShare } = context.sizes;
    const version = await installPonder(context.say);
    const reports: BenchmarkReport[] = [];
    for (const density of [0.013, 0.13])
      reports.push(await compareContract(context, sparse(density, publicShare)));
    for (const plan of [headers(publicShare), transactions(publicShare)])
      reports.push(await compareBlocks(context, plan));
    reports.push(await compareContract(context, factory()));
    return {
      comparisons: reports.flatMap(({ comparisons }) => comparisons),
      measures: reports.flatMap(({ measures }) => measures),
      notes: [
        `Ponder ${version} with ${PONDER_URLS} URLs, without its start-up. ${publicShare} of the public sizes, but all events of the factory.`,
        'The public cases read mainnet over the internet. These read a local node, whose responses are made beforehand.',
        ...reports.flatMap(({ notes }) => notes),
      ],
    };
  },
};

/** Without depth of finality: the head does not move. */
const STILL: Partial<BenchNodeOptions> = { finalityDepth: 0, transferShare: 1 };

function sparse(density: number, share: number): ContractCase {
  const chain = { ...STILL, tokens: 1, emptyShare: 1 - density, transactionsPerBlock: 1, logsPerTransaction: 1 };
  return {
    name: `sparse, ${density}`,
    kind: 'plain',
    blocks: Math.ceil(SPARSE_BLOCKS * share),
    chain,
    urls: PONDER_URLS,
  };
}

function headers(share: number): BlocksCase {
  const chain = { ...STILL, transactionsPerBlock: 1, logsPerTransaction: 1, signers: SIGNERS };
  return { name: 'headers', rows: 'header', blocks: Math.ceil(HEADERS * share), chain };
}

function transactions(share: number): BlocksCase {
  const chain = {
    ...STILL,
    transactionsPerBlock: TRANSACTIONS_PER_BLOCK,
    logsPerTransaction: 1,
    signers: SIGNERS,
  };
  return { name: 'transactions', rows: 'transaction', blocks: Math.ceil(TRANSACTION_BLOCKS * share), chain };
}

/** Some events are of contracts that are no children. */
function factory(): ContractCase {
  const chain = { ...STILL, children: CHILDREN, tokens: CHILDREN / 5 };
  const blocks = Math.ceil(SWAPS / EVENTS_PER_BLOCK / 0.83);
  return { name: 'factory', kind: 'factory', blocks, chain, urls: PONDER_URLS };
}
