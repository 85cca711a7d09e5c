import {
  type AddressLabel,
  type LabelBook,
  type LabelEntry,
  readLabels,
  readSubject,
  type SubjectColumns,
  type SubjectCoverage,
} from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { type PackedTexts, type RowOf, readPackedPage } from '@chainstead/db/packed-rows';
import { AS_KEPT, OWNERS, type TokenOwnersQuery, tokenOwnersStatement } from './token-owners-statement.ts';

/** An account, as it is kept. */
export interface OwnerRow extends RowOf<typeof OWNERS> {
  readonly label: AddressLabel;
}

/** Whether transfers tell balances; `new`: nobody knows. */
export type TokenClass = 'sum' | 'live' | 'none' | 'new';

/** What is known of a token and of some who hold it, at one moment. */
export interface OwnersPage {
  readonly coverage: SubjectCoverage;
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
interface PageColumns extends SubjectColumns, PackedTexts {
  readonly is_ask_noted: boolean;
  readonly read_at: Date;
  readonly class: TokenClass;
  readonly contradictions: number;
  readonly first_block: number;
  readonly decimals: number | null;
  readonly total_supply: string | null;
  readonly are_facts_due: boolean;
  readonly is_creation_due: boolean;
  /** Hexadecimal digits. */
  readonly givers: string | null;
  /** Null where they are kept. */
  readonly labels: readonly LabelEntry[] | null;
  readonly label_revision: number;
}

/** @param labels what the process keeps of labels */
export async function getOwnersPage(
  database: Database,
  labels: LabelBook,
  chain: Chain,
  query: TokenOwnersQuery,
): Promise<OwnersPage> {
  const areKept = labels.isKept(database);
  const { rows, page } = await readPackedPage<RowOf<typeof OWNERS>, PageColumns>(database, OWNERS, (select) =>
    tokenOwnersStatement(chain, query, select, !areKept),
  );
  const accounts = rows.map(({ account }) => account);
  const labelOf = areKept
    ? await labels.labelsOf(database, chain, accounts, page.label_revision)
    : readLabels(page.labels);
  // While transfers are being counted, what is kept of accounts tells nothing; what contracts that don't add up said does.
  const isTold = page.is_built || page.class === 'live';
  return {
    coverage: readSubject(chain, page, page.first_block),
    isAskNoted: page.is_ask_noted,
    class: page.class,
    contradictions: page.contradictions,
    readAt: page.read_at,
    decimals: page.decimals,
    totalSupply: page.total_supply,
    areFactsDue: page.are_facts_due,
    isCreationDue: page.is_creation_due,
    givers: (page.givers?.match(ADDRESS_DIGITS) ?? []).map((digits) => `0x${digits}` as Address),
    rows: rows.map(({ account, isDue, balance, told }) => ({
      account,
      isDue,
      balance,
      told: !isTold ? null : told === AS_KEPT ? balance : told,
      label: labelOf(account),
    })),
  };
}

const ADDRESS_DIGITS = /[0-9a-f]{40}/g;
