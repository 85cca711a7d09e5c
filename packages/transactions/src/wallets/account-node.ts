import type { SenderReading } from '@chainstead/answers';
import { type Address, parseBigQuantity, parseQuantity, toQuantity } from '@chainstead/core';
import { type AccountMethod, stateAt } from '@chainstead/state';
import type { IndexedBranch } from './indexed-branch.ts';

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

/**
 * @param callsBefore in earlier turns
 * @param branch that the blocks are of, where they can still be reorganised; null: they are final
 */
export function createAccountNode(
  { chain, pool }: SenderReading,
  account: Address,
  { callsBefore, branch }: { readonly callsBefore: number; readonly branch: IndexedBranch | null },
  signal: AbortSignal,
): AccountNode {
  let made = callsBefore;
  let told = callsBefore;
  async function ask(method: AccountMethod, blocks: readonly (number | 'latest')[]): Promise<readonly unknown[]> {
    made += blocks.length;
    if (branch !== null)
      return Promise.all(
        blocks.map(async (number) => {
          if (number === 'latest') return stateAt(pool, chain, number).account(method, account, signal);
          const hash = await branch.hashAt(number);
          const block = hash === null ? { number } : { number, hash };
          return stateAt(pool, chain, block).account(method, account, signal);
        }),
      );
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
