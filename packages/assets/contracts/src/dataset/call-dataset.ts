import type { Chain } from '@chainstead/chains';
import type { Address, Hex } from '@chainstead/core';
import { committedTransactions } from '@chainstead/proof';
import type { Dataset, ExecutedTransaction, WholeBlock } from '@chainstead/sync/datasets';
import type { EventTable } from '../tables/event-table.ts';
import { type EventRecord, rowTableOf } from '../tables/row-table.ts';
import { callDecoder } from './decode-parameters.ts';
import { type Emitters, emittersByChain, type FurtherMembers } from './event-dataset.ts';

const SELECTOR_DIGITS = 10;

/** Calls inside transactions are not decoded. */
export function callDataset(
  table: EventTable,
  emitters: ReadonlyMap<number, Emitters>,
  members: FurtherMembers = {},
): Dataset<EventRecord> {
  const decodeCall = callDecoder(table);
  const selector = table.abi.topic0.slice(0, SELECTOR_DIGITS);
  const { addressesOf, childrenOf, firstBlock, dependent } = emittersByChain(table, emitters);
  return {
    ...{ name: table.name, firstBlock, ...members, ...dependent },
    topics: () => [],
    table: rowTableOf(table),
    decode: () => [],
    wholeBlocks: {
      reads: (chain) =>
        chain.transactions.mode === 'all' && (addressesOf(chain).size > 0 || childrenOf(chain) !== null)
          ? ['transactions']
          : [],
      decode: (block, { chain }) => {
        if (block.header.number < (firstBlock(chain) ?? 0)) return [];
        const addresses = childrenOf(chain) === null ? addressesOf(chain) : null;
        const calls = block.transactions.flatMap((call): readonly Call[] =>
          call.to !== null &&
          addresses?.has(call.to) !== false &&
          call.input.slice(0, SELECTOR_DIGITS).toLowerCase() === selector
            ? [{ ...call, to: call.to }]
            : [],
        );
        return committed(block, calls, chain).map((call) => rowOf(chain, block, call, decodeCall(dataOf(call))));
      },
    },
  };
}

interface Call extends ExecutedTransaction {
  readonly to: Address;
}

/** Nodes of some chains list other transactions too. */
function committed({ header }: WholeBlock, calls: readonly Call[], chain: Chain): readonly Call[] {
  if (calls.length === 0) return calls;
  const own = new Set(
    committedTransactions(
      header,
      calls.map(({ raw }) => raw),
      chain,
    ),
  );
  return calls.filter(({ raw }) => own.has(raw));
}

function dataOf({ input }: Call): Hex {
  return `0x${input.slice(SELECTOR_DIGITS)}`;
}

function rowOf(
  chain: Chain,
  { header }: WholeBlock,
  call: Call,
  decoded: ReturnType<ReturnType<typeof callDecoder>>,
): EventRecord {
  return {
    chainId: chain.id,
    blockNumber: header.number,
    transactionIndex: call.index,
    logIndex: 0,
    blockTime: new Date(header.timestamp * 1_000).toISOString(),
    transactionHash: call.hash,
    contract: call.to,
    values: decoded === null ? null : [call.from, call.value.toString(), call.succeeded, ...decoded],
    undecoded: decoded === null ? dataOf(call) : null,
  };
}
