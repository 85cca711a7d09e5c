import { type Address, parseBigQuantity, parseQuantity, toQuantity } from '@chainstead/core';
import { type AccountMethod, stateAt } from '@chainstead/node-reads';
import type { SenderReading } from '@chainstead/pages/on-demand';
import type { IndexedBranch } from './indexed-branch.ts';

export interface AccountNode {
  /** Transactions sent by the end of each block; for contracts, contracts created. */
  countsAt(blocks: readonly (number | 'latest')[]): Promise<readonly number[]>;
  /** At the end of each block. Wei. */
  balancesAt(blocks: readonly number[]): Promise<readonly bigint[]>;
  /** Accounts that delegate by EIP-7702 are none: their key still sends. */
  isContract(): Promise<boolean>;
  count(calls: number): void;
  callsMade(): number;
  newCalls(): number;
}

const DELEGATION = '0xef0100';

export function createAccountNode(
  { chain, pool }: SenderReading,
  account: Address,
  { callsBefore, branch }: { readonly callsBefore: number; readonly branch: IndexedBranch | null },
  signal: AbortSignal,
): AccountNode {
  let made = callsBefore;
  let reported = callsBefore;
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
      const since = made - reported;
      reported = made;
      return since;
    },
  };
}
