import { createDefinitionReader, type DefinitionReader, stateOfName } from '@chainstead/contracts';
import type { Database } from '@chainstead/db';
import type { Stream } from '../stream.ts';
import { readDeferred, type StreamDeferral } from './deferred-matches.ts';

/** Names contracts that match nothing, and deferred blocks, in the status messages of active streams. */
export type DescribeStreams = <Described extends DescribedStream>(
  database: Pick<Database, 'query'>,
  streams: readonly Described[],
) => Promise<readonly Described[]>;

type DescribedStream = Pick<Stream, 'id' | 'contracts' | 'chainIds' | 'status' | 'statusMessage'>;

export function createDescribeStreams(): DescribeStreams {
  const readDefinitions = createDefinitionReader();
  return async (database, streams) => {
    const deferred = await readDeferred(
      database,
      streams.map(({ id }) => id),
    );
    const haveContracts = streams.some(({ contracts }) => contracts !== null && contracts.length > 0);
    if (!haveContracts && deferred.length === 0) return streams;
    const definitions = haveContracts ? await readDefinitions(database) : [];
    return streams.map((stream) => ({
      ...stream,
      statusMessage: messageOf(
        stream,
        definitions,
        deferred.filter(({ streamId }) => streamId === stream.id),
      ),
    }));
  };
}

function messageOf(
  { contracts, chainIds, status, statusMessage }: DescribedStream,
  definitions: Awaited<ReturnType<DefinitionReader>>,
  deferred: readonly StreamDeferral[],
): string {
  if (status !== 'active') return statusMessage;
  const states = (contracts ?? []).map((name) => ({ name, ...stateOfName(definitions, name, chainIds) }));
  const suspended = states.filter(({ kind }) => kind === 'suspended').map(({ name }) => name);
  const removed = states.filter(({ kind }) => kind !== 'suspended' && kind !== 'indexed').map(({ name }) => name);
  return [
    statusMessage,
    ...(removed.length === 0
      ? []
      : [`Contracts without matches, because they are not indexed: ${listed(removed)}`]),
    ...(suspended.length === 0
      ? []
      : [`Contracts without matches, because they are suspended: ${listed(suspended)}`]),
    ...deferred.map(
      ({ chainId, firstBlock, blocks }) =>
        `Blocks of chain ${chainId} to match later, because they exceed the work of a key per block: ${blocks}, from block ${firstBlock}`,
    ),
  ].join('. ');
}

const LISTED_MAX = 10;

export function listed(names: readonly string[]): string {
  const more = names.length - LISTED_MAX;
  return [...names.slice(0, LISTED_MAX), ...(more > 0 ? [`${more} more`] : [])].join(', ');
}
