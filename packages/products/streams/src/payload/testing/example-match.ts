import type { Chain } from '@chainstead/chains';
import { createChainRegistry } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import type { WatchedBlock } from '@chainstead/sync';
import { collectAddresses, sightAddresses } from '../../matching/block-sightings.ts';
import { compileStream } from '../../matching/compile-stream.ts';
import type { Match } from '../../matching/match.ts';
import { indexStreams } from '../../matching/stream-index.ts';
import { type ExampleTransaction, exampleBlock } from '../../matching/testing/example-block.ts';
import { exampleStream } from '../../matching/testing/example-stream.ts';
import { matchWhole } from '../../matching/testing/match-whole.ts';
import type { BodyBlock } from '../render-body.ts';
import type { TokenNote } from '../webhook-contents.ts';

export const ETHEREUM = createChainRegistry().get('eth');

/** Returns all items of a block, for a stream that watches every address in it. */
export function matchEverything(block: WatchedBlock, chain: Chain = ETHEREUM): Match {
  const stream = exampleStream({
    chainIds: [chain.id],
    includeNativeTxs: true,
    includeContractLogs: true,
    includeInternalTxs: true,
  });
  const sightings = sightAddresses(block);
  const watched = new Map<Address, string[]>(
    [...collectAddresses(sightings)].map((address) => [address, [stream.id]]),
  );
  const index = indexStreams([compileStream(stream)], chain.id);
  const [match] = matchWhole(sightings, watched, index, { isSpam: () => false });
  return match ?? { streamId: stream.id, logs: [], transactions: [], internalTransactions: [], triggeredBy: [] };
}

/** Returns all items of an example block. */
export function exampleMatch(transactions: readonly ExampleTransaction[]): Match {
  return matchEverything(exampleBlock(transactions));
}

export function bodyBlock({ header }: WatchedBlock): BodyBlock {
  return { number: header.number, hash: header.hash, timestamp: header.timestamp };
}

/** Token metadata in tests. */
export function exampleToken(note: Partial<TokenNote> = {}): TokenNote {
  const known = { name: 'USD Coin', symbol: 'USDC', decimals: 6, standard: 'erc20' } as const;
  return { ...known, logo: 'https://logos.example/usdc.png', possibleSpam: false, verified: true, ...note };
}
