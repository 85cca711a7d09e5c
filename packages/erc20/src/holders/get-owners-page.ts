import {
  type AddressLabel,
  type CurrentCoverage,
  type LabelBook,
  readLabels,
  readSubjectState,
} from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { type PackedTexts, type RowOf, readPackedPage } from '@chainstead/db/packed-rows';
import { createOwnerTeller, type ToldOwner } from './tell-owner.ts';
import {
  OWNERS,
  type OwnersState,
  readReadings,
  type TokenClass,
  type TokenOwnersQuery,
  tokenOwnersStatement,
} from './token-owners-statement.ts';

/** An account, as it is kept. */
export interface OwnerRow extends ToldOwner {
  readonly account: Address;
  /** What is kept of the balance, base units: where the account stands. */
  readonly balance: string;
  readonly label: AddressLabel;
}

/** What is known of a token and of some who hold it, at one moment. */
export interface OwnersPage {
  readonly coverage: CurrentCoverage;
  /** Whether it is written down lately that somebody asked about the token. */
  readonly isAskNoted: boolean;
  readonly class: TokenClass;
  readonly contradictions: number;
  readonly readAt: Date;
  readonly decimals: number | null;
  /** Base units, decimal digits. */
  readonly totalSupply: string | null;
  /** Whether the contract is to be asked for what it says of itself. */
  readonly areFactsDue: boolean;
  /** Whether the block that the contract was made in is to be looked for. */
  readonly isCreationDue: boolean;
  /** Whose balance is below zero, where a list begins. */
  readonly givers: readonly Address[];
  readonly rows: readonly OwnerRow[];
}

/** The only row of the statement. */
interface PageColumns extends PackedTexts {
  readonly state: OwnersState;
}

/** What a process keeps of owners and tokens. */
export interface OwnersKept {
  readonly labels: LabelBook;
  /**
   * Tokens whose transfers did not tell balances when a page was read last, by chain: of these, what contracts said is read with the page. Of others it
   * is not there when it turns out to count, and the page is read once more.
   */
  readonly untold: Set<string>;
}

/** Of a process. */
const UNTOLD_MAX = 10_000;

export async function getOwnersPage(
  database: Database,
  { labels, untold }: OwnersKept,
  chain: Chain,
  query: TokenOwnersQuery,
): Promise<OwnersPage> {
  const areKept = labels.isKept(database);
  const read = (hasReadings: boolean) =>
    readPackedPage<RowOf<typeof OWNERS>, PageColumns>(database, OWNERS, (select) =>
      tokenOwnersStatement(chain, query, { select, hasLabels: !areKept, hasReadings }),
    );
  const name = `${chain.id} ${query.token}`;
  const hasReadings = untold.has(name);
  let { rows, page } = await read(hasReadings);
  const addsUp = page.state[1] === 'sum';
  if (addsUp) untold.delete(name);
  else if (!hasReadings) {
    if (untold.size >= UNTOLD_MAX) untold.clear();
    untold.add(name);
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
  const told = {
    class: knownClass,
    isVerified,
    contradictions: contradictions ?? 0,
    firstBlock,
    indexedFrom: coverage.indexed.fromBlock,
    indexedTo: coverage.indexed.toBlock,
    isChainIndexed,
    isBuilt: coverage.isBuilt,
  };
  const tell = createOwnerTeller(told);
  const said = readings === null ? null : readReadings(readings);
  return {
    coverage,
    isAskNoted,
    class: knownClass,
    contradictions: told.contradictions,
    readAt: new Date(readAt),
    decimals,
    totalSupply,
    areFactsDue,
    isCreationDue,
    givers: (givers?.match(ADDRESS_DIGITS) ?? []).map((digits) => `0x${digits}` as Address),
    rows: rows.map(({ account, anchorBlock, balance }) => {
      const { isDue, told } = tell({ anchorBlock, balance, reading: said?.get(account) ?? null });
      return { account, balance, isDue, told, label: labelOf(account) };
    }),
  };
}

/** Of a token of which nothing is stored. */
const NO_FACTS = [false, null, null, null, true, false] as const;
const accountOf = ({ account }: { readonly account: Address }): Address => account;
const ADDRESS_DIGITS = /[0-9a-f]{40}/g;
