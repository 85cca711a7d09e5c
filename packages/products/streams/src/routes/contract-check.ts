import type { Chain } from '@chainstead/chains';
import { createDefinitionReader, type NameState, stateOfName } from '@chainstead/contracts';
import type { ChainId } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { listed } from '../records/describe-streams.ts';
import type { StreamConfig } from '../stream.ts';
import { type Problem, ValidationFailedError } from './validation-failed.ts';

/**
 * @param current names that the stream has already, which may be removed since
 * @throws ValidationFailedError
 */
export type RequireContracts = (
  config: Pick<StreamConfig, 'contracts' | 'chainIds'>,
  chainOf: ChainOf,
  current?: readonly string[] | null,
) => Promise<void>;

type ChainOf = (id: ChainId) => Chain | null;

export function createRequireContracts(database: Pick<Database, 'query'>): RequireContracts {
  const readDefinitions = createDefinitionReader();
  return async ({ contracts, chainIds }, chainOf, current) => {
    const names = [...(contracts ?? []).entries()].filter(([, name]) => current?.includes(name) !== true);
    if (names.length === 0) return;
    const definitions = await readDefinitions(database);
    const problems = names.flatMap(([index, name]): readonly Problem[] => {
      const message = problemOf(stateOfName(definitions, name, chainIds), chainOf);
      return message === null ? [] : [{ path: `contracts.${index}`, message, value: name }];
    });
    if (problems.length > 0) throw new ValidationFailedError(problems);
  };
}

function problemOf(state: NameState, chainOf: ChainOf): string | null {
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
