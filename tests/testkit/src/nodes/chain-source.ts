import type { BlockRange, Hex } from '@chainstead/core';

/** A JSON object as it goes over the wire. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** A block with all its data that requests can read, in the JSON of a node. */
export interface SourceBlock {
  readonly number: number;
  readonly hash: Hex;
  /** The block's JSON without `transactions`. */
  readonly header: JsonObject;
  readonly transactions: readonly JsonObject[];
  /** One per transaction, in order, logs included. */
  readonly receipts: readonly JsonObject[];
}

/** What an eth_call gives: data, or a revert with its data. */
export type CallOutcome = { readonly data: Hex } | { readonly revert: Hex };

/** A chain as a node sees it: what `serveChain` serves. Reads only; the chain may move between reads. */
export interface ChainSource {
  readonly chainId: number;
  readonly clientVersion: string;
  /** Lowest block that exists. */
  readonly firstBlock: number;
  /** Number of the highest canonical block. */
  readonly head: number;
  /** Number of the finalized block; null where the chain has no such tag. */
  readonly finalized: number | null;
  /** The canonical block of that number. */
  blockAt(number: number): SourceBlock | undefined;
  /** The canonical blocks of the range, in order; heights without one are left out. */
  blocksIn(range: BlockRange): Iterable<SourceBlock>;
  /** Any block that the node still knows, orphaned ones included. */
  blockByHash(hash: string): SourceBlock | undefined;
  /** The canonical block that contains the transaction. */
  blockOfTransaction(hash: string): SourceBlock | undefined;
  call(to: string, data: Hex): CallOutcome;
  /** The code of a contract; `0x` where there is none. */
  code(address: string): Hex;
}

/** The logs of a block in order, from its receipts. */
export function logsOf(block: SourceBlock): JsonObject[] {
  return block.receipts.flatMap((receipt) => receipt.logs as readonly JsonObject[]);
}
