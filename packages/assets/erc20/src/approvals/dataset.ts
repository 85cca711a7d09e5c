import { addressKey } from '@chainstead/db/column-types';
import { defineEvent } from '@chainstead/events/decoding';
import { topicOf } from '@chainstead/events/token-events';
import { forgetWalletCounts } from '@chainstead/pages';
import { contractsIn, eventDataset, eventRows } from '@chainstead/sync/datasets';
import { erc20Approvals as table } from './schema.ts';
import { erc20WalletApprovals } from './wallet-approvals.ts';

/** ERC-721 approvals have the same topic0 and one topic more: they are excluded. */
const APPROVAL = defineEvent('event Approval(address indexed owner, address indexed spender, uint256 value)');

export const erc20Approvals = eventDataset({
  name: 'erc20-approvals',
  table,
  events: [
    eventRows(APPROVAL, (values, { address: token }, { chain }) =>
      chain.erc20Exclusions.includes(token) ? [] : { ownerKey: addressKey(values.owner), token, ...values },
    ),
  ],
  contracts: contractsIn('erc20', ({ token }) => token),
  projections: [erc20WalletApprovals, forgetWalletCounts('erc20-approvals', [table.owner])],
  histories: {
    ofWallet: (_chain, wallet) => [{ topics: [APPROVAL.topic], indexed: [[topicOf(wallet)]] }],
    // Approvals of a token are not data about the token.
    ofContract: () => [],
  },
});
