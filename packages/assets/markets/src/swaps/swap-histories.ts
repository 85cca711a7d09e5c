import { TRANSFER_TOPIC, topicOf } from '@chainstead/events/token-events';
import type { TransactionHistories } from '@chainstead/sync/datasets';
import { decodePoolEvent } from '../events/decode-pool-event.ts';
import { exchangesOf } from '../exchanges/custom-exchanges.ts';
import type { SwapRow } from '../tables/schema.ts';

/** Beneficiaries gave a token in a `Transfer`, so the filters find all their swaps. */
export const swapHistories: TransactionHistories<SwapRow> = {
  filters: (_chain, account) => [
    { topics: [TRANSFER_TOPIC], indexed: [[topicOf(account)]] },
    { topics: [TRANSFER_TOPIC], indexed: [null, [topicOf(account)]] },
  ],
  mayHaveRows(logs, chain) {
    const { vaults } = exchangesOf(chain);
    return logs.some((log) => decodePoolEvent(log, vaults)?.kind === 'swap');
  },
  isOf: ({ kind, wallet, beneficiary }, account) => kind === 0 && (wallet === account || beneficiary === account),
};
