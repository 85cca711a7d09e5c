import type { Chain } from '@chainstead/chains';
import { createDefinitionReader, readNamedLogs } from '@chainstead/contracts';
import type { Database } from '@chainstead/db';
import type { WatchedBlock } from '@chainstead/sync';
import type { NamedLogs } from '../matching/match.ts';
import type { StreamIndex } from '../matching/stream-index.ts';

export type ReadNames = (
  reader: Pick<Database, 'query'>,
  chain: Chain,
  index: Pick<StreamIndex, 'byContract'>,
  blocks: readonly WatchedBlock[],
) => Promise<NamedLogs>;

const NONE: NamedLogs = new Map();

/** `known`: children not named yet are unknown. `complete`: rejects if events are missing. */
export function createReadNames(children: 'known' | 'complete'): ReadNames {
  const readDefinitions = createDefinitionReader();
  return async (reader, chain, { byContract }, blocks) => {
    const [first, last] = [blocks[0], blocks.at(-1)];
    if (byContract.size === 0 || first === undefined || last === undefined) return NONE;
    return readNamedLogs(reader, await readDefinitions(reader), {
      ...{ chain, names: byContract.keys() },
      logs: blocks.flatMap(({ logs }) => logs),
      from: first.header.number,
      completeTo: children === 'known' ? null : last.header.number,
    });
  };
}
