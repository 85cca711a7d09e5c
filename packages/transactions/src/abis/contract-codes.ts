/** By the hash of the code: an ABI imported for one contract also applies to the others with it. */
import type { Chain } from '@chainstead/chains';
import { type Address, type Hash, parseAddress } from '@chainstead/core';
import { addressBytes, type Database, hexBytes, hexText, sql } from '@chainstead/db';

export interface ContractCode {
  readonly address: Address;
  /** Null: none, or it delegates to other code, which then determines its functions. */
  readonly hash: Hash | null;
}

/** Code is read again after this time: a contract may be destroyed, and another created at its address. */
const READ_AGAIN = sql`interval '30 days'`;

export async function contractsWithoutCode(
  database: Pick<Database, 'query'>,
  { id }: Pick<Chain, 'id'>,
  limit: number,
): Promise<readonly Address[]> {
  const rows = await database.query<{ address: string }>(
    sql`SELECT DISTINCT ${hexText('entry.address')} AS address FROM contract_abi_entries AS entry
      WHERE entry.chain_id = ${id} AND NOT EXISTS (
        SELECT FROM contract_codes AS known WHERE known.address = entry.address AND known.chain_id = ${id} AND known.has_abi
          AND known.read_at > now() - ${READ_AGAIN})
      ORDER BY 1 LIMIT ${limit}`,
  );
  return rows.map(({ address }) => parseAddress(address));
}

export async function saveCodes(
  database: Pick<Database, 'query'>,
  { id }: Pick<Chain, 'id'>,
  block: { readonly number: number; readonly hash: string },
  codes: readonly ContractCode[],
): Promise<void> {
  if (codes.length === 0) return;
  await database.query(
    sql`INSERT INTO contract_codes (address, chain_id, code_hash, block_number, has_abi)
     SELECT given.address, ${id}::bigint, given.code_hash, ${block.number}::bigint,
       EXISTS (SELECT FROM contract_abi_entries AS entry WHERE entry.address = given.address AND entry.chain_id = ${id})
     FROM unnest(${codes.map(({ address }) => addressBytes(address))}::bytea[], ${codes.map(({ hash }) => (hash === null ? null : hexBytes(hash)))}::bytea[]) AS given (address, code_hash)
     WHERE EXISTS (SELECT FROM blocks WHERE chain_id = ${id} AND block_number = ${block.number} AND block_hash = ${hexBytes(block.hash)})
     ORDER BY given.address
     ON CONFLICT (address, chain_id) DO UPDATE SET code_hash = excluded.code_hash, block_number = excluded.block_number,
       has_abi = excluded.has_abi, read_at = excluded.read_at`,
  );
}
