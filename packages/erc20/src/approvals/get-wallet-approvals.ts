import { readSubject, type SubjectColumns, type SubjectCoverage } from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import type { Address, Hash } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import { type WalletApprovalsQuery, walletApprovalsStatement } from './wallet-approvals-statement.ts';

/** The newest approval of a token for a spender, as its event said it. */
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

/** With what is known of the wallet's history. */
export interface WalletApprovalsPage extends SubjectCoverage {
  /** Newest first; at most `query.limit`. */
  readonly approvals: readonly WalletApproval[];
  readonly hasNext: boolean;
}

/** A page of the approvals that a wallet has not taken back, with what says how complete it is, in one statement. */
export async function getWalletApprovals(
  database: ReadDatabase,
  chain: Chain,
  query: WalletApprovalsQuery,
): Promise<WalletApprovalsPage> {
  const statement = walletApprovalsStatement(chain, query);
  const rows = await database.select<PageRow>(statement.text, statement.values);
  const approvals = rows.filter((row): row is SubjectColumns & ApprovalColumns => row.token !== null);
  return {
    ...readSubject(chain, rows[0]),
    approvals: approvals.slice(0, query.limit).map(toApproval),
    hasNext: approvals.length > query.limit,
  };
}

/** The statement gives one row without an approval where the page is empty. */
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
  token_label: string | null;
  spender_label: string | null;
  spender_entity: string | null;
  spender_entity_logo: string | null;
}

function toApproval(row: ApprovalColumns): WalletApproval {
  return {
    blockNumber: row.block_number,
    transactionIndex: row.transaction_index,
    logIndex: row.log_index,
    transactionHash: row.transaction_hash,
    blockTimestamp: row.block_timestamp,
    value: row.value,
    token: {
      address: row.token,
      label: row.token_label,
      name: row.name,
      symbol: row.symbol,
      decimals: row.decimals,
      logo: row.logo,
      verified: row.verified ?? false,
      possibleSpam: row.possible_spam ?? false,
    },
    spender: {
      address: row.spender,
      label: row.spender_label,
      entity: row.spender_entity,
      entityLogo: row.spender_entity_logo,
    },
  };
}
