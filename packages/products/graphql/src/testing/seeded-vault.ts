import { createChainRegistry } from '@chainstead/chains';
import { addContract } from '@chainstead/contracts';
import { type Address, parseAddress, parseChainId } from '@chainstead/core';
import { type Database, sql } from '@chainstead/db';
import { createPartitions } from '@chainstead/testkit';

export const ETH = createChainRegistry().get('eth');
export const VAULT: Address = parseAddress(`0x${'c0'.repeat(20)}`);
export const OWNER: Address = parseAddress(`0x${'0a'.repeat(20)}`);
export const OTHER: Address = parseAddress(`0x${'0b'.repeat(20)}`);

/** An event with a parameter of each kind. */
const DEPOSIT = {
  type: 'event',
  name: 'Deposit',
  inputs: [
    { name: 'owner', type: 'address', indexed: true },
    { name: 'assets', type: 'uint256' },
    { name: 'isFirst', type: 'bool' },
    { name: 'note', type: 'string' },
    { name: 'parts', type: 'uint256[]' },
  ],
};

/** Adds the contract `vault` on Ethereum, with indexes on `owner` and `assets`. */
export async function seedVault(database: Database): Promise<void> {
  await addEvents(database, 'vault', [DEPOSIT], ['owner', 'assets']);
}

/** Adds a contract on Ethereum. */
export async function addEvents(
  database: Database,
  name: string,
  abi: readonly object[],
  indexed: readonly string[] = [],
): Promise<void> {
  await addContract(database, {
    ...{ name, chain: ETH, addresses: [VAULT], abi, indexed },
    ...{ factory: null, firstBlock: 5, events: null },
  });
}

export interface ExampleDeposit {
  readonly block: number;
  readonly log?: number;
  readonly owner?: Address;
  readonly assets?: string;
  readonly note?: string;
  readonly chainId?: number;
}

/** Writes rows and their blocks in one transaction, as the sync engine does. @param branch another one has other block hashes */
export async function writeDeposits(
  database: Database,
  deposits: readonly ExampleDeposit[],
  { blocks = [], branch = 1 }: { readonly blocks?: readonly number[]; readonly branch?: number } = {},
): Promise<void> {
  await database.transaction(async (transaction) => {
    for (const number of new Set([...deposits.map(({ block }) => block), ...blocks]))
      await transaction.query(
        sql`INSERT INTO blocks (chain_id, block_number, block_hash, block_timestamp)
         VALUES (1, ${number}::bigint, sha256(convert_to(${`${number}/${branch}`}::text, 'UTF8')), to_timestamp(1600000000 + 12 * ${number}::bigint)) ON CONFLICT DO NOTHING`,
      );
    for (const chainId of new Set(deposits.map((one) => one.chainId ?? 1)))
      await createPartitions(transaction, 'contracts.vault_deposit', parseChainId(chainId));
    for (const { block, log = 0, owner = OWNER, assets = '1000', note = 'hello', chainId = 1 } of deposits)
      await transaction.query(
        sql`INSERT INTO contracts.vault_deposit (chain_id, block_number, transaction_index, log_index, block_time, transaction_hash, contract,
           owner, assets, is_first, note, parts)
         VALUES (${chainId}, ${block}::bigint, 2, ${log}::int, to_timestamp(1600000000 + 12 * ${block}::bigint), decode(repeat('1f', 32), 'hex'), ${bytes(VAULT)}, ${bytes(owner)}, ${assets},
           ${log}::int = 0, ${note}, '["1","2"]')`,
      );
  });
}

/** Removes blocks and their rows, as a reorg does. */
export async function removeBlocks(database: Database, fromBlock: number): Promise<void> {
  await database.transaction(async (transaction) => {
    await transaction.query(
      sql`DELETE FROM contracts.vault_deposit WHERE chain_id = 1 AND block_number >= ${fromBlock}`,
    );
    await transaction.query(sql`DELETE FROM blocks WHERE chain_id = 1 AND block_number >= ${fromBlock}`);
  });
}

function bytes(hex: string): Buffer {
  return Buffer.from(hex.slice(2), 'hex');
}
