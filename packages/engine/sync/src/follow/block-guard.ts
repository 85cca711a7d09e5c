import type { Chain } from '@chainstead/chains';
import {
  type Database,
  type RiskyWork,
  readQuarantinedKeys,
  type WorkJournal,
  WorkSetAsideError,
} from '@chainstead/db';
import type { Dataset } from '../dataset/dataset.ts';
import { createBatchDecoder } from '../read/decoded-batch.ts';
import type { ProvenBlock } from '../read/proven-block.ts';

export type BlockJournal = Pick<WorkJournal, 'alone' | 'hold' | 'suspects' | 'acquit'>;

/** After a death, blocks run part by part. The third death of a part quarantines it. */
export interface BlockGuard {
  readonly isCareful: boolean;
  /** Quarantined datasets fail to decode their blocks. */
  readonly datasets: readonly Dataset[];
  readonly unmatched: ReadonlySet<number>;
  /** @throws WorkSetAsideError if reading the block is quarantined: its chain can't continue */
  reading<T>(block: number, read: () => Promise<T>): Promise<T>;
  decoding(block: ProvenBlock): Promise<void>;
  /** @throws the errors of `commit`; WorkSetAsideError if it is quarantined without streams, too */
  committing<T>(blocks: readonly ProvenBlock[], commit: () => Promise<T>): Promise<T>;
  close(): void;
}

interface BlockGuardOptions {
  readonly database: Database;
  readonly chain: Chain;
  readonly datasets: readonly Dataset[];
  /** @default nothing is recorded */
  readonly journal?: BlockJournal;
}

const CAREFUL_BLOCKS = 300;
const DATASET = 'dataset ';
const STREAMS = 'streams';

export async function openBlockGuard({
  database,
  chain,
  datasets,
  journal,
}: BlockGuardOptions): Promise<BlockGuard> {
  const parts = journal === undefined ? [] : await readQuarantinedParts(database, chain);
  const unmatched = new Set(parts.flatMap(({ block, part }) => (part === STREAMS ? block : [])));
  const undecoded = Map.groupBy(
    parts.filter(({ part }) => part.startsWith(DATASET)),
    ({ part }) => part.slice(DATASET.length),
  );
  const guarded = datasets.map((dataset) => {
    const blocks = undecoded.get(dataset.name) ?? [];
    return blocks.length === 0 ? dataset : failingAt(dataset, chain, new Set(blocks.map(({ block }) => block)));
  });
  const shared = { datasets: guarded, unmatched };
  if (journal === undefined) return { ...shared, ...UNGUARDED };
  const process: RiskyWork = { kind: 'ingestion', keys: [chain.key] };
  const isSuspect = (await journal.suspects(process)).size > 0;
  const release = await journal.hold(process);
  let careful = isSuspect ? CAREFUL_BLOCKS : 0;
  const alone = <T>(block: number, part: string, perform: () => Promise<T>): Promise<T> =>
    journal.alone(workOf(chain, block, part), perform);

  return {
    ...shared,
    get isCareful() {
      return careful > 0;
    },
    reading: (block, read) => (careful > 0 ? alone(block, 'reading', read) : read()),
    async decoding(block) {
      const { header, logs } = block;
      if (careful === 0) return;
      for (const dataset of guarded)
        try {
          await alone(header.number, `${DATASET}${dataset.name}`, async () => {
            createBatchDecoder(chain, [dataset]).add(logs, [header], [block]);
          });
        } catch (error) {
          // The commit leaves out its rows of the block.
          if (!(error instanceof WorkSetAsideError)) throw error;
        }
    },
    async committing(blocks, commit) {
      const [first] = blocks;
      if (careful === 0 || first === undefined || blocks.length > 1) return commit();
      // Invariant: SYNC-DEADLY-BLOCK
      const committed = await alone(first.header.number, STREAMS, commit).catch((error: unknown) => {
        if (!(error instanceof WorkSetAsideError)) throw error;
        unmatched.add(first.header.number);
        return alone(first.header.number, 'commit', commit);
      });
      careful -= 1;
      if (careful === 0) await journal.acquit(process);
      return committed;
    },
    close: release,
  };
}

const UNGUARDED: Omit<BlockGuard, 'datasets' | 'unmatched'> = {
  isCareful: false,
  reading: (_block, read) => read(),
  decoding: () => Promise.resolve(),
  committing: (_blocks, commit) => commit(),
  close: () => undefined,
};

function workOf({ key }: Chain, block: number, part: string): RiskyWork {
  return { kind: 'block', keys: [`${key} ${block} ${part}`] };
}

async function readQuarantinedParts(database: Database, chain: Chain) {
  const keys = await readQuarantinedKeys(database, 'block', `${chain.key} `);
  return keys.map((key) => {
    const [, block = '', ...part] = key.split(' ');
    return { block: Number(block), part: part.join(' ') };
  });
}

/** The dataset throws for these blocks: they are recorded as not decoded. */
function failingAt(dataset: Dataset, chain: Chain, blocks: ReadonlySet<number>): Dataset {
  const { wholeBlocks, eachRow } = dataset;
  const require = (number: number): void => {
    if (blocks.has(number)) throw new WorkSetAsideError(workOf(chain, number, `${DATASET}${dataset.name}`));
  };
  const requireAll = (logs: readonly { readonly blockNumber: number }[]): void => {
    for (const { blockNumber } of logs) require(blockNumber);
  };
  return {
    ...dataset,
    decode(logs, context) {
      requireAll(logs);
      return dataset.decode(logs, context);
    },
    ...(eachRow && {
      eachRow(logs, context) {
        requireAll(logs);
        return eachRow.call(dataset, logs, context);
      },
    }),
    ...(wholeBlocks && {
      wholeBlocks: {
        ...wholeBlocks,
        decode(block, context) {
          require(block.header.number);
          return wholeBlocks.decode(block, context);
        },
      },
    }),
  };
}
