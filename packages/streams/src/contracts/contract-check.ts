import type { Chain } from '@chainstead/chains';
import { createDefinitionReader, type DefinitionReader, type NameState, stateOfName } from '@chainstead/contracts';
import type { ChainId } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { type Problem, ValidationFailedError } from '../routes/validation-failed.ts';
import type { Stream, StreamConfig } from '../stream.ts';

/** Compares the contracts of streams with those of the operator. */
export interface ContractCheck {
  /**
   * Refuses names of contracts and events that no chain of the stream has: it would match nothing of them.
   * @param known names that the stream has already: a contract that was removed does not prevent other changes
   * @throws ValidationFailedError
   */
  requireContracts(config: NamingConfig, chainOf: ChainOf, known?: readonly string[] | null): Promise<void>;
  /** Returns streams, with the names that match nothing in the status messages of active ones. */
  describe<Described extends DescribedStream>(streams: readonly Described[]): Promise<readonly Described[]>;
}

type ChainOf = (id: ChainId) => Chain | null;
type NamingConfig = Pick<StreamConfig, 'contracts' | 'chainIds'>;
type DescribedStream = Pick<Stream, 'contracts' | 'chainIds' | 'status' | 'statusMessage'>;

export function createContractCheck(database: Pick<Database, 'query'>): ContractCheck {
  const readDefinitions = createDefinitionReader();
  return {
    async requireContracts({ contracts, chainIds }, chainOf, known) {
      const names = [...(contracts ?? []).entries()].filter(([, name]) => known?.includes(name) !== true);
      if (names.length === 0) return;
      const definitions = await readDefinitions(database);
      const problems = names.flatMap(([index, name]): readonly Problem[] => {
        const message = problemOf(stateOfName(definitions, name, chainIds), chainOf);
        return message === null ? [] : [{ path: `contracts.${index}`, message, value: name }];
      });
      if (problems.length > 0) throw new ValidationFailedError(problems);
    },
    async describe(streams) {
      if (streams.every(({ contracts }) => contracts === null || contracts.length === 0)) return streams;
      const definitions = await readDefinitions(database);
      return streams.map((stream) => ({ ...stream, statusMessage: messageOf(stream, definitions) }));
    },
  };
}

/** Maximum number of names in a message. */
const SHOWN_MAX = 10;

function problemOf(state: NameState, chainOf: ChainOf): string | null {
  switch (state.kind) {
    case 'indexed':
    case 'suspended':
      return null;
    case 'unknown-contract':
      return 'is no indexed contract: GET /api/v2.2/contracts lists their names';
    case 'unknown-event':
      return `is no event of ${state.contract}, which has ${shown(state.events)}`;
    case 'other-chain': {
      const keys = state.chainIds.map((id) => chainOf(id)?.key ?? String(id));
      return `is not indexed on a chain of the stream: ${state.contract} is on ${shown(keys)}`;
    }
  }
}

function shown(names: readonly string[]): string {
  const more = names.length - SHOWN_MAX;
  return [...names.slice(0, SHOWN_MAX), ...(more > 0 ? [`${more} more`] : [])].join(', ');
}

function messageOf(
  { contracts, chainIds, status, statusMessage }: DescribedStream,
  definitions: Awaited<ReturnType<DefinitionReader>>,
): string {
  if (status !== 'active') return statusMessage;
  const states = (contracts ?? []).map((name) => ({ name, ...stateOfName(definitions, name, chainIds) }));
  const suspended = states.filter(({ kind }) => kind === 'suspended').map(({ name }) => name);
  const removed = states.filter(({ kind }) => kind !== 'suspended' && kind !== 'indexed').map(({ name }) => name);
  return [
    statusMessage,
    ...(removed.length === 0 ? [] : [`Contracts without matches, because they are not indexed: ${shown(removed)}`]),
    ...(suspended.length === 0 ? [] : [`Contracts without matches, because they are suspended: ${shown(suspended)}`]),
  ].join('. ');
}
