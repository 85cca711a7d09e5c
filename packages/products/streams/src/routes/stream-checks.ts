import type { Chain } from '@chainstead/chains';
import { createDefinitionReader, type NameState, stateOfName } from '@chainstead/contracts';
import type { ChainId } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { listed } from '../records/describe-streams.ts';
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
