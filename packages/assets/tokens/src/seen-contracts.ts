import type { Address, ChainId } from '@chainstead/core';
import { addressBytes, type ReadDatabase, sql } from '@chainstead/db';

/** By events or code. Hybrids are both. */
export interface SeenToken {
  readonly chainId: ChainId;
  readonly name: string | null;
  readonly symbol: string | null;
  readonly isToken: boolean;
  readonly isCollection: boolean;
}

export async function readSeenContracts(database: ReadDatabase, address: Address): Promise<readonly SeenToken[]> {
  return database.select<SeenToken>(
    sql`SELECT chain_id, name, symbol,
       coalesce(standard = 'erc20', false) OR (standard IS NULL AND seen_as & 1 <> 0) AS "isToken",
       coalesce(standard IN ('erc721', 'erc1155'), false) OR seen_as & 6 <> 0 AS "isCollection"
     FROM tokens WHERE address = ${addressBytes(address)} ORDER BY chain_id`,
  );
}
