import type { SubjectHistories } from '@chainstead/sync';
import { TRANSFER_TOPIC, topicOf } from '@chainstead/token-events';

/**
 * Filters for the on-demand backfill of one wallet's or contract's ERC-20 transfers. The same responses contain ERC-721
 * transfers, whose logs have one topic more: the engine requests both together.
 */
export const erc20Histories: SubjectHistories = {
  ofWallet: (_chain, wallet) => [
    { topics: [TRANSFER_TOPIC], indexed: [[topicOf(wallet)]] },
    { topics: [TRANSFER_TOPIC], indexed: [null, [topicOf(wallet)]] },
  ],
  ofContract: (_chain, contract) => [{ topics: [TRANSFER_TOPIC], addresses: [contract] }],
  // A wallet's balances come from contracts, not from the sum of all its transfers.
  mayBeCut: true,
};
