import type { StreamConfig } from '../stream.ts';

/** `undefined`: omitted; null clears. */
export type GivenConfig = {
  readonly [Name in keyof StreamConfig]?:
    | StreamConfig[Name]
    | (Name extends 'getNativeBalances' ? null : never)
    | undefined;
};

export function newConfig(
  given: GivenConfig & Pick<StreamConfig, 'webhookUrl' | 'description' | 'chainIds'>,
): StreamConfig {
  const { webhookUrl, description, chainIds } = given;
  return changedConfig({ ...DEFAULT_CONFIG, webhookUrl, description, chainIds }, given);
}

export function previewConfig(given: GivenConfig, chainIds: StreamConfig['chainIds']): StreamConfig {
  return newConfig({ ...given, webhookUrl: '', description: '', chainIds });
}

/** Omitted members stay (docs/api/streams-reference.md#create-and-update). */
export function changedConfig(current: StreamConfig, given: GivenConfig): StreamConfig {
  return {
    webhookUrl: given.webhookUrl ?? current.webhookUrl,
    description: given.description ?? current.description,
    tag: given.tag ?? current.tag,
    chainIds: given.chainIds ?? current.chainIds,
    topic0: given.topic0 === undefined ? current.topic0 : given.topic0,
    abi: given.abi === undefined ? current.abi : given.abi,
    advancedOptions: given.advancedOptions === undefined ? current.advancedOptions : given.advancedOptions,
    triggers: given.triggers === undefined ? current.triggers : given.triggers,
    getNativeBalances:
      given.getNativeBalances === undefined ? current.getNativeBalances : (given.getNativeBalances ?? []),
    allAddresses: given.allAddresses ?? current.allAddresses,
    includeNativeTxs: given.includeNativeTxs ?? current.includeNativeTxs,
    includeContractLogs: given.includeContractLogs ?? current.includeContractLogs,
    includeInternalTxs: given.includeInternalTxs ?? current.includeInternalTxs,
    includeAllTxLogs: given.includeAllTxLogs ?? current.includeAllTxLogs,
    filterPossibleSpamAddresses: given.filterPossibleSpamAddresses ?? current.filterPossibleSpamAddresses,
    demo: given.demo ?? current.demo,
    sendRemoved: given.sendRemoved ?? current.sendRemoved,
    contracts: given.contracts === undefined ? current.contracts : given.contracts,
  };
}

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
  contracts: null,
};
