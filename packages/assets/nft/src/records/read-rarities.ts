import type { Chain } from '@chainstead/chains';
import { addressBytes, expectedTrue, hexText, type ReadDatabase, rawSql, type Sql, sql } from '@chainstead/db';
import { type NftRecord, recordId, type TokenRarity } from './nft-record.ts';
import { attributesOf } from './normalized-metadata.ts';
import { rarityFigures, type TraitFigures, traitFigures } from './rarity-figures.ts';
import { type Trait, traitKey, traitName, traitsOf } from './trait.ts';

export const TOKENS_MAX = 50_000;

type Rated = Pick<NftRecord, 'address' | 'tokenId' | 'document'>;

/** By {@link recordId}. On distributed tables, two statements per contract. */
export async function readRarities(
  database: ReadDatabase,
  chain: Chain,
  records: readonly Rated[],
  isSpread = false,
): Promise<ReadonlyMap<string, TokenRarity>> {
  if (records.length === 0) return new Map();
  if (!isSpread) return raritiesOf(database, chain, records, false);
  const rarities = new Map<string, TokenRarity>();
  for (const ofContract of Map.groupBy(records, ({ address }) => address).values())
    for (const [id, rarity] of await raritiesOf(database, chain, ofContract, true)) rarities.set(id, rarity);
  return rarities;
}

async function raritiesOf(
  database: ReadDatabase,
  chain: Chain,
  records: readonly Rated[],
  isSpread: boolean,
): Promise<ReadonlyMap<string, TokenRarity>> {
  type Ranked = Pick<NftRecord, 'address' | 'tokenId'> & { readonly rank: number; readonly tokens: number };
  const ranks = await database.select<Ranked>(ranksStatement(chain, records, isSpread));
  if (ranks.length === 0) return new Map();
  const documents = new Map(records.map((record) => [recordId(record), record.document]));
  const rated = ranks.map((row) => {
    const id = recordId(row);
    const document = documents.get(id) ?? null;
    return {
      ...row,
      id,
      traits: document === null ? [] : traitsOf(attributesOf(document.fields)),
    };
  });
  const counts = await readCounts(database, chain, rated, isSpread);
  return new Map(
    rated.map(({ id, address, rank, tokens, traits }) => [
      id,
      {
        figures: rarityFigures(rank, tokens),
        traits: new Map(
          traits.flatMap((trait) => {
            const figures = counts.get(countName(address, traitKey(address, trait)));
            return figures === undefined ? [] : [[traitName(trait), figures] as const];
          }),
        ),
      },
    ]),
  );
}

/** Two key lookups per token. On distributed tables, of one contract. */
export function ranksStatement(
  chain: Chain,
  tokens: readonly Pick<NftRecord, 'address' | 'tokenId'>[],
  isSpread = false,
): Sql {
  const { chainId, contracts } = collectionsOf(chain, tokens);
  const requested = sql`unnest(${contracts}, ${tokens.map(({ tokenId }) => tokenId)}::numeric[]) AS requested(token_address, token_id)`;
  if (isSpread)
    return sql`WITH requested AS MATERIALIZED (SELECT * FROM ${requested}), ${shownGenerations(chainId, contracts)}
SELECT ${hexText('requested.token_address')} AS address, requested.token_id::text, rarity.rank, requested.tokens
FROM (SELECT DISTINCT token_address, token_id, generation, tokens FROM requested JOIN shown USING (token_address)) AS requested
JOIN nft_token_rarity AS rarity ON rarity.token_address = requested.token_address AND rarity.chain_id = ${chainId} AND rarity.generation = requested.generation
  AND rarity.token_id = requested.token_id AND rarity.token_address = ${oneContract(tokens)}::bytea`;
  return sql`SELECT ${hexText('requested.token_address')} AS address, requested.token_id::text, rarity.rank, shown.tokens
FROM ${requested}
CROSS JOIN LATERAL ${shownGeneration(chainId)} AS shown
CROSS JOIN LATERAL (
  SELECT rank FROM nft_token_rarity AS rarity
  WHERE rarity.token_address = requested.token_address AND rarity.chain_id = ${chainId} AND rarity.generation = shown.generation AND rarity.token_id = requested.token_id LIMIT 1
) AS rarity`;
}

async function readCounts(
  database: ReadDatabase,
  chain: Chain,
  rated: readonly { readonly address: NftRecord['address']; readonly traits: readonly Trait[] }[],
  isSpread: boolean,
): Promise<ReadonlyMap<string, TraitFigures>> {
  const requested = new Map<string, RequestedTrait>();
  for (const { address, traits } of rated)
    for (const trait of traits) requested.set(countName(address, traitKey(address, trait)), { address, trait });
  if (requested.size === 0) return new Map();
  type Counted = Pick<NftRecord, 'address'> & {
    readonly key: Buffer;
    readonly count: number;
    readonly tokens: number;
  };
  const rows = await database.select<Counted>(countsStatement(chain, [...requested.values()], isSpread));
  return new Map(
    rows.map(({ address, key, count, tokens }) => [countName(address, key), traitFigures(count, tokens)]),
  );
}

type RequestedTrait = Pick<NftRecord, 'address'> & { readonly trait: Trait };

export function countsStatement(chain: Chain, traits: readonly RequestedTrait[], isSpread = false): Sql {
  const { chainId, contracts } = collectionsOf(chain, traits);
  const requested = sql`unnest(${contracts}, ${traits.map(({ address, trait }) => traitKey(address, trait))}::bytea[]) AS requested(token_address, trait_key)`;
  if (isSpread)
    return sql`WITH requested AS MATERIALIZED (SELECT * FROM ${requested}), ${shownGenerations(chainId, contracts)}
SELECT ${hexText('requested.token_address')} AS address, requested.trait_key AS key, counted.count, requested.tokens
FROM (SELECT DISTINCT token_address, trait_key, generation, tokens FROM requested JOIN shown USING (token_address)) AS requested
JOIN nft_trait_counts AS counted ON counted.trait_key = requested.trait_key AND counted.token_address = requested.token_address
  AND counted.chain_id = ${chainId} AND counted.generation = requested.generation AND counted.token_address = ${oneContract(traits)}::bytea`;
  return sql`SELECT ${hexText('requested.token_address')} AS address, requested.trait_key AS key, counted.count, shown.tokens
FROM ${requested}
CROSS JOIN LATERAL ${shownGeneration(chainId)} AS shown
CROSS JOIN LATERAL (
  SELECT count FROM nft_trait_counts AS counted
  WHERE counted.trait_key = requested.trait_key
    AND ${expectedTrue(sql`counted.token_address = requested.token_address AND counted.chain_id = ${chainId} AND counted.generation = shown.generation`)} LIMIT 1
) AS counted`;
}

function collectionsOf({ id }: Chain, requested: readonly Pick<NftRecord, 'address'>[]) {
  return {
    chainId: sql`${id}`,
    contracts: sql`${requested.map(({ address }) => addressBytes(address))}::bytea[]`,
  };
}

function shownGenerations(chainId: Sql, contracts: Sql): Sql {
  return sql`shown AS MATERIALIZED (
  SELECT traits.token_address, traits.generation, traits.tokens FROM nft_collection_traits AS traits
  WHERE traits.token_address = ANY (${contracts}) AND traits.chain_id = ${chainId} AND NOT traits.is_too_large AND traits.token_address NOT IN (
    SELECT token_address FROM nft_collection_counts WHERE token_address = ANY (${contracts}) AND chain_id = ${chainId} AND ids > ${rawSql(TOKENS_MAX)}))`;
}

/** A collection that has grown too large has none. */
function shownGeneration(chainId: Sql): Sql {
  return sql`(
  SELECT traits.generation, traits.tokens FROM nft_collection_traits AS traits
  LEFT JOIN nft_collection_counts AS counts ON counts.token_address = traits.token_address AND counts.chain_id = traits.chain_id
  WHERE traits.token_address = requested.token_address AND traits.chain_id = ${chainId} AND NOT traits.is_too_large AND coalesce(counts.ids, 0) <= ${rawSql(TOKENS_MAX)} LIMIT 1
)`;
}

function oneContract(requested: readonly Pick<NftRecord, 'address'>[]): Buffer {
  const [first, ...others] = new Set(requested.map(({ address }) => address));
  if (first === undefined || others.length > 0)
    throw new RangeError('Distributed tables allow one contract per query');
  return addressBytes(first);
}

function countName(address: string, key: Buffer): string {
  return `${address}:${key.toString('hex')}`;
}
