import type { Chain } from '@chainstead/chains';
import type { Address, BlockRange, Logger } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { ReorgedWhileReadingError, type WatchedBlock } from '@chainstead/sync';
import { readWatchedBlock } from '@chainstead/sync/ingest';
import { createReadNames } from '../contracts/read-names.ts';
import { ANY_ADDRESS } from '../matching/block-sightings.ts';
import { compileStream } from '../matching/compile-stream.ts';
import { indexStreams } from '../matching/stream-index.ts';
import type { Stream, StreamConfig } from '../stream.ts';
import {
  type BlockMatch,
  matchBlocks,
  matchWatched,
  readsSpam,
  type StreamMatcher,
} from '../watching/match-blocks.ts';
import type { PastChain } from './past-chain.ts';

/** `addresses` replace those of the stream; null: those of the stream. */
export interface PastStream {
  readonly stream: StreamConfig & Pick<Stream, 'id'>;
  readonly addresses: readonly Address[] | null;
}

export type PastMatcher = ReturnType<typeof createPastMatcher>;

export function createPastMatcher(
  past: PastChain & { readonly logger: Logger },
  { stream, addresses }: PastStream,
) {
  const { chain } = past;
  const index = indexStreams([compileStream(stream)], chain.id);
  const matcher: StreamMatcher = {
    index,
    needs: { ...index.needs, internalTransfers: index.needs.internalTransfers && chain.internalTransactions },
    readsSpam: readsSpam(stream),
    mayWatch: ANY_ADDRESS,
    readNames: createReadNames('complete'),
  };
  const watched = addresses === null ? null : new Map(addresses.map((address) => [address, [stream.id]]));
  return {
    /** Null: no node has it. @throws UnprovenBlockError, UpstreamsExhaustedError */
    read: (number: number, signal?: AbortSignal): Promise<WatchedBlock | null> =>
      readWatchedBlock(past, number, matcher.needs, signal),
    match: (reader: Pick<Database, 'query'>, blocks: readonly WatchedBlock[]): Promise<BlockMatch[]> =>
      watched === null
        ? matchBlocks(reader, chain, matcher, blocks)
        : matchWatched(reader, chain, matcher, blocks, watched),
  };
}

const READS_IN_FLIGHT = 8;

export async function readPastBlocks(
  matcher: PastMatcher,
  chain: Chain,
  range: BlockRange,
  signal: AbortSignal,
): Promise<WatchedBlock[]> {
  const blocks: WatchedBlock[] = [];
  for (let from = range.from; from <= range.to; from += READS_IN_FLIGHT) {
    const count = Math.min(READS_IN_FLIGHT, range.to - from + 1);
    const read = await Promise.all(
      Array.from({ length: count }, (_, index) => matcher.read(from + index, signal)),
    );
    for (const [index, block] of read.entries()) {
      if (block === null)
        throw new ReorgedWhileReadingError({ chain: chain.key, what: `block ${from + index} is not available` });
      blocks.push(block);
    }
  }
  return blocks;
}
