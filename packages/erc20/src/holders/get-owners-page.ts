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
import { createOwnerTeller, type TokenClass, type ToldOwner } from './tell-owner.ts';
import { OWNERS, readReadings, type TokenOwnersQuery, tokenOwnersStatement } from './token-owners-statement.ts';

/** An account, as it is kept. */
export interface OwnerRow extends ToldOwner {
  readonly account: Address;
  /** What is kept of the balance, base units: where the account stands. */
  readonly balance: string;
  readonly label: AddressLabel;
}

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
interface PageColumns extends PackedTexts {
  readonly state: TokenState;
  readonly readings: string | null;
}

/** As JSON has it. */
interface TokenState extends SubjectColumns {
  readonly is_ask_noted: boolean;
  readonly read_at: string;
  readonly known_class: TokenClass;
  readonly is_verified: boolean;
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
  const { state } = page;
  const labelOf = areKept
    ? await labels.labelsOf(database, chain, rows.map(accountOf), state.label_revision)
    : readLabels(state.labels);
  const readings = readReadings(page.readings);
  const tell = createOwnerTeller({
    class: state.known_class,
    isVerified: state.is_verified,
    contradictions: state.contradictions,
    firstBlock: state.first_block,
    indexedFrom: state.indexed_from,
    indexedTo: state.indexed_to,
    isChainIndexed: state.chain_to !== null,
    isBuilt: state.is_built,
  });
  return {
    coverage: readSubject(chain, state, state.first_block),
    isAskNoted: state.is_ask_noted,
    class: state.known_class,
    contradictions: state.contradictions,
    readAt: new Date(state.read_at),
    decimals: state.decimals,
    totalSupply: state.total_supply,
    areFactsDue: state.are_facts_due,
    isCreationDue: state.is_creation_due,
    givers: (state.givers?.match(ADDRESS_DIGITS) ?? []).map((digits) => `0x${digits}` as Address),
    rows: rows.map(({ account, anchorBlock, balance }) => {
      const { isDue, told } = tell({ anchorBlock, balance, reading: readings.get(account) ?? null });
      return { account, balance, isDue, told, label: labelOf(account) };
    }),
  };
}

const accountOf = ({ account }: { readonly account: Address }): Address => account;
const ADDRESS_DIGITS = /[0-9a-f]{40}/g;
