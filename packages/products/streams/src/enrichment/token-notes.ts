import type { Chain } from '@chainstead/chains';
import { type Address, parseAddress } from '@chainstead/core';
import { addressBytes, type Database, hexText, sql } from '@chainstead/db';
import { saveTokenMetadata, type TokenMetadataReader } from '@chainstead/tokens';
import DataLoader from 'dataloader';
import type { TokenNote } from '../payload/token-note.ts';

type AskContracts = (addresses: readonly Address[]) => ReturnType<TokenMetadataReader['read']>;

interface StoredNote extends TokenNote {
  readonly address: string;
  /** Whether the contract was read before or needs no read. */
  readonly isRequested: boolean;
}

const ADDRESSES_TOGETHER = 1_000;

export function createTokenNotes({ database, chain }: { readonly database: Database; readonly chain: Chain }) {
  const rows = new DataLoader<Address, StoredNote | undefined>((addresses) => readRows(addresses), {
    cache: false,
    maxBatchSize: ADDRESSES_TOGETHER,
  });

  async function readRows(addresses: readonly Address[]): Promise<readonly (StoredNote | undefined)[]> {
    const stored = await database.query<StoredNote>(
      sql`SELECT ${hexText('address')} AS address, name, symbol, decimals, standard, logo,
         possible_spam, verified, facts_status <> 'pending' OR facts_attempts > (facts_lease_until IS NOT NULL)::int AS "isRequested"
       FROM tokens WHERE chain_id = ${chain.id} AND address = ANY (${[...new Set(addresses)].map(addressBytes)}::bytea[])`,
    );
    const byAddress = new Map<string, StoredNote>(stored.map((row) => [row.address, row]));
    return addresses.map((address) => byAddress.get(address));
  }

  async function select(addresses: readonly Address[]): Promise<StoredNote[]> {
    const read = await Promise.all(addresses.map((address) => rows.load(address)));
    return read.filter((row) => row !== undefined);
  }

  return {
    async known(addresses: readonly Address[]): Promise<Map<Address, TokenNote>> {
      return notesOf(await select(addresses));
    },
    /** Like `known`, but reads and stores unknown contracts first. Throws as `ask`. */
    async read(addresses: readonly Address[], ask: AskContracts): Promise<Map<Address, TokenNote>> {
      const stored = await select(addresses);
      const requested = new Set(stored.filter(({ isRequested }) => isRequested).map(({ address }) => address));
      const unrequested = addresses.filter((address) => !requested.has(address));
      if (unrequested.length === 0) return notesOf(stored);
      const facts = await ask(unrequested);
      await database.query(
        sql`INSERT INTO tokens (address, chain_id) SELECT address, ${chain.id} FROM unnest(${unrequested.toSorted().map(addressBytes)}::bytea[]) AS seen(address) ON CONFLICT DO NOTHING`,
      );
      await saveTokenMetadata(database, chain.id, facts);
      return notesOf(await select(addresses));
    },
  };
}

function notesOf(rows: readonly StoredNote[]): Map<Address, TokenNote> {
  return new Map(rows.map(({ address, isRequested: _, ...note }) => [parseAddress(address), note]));
}
