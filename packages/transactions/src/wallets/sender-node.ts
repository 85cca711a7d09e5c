import type { SenderReading } from '@chainstead/answers';
import { type Address, parseQuantity } from '@chainstead/core';

/** What a node is asked of a sender, every call of it counted. */
export interface SenderNode {
  /** How many transactions it had sent by the end of each block; of contracts, how many they had created. */
  countsAt(blocks: readonly (number | 'latest')[]): Promise<readonly number[]>;
  /** Whether it is a contract: not an account whose key delegates to one (EIP-7702), which sends as before. */
  isContract(): Promise<boolean>;
  /** Counts calls that somebody else makes for it. */
  count(calls: number): void;
  /** All calls that were made for it. */
  callsMade(): number;
  /** Those since it was called last. */
  newCalls(): number;
}

const DELEGATION = '0xef0100';

/** @param callsBefore in earlier turns */
export function createSenderNode(
  { pool }: SenderReading,
  sender: Address,
  callsBefore: number,
  signal: AbortSignal,
): SenderNode {
  let made = callsBefore;
  let told = callsBefore;
  return {
    async countsAt(blocks) {
      made += blocks.length;
      const params = blocks.map((block) => [sender, block === 'latest' ? block : `0x${block.toString(16)}`]);
      const answers = await pool.requestMany('eth_getTransactionCount', params, { signal });
      return answers.map(({ value }) => parseQuantity(value));
    },
    async isContract() {
      made += 1;
      const { value } = await pool.request('eth_getCode', [sender, 'latest'], { signal });
      return typeof value === 'string' && value.length > 2 && !value.toLowerCase().startsWith(DELEGATION);
    },
    count(calls) {
      made += calls;
    },
    callsMade: () => made,
    newCalls() {
      const since = made - told;
      told = made;
      return since;
    },
  };
}
