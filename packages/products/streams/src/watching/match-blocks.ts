import type { Chain } from '@chainstead/chains';
import { type Address, parseAddress } from '@chainstead/core';
import { addressBytes, type Database, sql } from '@chainstead/db';
import type { WatchedBlock, WatchNeeds } from '@chainstead/sync';
import type { ReadNames } from '../contracts/read-names.ts';
import {
  type AddressTest,
  type BlockSightings,
  collectAddresses,
  sightAddresses,
} from '../matching/block-sightings.ts';
import { FILTER_VARIABLES } from '../matching/filter.ts';
import type { Match } from '../matching/match.ts';
import { matchBlock, type WatchedAddresses } from '../matching/match-block.ts';
import type { StreamIndex } from '../matching/stream-index.ts';
import type { Stream } from '../stream.ts';
import { createAddressFilter } from './address-filter.ts';

export interface StreamMatcher {
  readonly index: StreamIndex;
  readonly needs: WatchNeeds;
  readonly readsSpam: boolean;
  /** False only for addresses that no stream watches. */
  readonly mayWatch: AddressTest;
  readonly readNames: ReadNames;
}

export interface BlockMatch {
  readonly block: WatchedBlock;
  readonly match: Match;
}

type Reader = Pick<Database, 'query'>;

export async function matchBlocks(
  reader: Reader,
  chain: Chain,
  matcher: StreamMatcher,
  blocks: readonly WatchedBlock[],
): Promise<BlockMatch[]> {
  if (matcher.index.byId.size === 0) return [];
  const sightings = blocks.map((block) => sightAddresses(block, matcher.mayWatch));
  const addresses = new Set<Address>();
  for (const sighted of sightings) collectAddresses(sighted, addresses);
  const watched = await readWatchers(reader, matcher, [...addresses]);
  return matchSightings(reader, chain, matcher, sightings, watched);
}

type KnownMatcher = Pick<StreamMatcher, 'index' | 'readsSpam' | 'readNames'>;

export function matchWatched(
  reader: Reader,
  chain: Chain,
  matcher: KnownMatcher,
  blocks: readonly WatchedBlock[],
  watched: WatchedAddresses,
): Promise<BlockMatch[]> {
  const filter = createAddressFilter();
  for (const address of watched.keys()) filter.add(address);
  const sightings = blocks.map((block) => sightAddresses(block, filter.mayHave));
  return matchSightings(reader, chain, matcher, sightings, watched);
}

async function matchSightings(
  reader: Reader,
  chain: Chain,
  matcher: KnownMatcher,
  sightings: readonly BlockSightings[],
  watched: WatchedAddresses,
): Promise<BlockMatch[]> {
  const blocks = sightings.map(({ block }) => block);
  const named = await matcher.readNames(reader, chain, matcher.index, blocks);
  if (watched.size === 0 && matcher.index.everywhere.size === 0 && named.size === 0) return [];
  const spam = matcher.readsSpam ? await readSpam(reader, chain, blocks) : new Set<Address>();
  const facts = { isSpam: (address: Address) => spam.has(address), named };
  return sightings.flatMap((sighted) =>
    matchBlock(sighted, watched, matcher.index, facts).map((match) => ({ block: sighted.block, match })),
  );
}

export function readsSpam(stream: Pick<Stream, 'filterPossibleSpamAddresses' | 'advancedOptions'>): boolean {
  return (
    stream.filterPossibleSpamAddresses ||
    JSON.stringify(stream.advancedOptions ?? []).includes(FILTER_VARIABLES.possibleSpam)
  );
}

async function readWatchers(
  reader: Reader,
  { index }: StreamMatcher,
  addresses: readonly Address[],
): Promise<WatchedAddresses> {
  const watchers = new Map<Address, string[]>();
  if (addresses.length === 0) return watchers;
  const rows = await reader.query<{ address: Buffer; streams: string[] }>(
    sql`SELECT address, array_agg(stream_id::text ORDER BY stream_id) AS streams FROM stream_addresses WHERE address = ANY (${addresses.map(addressBytes)}::bytea[]) GROUP BY address`,
  );
  for (const { address, streams } of rows) {
    const own = streams.filter((id) => index.byId.has(id));
    if (own.length > 0) watchers.set(parseAddress(`0x${address.toString('hex')}`), own);
  }
  return watchers;
}

async function readSpam(
  reader: Reader,
  chain: Chain,
  blocks: readonly WatchedBlock[],
): Promise<ReadonlySet<Address>> {
  const emitters = new Set(blocks.flatMap(({ logs }) => logs.map(({ address }) => address)));
  if (emitters.size === 0) return emitters;
  const rows = await reader.query<{ address: Buffer }>(
    sql`SELECT address FROM tokens WHERE chain_id = ${chain.id} AND address = ANY (${Array.from(emitters, addressBytes)}::bytea[]) AND possible_spam`,
  );
  return new Set(rows.map(({ address }) => parseAddress(`0x${address.toString('hex')}`)));
}
