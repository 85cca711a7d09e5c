import type { Address, ChainId } from '@chainstead/core';
import { addressBytes, type ReadDatabase, sql } from '@chainstead/db';

/** What events, or its own code, showed an address to be on one chain. Both may be true: hybrids are. */
export interface SeenContract {
  readonly chainId: ChainId;
  readonly name: string | null;
  readonly symbol: string | null;
  /** Of ERC-20. */
  readonly isToken: boolean;
  /** Of NFTs. */
  readonly isCollection: boolean;
}

/** On which chains an address was seen as a token contract: one look-up by its key, however many chains there are. */
export async function readSeenContracts(database: ReadDatabase, address: Address): Promise<readonly SeenContract[]> {
  return database.select<SeenContract>(
    sql`SELECT chain_id AS "chainId", name, symbol,
       coalesce(standard = 'erc20', false) OR (standard IS NULL AND seen_as & 1 <> 0) AS "isToken",
       coalesce(standard IN ('erc721', 'erc1155'), false) OR seen_as & 6 <> 0 AS "isCollection"
     FROM tokens WHERE address = ${addressBytes(address)} ORDER BY chain_id`,
  );
}
