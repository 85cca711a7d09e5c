import { type Address, type Hex, parseAddress } from '@chainstead/core';
import { addressBytes, hexBytes, hexText, sql } from '@chainstead/db';
import { returnedNumber } from '@chainstead/events/abi';
import { type StateReader, type StateReadingContext, stateAt } from '@chainstead/node-reads';
import { committedBlock, StateNotArchivedError } from '@chainstead/node-reads/requests';
import { saveTokenMetadata } from '../pending-metadata.ts';
import { createTokenMetadataReader, type TokenMetadata } from '../token-metadata.ts';
import { type TokenFactsAnswer, type TokensQuestion, tokenFactsKind } from './token-facts-question.ts';

/** Reads the supply at the newest committed block. Leaves out unreadable contracts. */
export const tokenFactsReader: StateReader<TokensQuestion, TokenFactsAnswer> = {
  kind: tokenFactsKind,
  async read(context, { items }, signal) {
    const { chain, pool, database } = context;
    const addresses = items.map(parseAddress);
    const known = await knownMetadata(context, addresses);
    const unread = addresses.filter((address) => !known.has(address));
    const contracts = await contractsAmong(context, unread, signal);
    const read = await createTokenMetadataReader({ pool, chain }).read(contracts, signal);
    const answered = new Map([...read].filter(([, metadata]) => metadata.answered));
    // Clients may request any address: only contracts that respond as tokens get a row.
    await database.query(
      sql`INSERT INTO tokens (address, chain_id) SELECT address, ${chain.id} FROM unnest(${[...answered.keys()].map(addressBytes)}::bytea[]) AS reported (address) ORDER BY address
     ON CONFLICT (address, chain_id) DO NOTHING`,
    );
    if (answered.size > 0) await saveTokenMetadata(database, chain.id, answered);
    const supplies = await readSupplies(context, [...known.keys(), ...answered.keys()], signal);
    return addresses
      .filter((address) => !contracts.includes(address) || read.has(address))
      .map((address) => {
        const { name, symbol, decimals, standard } = known.get(address) ?? answered.get(address) ?? SILENT;
        return { address, name, symbol, decimals, standard, total_supply: supplies.get(address) ?? null };
      });
  },
};

type KnownMetadata = Pick<TokenMetadata, 'name' | 'symbol' | 'decimals'> & { readonly standard: string | null };

const SILENT: KnownMetadata = { name: null, symbol: null, decimals: null, standard: null };

async function knownMetadata(
  { database, chain }: StateReadingContext,
  addresses: readonly Address[],
): Promise<ReadonlyMap<Address, KnownMetadata>> {
  const rows = await database.query<KnownMetadata & { address: Address }>(
    sql`SELECT ${hexText('address')} AS address, name, symbol, decimals, standard FROM tokens
     WHERE address = ANY (${addresses.map(addressBytes)}::bytea[]) AND chain_id = ${chain.id} AND facts_status = 'known'`,
  );
  return new Map(rows.map(({ address, ...metadata }) => [address, metadata]));
}

/** Accounts without code would take several calls each. */
async function contractsAmong(
  { chain, pool }: StateReadingContext,
  addresses: readonly Address[],
  signal: AbortSignal,
): Promise<Address[]> {
  const codes = await stateAt(pool, chain, 'latest').codes(addresses, signal);
  return addresses.filter((_, index) => codes[index] !== '0x');
}

const TOTAL_SUPPLY: Hex = '0x18160ddd';

/** Empty while no block is indexed, or if no node has the newest state. */
async function readSupplies(
  { chain, pool, database }: StateReadingContext,
  addresses: readonly Address[],
  signal: AbortSignal,
): Promise<ReadonlyMap<Address, string>> {
  const block = await committedBlock(database, chain);
  if (block === null || addresses.length === 0) return new Map();
  const calls = addresses.map((to) => ({ to, data: TOTAL_SUPPLY }));
  const answers = await stateAt(pool, chain, block)
    .fetchTogether(calls, signal)
    .catch((error: unknown) => {
      if (error instanceof StateNotArchivedError) return null;
      throw error;
    });
  if (answers === null) return new Map();
  const read = addresses.filter((_, index) => answers[index]?.unread === undefined);
  const supplies = answers.flatMap(({ data, unread }) =>
    unread === undefined ? [returnedNumber(data)?.toString() ?? null] : [],
  );
  const requested = read.map(addressBytes);
  // Separate: on Citus, updates of distributed `tokens` can't read the coordinator's tables.
  const gone = await database.query<{ address: Buffer }>(
    sql`SELECT known.address FROM tokens AS known LEFT JOIN blocks
         ON (blocks.chain_id, blocks.block_number, blocks.block_hash) = (known.chain_id, known.supply_block, known.supply_block_hash)
       WHERE known.address = ANY (${requested}::bytea[]) AND known.chain_id = ${chain.id} AND known.supply_block > ${block.number} AND blocks.chain_id IS NULL`,
  );
  await database.query(
    // Newer values stay unless their block is gone, and known ones without a result stay too.
    sql`UPDATE tokens SET total_supply = reported.supply, supply_block = ${block.number}, supply_block_hash = ${hexBytes(block.hash)}, supply_read_at = now()
     FROM unnest(${requested}::bytea[], ${supplies}::numeric[]) AS reported (address, supply)
     WHERE tokens.address = reported.address AND tokens.chain_id = ${chain.id}
       AND (coalesce(tokens.supply_block <= ${block.number}, true) OR tokens.address = ANY (${gone.map(({ address }) => address)}::bytea[]))
       AND (reported.supply IS NOT NULL OR tokens.total_supply IS NULL)`,
  );
  return new Map(
    read.flatMap((address, index) => {
      const supply = supplies[index];
      return typeof supply === 'string' ? [[address, supply] as const] : [];
    }),
  );
}
