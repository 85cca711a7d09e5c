import type { Chain } from '@chainstead/chains';
import type { Address, Log } from '@chainstead/core';
import type { Dataset, DecodeContext } from '@chainstead/sync/datasets';
import type { ChildSet } from '../definitions/child-sets.ts';
import { linesOfChildren } from '../factories/child-rows.ts';
import type { EventTable } from '../tables/event-table.ts';
import { type EventRecord, rowTableOf } from '../tables/row-table.ts';
import { type ImplementationForms, linesOfForm } from '../upgrades/form-rows.ts';
import { type AcceptsLog, acceptedLogs } from './accepted-logs.ts';
import { logDecoder } from './decode-parameters.ts';

export interface Emitters {
  /** Empty: the chain is not indexed. */
  readonly addresses: ReadonlySet<Address>;
  readonly children?: ChildSet | null;
  /** Null: the first one of the chain's history. */
  readonly firstBlock: number | null;
  readonly accepts?: AcceptsLog;
  /** The emitter's implementation decides among these. @default none */
  readonly byImplementation?: ImplementationForms | null;
}

export type FurtherMembers = Pick<Dataset, 'requireCurrent' | 'preceding' | 'deletesOldRows' | 'isKeptWhole'>;

/** Children's logs are decoded from any contract, and chosen as rows are written. */
export function eventDataset(
  table: EventTable,
  emitters: ReadonlyMap<number, Emitters>,
  members: FurtherMembers = {},
): Dataset<EventRecord> {
  const decodeLog = logDecoder(table);
  const acceptsAll = acceptedLogs(table, [table]);
  const { isAnonymous, topic0 } = table.abi;
  const { addressesOf, childrenOf, firstBlock, dependent } = emittersByChain(table, emitters);
  const isIndexed = (chain: Chain) => addressesOf(chain).size > 0 || childrenOf(chain) !== null;
  return {
    ...{ name: table.name, firstBlock, ...members, ...dependent },
    topics: (chain) => (isIndexed(chain) && !isAnonymous ? [topic0] : []),
    anyTopic: (chain) => isIndexed(chain) && isAnonymous,
    emitters: (chain) => (childrenOf(chain) === null ? [...addressesOf(chain)] : null),
    table: rowTableOf(table),
    decode: (logs, context) => {
      const { chain } = context;
      const addresses = childrenOf(chain) === null ? addressesOf(chain) : null;
      const accepts = emitters.get(chain.id)?.accepts ?? acceptsAll;
      const first = firstBlock(chain) ?? 0;
      return logs.flatMap((log) => {
        if (log.blockNumber < first || addresses?.has(log.address) === false || !accepts(log)) return [];
        const values = decodeLog(log);
        return values === null && isAnonymous ? [] : [rowOf(log, context, values)];
      });
    },
  };
}

export function emittersByChain(table: EventTable, emitters: ReadonlyMap<number, Emitters>) {
  const childrenOf = ({ id }: Pick<Chain, 'id'>) => emitters.get(id)?.children ?? null;
  const isDependent = [...emitters.values()].some(
    ({ children = null, byImplementation = null }) => children !== null || byImplementation !== null,
  );
  const select: NonNullable<Dataset['dependent']>['select'] = async (transaction, chain, blocks, lines) => {
    const { children = null, byImplementation = null } = emitters.get(chain.id) ?? {};
    if (children !== null)
      return linesOfChildren(transaction, chain, { children, kind: table.kind }, blocks, lines);
    if (byImplementation === null) return lines;
    return linesOfForm(transaction, chain, { ...byImplementation, name: table.name }, blocks, lines);
  };
  return {
    addressesOf: ({ id }: Pick<Chain, 'id'>): ReadonlySet<Address> => emitters.get(id)?.addresses ?? NOBODY,
    childrenOf,
    firstBlock: ({ id }: Pick<Chain, 'id'>): number | null => emitters.get(id)?.firstBlock ?? null,
    dependent: isDependent ? { dependent: { select } } : {},
  };
}

const NOBODY: ReadonlySet<Address> = new Set();

function rowOf(log: Log, { chain, timestampOf }: DecodeContext, values: EventRecord['values']): EventRecord {
  return {
    chainId: chain.id,
    blockNumber: log.blockNumber,
    transactionIndex: log.transactionIndex,
    logIndex: log.logIndex,
    blockTime: new Date(timestampOf(log.blockNumber) * 1_000).toISOString(),
    transactionHash: log.transactionHash,
    contract: log.address,
    values,
    undecoded:
      values === null ? `0x${[...log.topics.slice(1), log.data].map((part) => part.slice(2)).join('')}` : null,
  };
}
