import type { Chain } from '@chainstead/chains';
import type { ChainId, Hash } from '@chainstead/core';
import { eventsByTopic } from '../matching/compile-stream.ts';
import { topicOf, topicOfEvent } from '../matching/event-topic.ts';
import { checkFilter, type FieldKinds } from '../matching/filter.ts';
import type { AbiItem, AdvancedOption, StreamConfig } from '../stream.ts';
import { balanceProblems, NOT_A_SIGNATURE, triggerProblems } from './check-triggers.ts';
import { type Problem, ValidationFailedError } from './validation-failed.ts';

type ChainOf = (id: ChainId) => Chain | null;

/** Refuses configurations that can never work. @throws ValidationFailedError */
export function checkStream(config: StreamConfig, chainOf: ChainOf): void {
  const problems = [
    ...includeProblems(config),
    ...chainProblems(config, chainOf),
    ...contractProblems(config),
    ...eventProblems(config),
    ...optionProblems(config.advancedOptions ?? [], config.abi ?? []),
    ...balanceProblems(config.getNativeBalances),
    ...triggerProblems(config.triggers ?? []),
  ];
  if (problems.length > 0) throw new ValidationFailedError(problems);
}

function includeProblems(config: StreamConfig): readonly Problem[] {
  const { includeNativeTxs, includeContractLogs, includeInternalTxs, includeAllTxLogs } = config;
  const byOption = (config.advancedOptions ?? []).some((option) => option.includeNativeTxs === true);
  if (!includeNativeTxs && !includeContractLogs && !includeInternalTxs && !byOption) {
    const message = 'at least one of includeNativeTxs, includeContractLogs and includeInternalTxs must be true';
    return [{ path: 'includeNativeTxs', message, value: includeNativeTxs }];
  }
  if (includeAllTxLogs && !includeNativeTxs && !includeContractLogs)
    return [{ path: 'includeAllTxLogs', message: 'needs includeNativeTxs or includeContractLogs', value: true }];
  return [];
}

function chainProblems({ chainIds, includeInternalTxs }: StreamConfig, chainOf: ChainOf): readonly Problem[] {
  if (!includeInternalTxs) return [];
  const without = chainIds.flatMap((id) => {
    const chain = chainOf(id);
    return chain === null || chain.internalTransactions ? [] : [chain.key];
  });
  if (without.length === 0) return [];
  const message = `internal transactions are not available on ${without.join(', ')}`;
  return [{ path: 'includeInternalTxs', message, value: true }];
}

function contractProblems({ contracts, includeContractLogs }: StreamConfig): readonly Problem[] {
  if (includeContractLogs || contracts === null || contracts.length === 0) return [];
  return [{ path: 'contracts', message: 'needs includeContractLogs', value: contracts }];
}

function eventProblems({ abi, topic0, allAddresses }: StreamConfig): readonly Problem[] {
  const problems: Problem[] = [];
  const events = new Set<Hash>();
  for (const [index, item] of (abi ?? []).entries()) {
    const topic = topicOfEvent(item);
    if (topic !== null) events.add(topic);
    else if (item.type === 'event' && item.anonymous !== true)
      problems.push({
        path: `abi.${index}`,
        message: 'is not a valid event: it needs a name and known types',
        value: item,
      });
  }
  for (const [index, signature] of (topic0 ?? []).entries()) {
    const topic = topicOf(signature);
    if (topic !== null && events.has(topic)) continue;
    problems.push({
      path: `topic0.${index}`,
      message: topic === null ? NOT_A_SIGNATURE : 'has no event in the abi',
      value: signature,
    });
  }
  if (allAddresses && (events.size === 0 || (topic0 ?? []).length === 0))
    problems.push({ path: 'allAddresses', message: 'needs topic0 and an abi with its events', value: true });
  return problems;
}

function optionProblems(options: readonly AdvancedOption[], abi: readonly AbiItem[]): readonly Problem[] {
  const events = eventsByTopic(abi);
  return options.flatMap(({ topic0, filter }, index): readonly Problem[] => {
    const path = `advancedOptions.${index}`;
    const topic = topicOf(topic0);
    if (topic === null) return [{ path: `${path}.topic0`, message: NOT_A_SIGNATURE, value: topic0 }];
    if (filter === undefined || Object.keys(filter).length === 0) return [];
    const abis = events.get(topic);
    if (abis === undefined)
      return [
        { path: `${path}.topic0`, message: 'has no event in the abi, which its filter needs', value: topic0 },
      ];
    const kinds = abis.map(
      ({ fields }): FieldKinds => new Map([...fields].map(([name, { kind }]) => [name, kind])),
    );
    return checkFilter(filter, kinds, `${path}.filter`);
  });
}
