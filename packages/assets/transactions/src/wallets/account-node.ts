import type { Chain } from '@chainstead/chains';
import { type Address, type Hash, parseBigQuantity, parseQuantity, toQuantity } from '@chainstead/core';
import { type Database, hexText, sql, type Transaction } from '@chainstead/db';
import { type AccountMethod, stateAt } from '@chainstead/node-reads';
import { StateUnavailableError } from '@chainstead/node-reads/requests';
import type { SenderReading } from '@chainstead/pages/on-demand';
import type { Checkpoint } from '@chainstead/sync/checkpoint';
import { lockChainCommits } from '@chainstead/sync/commit-retry';

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

/** State of unsettled blocks is read by hash; results are written while the branch is indexed. */
export interface IndexedBranch {
  /** Null: not stored. Blocks that are not stored are final. */
  hashAt(number: number): Promise<Hash | null>;
  /** Until the transaction ends. @throws StateUnavailableError if the branch was abandoned */
  hold(transaction: Transaction): Promise<void>;
}

export function createIndexedBranch(
  database: Pick<Database, 'query'>,
  chain: Pick<Chain, 'id'>,
  end: Checkpoint,
): IndexedBranch {
  const hashes = new Map<number, Promise<Hash | null>>();
  return {
    hashAt(number) {
      const hash = hashes.get(number) ?? readHash(database, chain, number);
      hashes.set(number, hash);
      return hash;
    },
    async hold(transaction) {
      await lockChainCommits(transaction, chain);
      if ((await readHash(transaction, chain, end.number)) !== end.hash)
        throw new StateUnavailableError(`Block ${end.number} was reorganised while its branch was searched`);
    },
  };
}

async function readHash(source: Pick<Database, 'query'>, { id }: Pick<Chain, 'id'>, number: number) {
  const [row] = await source.query<{ hash: Hash }>(
    sql`SELECT ${hexText('block_hash')} AS hash FROM blocks WHERE chain_id = ${id} AND block_number = ${number}`,
  );
  return row?.hash ?? null;
}
