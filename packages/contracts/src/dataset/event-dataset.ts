import { decodeAbi, EncodingRefusedError } from '@chainstead/abi';
import type { Chain } from '@chainstead/chains';
import type { Address, Hash, Hex, Log } from '@chainstead/core';
import { layoutOf, storableJson } from '@chainstead/decoding';
import type { Dataset, DecodeContext } from '@chainstead/sync';
import type { EventTable, ParameterColumn } from '../tables/event-table.ts';
import { type EventRow, rowTableOf } from '../tables/row-table.ts';

/** The contracts whose logs a dataset decodes, by chain. */
export interface Emitters {
  /** None: the chain is not indexed. */
  readonly addresses: ReadonlySet<Address>;
  /** First wanted block; null: the first one of the chain's history. */
  readonly firstBlock: number | null;
}

/** Returns the dataset of an event's table. @param requireCurrent rejects once the definitions have changed */
export function eventDataset(
  table: EventTable,
  emitters: ReadonlyMap<number, Emitters>,
  requireCurrent?: NonNullable<Dataset['requireCurrent']>,
): Dataset<EventRow> {
  const decodeLog = logDecoder(table);
  const addressesOf = ({ id }: Chain) => emitters.get(id)?.addresses ?? NOBODY;
  return {
    name: table.name,
    topics: (chain) => (addressesOf(chain).size === 0 ? [] : [table.abi.topic0]),
    emitters: (chain) => [...addressesOf(chain)],
    firstBlock: ({ id }) => emitters.get(id)?.firstBlock ?? null,
    ...(requireCurrent !== undefined && { requireCurrent }),
    table: rowTableOf(table),
    decode: (logs, context) => {
      const addresses = addressesOf(context.chain);
      return logs.flatMap((log) =>
        log.topics[0] === table.abi.topic0 && addresses.has(log.address) ? [rowOf(log, context, decodeLog(log))] : [],
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
