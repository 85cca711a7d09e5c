import type { Chain } from '@chainstead/chains';
import type { Address, Hash } from '@chainstead/core';
import {
  type AddressLabel,
  getLabels,
  readSubject,
  type SubjectColumns,
  type SubjectCoverage,
} from '@chainstead/data-api';
import type { ReadDatabase } from '@chainstead/db';
import { type WalletApprovalsQuery, walletApprovalsStatement } from './wallet-approvals-statement.ts';

/** The newest approval of a token for a spender, as in its event. */
export interface WalletApproval {
  readonly blockNumber: number;
  readonly transactionIndex: number;
  readonly logIndex: number;
  readonly transactionHash: Hash;
  readonly blockTimestamp: Date | null;
  /** Base units, decimal digits. */
  readonly value: string;
  readonly token: {
    readonly address: Address;
    readonly label: string | null;
    readonly name: string | null;
    readonly symbol: string | null;
    readonly decimals: number | null;
    readonly logo: string | null;
    readonly verified: boolean;
    readonly possibleSpam: boolean;
  };
  readonly spender: {
    readonly address: Address;
    readonly label: string | null;
    readonly entity: string | null;
    readonly entityLogo: string | null;
  };
}

/** Includes the coverage of the wallet. */
export interface WalletApprovalsPage extends SubjectCoverage {
  /** Newest first; at most `query.limit`. */
  readonly approvals: readonly WalletApproval[];
  readonly hasNext: boolean;
}

/** Returns a page of a wallet's approvals that are not revoked, with its coverage. */
export async function getWalletApprovals(
  database: ReadDatabase,
  chain: Chain,
  query: WalletApprovalsQuery,
): Promise<WalletApprovalsPage> {
  const rows = await database.select<PageRow>(walletApprovalsStatement(chain, query));
  const approvals = rows.filter((row): row is SubjectColumns & ApprovalColumns => row.token !== null);
  const shown = approvals.slice(0, query.limit);
  const named = new Set(shown.flatMap(({ token, spender }) => [token, spender]));
  const labelOf = await getLabels(database, chain, named);
  return {
    ...readSubject(chain, rows[0]),
    approvals: shown.map((row) => toApproval(row, labelOf)),
    hasNext: approvals.length > query.limit,
  };
}

/** For an empty page, the statement returns one row without an approval. */
type PageRow = SubjectColumns & (ApprovalColumns | { token: null });

interface ApprovalColumns {
  value: string;
  block_number: number;
  transaction_index: number;
  log_index: number;
  transaction_hash: Hash;
  block_timestamp: Date | null;
  token: Address;
  name: string | null;
  symbol: string | null;
  decimals: number | null;
  logo: string | null;
  verified: boolean | null;
  possible_spam: boolean | null;
  spender: Address;
}

function toApproval(row: ApprovalColumns, labelOf: (address: Address) => AddressLabel): WalletApproval {
  return {
    blockNumber: row.block_number,
    transactionIndex: row.transaction_index,
    logIndex: row.log_index,
    transactionHash: row.transaction_hash,
    blockTimestamp: row.block_timestamp,
    value: row.value,
    token: {
      address: row.token,
      label: labelOf(row.token).label,
      name: row.name,
      symbol: row.symbol,
      decimals: row.decimals,
      logo: row.logo,
      verified: row.verified ?? false,
      possibleSpam: row.possible_spam ?? false,
    },
    spender: { address: row.spender, ...labelOf(row.spender) },
  };
}
