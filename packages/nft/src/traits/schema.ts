/**
 * Traits and rarity of requested collections, computed from their tokens' documents in generations: readers see either
 * the whole old one or the whole new one. Tables of figures are keyed by generation alone.
 */
import { bytea, uint256 } from '@chainstead/db/column-types';
import { dueColumns, dueIndex } from '@chainstead/jobs/due-columns';
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
 * The stages of a collection's traits, in order: `history` (its transfers are read), `queue` (its ids are queued for
 * the metadata worker), `settle` (their documents are read once), `compute`. If some documents failed and will be
 * retried, the computed generation is shown, `improve` waits for them, and `compute` runs again.
 */
export type TraitsWork = 'history' | 'queue' | 'settle' | 'compute' | 'improve';

/** One row per requested collection. */
export const nftCollectionTraits = pgTable(
  'nft_collection_traits',
  {
    tokenAddress: bytea('token_address').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    /** The generation that is shown. Null until the first is computed, like its other columns. */
    generation: bigint('generation', { mode: 'number' }),
    /** Ids that it counts. */
    tokens: integer('tokens'),
    /** Distinct traits that it has. */
    traits: integer('traits'),
    computedAt: timestamp('computed_at', { withTimezone: true }),
    /** The blocks that its ids come from. */
    indexedFrom: integer('indexed_from'),
    indexedTo: integer('indexed_to'),
    isComplete: boolean('is_complete'),
    /** The collection is too large: an earlier generation is not shown any more. */
    isTooLarge: boolean('is_too_large').notNull().default(false),
    /** The stage of the next generation; null: none is requested. */
    work: text('work').$type<TraitsWork>(),
    /** The id up to which that is done; null: none yet. */
    workAfter: uint256('work_after'),
    /** The generation that is being written. */
    workGeneration: bigint('work_generation', { mode: 'number' }),
    /** Documents read before this are read again for it; null: none is. */
    readAfter: timestamp('read_after', { withTimezone: true }),
    ...dueColumns(''),
    /** When the newest generation was requested, and by which key (its id, or `open`). */
    requestedAt: timestamp('requested_at', { withTimezone: true }).notNull().defaultNow(),
    requestedBy: text('requested_by').notNull(),
    /** When they were last requested. */
    lastRequestedAt: timestamp('asked_at', { withTimezone: true }).notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.tokenAddress, table.chainId] }),
    dueIndex('nft_collection_traits_due', table, 'work IS NOT NULL'),
    // Without the chain: with few rows the planner would consider it as good as the key.
    index('nft_collection_traits_by_asking').on(table.lastRequestedAt),
  ],
);

const generationKey = {
  tokenAddress: bytea('token_address').notNull(),
  chainId: bigint('chain_id', { mode: 'number' }).notNull(),
  /** Its start, in milliseconds since 1970: later ones are higher. */
  generation: bigint('generation', { mode: 'number' }).notNull(),
};

/** Generations that may have rows; those that no collection refers to are deleted. */
export const nftTraitGenerations = pgTable('nft_trait_generations', generationKey, (table) => [
  primaryKey({ columns: [table.tokenAddress, table.chainId, table.generation] }),
]);

/** The traits of a generation. */
export const nftTraitCounts = pgTable(
  'nft_trait_counts',
  {
    ...generationKey,
    /** From 0 by count, type and value, all ascending, without gaps: identifies the trait within the generation. */
    place: integer('place').notNull(),
    /** 16 bytes made of contract, type and value (trait.ts): texts may be too long for an index. */
    traitKey: bytea('trait_key').notNull(),
    /** Empty if documents have none. */
    traitType: text('trait_type').notNull(),
    traitValue: text('trait_value').notNull(),
    /** Ids that have it. */
    count: integer('count').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.tokenAddress, table.chainId, table.generation, table.place] }),
    // A separate index: after the contract, the planner would not prefer it to the key with stale statistics.
    index('nft_trait_counts_by_key').on(table.traitKey),
  ],
);

/** The ids with a trait, in the page order of a collection. */
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

/** The rarity of each id of a generation; no rows if no id has a trait. */
export const nftTokenRarity = pgTable(
  'nft_token_rarity',
  {
    ...generationKey,
    tokenId: uint256('token_id').notNull(),
    /** From 1, the rarest; equal scores share the better rank. */
    rank: integer('rank').notNull(),
    score: doublePrecision('score').notNull(),
  },
  (table) => [primaryKey({ columns: [table.tokenAddress, table.chainId, table.generation, table.tokenId] })],
);
