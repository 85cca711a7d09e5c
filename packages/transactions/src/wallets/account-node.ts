import type { SenderReading } from '@chainstead/answers';
import { type Address, parseBigQuantity, parseQuantity, toQuantity } from '@chainstead/core';

/** What a node is asked of an account, every call of it counted. */
export interface AccountNode {
  /** How many transactions it had sent by the end of each block; of contracts, how many they had created. */
  countsAt(blocks: readonly (number | 'latest')[]): Promise<readonly number[]>;
  /** What it had by the end of each block. Wei. */
  balancesAt(blocks: readonly number[]): Promise<readonly bigint[]>;
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
export function createAccountNode(
  { pool }: SenderReading,
  account: Address,
  callsBefore: number,
  signal: AbortSignal,
): AccountNode {
  let made = callsBefore;
  let told = callsBefore;
  async function ask(method: string, blocks: readonly (number | 'latest')[]): Promise<readonly unknown[]> {
    made += blocks.length;
    const params = blocks.map((block) => [account, block === 'latest' ? block : toQuantity(block)]);
    const answers = await pool.requestMany(method, params, { signal });
    return answers.map(({ value }) => value);
  }
  return {
    async countsAt(blocks) {
      return (await ask('eth_getTransactionCount', blocks)).map(parseQuantity);
    },
    async balancesAt(blocks) {
      return (await ask('eth_getBalance', blocks)).map(parseBigQuantity);
    },
    async isContract() {
      made += 1;
      const { value } = await pool.request('eth_getCode', [account, 'latest'], { signal });
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
