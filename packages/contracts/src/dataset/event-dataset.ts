import { decodeAbi, EncodingRefusedError } from '@chainstead/abi';
import type { Chain } from '@chainstead/chains';
import type { Address, Hash, Hex, Log } from '@chainstead/core';
import { layoutOf, storableJson } from '@chainstead/decoding';
import type { Dataset, DecodeContext } from '@chainstead/sync';
import type { ChildSet } from '../definitions/child-sets.ts';
import { linesOfChildren } from '../factories/child-rows.ts';
import type { EventTable, ParameterColumn } from '../tables/event-table.ts';
import { type EventRow, rowTableOf } from '../tables/row-table.ts';

/** The contracts whose logs a dataset decodes, by chain. */
export interface Emitters {
  /** None: the chain is not indexed. Children of factories: see `children`. */
  readonly addresses: ReadonlySet<Address>;
  /** Children of a factory that emit the events instead of addresses. @default none */
  readonly children?: ChildSet | null;
  /** First wanted block; null: the first one of the chain's history. */
  readonly firstBlock: number | null;
}

/**
 * Returns the dataset of an event's table. Rows of children are decoded from logs of any contract, and chosen when they are written.
 * @param members further members
 */
export function eventDataset(
  table: EventTable,
  emitters: ReadonlyMap<number, Emitters>,
  members: Pick<Dataset, 'requireCurrent' | 'preceding' | 'deletesOldRows'> = {},
): Dataset<EventRow> {
  const decodeLog = logDecoder(table);
  const addressesOf = ({ id }: Pick<Chain, 'id'>) => emitters.get(id)?.addresses ?? NOBODY;
  const childrenOf = ({ id }: Pick<Chain, 'id'>) => emitters.get(id)?.children ?? null;
  const hasChildren = [...emitters.values()].some(({ children = null }) => children !== null);
  return {
    name: table.name,
    topics: (chain) => (addressesOf(chain).size === 0 && childrenOf(chain) === null ? [] : [table.abi.topic0]),
    emitters: (chain) => (childrenOf(chain) === null ? [...addressesOf(chain)] : null),
    firstBlock: ({ id }) => emitters.get(id)?.firstBlock ?? null,
    ...members,
    ...(hasChildren && {
      dependent: {
        async select(transaction, chain, blocks, lines) {
          const children = childrenOf(chain);
          return children === null ? lines : linesOfChildren(transaction, chain, children, blocks, lines);
        },
      },
    }),
    table: rowTableOf(table),
    decode: (logs, context) => {
      const addresses = childrenOf(context.chain) === null ? addressesOf(context.chain) : null;
      return logs.flatMap((log) =>
        log.topics[0] === table.abi.topic0 && addresses?.has(log.address) !== false
          ? [rowOf(log, context, decodeLog(log))]
          : [],
      );
    },
  };
}

const NOBODY: ReadonlySet<Address> = new Set();

function rowOf(log: Log, { chain, timestampOf }: DecodeContext, values: EventRow['values']): EventRow {
  return {
    chainId: chain.id,
    blockNumber: log.blockNumber,
    transactionIndex: log.transactionIndex,
    logIndex: log.logIndex,
    blockTime: new Date(timestampOf(log.blockNumber) * 1_000).toISOString(),
    transactionHash: log.transactionHash,
    contract: log.address,
    values,
    undecoded: values === null ? `0x${[...log.topics.slice(1), log.data].map((part) => part.slice(2)).join('')}` : null,
  };
}

type Value = string | boolean;

/** Returns a function that decodes the parameters of a log; null if the ABI does not fit. */
function logDecoder({ abi, parameters }: EventTable): (log: Log) => readonly Value[] | null {
  const isIndexed = abi.inputs.map((input) => input.isIndexed);
  const columns = parameters.map((column, index) => ({ column, isIndexed: isIndexed[index] === true }));
  const topicCount = columns.filter((one) => one.isIndexed).length;
  const layout = layoutOf(columns.filter((one) => !one.isIndexed).map(({ column }) => column.abiType));
  const layouts = columns.map(({ column }) => layoutOf([column.abiType]));
  return ({ topics, data }) => {
    if (topics.length !== topicCount + 1) return null;
    try {
      const inData: readonly unknown[] = decodeAbi(layout, data, { outputBytesMax: OUTPUT_BYTES_MAX });
      let topic = 1;
      let place = 0;
      return columns.map(({ column, ...one }, index) => {
        if (!one.isIndexed) return columnValue(column, inData[place++]);
        const word = topics[topic++] ?? NO_WORD;
        return column.isHash ? word : columnValue(column, decodeAbi(layouts[index] ?? [], word)[0]);
      });
    } catch (error) {
      if (error instanceof EncodingRefusedError) return null;
      throw error;
    }
  };
}

const NO_WORD: Hash | Hex = '0x';

/** Maximum memory of the decoded values of a log. Bytes. */
const OUTPUT_BYTES_MAX = 1_048_576;

function columnValue({ type, abiType }: ParameterColumn, value: unknown): Value {
  if (typeof value === 'boolean') return value;
  return type === 'jsonb' ? storableJson(abiType, value) : String(value);
}
