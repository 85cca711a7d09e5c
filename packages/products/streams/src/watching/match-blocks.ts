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
import type { CompiledStream } from '../matching/compile-stream.ts';
import { inSlices, type Match, type NamedLogs, type WatchedAddresses } from '../matching/match.ts';
import { matchBlock } from '../matching/match-block.ts';
import { type StreamIndex, withoutStreams } from '../matching/stream-index.ts';
import { admitStreams, type WorkBudget } from '../matching/work-budget.ts';
import { createAddressFilter } from './address-filter.ts';
import { readWatchers } from './read-watchers.ts';

export interface StreamMatcher {
  readonly version: number;
  readonly index: StreamIndex;
  readonly budget: WorkBudget;
  readonly needs: WatchNeeds;
  /** False only for addresses that no stream watches. */
  readonly mayWatch: AddressTest;
  readonly readNames: ReadNames;
}

export interface BlockMatch {
  readonly block: WatchedBlock;
  readonly match: Match;
}

export interface MatchedBlocks {
  readonly matches: readonly BlockMatch[];
  /** Streams whose work exceeds the budget of a block. */
  readonly deferred: readonly { readonly block: WatchedBlock; readonly streams: readonly CompiledStream[] }[];
}

/** Holds if version and facts are the same in the block's transaction. */
export interface PreparedBlocks {
  readonly version: number;
  readonly facts: Facts;
  readonly matched: MatchedBlocks;
}

interface Facts {
  readonly named: NamedLogs;
  readonly spam: ReadonlySet<Address>;
}

type Reader = Pick<Database, 'query'>;

const NO_MATCHES: MatchedBlocks = { matches: [], deferred: [] };

export async function prepareBlocks(
  reader: Reader,
  chain: Chain,
  matcher: StreamMatcher,
  blocks: readonly WatchedBlock[],
): Promise<PreparedBlocks> {
  const facts = await readFacts(reader, chain, matcher, blocks);
  return { version: matcher.version, facts, matched: await matchStored(reader, matcher, blocks, facts) };
}

/** @param prepared of the same blocks @default none */
export async function matchBlocks(
  reader: Reader,
  chain: Chain,
  matcher: StreamMatcher,
  blocks: readonly WatchedBlock[],
  prepared?: PreparedBlocks,
): Promise<MatchedBlocks> {
  if (matcher.index.byId.size === 0) return NO_MATCHES;
  const facts = await readFacts(reader, chain, matcher, blocks);
  const holds = prepared?.version === matcher.version && areSame(prepared.facts, facts);
  return holds ? prepared.matched : matchStored(reader, matcher, blocks, facts);
}

/** All that matching needs, so that it can take several rounds without reading again. */
export interface BlocksToMatch {
  readonly sightings: readonly BlockSightings[];
  readonly watched: WatchedAddresses;
  readonly facts: Facts;
  /** Streams that watch too many addresses of the blocks: they are not in `watched`. */
  readonly deferred: ReadonlySet<CompiledStream>;
}

const NONE: ReadonlySet<CompiledStream> = new Set();

/** @param watched addresses, of which the facts are given too @default those of the streams, as stored */
export async function readBlocksToMatch(
  reader: Reader,
  chain: Chain,
  matcher: StreamMatcher,
  blocks: readonly WatchedBlock[],
  watched?: WatchedAddresses,
): Promise<BlocksToMatch> {
  const facts = await readFacts(reader, chain, matcher, blocks);
  if (watched === undefined) return readWatched(reader, matcher, blocks, facts);
  const filter = createAddressFilter();
  for (const address of watched.keys()) filter.add(address);
  return {
    sightings: blocks.map((block) => sightAddresses(block, filter.mayHave)),
    watched,
    facts,
    deferred: NONE,
  };
}

async function readWatched(
  reader: Reader,
  matcher: StreamMatcher,
  blocks: readonly WatchedBlock[],
  facts: Facts,
): Promise<BlocksToMatch> {
  const sightings = blocks.map((block) => sightAddresses(block, matcher.mayWatch));
  const addresses = new Set<Address>();
  for (const sighted of sightings) collectAddresses(sighted, addresses);
  return { sightings, facts, ...(await readWatchers(reader, matcher, [...addresses])) };
}

async function matchStored(
  reader: Reader,
  matcher: StreamMatcher,
  blocks: readonly WatchedBlock[],
  facts: Facts,
): Promise<MatchedBlocks> {
  return matchSightings(matcher, await readWatched(reader, matcher, blocks, facts));
}

export async function matchSightings(
  { index: whole, budget }: Pick<StreamMatcher, 'index' | 'budget'>,
  { sightings, watched, facts: { named, spam }, deferred: unread }: BlocksToMatch,
): Promise<MatchedBlocks> {
  const index = unread.size === 0 ? whole : withoutStreams(whole, unread);
  if (watched.size === 0 && index.everywhere.size === 0 && named.size === 0 && unread.size === 0)
    return NO_MATCHES;
  const facts = { isSpam: (address: Address) => spam.has(address), named };
  const matches: BlockMatch[] = [];
  const deferred: MatchedBlocks['deferred'][number][] = [];
  for (const sighted of sightings) {
    const { block } = sighted;
    const admitted = await inSlices(admitStreams(sighted, watched, index, named, budget));
    const found = await inSlices(matchBlock(sighted, admitted.watched, admitted.index, facts, budget));
    const late = [...unread, ...admitted.deferred, ...found.deferred];
    if (late.length > 0) deferred.push({ block, streams: late });
    for (const match of found.matches) matches.push({ block, match });
  }
  return { matches, deferred };
}

async function readFacts(
  reader: Reader,
  chain: Chain,
  matcher: StreamMatcher,
  blocks: readonly WatchedBlock[],
): Promise<Facts> {
  const named = await matcher.readNames(reader, chain, matcher.index, blocks);
  return { named, spam: matcher.index.readsSpam ? await readSpam(reader, chain, blocks) : new Set() };
}

function areSame(one: Facts, other: Facts): boolean {
  const isNamedAlike = [...one.named].every(([log, names]) => {
    const others = other.named.get(log);
    return names.length === others?.length && names.every(({ name }, at) => others[at]?.name === name);
  });
  return (
    one.named.size === other.named.size &&
    isNamedAlike &&
    one.spam.size === other.spam.size &&
    one.spam.isSubsetOf(other.spam)
  );
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
