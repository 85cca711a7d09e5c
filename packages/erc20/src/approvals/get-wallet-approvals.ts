import type { Chain } from '@chainstead/chains';
import type { Address, Hash } from '@chainstead/core';
import { getLabels, readSubject, type SubjectColumns, type SubjectCoverage } from '@chainstead/data-api';
import type { ReadDatabase } from '@chainstead/db';
import { type WalletApprovalsQuery, walletApprovalsStatement } from './wallet-approvals-statement.ts';

/** As in its newest event. */
export interface WalletApproval {
  readonly blockNumber: number;
  readonly transactionIndex: number;
  readonly logIndex: number;
  readonly transactionHash: Hash;
  readonly blockTimestamp: Date | null;
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

export interface WalletApprovalsPage extends SubjectCoverage {
  readonly approvals: readonly WalletApproval[];
  readonly hasNext: boolean;
}

/** Approvals that are not revoked. */
export async function getWalletApprovals(
  database: ReadDatabase,
  chain: Chain,
  query: WalletApprovalsQuery,
): Promise<WalletApprovalsPage> {
  // For an empty page, the statement returns one row without an approval.
  const rows = await database.select<SubjectColumns & (ApprovalColumns | { token: null })>(
    walletApprovalsStatement(chain, query),
  );
  const approvals = rows.filter((row): row is SubjectColumns & ApprovalColumns => row.token !== null);
  const shown = approvals.slice(0, query.limit);
  const named = new Set(shown.flatMap(({ token, spender }) => [token, spender]));
  const labelOf = await getLabels(database, chain, named);
  return {
    ...readSubject(chain, rows[0]),
    approvals: shown.map((row): WalletApproval => {
      const { blockNumber, transactionIndex, logIndex, transactionHash, blockTimestamp, value } = row;
      const { token, name, symbol, decimals, logo, spender } = row;
      const label = { address: token, label: labelOf(token).label };
      const flags = { verified: row.verified ?? false, possibleSpam: row.possibleSpam ?? false };
      return {
        ...{ blockNumber, transactionIndex, logIndex, transactionHash, blockTimestamp, value },
        token: { ...label, name, symbol, decimals, logo, ...flags },
        spender: { address: spender, ...labelOf(spender) },
      };
    }),
    hasNext: approvals.length > query.limit,
  };
}

interface ApprovalColumns extends Omit<WalletApproval, 'token' | 'spender'> {
  readonly token: Address;
  readonly spender: Address;
  readonly name: string | null;
  readonly symbol: string | null;
  readonly decimals: number | null;
  readonly logo: string | null;
  readonly verified: boolean | null;
  readonly possibleSpam: boolean | null;
}
