import { DEFAULT_CONFIG } from '../default-config.ts';
import type { StreamConfig } from '../stream.ts';

type Given<Members> = { readonly [Name in keyof Members]?: Members[Name] | undefined };

/** What a request says of a configuration. `undefined` is what it leaves out, null clears. */
export type GivenConfig = Given<
  Omit<StreamConfig, 'getNativeBalances'> & { readonly getNativeBalances: StreamConfig['getNativeBalances'] | null }
>;

/** Of an inline configuration: what stands in for the members that a preview does not have. */
const NO_RECEIVER = { webhookUrl: '', description: '' };

/** A new stream's configuration. */
export function newConfig(
  given: GivenConfig & Pick<StreamConfig, 'webhookUrl' | 'description' | 'chainIds'>,
): StreamConfig {
  return changedConfig(
    { ...DEFAULT_CONFIG, webhookUrl: given.webhookUrl, description: given.description, chainIds: [] },
    given,
  );
}

/** The configuration of a block preview. */
export function previewConfig(given: GivenConfig, chainIds: StreamConfig['chainIds']): StreamConfig {
  return newConfig({ ...given, ...NO_RECEIVER, chainIds });
}

/** A configuration with what an update gives; what it leaves out stays (docs/provider-contract.md#create-and-update). */
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
  };
}
