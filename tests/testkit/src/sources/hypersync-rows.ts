import { type JsonObject, logsOf, type SourceBlock } from '../nodes/chain-source.ts';

const NUMBERS: ReadonlySet<string> = new Set(
  ['number', 'blockNumber', 'logIndex', 'transactionIndex', 'type', 'status'].map(snakeCase),
);
const NESTED: ReadonlySet<string> = new Set(['access_list', 'authorization_list', 'withdrawals']);
/** Fields of nodes that HyperSync does not have. */
const ABSENT: ReadonlySet<string> = new Set(
  ['requestsHash', 'blockAccessListHash', 'slotNumber', 'isSystemTx', 'removed', 'blockTimestamp', 'topics'].map(
    snakeCase,
  ),
);

export interface HyperSyncBlock {
  readonly header: JsonObject;
  readonly transactions: readonly JsonObject[];
  readonly logs: readonly JsonObject[];
}

/** All fields, in the forms of HyperSync. */
export function hyperSyncBlock(block: SourceBlock, nestedLists: boolean): HyperSyncBlock {
  const row = (json: JsonObject): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries(json)
        .map(([name, value]) => [snakeCase(name), value] as const)
        .filter(([name]) => !ABSENT.has(name) && (nestedLists || !NESTED.has(name)))
        .map(([name, value]) => [name, NUMBERS.has(name) ? Number(value) : value]),
    );
  return {
    header: row(block.header),
    transactions: block.transactions.map((transaction, index) => {
      const { logs: _logs, transactionHash: _hash, ...receipt } = block.receipts[index] ?? {};
      return row({ ...receipt, ...transaction });
    }),
    logs: logsOf(block).map((log) => {
      const topics = log.topics as readonly string[];
      const positions = [0, 1, 2, 3].map((at) => [`topic${at}`, topics[at] ?? null]);
      return { ...row(log), ...Object.fromEntries(positions) };
    }),
  };
}

export function selectedColumns(row: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(names.filter((name) => name in row).map((name) => [name, row[name]]));
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
