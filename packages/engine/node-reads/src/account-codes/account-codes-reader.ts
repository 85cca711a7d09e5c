import { type Address, type ChainId, parseAddress } from '@chainstead/core';
import { addressBytes, type Database, sql } from '@chainstead/db';
import { stateAt } from '../state-at.ts';
import type { StateReader } from '../state-kind.ts';
import { type AccountCodesAnswer, type AccountCodesQuestion, accountCodesKind } from './account-codes.ts';

/** EIP-7702: an account of a person that lets a contract act for it. */
const DELEGATION = /^0xef0100[0-9a-f]{40}$/;

export const accountCodesReader: StateReader<AccountCodesQuestion, AccountCodesAnswer> = {
  kind: accountCodesKind,
  async read({ chain, pool, database }, { items }, signal) {
    const addresses = items.map(parseAddress);
    const codes = await stateAt(pool, chain, 'latest').codes(addresses, signal);
    const answer = addresses.map((address, index) => {
      const code = codes[index] ?? '0x';
      return [address, code.length > 2 && !DELEGATION.test(code)] as const;
    });
    await saveCodes(database, chain.id, answer);
    return answer;
  },
};

async function saveCodes(
  database: Database,
  chainId: ChainId,
  reported: readonly (readonly [Address, boolean])[],
): Promise<void> {
  await database.query(
    sql`INSERT INTO account_codes (address, chain_id, has_code)
     SELECT address, ${chainId}, has_code FROM unnest(${reported.map(([address]) => addressBytes(address))}::bytea[], ${reported.map(([, hasCode]) => hasCode)}::boolean[]) AS reported (address, has_code) ORDER BY address
     ON CONFLICT (address, chain_id) DO UPDATE SET has_code = excluded.has_code, looked_at = excluded.looked_at`,
  );
}
