import type { Chain } from '@chainstead/chains';
import type { Hash } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import { getLabels, readSubject, type SubjectColumns } from '@chainstead/pages';
import { type ApprovalKey, type WalletApprovalsQuery, walletApprovalsStatement } from './wallet-approvals-statement.ts';

export type WalletApproval = Awaited<ReturnType<typeof getWalletApprovals>>['approvals'][number];

export async function getWalletApprovals(database: ReadDatabase, chain: Chain, query: WalletApprovalsQuery) {
  const rows = await database.select<SubjectColumns & (ApprovalColumns | { token: null })>(
    walletApprovalsStatement(chain, query),
  );
  const approvals = rows.filter((row): row is SubjectColumns & ApprovalColumns => row.token !== null);
  const shown = approvals.slice(0, query.limit);
  const named = new Set(shown.flatMap(({ token, spender }) => [token, spender]));
  const labelOf = await getLabels(database, chain, named);
  return {
    ...readSubject(chain, rows[0]),
    approvals: shown.map((row) => {
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

interface ApprovalColumns extends ApprovalKey {
  readonly transactionHash: Hash;
  readonly blockTimestamp: Date | null;
  /** Base units. */
  readonly value: string;
  readonly name: string | null;
  readonly symbol: string | null;
  readonly decimals: number | null;
  readonly logo: string | null;
  readonly verified: boolean | null;
  readonly possibleSpam: boolean | null;
}
