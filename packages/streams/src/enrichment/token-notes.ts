import type { Chain } from '@chainstead/chains';
import { type Address, parseAddress } from '@chainstead/core';
import { addressBytes, type Database, hexText } from '@chainstead/db';
import { saveTokenMetadata, type TokenMetadataReader } from '@chainstead/tokens';
import DataLoader from 'dataloader';
import type { TokenNote } from '../payload/token-note.ts';

export interface TokenNotes {
  /** What the database says of contracts; those it does not know yet are left out. */
  known(addresses: readonly Address[]): Promise<Map<Address, TokenNote>>;
  /** As above, after the contracts were asked that nobody has asked yet; what they say is stored. @throws what `ask` throws */
  read(addresses: readonly Address[], ask: AskContracts): Promise<Map<Address, TokenNote>>;
}

/** Asks contracts what they say of themselves. */
type AskContracts = (addresses: readonly Address[]) => ReturnType<TokenMetadataReader['read']>;

interface TokenRow extends TokenNote {
  readonly address: string;
  /** Whether its contract was asked before, or need not be. */
  readonly isAsked: boolean;
}

const ADDRESSES_TOGETHER = 1_000;

/** Token metadata of one chain, from table `tokens`, which they share with everything else that shows tokens. */
export function createTokenNotes(options: { readonly database: Database; readonly chain: Chain }): TokenNotes {
  const { database, chain } = options;

  const rows = new DataLoader<Address, TokenRow | undefined>((addresses) => readRows(addresses), {
    cache: false,
    maxBatchSize: ADDRESSES_TOGETHER,
  });

  async function readRows(addresses: readonly Address[]): Promise<readonly (TokenRow | undefined)[]> {
    const found = await database.query<TokenRow>(
      `SELECT ${hexText('address')} AS address, name, symbol, decimals, standard, logo,
         possible_spam AS "possibleSpam", verified, facts_status <> 'pending' OR facts_attempts > 0 AS "isAsked"
       FROM tokens WHERE chain_id = $1 AND address = ANY ($2::bytea[])`,
      [chain.id, [...new Set(addresses)].map(addressBytes)],
    );
    const byAddress = new Map<string, TokenRow>(found.map((row) => [row.address, row]));
    return addresses.map((address) => byAddress.get(address));
  }

  /** Those of several webhooks at once, in one query. */
  async function select(addresses: readonly Address[]): Promise<TokenRow[]> {
    const read = await Promise.all(addresses.map((address) => rows.load(address)));
    return read.filter((row) => row !== undefined);
  }

  return {
    async known(addresses) {
      return addresses.length === 0 ? new Map() : notesOf(await select(addresses));
    },
    async read(addresses, ask) {
      if (addresses.length === 0) return new Map();
      const known = await select(addresses);
      const asked = new Set(known.filter(({ isAsked }) => isAsked).map(({ address }) => address));
      const unasked = addresses.filter((address) => !asked.has(address));
      if (unasked.length === 0) return notesOf(known);
      const facts = await ask(unasked);
      await database.query(
        'INSERT INTO tokens (address, chain_id) SELECT address, $2 FROM unnest($1::bytea[]) AS seen(address) ON CONFLICT DO NOTHING',
        [unasked.toSorted().map(addressBytes), chain.id],
      );
      await saveTokenMetadata(database, chain.id, facts);
      return notesOf(await select(addresses));
    },
  };
}

function notesOf(rows: readonly TokenRow[]): Map<Address, TokenNote> {
  return new Map(rows.map(({ address, isAsked: _, ...note }) => [parseAddress(address), note]));
}
