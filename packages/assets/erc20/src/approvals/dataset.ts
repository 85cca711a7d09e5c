import type { Log } from '@chainstead/core';
import { addressKey } from '@chainstead/db/address-key';
import { APPROVAL_TOPIC, decodeApproval, topicOf } from '@chainstead/events/token-events';
import { forgetWalletCounts } from '@chainstead/pages';
import { type Dataset, type DecodeContext, defineTable } from '@chainstead/sync';
import { type Erc20ApprovalRow, erc20Approvals as table } from './schema.ts';
import { erc20WalletApprovals } from './wallet-approvals.ts';

/** ERC-721 approvals have the same topic0 and one topic more: they are excluded. */
export const erc20Approvals: Dataset<Erc20ApprovalRow> = {
  name: 'erc20-approvals',
  topics: () => [APPROVAL_TOPIC],
  table: defineTable(table),
  decode,
  contracts: (rows) =>
    Array.from(new Set(rows.map(({ token }) => token)), (address) => ({ address, standard: 'erc20' })),
  projections: [erc20WalletApprovals, forgetWalletCounts('erc20-approvals', [table.owner])],
  histories: {
    ofWallet: (_chain, wallet) => [{ topics: [APPROVAL_TOPIC], indexed: [[topicOf(wallet)]] }],
    // Approvals of a token are not data about the token.
    ofContract: () => [],
  },
};

function decode(logs: readonly Log[], { chain }: DecodeContext): Erc20ApprovalRow[] {
  const rows: Erc20ApprovalRow[] = [];
  for (const log of logs) {
    const approval = decodeApproval(log);
    if (approval?.type !== 'erc20Approval' || chain.erc20Exclusions.includes(log.address)) continue;
    const { owner, spender, value } = approval;
    rows.push({
      ownerKey: addressKey(owner),
      chainId: chain.id,
      blockNumber: log.blockNumber,
      transactionIndex: log.transactionIndex,
      logIndex: log.logIndex,
      owner,
      token: log.address,
      spender,
      value,
      transactionHash: log.transactionHash,
    });
  }
  return rows;
}
