import type { Chain } from '@chainstead/chains';
import { type Address, type ChainId, type Hex, isAddress, parseAddress } from '@chainstead/core';
import { addressBytes, hexBytes, hexText, type Sql, sql, type Transaction } from '@chainstead/db';
import { returnedNumber } from '@chainstead/events/abi';
import { dueChannel, TOKEN_FACTS_WORK } from '@chainstead/jobs';
import { type StateKind, type StateReader, type StateReadingContext, stateAt } from '@chainstead/node-reads';
import {
  type AskOptions,
  committedBlock,
  fetchInParts,
  type ReadingContext,
  StateNotArchivedError,
} from '@chainstead/node-reads/requests';
import { z } from 'zod';
import { saveTokenMetadata } from '../pending-metadata.ts';
import { createTokenMetadataReader, type TokenMetadata } from '../token-metadata.ts';

const tokensQuestionSchema = z.object({ items: z.array(z.string().refine(isAddress)).min(1) });

const answerSchema = z.array(
  z.object({
    address: z.string(),
    name: z.string().nullable(),
    symbol: z.string().nullable(),
    decimals: z.int().nullable(),
    /** erc20, erc721, erc1155; null: not a token. */
    standard: z.string().nullable(),
    total_supply: z.string().nullable(),
  }),
);

const tokenFactsKind: StateKind<TokensQuestion, TokenFactsAnswer> = {
  name: 'token-facts',
  question: tokensQuestionSchema,
  answer: answerSchema,
  isFruitless: (tokens) => tokens.every(({ total_supply }) => total_supply === null),
};

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

interface TokensQuestion {
  items: string[];
}
type TokenFactsAnswer = z.infer<typeof answerSchema>;

type ReportedToken = Omit<TokenFactsAnswer[number], 'address'>;

/** Waits for reads. The results are also in `tokens`, and include addresses without a token. */
export async function readTokenFacts(
  context: ReadingContext,
  chain: Chain,
  { addresses, ...options }: AskOptions & { readonly addresses: readonly Address[] },
): Promise<ReadonlyMap<Address, ReportedToken>> {
  const answers = await fetchInParts(context, chain, tokenFactsKind, { ...options, items: addresses });
  return new Map(answers.flat().map(({ address, ...reported }) => [parseAddress(address), reported]));
}

/** Known facts are served until the read. @param only condition on `tokens` */
export async function requestTokenFacts(
  transaction: Transaction,
  chainId: ChainId,
  addresses: readonly Address[],
  only: Sql = sql`true`,
): Promise<readonly Address[]> {
  if (addresses.length === 0) return [];
  const areGiven = sql`chain_id = ${chainId} AND address = ANY (${addresses.map(addressBytes)}::bytea[])`;
  await transaction.query(sql`SELECT FROM tokens WHERE ${areGiven} ORDER BY address, chain_id FOR UPDATE`);
  const due = await transaction.query<{ address: Address }>(
    sql`UPDATE tokens SET facts_due_at = now(), facts_attempts = CASE WHEN facts_status = 'known' THEN 0 ELSE facts_attempts END
     WHERE ${areGiven} AND (${only}) RETURNING ${hexText('address')} AS address`,
  );
  if (due.length > 0) transaction.notify(dueChannel(TOKEN_FACTS_WORK, chainId));
  return due.map(({ address }) => address);
}

/** After new code or an initialization. @param changes newest block by contract */
export async function noteAnnouncements(
  transaction: Transaction,
  chainId: ChainId,
  changes: ReadonlyMap<Address, number>,
): Promise<void> {
  const due = await requestTokenFacts(transaction, chainId, [...changes.keys()]);
  await transaction.query(
    sql`UPDATE tokens SET facts_from_block = change.block_number FROM unnest(${due.map(addressBytes)}::bytea[], ${due.map((address) => changes.get(address) ?? null)}::bigint[]) AS change (address, block_number)
     WHERE tokens.address = change.address AND tokens.chain_id = ${chainId}`,
  );
}

/** For facts of an abandoned branch. */
export async function rollBackAnnouncements(
  transaction: Transaction,
  chainId: ChainId,
  ancestor: number,
): Promise<void> {
  const announced = await transaction.query<{ address: Address }>(
    sql`SELECT ${hexText('address')} AS address FROM tokens WHERE chain_id = ${chainId} AND facts_from_block > ${ancestor}`,
  );
  await noteAnnouncements(transaction, chainId, new Map(announced.map(({ address }) => [address, ancestor])));
}
