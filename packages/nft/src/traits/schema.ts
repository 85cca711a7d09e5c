/**
 * Traits and rarity of the collections that somebody asked about, computed from their tokens' documents: one generation after the other, of
 * which readers see the old one whole or the new one whole. Tables of figures are keyed by generation alone.
 */
import { bytea, uint256 } from '@chainstead/db/column-types';
import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  doublePrecision,
  index,
  integer,
  pgTable,
  primaryKey,
  text,
  timestamp,
} from 'drizzle-orm/pg-core';

/**
 * What a collection's traits wait for, in this order: `history` (its transfers are read), `queue` (its ids are left for the metadata
 * worker), `settle` (their documents are read once), `compute`. If some failed and are read again, what is computed is shown and `improve`
 * waits for them, then `compute` follows once more.
 */
export type TraitsWork = 'history' | 'queue' | 'settle' | 'compute' | 'improve';

/** One row for each collection that was asked about. */
export const nftCollectionTraits = pgTable(
  'nft_collection_traits',
  {
    tokenAddress: bytea('token_address').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    /** The one that is shown; null until the first is computed, as what is said of it. */
    generation: bigint('generation', { mode: 'number' }),
    /** Ids that it counts. */
    tokens: integer('tokens'),
    /** Different traits that it has. */
    traits: integer('traits'),
    computedAt: timestamp('computed_at', { withTimezone: true }),
    /** Which blocks its ids come from. */
    indexedFrom: integer('indexed_from'),
    indexedTo: integer('indexed_to'),
    isComplete: boolean('is_complete'),
    /** The collection is too large: what an earlier generation says is not shown any more. */
    isTooLarge: boolean('is_too_large').notNull().default(false),
    /** What the next generation waits for; null: none is asked for. */
    work: text('work').$type<TraitsWork>(),
    /** The id up to which that is done; null: none yet. */
    workAfter: uint256('work_after'),
    /** The generation that is being written. */
    workGeneration: bigint('work_generation', { mode: 'number' }),
    /** Documents read before this are read again for it; null: none is. */
    readAfter: timestamp('read_after', { withTimezone: true }),
    advancedAt: timestamp('advanced_at', { withTimezone: true }),
    /** When the newest generation was asked for, and by whom (the key's id, or `open`). */
    requestedAt: timestamp('requested_at', { withTimezone: true }).notNull().defaultNow(),
    requestedBy: text('requested_by').notNull(),
    /** When somebody asked about them last. */
    askedAt: timestamp('asked_at', { withTimezone: true }).notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.tokenAddress, table.chainId] }),
    index('nft_collection_traits_at_work').on(table.chainId, table.advancedAt).where(sql`work IS NOT NULL`),
    // Without the chain, which would pass for as good as the key while there are few rows.
    index('nft_collection_traits_by_asking').on(table.askedAt),
  ],
);

const generationKey = {
  tokenAddress: bytea('token_address').notNull(),
  chainId: bigint('chain_id', { mode: 'number' }).notNull(),
  /** When it was begun, in milliseconds since 1970: later ones are higher. */
  generation: bigint('generation', { mode: 'number' }).notNull(),
};

/** Generations of which there may be rows; those that no collection names are deleted. */
export const nftTraitGenerations = pgTable('nft_trait_generations', generationKey, (table) => [
  primaryKey({ columns: [table.tokenAddress, table.chainId, table.generation] }),
]);

/** The traits of a generation. */
export const nftTraitCounts = pgTable(
  'nft_trait_counts',
  {
    ...generationKey,
    /** From 0 by count, type and value, all ascending, each taken: its name within the generation. */
    place: integer('place').notNull(),
    /** 16 bytes made of contract, type and value (trait.ts): texts may be too long for an index. */
    traitKey: bytea('trait_key').notNull(),
    /** Empty where documents name none. */
    traitType: text('trait_type').notNull(),
    traitValue: text('trait_value').notNull(),
    /** Ids that have it. */
    count: integer('count').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.tokenAddress, table.chainId, table.generation, table.place] }),
    // By itself: behind the contract it would pass for no better than the key where statistics are old.
    index('nft_trait_counts_by_key').on(table.traitKey),
  ],
);

/** Which ids have a trait, in the order of pages of a collection. */
export const nftTraitTokens = pgTable(
  'nft_trait_tokens',
  {
    ...generationKey,
    place: integer('place').notNull(),
    /** As in `nft_collection_ids`. */
    tokenHash: bytea('token_hash').notNull(),
    tokenId: uint256('token_id').notNull(),
  },
  (table) => [
    primaryKey({
      columns: [table.tokenAddress, table.chainId, table.generation, table.place, table.tokenHash, table.tokenId],
    }),
  ],
);

/** How rare each id of a generation is; no rows where no id has a trait. */
export const nftTokenRarity = pgTable(
  'nft_token_rarity',
  {
    ...generationKey,
    tokenId: uint256('token_id').notNull(),
    /** From 1, the rarest; equal scores share the better one. */
    rank: integer('rank').notNull(),
    score: doublePrecision('score').notNull(),
  },
  (table) => [primaryKey({ columns: [table.tokenAddress, table.chainId, table.generation, table.tokenId] })],
);
