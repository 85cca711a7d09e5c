import type { Chain } from '@chainstead/chains';
import { createDefinitionReader, type NameState, stateOfName } from '@chainstead/contracts';
import type { ChainId } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { listed } from '../records/stream-overviews.ts';
import type { StreamConfig } from '../stream.ts';
import type { StreamServices } from '../stream-services.ts';
import { WebhookTestError, WebhookTestsLimitedError } from './stream-errors.ts';
import { type Problem, ValidationFailedError } from './validation-failed.ts';

type Reader = Pick<Database, 'query'>;
type Services = Pick<StreamServices, 'registry' | 'offersTraces' | 'testWebhook'>;

/** Checks that ask the database, nodes and the webhook. */
export function createStreamChecks({ registry, offersTraces, testWebhook }: Services) {
  const readDefinitions = createDefinitionReader();
  const chainOf = (id: ChainId): Chain | null => registry.find(String(id));
  /** @param current names that the stream has already, which may be removed since @throws ValidationFailedError */
  const requireContracts = async (
    database: Reader,
    { contracts, chainIds }: Pick<StreamConfig, 'contracts' | 'chainIds'>,
    current?: readonly string[] | null,
  ): Promise<void> => {
    const names = [...(contracts ?? []).entries()].filter(([, name]) => current?.includes(name) !== true);
    if (names.length === 0) return;
    const definitions = await readDefinitions(database);
    const problems = names.flatMap(([index, name]): readonly Problem[] => {
      const message = problemOf(stateOfName(definitions, name, chainIds), chainOf);
      return message === null ? [] : [{ path: `contracts.${index}`, message, value: name }];
    });
    if (problems.length > 0) throw new ValidationFailedError(problems);
  };
  /** Without trace nodes, the stream would match none. @throws ValidationFailedError */
  const requireTraces = async ({ includeInternalTxs, chainIds }: StreamConfig): Promise<void> => {
    if (!includeInternalTxs) return;
    const chains = chainIds.map(chainOf).filter((chain) => chain !== null);
    const offered = await Promise.all(chains.map(offersTraces));
    const without = chains.filter((_, index) => offered[index] === false).map(({ key }) => key);
    if (without.length === 0) return;
    const message = `no node of ${without.join(', ')} gives traces (debug_traceBlockByHash or trace_block)`;
    throw new ValidationFailedError([{ path: 'includeInternalTxs', message, value: true }]);
  };
  /** @param requestedBy the key's id @throws WebhookTestError, WebhookTestsLimitedError */
  const requireWebhook = async (stream: StreamConfig, requestedBy: string): Promise<void> => {
    const test = await testWebhook(stream, requestedBy);
    if (test.ok) return;
    if (test.reason === 'too-many') throw new WebhookTestsLimitedError();
    throw new WebhookTestError(stream.webhookUrl, test.reason === 'not-allowed' ? test.range : null);
  };
  return {
    chainOf,
    requireContracts,
    requireWebhook,
    async requireAll(
      database: Reader,
      config: StreamConfig,
      requestedBy: string,
      current?: readonly string[] | null,
    ): Promise<void> {
      await requireContracts(database, config, current);
      await requireTraces(config);
      await requireWebhook(config, requestedBy);
    },
  };
}

export type StreamChecks = ReturnType<typeof createStreamChecks>;

function problemOf(state: NameState, chainOf: StreamChecks['chainOf']): string | null {
  switch (state.kind) {
    case 'indexed':
    case 'suspended':
      return null;
    case 'unknown-contract':
      return 'is no indexed contract: GET /api/v2.2/contracts lists their names';
    case 'unknown-event':
      return `is no event of ${state.contract}, which has ${listed(state.events)}`;
    case 'other-chain': {
      const keys = state.chainIds.map((id) => chainOf(id)?.key ?? String(id));
      return `is not indexed on a chain of the stream: ${state.contract} is on ${listed(keys)}`;
    }
  }
}

/** `undefined`: omitted; null clears. */
type GivenConfig = {
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
