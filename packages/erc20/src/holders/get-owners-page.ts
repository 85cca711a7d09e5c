import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import {
  type AddressLabel,
  type CurrentCoverage,
  type LabelBook,
  readLabels,
  readSubjectState,
} from '@chainstead/data-api';
import type { Database } from '@chainstead/db';
import { type PackedTexts, type RowOf, readPackedPage } from '@chainstead/db/packed-rows';
import { createOwnerResolver, type ResolvedOwner } from './resolve-owner.ts';
import {
  OWNERS,
  type OwnersState,
  readReadings,
  type TokenClass,
  type TokenOwnersQuery,
  tokenOwnersStatement,
} from './token-owners-statement.ts';

/** A stored account. */
export interface OwnerRow extends ResolvedOwner {
  readonly account: Address;
  /** The stored balance in base units, which determines the account's position. */
  readonly balance: string;
  readonly label: AddressLabel;
}

/** The known data about a token and some of its holders at one moment. */
export interface OwnersPage {
  readonly coverage: CurrentCoverage;
  /** Whether a recent request for the token is recorded. */
  readonly isAskNoted: boolean;
  readonly class: TokenClass;
  readonly contradictions: number;
  readonly readAt: Date;
  readonly decimals: number | null;
  /** Base units, decimal digits. */
  readonly totalSupply: string | null;
  /** Whether the contract's metadata must be read. */
  readonly areFactsDue: boolean;
  /** Whether the contract's creation block must be searched. */
  readonly isCreationDue: boolean;
  /** Accounts with a negative balance, for the start of a list. */
  readonly givers: readonly Address[];
  readonly rows: readonly OwnerRow[];
}

/** The only row of the statement. */
interface PageColumns extends PackedTexts {
  readonly state: OwnersState;
}

/** In-memory data of a process about owners and tokens. */
export interface OwnersCache {
  readonly labels: LabelBook;
  /**
   * Tokens, by chain, whose transfers did not determine balances at the last read: their contract reads are fetched
   * with the page. For other tokens they are missing if they turn out to be needed, and the page is read again.
   */
  readonly unreported: Set<string>;
}

/** Per process. */
const UNREPORTED_MAX = 10_000;

export async function getOwnersPage(
  database: Database,
  { labels, unreported }: OwnersCache,
  chain: Chain,
  query: TokenOwnersQuery,
): Promise<OwnersPage> {
  const areKept = labels.isKept(database);
  const read = (hasReadings: boolean) =>
    readPackedPage<RowOf<typeof OWNERS>, PageColumns>(database, OWNERS, (select) =>
      tokenOwnersStatement(chain, query, { select, hasLabels: !areKept, hasReadings }),
    );
  const name = `${chain.id} ${query.token}`;
  const hasReadings = unreported.has(name);
  let { rows, page } = await read(hasReadings);
  const addsUp = page.state[1] === 'sum';
  if (addsUp) unreported.delete(name);
  else if (!hasReadings) {
    if (unreported.size >= UNREPORTED_MAX) unreported.clear();
    unreported.add(name);
    ({ rows, page } = await read(true));
  }
  const [subject, knownClass, contradictions, facts, readAt, givers, labelRevision, labelEntries, readings] =
    page.state;
  const [isVerified, createdBlock, decimals, totalSupply, areFactsDue, isCreationDue] = facts ?? NO_FACTS;
  const labelOf = areKept
    ? await labels.labelsOf(database, chain, rows.map(accountOf), labelRevision)
    : readLabels(labelEntries);
  const firstBlock = createdBlock ?? chain.firstBlock;
  const { coverage, isAskNoted, isChainIndexed } = readSubjectState(chain, subject, firstBlock);
  const reported = {
    class: knownClass,
    isVerified,
    contradictions: contradictions ?? 0,
    firstBlock,
    indexedFrom: coverage.indexed.fromBlock,
    indexedTo: coverage.indexed.toBlock,
    isChainIndexed,
    isBuilt: coverage.isBuilt,
  };
  const report = createOwnerResolver(reported);
  const said = readings === null ? null : readReadings(readings);
  return {
    coverage,
    isAskNoted,
    class: knownClass,
    contradictions: reported.contradictions,
    readAt: new Date(readAt),
    decimals,
    totalSupply,
    areFactsDue,
    isCreationDue,
    givers: (givers?.match(ADDRESS_DIGITS) ?? []).map((digits) => `0x${digits}` as Address),
    rows: rows.map(({ account, anchorBlock, balance }) => {
      const { isDue, reported } = report({ anchorBlock, balance, reading: said?.get(account) ?? null });
      return { account, balance, isDue, reported, label: labelOf(account) };
    }),
  };
}

/** For a token without stored data. */
const NO_FACTS = [false, null, null, null, true, false] as const;
const accountOf = ({ account }: { readonly account: Address }): Address => account;
const ADDRESS_DIGITS = /[0-9a-f]{40}/g;
