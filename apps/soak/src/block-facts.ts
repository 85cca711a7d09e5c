import { TRANSFER_TOPIC } from '@chainstead/testkit';

/** What a block must leave in the tables, read from its logs by a few lines of their own. */
export interface BlockFacts {
  readonly transfers: number;
  /** Of the amounts' lowest 32 bits. */
  readonly transferSum: number;
  /** Tokens that moved: each id of a batch counts. */
  readonly nftMoves: number;
  /** Of the ids' lowest 32 bits. */
  readonly nftSum: number;
  readonly sales: number;
}

/** A log as nodes give it. */
export interface NodeLog {
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
}

/** keccak256 of `TransferSingle(address,address,address,uint256,uint256)`. */
const SINGLE_TOPIC = '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62';
/** keccak256 of `TransferBatch(address,address,address,uint256[],uint256[])`. */
const BATCH_TOPIC = '0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb';
/** keccak256 of Seaport's `OrderFulfilled`. */
const SALE_TOPIC = '0x9d9af8e38d66c62e2c12f0225249fd9d721c54b83f48d9352c97c6cacdcb6f31';
const WORD = 64;

export function factsOf(logs: readonly NodeLog[]): BlockFacts {
  let [transfers, transferSum, nftMoves, nftSum, sales] = [0, 0, 0, 0, 0];
  const moves = (ids: readonly string[]): void => {
    nftMoves += ids.length;
    for (const id of ids) nftSum += low32(id);
  };
  for (const { topics, data } of logs) {
    const [topic0, , , topic3] = topics;
    if (topic0 === TRANSFER_TOPIC && topics.length === 3 && data.length === 2 + WORD) {
      transfers += 1;
      transferSum += low32(data);
    } else if (topic0 === TRANSFER_TOPIC && topic3 !== undefined) moves([topic3]);
    else if (topic0 === SINGLE_TOPIC) moves([wordOf(data, 0)]);
    else if (topic0 === BATCH_TOPIC) {
      // The list of ids lies where the first word says; its length comes first.
      const start = Number(`0x${wordOf(data, 0)}`) / 32;
      const count = Number(`0x${wordOf(data, start)}`);
      moves(Array.from({ length: count }, (_, index) => wordOf(data, start + 1 + index)));
    } else if (topic0 === SALE_TOPIC) sales += 1;
  }
  return { transfers, transferSum, nftMoves, nftSum, sales };
}

function wordOf(data: string, place: number): string {
  return data.slice(2 + place * WORD, 2 + (place + 1) * WORD);
}

function low32(hexadecimal: string): number {
  return Number.parseInt(hexadecimal.slice(-8), 16);
}
