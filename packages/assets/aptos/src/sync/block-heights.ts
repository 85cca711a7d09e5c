import { FullnodeFault } from '../fullnode/errors.ts';
import type { Fullnodes } from '../fullnode/fullnodes.ts';
import { wholeNumber } from '../fullnode/ledger-info.ts';
import { jsonObject } from '../rows/json-object.ts';
import type { AptosTransaction } from '../transaction.ts';

export const BLOCK_MARKER = 'block_metadata_transaction';

/** A block begins with its height: only versions before the first one need a request. */
export function createBlockHeights(fullnodes: Pick<Fullnodes, 'block'>) {
  let current: number | null = null;
  return {
    /** In order, at least those with {@link BLOCK_MARKER}. */
    async ofPage(
      transactions: readonly AptosTransaction[],
      signal: AbortSignal,
    ): Promise<(version: number) => number> {
      const starts: { version: number; height: number }[] = [];
      for (const transaction of transactions) {
        const isStart = transaction.type === BLOCK_MARKER;
        if (!isStart && (current !== null || starts.length > 0)) continue;
        const reported = isStart ? heightReported(transaction) : null;
        const height = reported ?? (await fullnodes.block(transaction.version, signal)).height;
        starts.push({ version: transaction.version, height });
      }
      const before = current;
      current = starts.at(-1)?.height ?? current;
      return (version) => {
        const height = starts.findLast((start) => start.version <= version)?.height ?? before;
        if (height === null) throw new FullnodeFault('malformed', `the block of version ${version} is not known`);
        return height;
      };
    },
  };
}

function heightReported({ events, changes }: AptosTransaction): number | null {
  for (const { type, data } of events)
    if (type === '0x1::block::NewBlockEvent' || type === '0x1::block::NewBlock') {
      const height = wholeNumber(jsonObject(data)?.height);
      if (height !== undefined) return height;
    }
  for (const { data } of changes)
    if (jsonObject(data)?.type === '0x1::block::BlockResource')
      return wholeNumber(jsonObject(jsonObject(data)?.data)?.height) ?? null;
  return null;
}
