import { parseChainId } from '@chainstead/core';
import type { StreamConfig } from '../../stream.ts';

/** The least that a stream is. */
export function exampleConfig(): StreamConfig {
  return {
    webhookUrl: 'https://example.com/webhook',
    description: 'Example',
    tag: '',
    chainIds: [parseChainId(1)],
    topic0: null,
    abi: null,
    advancedOptions: null,
    triggers: null,
    getNativeBalances: [],
    allAddresses: false,
    includeNativeTxs: true,
    includeContractLogs: false,
    includeInternalTxs: false,
    includeAllTxLogs: false,
    filterPossibleSpamAddresses: false,
    demo: false,
    sendRemoved: false,
  };
}
