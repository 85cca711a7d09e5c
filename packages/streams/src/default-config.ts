import type { StreamConfig } from './stream.ts';

/** What a stream's configuration is where its owner says nothing. */
export const DEFAULT_CONFIG: Omit<StreamConfig, 'webhookUrl' | 'description' | 'chainIds'> = {
  tag: '',
  topic0: null,
  abi: null,
  advancedOptions: null,
  triggers: null,
  getNativeBalances: [],
  allAddresses: false,
  includeNativeTxs: false,
  includeContractLogs: false,
  includeInternalTxs: false,
  includeAllTxLogs: false,
  filterPossibleSpamAddresses: false,
  demo: false,
  sendRemoved: false,
};
